//! The nearest schedule that does not fail: the shortest edit of a failing one after which no bug shows.
//!
//! An edit takes a step, with the steps that made it possible, before an earlier one. It is as long as the
//! pairs of steps whose order it changes. If no other order passes, another value may. What the edited schedule
//! leaves open is decided by taking turns, to the end of the program or for as many steps again.
//!
//! A loop has no such schedule unless the edited one comes to the end of the program: that what is waited for does
//! not happen for a while says nothing. Of a loop that taking turns leaves anyway only the loop itself is edited,
//! since before it nothing made a difference.

use dally_core::{BugKind, Choice, Edit, Finding, Nearest, Program, Tag};

use crate::causes::Causes;
use crate::executor::{End, Executor, Instruments, Limits, Recorder};
use crate::liveness::Loops;
use crate::minimise::{Budget, START};
use crate::record::RunDescription;
use crate::replay_strategy::{ReplayStrategy, Strictness};
use crate::shrink::is_shrinkable;

/// How many steps all edited schedules together may take.
const STEPS: u64 = 300_000;
/// The longest schedule that is edited: the edits of a longer one are too many.
const LONGEST: usize = 1_000;
/// How many steps an edited schedule may take beyond twice those of the failing one.
const BEYOND: usize = 100;

/// Gives a finding its nearest schedule that does not fail, if there is one within the budget.
pub(crate) fn nearest<P: Program>(
    executor: &mut Executor<'_, P>,
    finding: &mut Finding,
    description: &RunDescription,
    budget: Budget<'_>,
) {
    let kind = finding.bug.kind();
    let steps = finding.trace.steps.len();
    if !is_shrinkable(kind) || steps > LONGEST || budget.is_over() {
        return;
    }
    let limits = description.limits.to_follow(&finding.bug, None);
    let (max_steps, temperature, loops) = (usize::MAX, usize::MAX, Loops::Ignored);
    let limits = Limits { max_steps, temperature, loops, fail_on_max_steps: false, ..limits };
    let number = finding.found_at.saturating_sub(1);
    // What never happens in a loop, and that a monitor stays hot, can only be judged at an end.
    let must_end = matches!(kind, BugKind::Livelock | BugKind::HotAtEnd);
    let most = STEPS.min(budget.steps);
    if most == 0 {
        return;
    }
    let mut spent = 0;
    // Whether the program passes with these choices and then turns.
    let mut passes = |executor: &mut Executor<'_, P>, choices: &[Choice]| {
        let strictness = Strictness::TakingTurns(2 * steps + BEYOND);
        let mut replay = ReplayStrategy::new(choices, strictness, usize::MAX);
        let instruments = Instruments { halt: budget.stop, ..Instruments::uninterrupted() };
        let execution = executor.execute(number, &mut replay, &limits, instruments);
        spent += START + execution.steps as u64;
        let ends = execution.end == End::Complete;
        let told = execution.bug.is_none() && execution.end != End::Halted;
        ((told && (ends || !must_end)).then_some(ends), spent)
    };
    let stem = finding.lasso.as_ref().map(|lasso| lasso.stem);
    let from = stem.filter(|_| passes(executor, &finding.schedule.choices).0.is_some());
    let mut total = 0;
    for edit in edits(finding).filter(|edit| from.is_none_or(|from| edit.step() > from)) {
        if total >= most || budget.is_over() {
            return;
        }
        let choices = edit.applied_to(&finding.schedule.choices);
        let (passes, spent) = passes(executor, &choices);
        total = spent;
        let Some(ends) = passes else { continue };
        let passing = executor.writer.choices();
        if !follows(&passing, &choices, &edit) {
            continue;
        }
        let replay = ReplayStrategy::new(&passing, Strictness::Exact, usize::MAX);
        let uninterrupted = Instruments::uninterrupted();
        let again = executor.follow(Recorder::full(), number, replay, &limits, uninterrupted);
        if again.left_at.is_some() || again.recording.execution.bug.is_some() {
            continue;
        }
        finding.nearest = Some(Nearest {
            edit,
            choices: again.recording.choices,
            trace: again.recording.trace,
            ends,
        });
        return;
    }
}

/// Whether an execution has taken the steps of an edited schedule up to the end of the edit. What made a step
/// possible need not be told, and an edit that puts it first cannot be followed then.
fn follows(taken: &[Choice], edited: &[Choice], edit: &Edit) -> bool {
    let up_to = match edit {
        Edit::Order { steps, before } => before - 1 + steps.len(),
        Edit::Value { step, .. } => *step,
    };
    let workers = |choices: &[Choice]| -> Vec<Choice> {
        let workers = choices.iter().filter(|choice| matches!(choice, Choice::Worker(_)));
        workers.take(up_to).copied().collect()
    };
    workers(taken) == workers(edited)
}

/// The edits of a finding's schedule, the shortest first: other orders, then other values, then faults that do
/// not happen. Of edits of the same length the one nearest to the bug is first.
fn edits(finding: &Finding) -> impl Iterator<Item = Edit> + use<> {
    let causes = Causes::of(&finding.trace);
    let mut orders = orders(finding, &causes);
    orders.sort_by_key(|order| (order.length, std::cmp::Reverse((order.early, order.late))));
    let orders = orders.into_iter().map(move |order| order.edit(&causes));
    let (faults, values): (Vec<Edit>, Vec<Edit>) =
        values(&finding.schedule.choices).into_iter().rev().partition(|edit| {
            matches!(edit, Edit::Value { was: Choice::Value { tag: Tag::Fault, .. }, .. })
        });
    orders.chain(values).chain(faults)
}

/// A step that comes after an earlier one and could have come before it, both from 0.
struct Order {
    early: usize,
    late: usize,
    /// How many pairs of steps change their order.
    length: usize,
}

impl Order {
    fn edit(&self, causes: &Causes) -> Edit {
        let moved = causes.past(self.late).into_iter().filter(|&at| at > self.early);
        Edit::Order { steps: moved.map(|at| at + 1).collect(), before: self.early + 1 }
    }
}

fn orders(finding: &Finding, causes: &Causes) -> Vec<Order> {
    let trace = &finding.trace;
    let mut orders = Vec::new();
    for late in 0..trace.steps.len() {
        let needed = causes.past(late);
        let ordered = trace.past(&[late]);
        for early in 0..late {
            let other = trace.steps[early].worker != trace.steps[late].worker;
            if other && ordered[early] && needed.binary_search(&early).is_err() {
                let moved = &needed[needed.partition_point(|&at| at < early)..];
                // Each of these changes its order with all that are not moved in between.
                let length = moved.iter().zip(0..).map(|(at, before)| at - early - before).sum();
                orders.push(Order { early, late, length });
            }
        }
    }
    orders
}

/// Each value of a choice that was not taken.
fn values(choices: &[Choice]) -> Vec<Edit> {
    /// The most other values of one choice that are tried.
    const MOST: u32 = 8;
    let mut edits = Vec::new();
    let (mut step, mut within) = (0, 0);
    for &was in choices {
        match was {
            Choice::Worker(_) => (step, within) = (step + 1, 0),
            Choice::Value { index, of, tag } => {
                let others = match tag {
                    // A fault that happens instead of another is not what a reader asks for.
                    Tag::Fault => 0..u32::from(index > 0),
                    Tag::Program => 0..of.min(MOST),
                };
                for other in others.filter(|&other| other != index) {
                    let instead = Choice::Value { index: other, of, tag };
                    edits.push(Edit::Value { step, choice: within, was, instead });
                }
                within += 1;
            }
            Choice::Delivery(_) | Choice::Input(_) => within += 1,
        }
    }
    edits
}
