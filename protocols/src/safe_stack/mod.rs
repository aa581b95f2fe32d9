//! SafeStack: a lock-free stack with a bug that takes at least five preemptions.
//!
//! The stack holds the cells that are free. A task pops one, writes its own number into it, sees
//! that the number is still there, and pushes the cell back. Links between free cells are
//! indices, and whoever pops the first cell takes its link away first, so that nobody else can go
//! by it. That is not enough: with [`Bug::LockFree`] a task that was stopped in the middle of a pop
//! can go on when the stack looks as it did before, and then two tasks have the same cell. The
//! correct version does the same under one lock.
//!
//! By Dmitry Vyukov (2010), the hardest program of SCTBench (Thomson et al., "Concurrency testing
//! using controlled schedulers", TOPC 2016), with three tasks. "Learning-based controlled
//! concurrency testing" (Mukherjee et al., OOPSLA 2020) runs it with five.
//!
//! It is here twice. As tasks every shared variable is a lock of its own that is held for one
//! access, so there is a scheduling point before every shared step. As a [`Model`] it is a system
//! written by hand, of which the whole state can be had.

mod model;

use std::hash::Hash;
use std::sync::Arc;

use dally::tasks::sync::{Mutex, MutexGuard};
use dally::tasks::{self, TaskProgram};

pub use model::{Model, Running};

use crate::registry::{PlantedBug, Protocol};

/// What can be wrong with the stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// Nothing keeps a task from being stopped in the middle of a pop.
    LockFree,
}

impl Bug {
    fn named(name: Option<&str>) -> Option<Bug> {
        (name == Some("lock-free")).then_some(Bug::LockFree)
    }
}

/// How often each task pops and pushes.
const ROUNDS: usize = 2;

const BUGS: &[PlantedBug] = &[PlantedBug {
    name: "lock-free",
    summary: "a pop that was stopped half-way takes a cell that somebody else has",
}];

/// `safe-stack` of the command line: five tasks, as in Mukherjee et al., "Learning-Based Controlled Concurrency Testing".
pub const FIVE: Protocol = Protocol {
    name: "safe-stack",
    summary: "five tasks pop cells from a stack and push them back",
    bugs: BUGS,
    max_steps: 1_000,
    program: |name| Arc::new(program(5, Bug::named(name))),
};

/// `safe-stack-3` of the command line: three tasks, as in SCTBench.
pub const THREE: Protocol = Protocol {
    name: "safe-stack-3",
    summary: "three tasks pop cells from a stack and push them back",
    program: |name| Arc::new(program(3, Bug::named(name))),
    ..FIVE
};

/// `safe-stack-model` of the command line: three workers, captured.
pub const MODEL: Protocol = Protocol {
    name: "safe-stack-model",
    summary: "the same with three workers as a model whose states can be searched",
    program: |name| Arc::new(Model::new(3, Bug::named(name))),
    ..FIVE
};

/// So many tasks and as many cells, at most five, with this bug or without any.
pub fn program(size: usize, bug: Option<Bug>) -> TaskProgram {
    let size = size.clamp(1, NEXT.len());
    let name = if size == 5 { FIVE.name } else { THREE.name };
    TaskProgram::new(name, move || async move {
        let stack = Arc::new(Stack::new(size, bug));
        let values: Arc<Vec<_>> = Arc::new((0..size).map(|_| Mutex::new(None)).collect());
        let tasks: Vec<_> = (0..size)
            .map(|me| {
                let (stack, values) = (stack.clone(), values.clone());
                tasks::spawn(async move {
                    for _ in 0..ROUNDS {
                        let cell = loop {
                            if let Some(cell) = stack.pop().await {
                                break cell;
                            }
                        };
                        *values[cell].lock().await = Some(me);
                        let owner = *values[cell].lock().await;
                        assert_eq!(owner, Some(me), "two tasks have the same cell");
                        stack.push(cell).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("tasks do not fail");
        }
    })
}

/// Indices of free cells.
struct Stack {
    head: Variable<usize>,
    count: Variable<usize>,
    /// The cell below each; absent below the last, and while somebody pops the cell.
    next: Vec<Variable<Option<usize>>>,
    /// Held for a whole operation in the correct version.
    whole: Option<Mutex<()>>,
}

impl Stack {
    fn new(size: usize, bug: Option<Bug>) -> Stack {
        let below = |cell| (cell + 1 < size).then_some(cell + 1);
        Stack {
            head: Variable::new("head", 0),
            count: Variable::new("count", size),
            next: (0..size).map(|cell| Variable::new(NEXT[cell], below(cell))).collect(),
            whole: bug.is_none().then(|| Mutex::new(())),
        }
    }

    async fn pop(&self) -> Option<usize> {
        let _alone = self.enter().await;
        // The last cell stays, so that a push always finds a head.
        while self.count.read().await > 1 {
            let head = self.head.read().await;
            let taken = self.next[head].access(Option::take).await;
            let Some(next) = taken else { continue };
            if self.head.exchange(head, next).await.is_ok() {
                self.count.access(|count| *count -= 1).await;
                return Some(head);
            }
            self.next[head].access(|link| *link = Some(next)).await;
        }
        None
    }

    async fn push(&self, cell: usize) {
        let _alone = self.enter().await;
        let mut head = self.head.read().await;
        loop {
            self.next[cell].access(|link| *link = Some(head)).await;
            match self.head.exchange(head, cell).await {
                Ok(()) => break,
                Err(other) => head = other,
            }
        }
        self.count.access(|count| *count += 1).await;
    }

    async fn enter(&self) -> Option<MutexGuard<'_, ()>> {
        match &self.whole {
            Some(whole) => Some(whole.lock().await),
            None => None,
        }
    }
}

/// The names of links, for those who observe them.
const NEXT: [&str; 5] = ["next 0", "next 1", "next 2", "next 3", "next 4"];

/// A shared variable: a lock of its own, held for one access, with a scheduling point before it.
struct Variable<T> {
    name: &'static str,
    value: Mutex<T>,
}

impl<T: Copy + PartialEq + Hash> Variable<T> {
    fn new(name: &'static str, value: T) -> Variable<T> {
        Variable { name, value: Mutex::new(value) }
    }

    async fn read(&self) -> T {
        *self.value.lock().await
    }

    /// Changes it in one step.
    async fn access<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.value.lock().await;
        let answer = change(&mut value);
        tasks::observe_shared(self.name, &*value);
        answer
    }

    /// Compares and exchanges; if the value is another, answers that one.
    async fn exchange(&self, from: T, to: T) -> Result<(), T> {
        self.access(|value| match *value == from {
            true => {
                *value = to;
                Ok(())
            }
            false => Err(*value),
        })
        .await
    }
}
