//! The search through all paths: answers the inputs of executions, and says which other outcomes of
//! their branches are feasible.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dally_core::report::Report;
use dally_core::{Input, Program, WorkerId};
use dally_search::reduction::{self, InputDriver, Inputs};
use dally_search::{Options, Sink};

use crate::coverage::Coverage;
use crate::guided::guided;
use crate::recorder::{self, Recorder};
use crate::solver::Answer;
use crate::terms::Origin;

/// An input by the worker that asks for it and how many it has asked for before.
pub(crate) type Key = (u64, u32);

/// The inputs of an execution.
pub(crate) type Assignment = BTreeMap<Key, i64>;

/// Answers inputs so that every feasible path is taken.
///
/// It records on the thread that made it, and there is one on a thread at a time.
#[derive(Debug)]
pub struct ConcolicInputs {
    assignment: Arc<Assignment>,
    worker: u64,
    numbers: BTreeMap<u64, u32>,
    /// The inputs that the execution has asked for, each with how long the path was then.
    asked: Vec<(Key, i64, usize)>,
    /// The outcomes of the branches of the present step.
    outcomes: Vec<bool>,
    /// Where in the path the branches of each step of the execution begin.
    steps: Vec<usize>,
    unknown: u64,
    coverage: Arc<Mutex<Coverage>>,
}

impl ConcolicInputs {
    /// A driver that leaves what it covered in `coverage` when it is dropped.
    pub fn new(coverage: Arc<Mutex<Coverage>>) -> ConcolicInputs {
        recorder::enter(Box::default());
        ConcolicInputs {
            assignment: Arc::default(),
            worker: 0,
            numbers: BTreeMap::new(),
            asked: Vec::new(),
            outcomes: Vec::new(),
            steps: Vec::new(),
            unknown: 0,
            coverage,
        }
    }
}

impl ConcolicInputs {
    /// The next input of the worker that steps: what the assignment has for it, as one that it can have.
    fn answer(&mut self, possible: impl FnOnce(Option<i64>) -> i64) -> i64 {
        let number = self.numbers.entry(self.worker).or_default();
        let key = (self.worker, *number);
        *number += 1;
        let known = self.assignment.get(&key).copied();
        let value = possible(known);
        if known != Some(value) {
            Arc::make_mut(&mut self.assignment).insert(key, value);
        }
        self.asked.push((key, value, with(|recorder| recorder.path().len())));
        value
    }

    /// The number for an input; `draw` answers if the assignment has none.
    pub(crate) fn input_or(&mut self, asked: Input<'_>, draw: impl FnOnce() -> i64) -> i64 {
        let value = self.answer(|known| asked.clamp(known.unwrap_or_else(draw)));
        let worker = self.worker;
        with(|recorder| {
            let variable = recorder.next_input(worker, asked.least, asked.most);
            recorder.answered(worker, asked.name, variable, value);
        });
        value
    }

    /// One of so many values, if the program follows what it gets; `draw` answers if the assignment has
    /// none.
    pub(crate) fn value_or(&mut self, of: u32, draw: impl FnOnce() -> u32) -> Option<u32> {
        let offer = with(Recorder::offered).filter(|offer| offer.count() == u64::from(of))?;
        let mut chosen = 0;
        let value = self.answer(|known| {
            chosen = known.map_or_else(draw, |known| offer.place_of(known));
            offer.at(chosen)
        });
        with(|recorder| recorder.accept(self.worker, &offer, value));
        Some(chosen)
    }

    /// The inputs of the execution, each with how long the path was when it was asked for.
    pub(crate) fn asked(&self) -> &[(Key, i64, usize)] {
        &self.asked
    }

    /// Where in the path the branches of each step begin.
    pub(crate) fn steps(&self) -> &[usize] {
        &self.steps
    }

    /// What the inputs that the solver has changed become in an assignment; `None` if it found none.
    pub(crate) fn changed(&mut self, answer: Answer, mut inputs: Assignment) -> Option<Assignment> {
        match answer {
            Answer::Inputs(changed) => {
                with(|recorder| {
                    for (variable, value) in changed {
                        if let Origin::Input { worker, number, .. } =
                            recorder.terms().origin(variable)
                        {
                            inputs.insert((*worker, *number), value);
                        }
                    }
                });
                Some(inputs)
            }
            Answer::Unsatisfiable => None,
            Answer::Unknown => {
                self.unknown += 1;
                None
            }
        }
    }
}

