//! The search through all paths: answers the inputs of executions, and says which other outcomes of
//! their branches are feasible.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dally_core::report::Report;
use dally_core::words::count;
use dally_core::{Input, Program, WorkerId};
use dally_search::reduction::{self, InputDriver};
use dally_search::{Options, Sink};

use crate::recorder::{self, Covered, Pinned, Recorder};
use crate::solver::{Answer, Statistics};
use crate::terms::Origin;

/// What a search has covered so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Branches both ways, and what was kept at observed values.
    pub covered: Covered,
    /// How the questions for inputs were answered.
    pub solved: Statistics,
    /// How many outcomes were not tried because the solver did not find out whether they are feasible.
    pub unknown: u64,
}

/// The inputs of an execution: by worker and number.
type Assignment = BTreeMap<(u64, u32), i64>;

/// Answers inputs so that every feasible path is taken.
///
/// It records on the thread that made it, and there is one on a thread at a time.
#[derive(Debug)]
pub struct ConcolicInputs {
    assignment: Arc<Assignment>,
    worker: u64,
    numbers: BTreeMap<u64, u32>,
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
        value
    }
}

fn with<R>(body: impl FnOnce(&mut Recorder) -> R) -> R {
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
        let value = self.answer(|known| known.map_or(asked.given, |known| asked.clamp(known)));
        let worker = self.worker;
        with(|recorder| {
            let variable = recorder.next_input(worker, asked.least, asked.most);
            recorder.answered(worker, asked.name, variable, value);
        });
        value
    }

    fn value(&mut self, of: u32) -> Option<u32> {
        let offer = with(Recorder::offered).filter(|offer| offer.count() == u64::from(of))?;
        let mut chosen = 0;
        let value = self.answer(|known| {
            chosen = known.map_or(0, |known| offer.place_of(known));
            offer.at(chosen)
        });
        with(|recorder| recorder.accept(self.worker, &offer, value));
        Some(chosen)
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
        let assignment = &mut self.assignment;
        let unknown = &mut self.unknown;
        with(|recorder| {
            let open = recorder.path()[from..].iter().enumerate();
            let mut open = open.filter(|(_, branch)| branch.outcome.is_some());
            let place = from + open.nth(branch)?.0;
            match recorder.flip(place) {
                Answer::Inputs(changed) => {
                    let mut inputs = (**assignment).clone();
                    for (variable, value) in changed {
                        if let Origin::Input { worker, number, .. } =
                            recorder.terms().origin(variable)
                        {
                            inputs.insert((*worker, *number), value);
                        }
                    }
                    Some(Arc::new(inputs))
                }
                Answer::Unsatisfiable => None,
                Answer::Unknown => {
                    *unknown += 1;
                    None
                }
            }
        })
    }
}

impl Drop for ConcolicInputs {
    fn drop(&mut self) {
        if let Some(recorder) = recorder::leave() {
            let mut coverage = self.coverage.lock().unwrap_or_else(PoisonError::into_inner);
            coverage.covered.merge(&recorder.covered);
            coverage.solved = recorder.solver().statistics;
            coverage.unknown += self.unknown;
        }
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

impl Coverage {
    fn stated(&self) -> String {
        let branches = &self.covered.branches;
        let both = branches.values().filter(|&&(no, yes)| no && yes).count();
        match branches.len() {
            0 => "no branch depends on inputs".to_owned(),
            1 => format!("1 branch on inputs, {both} taken both ways"),
            all => format!("{all} branches on inputs, {both} taken both ways"),
        }
    }

    /// What was not explored, a sentence each.
    fn holes(&self) -> Vec<String> {
        let mut holes = Vec::new();
        let mut by_reason: BTreeMap<Pinned, (u64, Vec<String>)> = BTreeMap::new();
        for (&(place, why), &times) in &self.covered.pinned {
            let known = by_reason.entry(why).or_default();
            known.0 += times;
            known.1.push(place.to_string());
        }
        for (why, (times, mut places)) in by_reason {
            places.dedup();
            let further = places.len().saturating_sub(MOST_PLACES);
            places.truncate(MOST_PLACES);
            let mut at = match why {
                Pinned::Plain => String::new(),
                _ => format!(" at {}", places.join(", ")),
            };
            if further > 0 {
                at += &format!(" and {}", count(further as u64, "further place"));
            }
            let numbers = count(times, "number");
            let were = if times == 1 { "was" } else { "were" };
            holes.push(format!("{numbers} {were} followed for the observed value only: {why}{at}"));
        }
        if self.unknown > 0 {
            holes.push(format!(
                "{} not tried: the solver did not find out whether inputs lead there",
                match self.unknown {
                    1 => "1 outcome of a branch was".to_owned(),
                    many => format!("{many} outcomes of branches were"),
                }
            ));
        }
        holes
    }
}

/// More places than this are counted and not named.
const MOST_PLACES: usize = 5;
