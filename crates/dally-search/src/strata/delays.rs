//! Schedules in delays: how few will do for a bug.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dally_core::{Bug, Cause, Choice, Delays, Program};

use super::delaying::{ChoiceSource, Delaying, Place};
use super::explorer::Explorer;
use crate::choice_log::ChoiceWriter;
use crate::deadline::Stopwatch;
use crate::executor::{Desk, Execution, Limits, Stage};
use crate::shrink::{Budget, START, TIME};

/// The schedule with the fewest delays under an explorer that is found near `choices`, which
/// fail with `cause`. `None` if they do not, or cannot be had from this explorer.
///
/// Delays are left out as long as the same bug shows: first many at once, then one by one, then
/// two for one elsewhere.
pub(crate) fn fewest<P: Program, E: Explorer>(
    stage: &mut Stage<'_, P>,
    explorer: &E,
    choices: &[Choice],
    cause: Cause,
    limits: &Limits,
    budget: Budget<'_>,
    writer: &mut ChoiceWriter,
) -> Option<(Vec<Choice>, Delays)> {
    let recording: Arc<[Choice]> = choices.into();
    let mut strategy = Delaying::new(explorer, ChoiceSource::Recording(recording));
    let limits = Limits { temperature: usize::MAX, fail_on_max_steps: false, ..*limits };
    let execution = stage.execute(0, &mut strategy, &limits, Desk::undisturbed(writer));
    if !fails_with(&execution, &cause) {
        return None;
    }
    let (spent, delays) = strategy.finish().ok()?;
    // What takes a few delays less but goes on for ever is no better story.
    let max_steps = limits.max_steps.min(execution.steps.saturating_mul(4).saturating_add(64));
    let best = FewestDelays { spent, delays, choices: writer.choices(), steps: execution.steps };
    let limits = Limits { max_steps, loops: limits.loops.loosely(), ..limits };
    let clock = Stopwatch::start();
    let used = START + execution.steps as u64;
    let mut reducer =
        DelayReducer { stage, explorer, cause, limits, budget, writer, best, clock, used };
    loop {
        let before = (reducer.best.delays.count, reducer.best.steps);
        reducer.leave_out();
        reducer.lower_values();
        if (reducer.best.delays.count, reducer.best.steps) == before && !reducer.two_for_one() {
            break;
        }
    }
    Some((reducer.best.choices, reducer.best.delays))
}

fn fails_with(execution: &Execution, cause: &Cause) -> bool {
    execution.bug.as_ref().map(Bug::cause).as_ref() == Some(cause)
}

/// The execution with the fewest delays so far, and of these the shortest.
struct FewestDelays {
    spent: Vec<(Place, u32)>,
    delays: Delays,
    choices: Vec<Choice>,
    /// Values count.
    steps: usize,
}

struct DelayReducer<'a, 'p, P: Program, E: Explorer> {
    stage: &'a mut Stage<'p, P>,
    explorer: &'a E,
    cause: Cause,
    limits: Limits,
    budget: Budget<'a>,
    writer: &'a mut ChoiceWriter,
    best: FewestDelays,
    clock: Stopwatch,
    /// Steps taken in all.
    used: u64,
}

impl<P: Program, E: Explorer> DelayReducer<'_, '_, P, E> {
    fn is_out(&self) -> bool {
        self.used >= self.budget.steps
            || self.budget.hurry.load(Ordering::Relaxed)
            || self.clock.is_past(TIME)
    }

    /// Runs with these delays; takes the execution if it fails in the same way and is better.
    fn accepts(&mut self, spending: impl IntoIterator<Item = (Place, u32)>) -> bool {
        if self.is_out() {
            return false;
        }
        let mut left: BTreeMap<Place, u32> = BTreeMap::new();
        for (place, delays) in spending {
            *left.entry(place).or_default() += delays;
        }
        let mut strategy = Delaying::new(self.explorer, ChoiceSource::Spending(left));
        let desk = Desk::undisturbed(self.writer);
        let execution = self.stage.execute(0, &mut strategy, &self.limits, desk);
        self.used += START + execution.steps as u64;
        if !fails_with(&execution, &self.cause) {
            return false;
        }
        let Ok((spent, delays)) = strategy.finish() else { return false };
        let steps = execution.steps;
        let better = (delays.count, steps) < (self.best.delays.count, self.best.steps);
        if better {
            self.best = FewestDelays { spent, delays, choices: self.writer.choices(), steps };
        }
        better
    }

    /// Tries to do without runs of delays, from all of them down to single ones.
    fn leave_out(&mut self) {
        let mut length = self.best.spent.len();
        while length > 0 && !self.is_out() {
            // From the end: later delays depend on earlier ones, not the other way round.
            let mut end = self.best.spent.len();
            while end > 0 && !self.is_out() {
                let start = end.saturating_sub(length);
                let spent = &self.best.spent;
                let rest = [&spent[..start], &spent[end..]].concat();
                self.accepts(rest);
                end = start.min(self.best.spent.len());
            }
            length = if length == 1 { 0 } else { length.div_ceil(2) };
        }
    }

    /// Tries lower values where leaving out the whole value did not do.
    fn lower_values(&mut self) {
        let mut at = 0;
        while at < self.best.spent.len() && !self.is_out() {
            let delays = self.best.spent[at].1;
            for lower in [delays / 2, delays.saturating_sub(1)] {
                let mut candidate = self.best.spent.clone();
                candidate[at].1 = lower;
                if (1..delays).contains(&lower) && self.accepts(candidate) {
                    break;
                }
            }
            at += 1;
        }
    }

    /// Tries one delay anywhere for two that follow each other. That is a run for every step, so
    /// it is left alone where it would eat up the budget.
    fn two_for_one(&mut self) -> bool {
        let pairs = self.best.spent.len().saturating_sub(1) as u64;
        let runs = pairs.saturating_mul(self.best.steps as u64);
        let cost = runs.saturating_mul(START + self.best.steps as u64);
        if cost > self.budget.steps.saturating_sub(self.used) {
            return false;
        }
        let spent = self.best.spent.clone();
        for pair in 1..spent.len() {
            let rest = [&spent[..pair - 1], &spent[pair + 1..]].concat();
            // Without the two, to see where the explorer then goes.
            if self.accepts(rest.iter().copied()) {
                return true;
            }
            for place in places(&self.writer.choices()) {
                if self.accepts(rest.iter().copied().chain([(place, 1)])) {
                    return true;
                }
            }
        }
        false
    }
}

/// The places at which workers took their steps: where they could have been late instead.
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
