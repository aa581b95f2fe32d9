//! Compiled programs: names are places in memory, labels are positions.

use dally_concolic::Place;
use dally_concolic::int::{Arithmetic, Comparison};
use dally_core::WorkerId;

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Code {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) parameters: Vec<(String, i64)>,
    /// Whether messages from one process to another stay in their order.
    pub(crate) fifo: bool,
    pub(crate) families: Vec<Family>,
    /// For each process its family and its index in it.
    pub(crate) processes: Vec<(usize, i64)>,
    /// The name of each process.
    pub(crate) names: Vec<String>,
    /// The worker of each process, in order.
    pub(crate) workers: Vec<WorkerId>,
    pub(crate) setup: Body,
    pub(crate) finally: Option<Body>,
}

impl Code {
    /// The worker that runs the set-up and the check at the end.
    pub(crate) fn program() -> WorkerId {
        WorkerId::root(0)
    }

    /// Names the processes and gives each its worker.
    pub(crate) fn with_workers(mut self) -> Code {
        let name = |&(family, index): &(usize, i64)| {
            let family = &self.families[family];
            match family.indexed {
                true => format!("{}[{index}]", family.name),
                false => family.name.clone(),
            }
        };
        self.names = self.processes.iter().map(name).collect();
        let workers = 0..self.processes.len() as u32;
        self.workers = workers.map(|process| Code::program().child(process)).collect();
        self
    }

    pub(crate) fn process_of(&self, worker: WorkerId) -> Option<usize> {
        self.workers.iter().position(|&known| known == worker)
    }

    pub(crate) fn body_of(&self, process: usize) -> &Body {
        &self.families[self.processes[process].0].body
    }
}

/// Processes that run the same code: one, or one for each index.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) indexed: bool,
    pub(crate) lowest: i64,
    /// The number of its first process.
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) body: Body,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    pub(crate) statements: Vec<Statement>,
    pub(crate) places: Vec<Place>,
    /// How many values its variables take.
    pub(crate) size: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) at: usize,
    /// `None` for one that is no array.
    pub(crate) length: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Assign(Slot, Expr),
    /// An input with a name for readers, in a range.
    Input(Slot, String, Option<(Expr, Expr)>),
    Send(usize, Option<Expr>, Vec<Expr>),
    Receive(Vec<Slot>, bool),
    If(Condition, usize),
    Goto(usize),
    Assert(Condition, String),
    Assume(Condition),
    Error(String),
    Halt,
}

/// Where a value is stored.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) at: usize,
    /// For an array its length and the index.
    pub(crate) index: Option<(usize, Box<Expr>)>,
    pub(crate) name: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) left: Expr,
    pub(crate) how: Comparison,
    pub(crate) right: Expr,
    /// Whether the comparison is to fail.
    pub(crate) negated: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Number(i64),
    Own(Slot),
    /// A variable of the set-up.
    Shared(Slot),
    /// A variable of another process: family, index, variable.
    Of(usize, Option<Box<Expr>>, Slot),
    Negated(Box<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
}
