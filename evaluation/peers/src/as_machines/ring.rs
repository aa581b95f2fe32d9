//! The election of Le Lann, Chang and Roberts in a ring, as machines.

use std::time::Duration;

use dally::machines::{Addr, Cx, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use super::model;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Start;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Token(u32);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Elected;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Process {
    id: u32,
    next: Addr<Process>,
    done: bool,
    leader: bool,
}

#[machine(states(Up))]
impl Process {
    /// It starts of itself, at any time; messages may come before.
    #[entry(Up)]
    fn wait(&mut self, cx: &mut Cx<Self>) {
        cx.after(Duration::from_secs(1), Start);
    }

    #[on(Up, Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.next, Token(self.id));
    }

    #[on(Up, Token)]
    fn token(&mut self, cx: &mut Cx<Self>, Token(id): Token) {
        if id > self.id {
            cx.send(self.next, Token(id));
        } else if id == self.id {
            (self.leader, self.done) = (true, true);
            cx.announce(Elected);
            cx.send(self.next, Token(0));
        } else if id == 0 && !self.done {
            self.done = true;
            cx.send(self.next, Token(0));
        }
    }
}

/// At most one leader.
#[derive(Clone, Hash, Debug, Default)]
struct OneLeader {
    elected: bool,
}

#[monitor(states(Watching))]
impl OneLeader {
    #[on(Watching, Elected)]
    fn elected(&mut self, _: &mut MonitorCx<Self>, _: &Elected) {
        assert!(!self.elected, "two leaders");
        self.elected = true;
    }
}

/// A ring of so many processes.
pub fn ring(n: u32) -> MachineProgram {
    model("ring", move |setup: &mut Setup| {
        let ring: Vec<Addr<Process>> = (0..n).map(|_| setup.reserve()).collect();
        for (id, i) in (1..=n).rev().zip(0..) {
            let next = ring[(i + 1) % ring.len()];
            setup.fill(ring[i], Process { id, next, done: false, leader: false });
        }
        setup.monitor(OneLeader::default());
    })
}
