//! The calculator: a program without a bug, for measuring how much a strategy covers.
//!
//! Five workers send a hundred messages each to a calculator: add 1, subtract 1, double, halve
//! and reset. Its value stays between -5000 and 5000. Most orders undo each other, so a strategy
//! that picks at random sees the same few values again and again; the measure is how many
//! different values there are over all schedules. Each new value is announced as a [`Value`].
//!
//! From "Learning-based controlled concurrency testing" (Mukherjee et al., OOPSLA 2020), figures 3
//! and 4.

use std::hash::Hash;
use std::sync::Arc;

use dally::machine;
use dally::machines::{Addr, Cx, MachineProgram, Setup};

use crate::registry::Protocol;

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "calculator",
    summary: "five workers add, subtract, double, halve and reset: how many values are seen?",
    bugs: &[],
    max_steps: 2000,
    program: |_| Arc::new(program(None)),
};

/// There is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {}

/// The calculator and its five workers.
pub fn program(_: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, deploy)
}

/// Creates the machines.
pub fn deploy(setup: &mut Setup) {
    let to = setup.create(Calculator { value: 0 });
    for request in
        [Request::Add, Request::Subtract, Request::Double, Request::Halve, Request::Reset]
    {
        setup.create(Worker { to, request });
    }
}

const MESSAGES: usize = 100;
const LIMIT: i32 = 5000;

/// Announced by the calculator after each request: its value now.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Value(pub i32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Request {
    Add,
    Subtract,
    Double,
    Halve,
    Reset,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Worker {
    to: Addr<Calculator>,
    request: Request,
}

#[machine(states(Sending))]
impl Worker {
    #[entry(Sending)]
    fn send(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..MESSAGES {
            cx.send(self.to, self.request);
        }
        cx.halt();
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Calculator {
    value: i32,
}

#[machine(states(Ready))]
impl Calculator {
    #[observe]
    fn value(&self) -> impl Hash {
        self.value
    }

    #[on(Ready, Request)]
    fn calculate(&mut self, cx: &mut Cx<Self>, request: Request) {
        let value = match request {
            Request::Add => self.value + 1,
            Request::Subtract => self.value - 1,
            Request::Double => self.value * 2,
            Request::Halve => self.value / 2,
            Request::Reset => 0,
        };
        self.value = value.clamp(-LIMIT, LIMIT);
        cx.announce(Value(self.value));
    }
}
