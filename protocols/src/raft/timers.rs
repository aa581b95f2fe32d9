//! Timers as machines: a tick is a message to itself, and coins decide what it does.

use dally::machine;
use dally::machines::{Addr, Cx};

use super::server::Server;

/// Starts a timer; a timer that runs takes no notice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Start;

/// Ends a timer for good.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stop;

/// A timer to itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tick;

/// The leader has not been heard of for too long.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ElectionTimeout;

/// Time to ask for votes again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PeriodicTimeout;

/// Fires when it has counted enough ticks. It may go to sleep before that; the next start goes
/// on from the same count.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ElectionTimer {
    pub server: Addr<Server>,
    pub depth: u32,
    pub counted: u32,
}

#[machine(states(Inactive, Active))]
impl ElectionTimer {
    #[entry(Active)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        cx.send(cx.me(), Tick);
    }

    #[on(Active, Tick)]
    fn tick(&mut self, cx: &mut Cx<Self>) {
        if cx.flip() {
            self.counted += 1;
        }
        if self.counted == self.depth {
            self.counted = 0;
            cx.send(self.server, ElectionTimeout);
        }
        if cx.flip() {
            cx.send(cx.me(), Tick);
        } else {
            cx.goto(Inactive);
        }
    }

    #[on(_, Stop)]
    fn stop(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }

    #[goto(Inactive, Start => Active)]
    #[ignore(Active, Start)]
    const RULES: () = ();
}

/// Fires at any tick, again and again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PeriodicTimer {
    pub server: Addr<Server>,
}

#[machine(states(Inactive, Active))]
impl PeriodicTimer {
    #[entry(Active)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        cx.send(cx.me(), Tick);
    }

    #[on(Active, Tick)]
    fn tick(&mut self, cx: &mut Cx<Self>) {
        if cx.flip() {
            cx.send(self.server, PeriodicTimeout);
        }
        cx.send(cx.me(), Tick);
    }

    #[on(_, Stop)]
    fn stop(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }

    #[goto(Inactive, Start => Active)]
    #[ignore(Active, Start)]
    const RULES: () = ();
}
