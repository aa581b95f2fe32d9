//! The expansion gives no reason for warnings, whatever the user's lints are.

#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]
#![deny(non_camel_case_types, unused_results, single_use_lifetimes, let_underscore_drop)]

use std::fmt::Debug;
use std::hash::Hash;

use dally::machines::{Addr, Cx, MonitorCx};
use dally::{machine, monitor};

/// An event.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Begin {
    /// Who asks.
    pub from: Addr<Coordinator>,
}
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Vote(bool);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stop;

/// What survives.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ledger(usize);

/// A machine of a library.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Coordinator {
    yes: usize,
}

#[machine(states(Idle, Voting, /** All is over. */ Done), durable = Ledger)]
impl Coordinator {
    #[entry(Idle)]
    fn start(&mut self) {
        self.yes = 0;
    }

    #[on(Idle, Begin)]
    fn begin(&mut self, cx: &mut Cx<Self>, Begin { from }: Begin) {
        cx.send(from, Stop);
        cx.goto(Voting);
    }

    #[on(Voting | Done, Vote)]
    fn vote(&mut self, cx: &mut Cx<Self>, Vote(yes): Vote) {
        self.yes += usize::from(yes);
        cx.persist(Ledger(self.yes));
        self.decide(cx);
    }

    #[default(Done)]
    #[exit(Voting)]
    fn nothing(&self) {}

    #[on(_, Stop)]
    fn stop(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }

    #[goto(Done, Begin => Voting)]
    #[defer(Voting, Begin)]
    #[ignore(Idle, Vote)]
    const RULES: () = ();

    #[ignore(Done, _)]
    const RULES: () = ();

    /// A function of the user's.
    pub fn decide(&self, cx: &mut Cx<Self>) {
        if self.yes == 2 {
            cx.goto(Done);
        }
    }

    fn recover(mut self, durable: Option<Ledger>) -> Self {
        if let Some(Ledger(yes)) = durable {
            self.yes = yes;
        }
        self
    }
}

/// A machine of any type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Register<T, const N: usize> {
    values: [T; N],
}

#[machine(states(Ready))]
impl<T, const N: usize> Register<T, N>
where
    T: Clone + Eq + Hash + Debug + Send + Sync + 'static,
{
    #[on(Ready, (usize, T))]
    fn write(&mut self, _: &mut Cx<Self>, (at, value): (usize, T)) {
        self.values[at] = value;
    }
}

/// A machine with a handle that cannot be copied.
#[derive(Debug)]
pub struct Writer {
    file: std::sync::Mutex<std::fs::File>,
}

/// An event with a handle that cannot be copied.
#[derive(Debug)]
pub struct Replace(std::fs::File);

#[machine(uncaptured, states(Open))]
impl Writer {
    #[on(Open, Replace)]
    fn replace(&mut self, _: &mut Cx<Self>, Replace(file): Replace) {
        self.file = std::sync::Mutex::new(file);
    }
}

/// A monitor of a library.
#[derive(Clone, Hash, Debug, Default)]
pub struct Progress {
    votes: usize,
}

#[monitor(states(cold Calm, hot Waiting, Unsure))]
impl Progress {
    #[on(Calm, Begin)]
    fn begin(&mut self, cx: &mut MonitorCx<Self>, _: &Begin) {
        cx.goto(Waiting);
    }

    #[on(Waiting, Vote)]
    fn vote(&mut self, cx: &mut MonitorCx<Self>, Vote(yes): Vote) {
        self.votes += usize::from(yes);
        cx.goto(if yes { Calm } else { Unsure });
    }

    #[ignore(_, Begin, Vote)]
    #[goto(_, Stop => Calm)]
    const RULES: () = ();
}

fn main() {
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Local;

    #[machine(states(First, Second))]
    impl Local {
        #[on(First, Stop)]
        fn stop(&mut self, cx: &mut Cx<Self>) {
            cx.goto(Second);
        }
    }

    println!("{:?} {:?}", Local, Vote(true));
}
