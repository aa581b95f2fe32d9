//! The calculator: a program without a bug, for measuring how much a strategy covers.
//!
//! Five workers ask a calculator to add 1, subtract 1, double, halve and reset, until it has done
//! 500 operations in all. Its value stays between -5000 and 5000. Most orders undo each other, so a
//! strategy that picks at random sees the same few values again and again; the measure is how many
//! different values there are over all schedules, and how often each operation is done.
//!
//! From "Learning-based controlled concurrency testing" (Mukherjee et al., OOPSLA 2020), figures 3
//! to 5. As in the program published with it, an operation is done in the step that asks for it,
//! and a schedule ends after 500 of them, whoever has asked: if each worker sent its hundred, every
//! schedule would have as many of each. All that is observed is what [`Shows`] says.

use std::sync::Arc;

use dally::tasks::sync::Mutex;
use dally::tasks::{self, TaskProgram, task};

use crate::registry::Protocol;

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "calculator",
    summary: "five workers add, subtract, double, halve and reset: how many values are seen?",
    bugs: &[],
    max_steps: 1_000,
    program: |_| Arc::new(program(Shows::Value, Arc::new(|_, _| {}))),
};

/// What strategies with the program's own observation see of the calculator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shows {
    /// Its value.
    Value,
    /// Nothing, so that all states look alike.
    Nothing,
    /// Its value and how many operations it has done, so that all states of a schedule differ.
    ValueAndCount,
}

/// What the calculator can do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// Adds 1.
    Add,
    /// Subtracts 1.
    Subtract,
    /// Multiplies by 2.
    Double,
    /// Divides by 2.
    Halve,
    /// Goes back to 0.
    Reset,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 5] = [
        Operation::Add,
        Operation::Subtract,
        Operation::Double,
        Operation::Halve,
        Operation::Reset,
    ];
}

/// Is told of every operation, with the value after it.
pub type Tally = Arc<dyn Fn(Operation, i32) + Send + Sync>;

/// How many operations a schedule has.
pub const OPERATIONS: u32 = 500;

const LIMIT: i32 = 5_000;

/// The calculator and its five workers.
pub fn program(shows: Shows, tally: Tally) -> TaskProgram {
    TaskProgram::new(PROTOCOL.name, move || {
        let tally = tally.clone();
        async move {
            tasks::observe_only_shown();
            let calculator = Arc::new(Calculator { shows, tally, state: Mutex::default() });
            let workers = Operation::ALL.map(|operation| {
                let calculator = calculator.clone();
                let work = async move {
                    while calculator.does(operation) {
                        tasks::yield_now().await
                    }
                };
                let name = format!("{operation:?}");
                task::Builder::new().name(&name).spawn(work).expect("tasks can be spawned")
            });
            for worker in workers {
                worker.await.expect("workers do not fail");
            }
        }
    })
}

struct Calculator {
    shows: Shows,
    tally: Tally,
    /// The value, and how many operations there were.
    state: Mutex<(i32, u32)>,
}

impl Calculator {
    /// Does this, in the step of whoever asks for it; `false` if there were enough operations.
    fn does(&self, operation: Operation) -> bool {
        let mut state = self.state.try_lock().expect("the lock is free between steps");
        let (value, done) = *state;
        if done == OPERATIONS {
            return false;
        }
        let value = match operation {
            Operation::Add => value + 1,
            Operation::Subtract => value - 1,
            Operation::Double => value * 2,
            Operation::Halve => value / 2,
            Operation::Reset => 0,
        };
        *state = (value.clamp(-LIMIT, LIMIT), done + 1);
        match self.shows {
            Shows::Value => tasks::observe_shared("value", &state.0),
            Shows::Nothing => {}
            Shows::ValueAndCount => tasks::observe_shared("value", &*state),
        }
        (self.tally)(operation, state.0);
        true
    }
}
