//! Schedules with as few delays as possible.

use std::collections::BTreeMap;
use std::sync::Arc;

use dally_core::{Bug, Cause, Choice, Delays, Player, Program};

use super::delaying::{ChoiceSource, Delaying, Inputs, Place};
use super::explorer::Explorer;
use crate::executor::{Execution, Executor, Instruments, Limits};
use crate::minimise::{Budget, Minimiser, START, Subject};

/// The schedule with the fewest delays under an explorer that is found near `choices`, which fail
/// with `cause`. `None` if they do not, or if this explorer cannot give them.
///
/// Delays are left out as long as the same bug shows: first many at once, then one by one, then two
/// are replaced by one elsewhere.
pub(crate) fn fewest<P: Program, E: Explorer>(
    executor: &mut Executor<'_, P>,
    explorer: &E,
    choices: &[Choice],
    cause: Cause,
    limits: &Limits,
    budget: Budget<'_>,
) -> Option<(Vec<Choice>, Delays)> {
    let recording: Arc<[Choice]> = choices.into();
    let mut strategy = Delaying::new(explorer, ChoiceSource::Recording(Player::new(recording)));
    let limits = Limits { temperature: usize::MAX, fail_on_max_steps: false, ..*limits };
    let execution = executor.execute(0, &mut strategy, &limits, Instruments::uninterrupted());
    if !fails_with(&execution, &cause) {
        return None;
    }
    let inputs = strategy.inputs().clone();
    let (spent, delays) = strategy.finish().ok()?;
    // A much longer schedule is no better for a few delays less.
    let max_steps = limits.max_steps.min(execution.steps.saturating_mul(4).saturating_add(64));
    let choices = executor.writer.choices();
    let best = FewestDelays { spent, delays, choices, steps: execution.steps };
    let limits = Limits { max_steps, loops: limits.loops.loosely(), ..limits };
    let subject = Candidates { executor, explorer, inputs, cause, limits };
    let mut minimiser = Minimiser::new(subject, best, budget);
    minimiser.spend(START + execution.steps as u64);
    minimiser.repeat(|minimiser| {
        let before = minimiser.best.size();
        minimiser.leave_out_runs(minimiser.units().len());
        minimiser.lower_values();
        if minimiser.best.size() == before {
            minimiser.two_for_one();
        }
    });
    Some((minimiser.best.choices, minimiser.best.delays))
}

fn fails_with(execution: &Execution, cause: &Cause) -> bool {
    execution.bug.as_ref().map(Bug::cause).as_ref() == Some(cause)
}

/// The execution with the fewest delays so far, and of these the shortest.
struct FewestDelays {
    spent: Vec<(Place, u32)>,
    delays: Delays,
    choices: Vec<Choice>,
    /// How many choices it has; values count.
    steps: usize,
}

impl FewestDelays {
    fn size(&self) -> (u64, usize) {
        (self.delays.count, self.steps)
    }
}

/// Runs candidates: by the explorer, with delays at these places.
struct Candidates<'a, 'p, P: Program, E: Explorer> {
    executor: &'a mut Executor<'p, P>,
    explorer: &'a E,
    inputs: Inputs,
    cause: Cause,
    limits: Limits,
}

impl<P: Program, E: Explorer> Subject for Candidates<'_, '_, P, E> {
    type Unit = (Place, u32);
    type Failure = FewestDelays;
    type Size = (u64, usize);

    fn units(failure: &FewestDelays) -> &[(Place, u32)] {
        &failure.spent
    }

    fn size(failure: &FewestDelays) -> (u64, usize) {
        failure.size()
    }

    fn run(
        &mut self,
        candidate: &[(Place, u32)],
        _best: &FewestDelays,
    ) -> (u64, Option<FewestDelays>) {
        let mut left: BTreeMap<Place, u32> = BTreeMap::new();
        for &(place, delays) in candidate {
            *left.entry(place).or_default() += delays;
        }
        let strategy = Delaying::new(self.explorer, ChoiceSource::Spending(left));
        let mut strategy = strategy.with_inputs(self.inputs.clone());
        let instruments = Instruments::uninterrupted();
        let execution = self.executor.execute(0, &mut strategy, &self.limits, instruments);
        let steps = execution.steps;
        let failure = fails_with(&execution, &self.cause).then(|| strategy.finish().ok());
        let failure = failure.flatten().map(|(spent, delays)| FewestDelays {
            spent,
            delays,
            choices: self.executor.writer.choices(),
            steps,
        });
        (steps as u64, failure)
    }
}

impl<P: Program, E: Explorer> Minimiser<'_, Candidates<'_, '_, P, E>> {
    /// Tries lower values where the value could not be left out.
    fn lower_values(&mut self) {
        let mut at = 0;
        while at < self.best.spent.len() && self.stopped().is_none() {
            let delays = self.best.spent[at].1;
            for lower in [delays / 2, delays.saturating_sub(1)] {
                let mut candidate = self.best.spent.clone();
                candidate[at].1 = lower;
                if (1..delays).contains(&lower) && self.accepts(&candidate) {
                    break;
                }
            }
            at += 1;
        }
    }

    /// Tries one delay anywhere instead of two that follow each other. That takes a run for every
    /// step, so it is not tried if it would use up the budget.
    fn two_for_one(&mut self) {
        let pairs = self.best.spent.len().saturating_sub(1) as u64;
        let runs = pairs.saturating_mul(self.best.steps as u64);
        let cost = runs.saturating_mul(START + self.best.steps as u64);
        if cost > self.steps_left() {
            return;
        }
        let spent = self.best.spent.clone();
        for pair in 1..spent.len() {
            let mut candidate = [&spent[..pair - 1], &spent[pair + 1..]].concat();
            // Without the two first, which shows where the explorer goes then.
            if self.accepts(&candidate) {
                return;
            }
            for place in places(&self.subject.executor.writer.choices()) {
                candidate.push((place, 1));
                if self.accepts(&candidate) {
                    return;
                }
                candidate.pop();
            }
        }
    }
}

/// The places at which workers took steps, and can be delayed.
fn places(choices: &[Choice]) -> Vec<Place> {
    let mut taken = BTreeMap::new();
    let mut places = Vec::new();
    for choice in choices {
        if let Choice::Worker(worker) = *choice {
            let steps = taken.entry(worker).or_insert(0);
            places.push(Place::before(worker, *steps));
            *steps += 1;
        }
    }
    places
}

#[cfg(test)]
mod tests;
