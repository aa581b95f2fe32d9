//! Dining philosophers: each needs the forks to his left and right to eat, and thinks in between.
//!
//! A philosopher who is hungry asks for one fork, waits until he has it, asks for the other, eats,
//! and puts both down. A fork that is in use keeps further requests until it is put down. All
//! philosophers ask first for the fork with the smaller number, so they cannot wait for each other
//! in a circle. [`Dinner`] checks that when somebody is hungry, somebody eats.
//!
//! With [`Bug::BacksOff`] everybody takes the left fork first, and puts it down again if the right
//! one is in use. They can do so in step for ever, and nobody eats. Random scheduling gets out of
//! step with probability one, but often late enough for the temperature to tell. With
//! [`Bug::LeftFirst`] all of them have one fork and wait for the other, and everything ends.
//!
//! See Dijkstra, "Hierarchical Ordering of Sequential Processes" (1971).

use std::sync::Arc;

use dally::machines::{Addr, Cx, MachineProgram, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in the manners of philosophers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A philosopher whose right fork is in use puts the left one down and starts again.
    BacksOff,
    /// Everybody takes the left fork first, and waits for the right one.
    LeftFirst,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "philosophers",
    summary: "three philosophers share three forks and need two each to eat",
    bugs: &[
        PlantedBug {
            name: "backs-off",
            summary: "who finds the right fork in use puts down the left one, for ever in step",
        },
        PlantedBug {
            name: "left-first",
            summary: "everybody has the left fork and waits for the right one",
        },
    ],
    max_steps: 1_000,
    program: |name| {
        let bug = match name {
            Some("backs-off") => Some(Bug::BacksOff),
            Some("left-first") => Some(Bug::LeftFirst),
            _ => None,
        };
        Arc::new(program(PHILOSOPHERS, bug))
    },
};

const PHILOSOPHERS: usize = 3;

/// A dinner of so many philosophers, at least two, with this bug or without any.
pub fn program(philosophers: usize, bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, philosophers, bug))
}

/// Creates the forks, the philosophers and the monitor.
pub fn deploy(setup: &mut Setup, philosophers: usize, bug: Option<Bug>) {
    let forks: Vec<_> = (0..philosophers).map(|_| setup.create(Fork)).collect();
    for left in 0..philosophers {
        let right = (left + 1) % philosophers;
        let ordered = bug.is_none() && right < left;
        let (first, second) = if ordered { (right, left) } else { (left, right) };
        let backs_off = bug == Some(Bug::BacksOff);
        setup.create(Philosopher { first: forks[first], second: forks[second], backs_off });
    }
    setup.begin();
    setup.monitor(Dinner);
}

/// To a fork: I take you, as soon as you are free.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Take {
    by: Addr<Philosopher>,
}

/// To a fork: I take you if you are free.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct TryToTake {
    by: Addr<Philosopher>,
}

/// To a fork: I have put you down.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct PutDown;

/// To a philosopher: you have the fork.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Taken;

/// To a philosopher: somebody else has it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct InUse;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Fork;

#[machine(states(Free, Held))]
impl Fork {
    #[on(Free, Take)]
    fn take(&mut self, cx: &mut Cx<Self>, Take { by }: Take) {
        cx.send(by, Taken);
        cx.goto(Held);
    }

    #[on(Free, TryToTake)]
    fn try_to_take(&mut self, cx: &mut Cx<Self>, TryToTake { by }: TryToTake) {
        self.take(cx, Take { by });
    }

    #[on(Held, TryToTake)]
    fn refuse(&mut self, cx: &mut Cx<Self>, TryToTake { by }: TryToTake) {
        cx.send(by, InUse);
    }

    #[defer(Held, Take)]
    #[goto(Held, PutDown => Free)]
    const RULES: () = ();
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Philosopher {
    first: Addr<Fork>,
    second: Addr<Fork>,
    backs_off: bool,
}

#[machine(states(Thinking, WithoutFork, WithFork, Eating))]
impl Philosopher {
    #[default(Thinking)]
    fn get_hungry(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Hungry);
        self.begin(cx);
    }

    fn begin(&self, cx: &mut Cx<Self>) {
        cx.send(self.first, Take { by: cx.me() });
        cx.goto(WithoutFork);
    }

    #[on(WithoutFork, Taken)]
    fn go_on(&mut self, cx: &mut Cx<Self>) {
        if self.backs_off {
            cx.send(self.second, TryToTake { by: cx.me() });
        } else {
            cx.send(self.second, Take { by: cx.me() });
        }
        cx.goto(WithFork);
    }

    #[on(WithFork, InUse)]
    fn back_off(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.first, PutDown);
        self.begin(cx);
    }

    #[on(WithFork, Taken)]
    fn eat(&mut self, cx: &mut Cx<Self>) {
        cx.announce(Eats);
        cx.goto(Eating);
    }

    #[default(Eating)]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.first, PutDown);
        cx.send(self.second, PutDown);
        cx.goto(Thinking);
    }
}

/// Announced by a philosopher who wants to eat.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Hungry;

/// Announced by a philosopher who has both forks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Eats;

/// Liveness: when somebody is hungry, somebody eats.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dinner;

#[monitor(states(cold Quiet, hot Waiting))]
impl Dinner {
    #[goto(Quiet, Hungry => Waiting)]
    #[goto(Waiting, Eats => Quiet)]
    #[ignore(Waiting, Hungry)]
    #[ignore(Quiet, Eats)]
    const RULES: () = ();
}