pub(crate) fn with<R>(body: impl FnOnce(&mut Recorder) -> R) -> R {
    let mut body = Some(body);
    let done = recorder::with(|recorder| body.take().map(|body| body(recorder)));
    match (done.flatten(), body) {
        (Some(result), _) => result,
        // Somebody has taken the recorder away: what follows is not recorded.
        (None, Some(body)) => body(&mut Recorder::default()),
        (None, None) => unreachable!("a body that was taken has run"),
    }
}

impl InputDriver for ConcolicInputs {
    type Assignment = Arc<Assignment>;

    fn assignment(&self) -> Arc<Assignment> {
        self.assignment.clone()
    }

    fn begin_execution(&mut self, with_inputs: Option<&Arc<Assignment>>, _again: usize) {
        self.assignment = with_inputs.cloned().unwrap_or_default();
        self.numbers.clear();
        self.asked.clear();
        self.steps.clear();
        with(Recorder::begin);
    }

    fn begin_step(&mut self, depth: usize, worker: WorkerId) {
        self.worker = worker.to_bits();
        self.outcomes.clear();
        let begins = with(|recorder| {
            recorder.step();
            recorder.path().len()
        });
        self.steps.truncate(depth);
        self.steps.resize(depth, begins);
        self.steps.push(begins);
    }

    fn input(&mut self, asked: Input<'_>) -> i64 {
        self.input_or(asked, || asked.given)
    }

    fn value(&mut self, of: u32) -> Option<u32> {
        self.value_or(of, || 0)
    }

    fn branches(&mut self) -> &[bool] {
        let outcomes = &mut self.outcomes;
        with(|recorder| {
            outcomes.clear();
            outcomes.extend(recorder.of_step().iter().filter_map(|branch| branch.outcome));
        });
        outcomes
    }

    fn flip(&mut self, depth: usize, branch: usize) -> Option<Arc<Assignment>> {
        let from = *self.steps.get(depth)?;
        let answer = with(|recorder| {
            let open = recorder.path()[from..].iter().enumerate();
            let mut open = open.filter(|(_, branch)| branch.outcome.is_some());
            let place = from + open.nth(branch)?.0;
            Some(recorder.flip(place))
        })?;
        if answer == Answer::Unsatisfiable {
            return None;
        }
        let inputs = (*self.assignment).clone();
        self.changed(answer, inputs).map(Arc::new)
    }
}

impl Drop for ConcolicInputs {
    fn drop(&mut self) {
        if let Some(recorder) = recorder::leave() {
            let mut coverage = self.coverage.lock().unwrap_or_else(PoisonError::into_inner);
            coverage.covered.merge(&recorder.covered());
            coverage.solved = recorder.solver().statistics;
            coverage.unknown += self.unknown;
        }
    }
}

/// Runs a program with inputs that are come to in this way: [`explore`] is depth first. Otherwise as many
/// schedules are run as the options say, with orders by their strategy.
pub fn search<P: Program + 'static>(
    program: Arc<P>,
    inputs: Inputs,
    options: Options,
    sink: Arc<dyn Sink>,
) -> (Report, Coverage) {
    match inputs {
        Inputs::DepthFirst => explore(program, options, sink),
        _ => guided(program, inputs, options, sink),
    }
}

/// Runs a program once for each class of orders and each feasible path of its inputs. The report says
/// which branches were covered, and what was not explored.
///
/// The strategy and the number of schedules of the options are not used.
pub fn explore<P: Program + 'static>(
    program: Arc<P>,
    options: Options,
    sink: Arc<dyn Sink>,
) -> (Report, Coverage) {
    let shared: Arc<Mutex<Coverage>> = Arc::default();
    let left = shared.clone();
    let mut report =
        reduction::explore_inputs(program, move || ConcolicInputs::new(left), options, sink);
    let coverage = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
    report.stated = Some(coverage.stated());
    report.notes.extend(coverage.holes());
    (report, coverage)
}
