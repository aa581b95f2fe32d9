//! Delta debugging: ddmin of Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
//! Input", on units that can be left out. A candidate that fails is replaced by the input that was
//! really run, if that is smaller: every accepted input was seen to fail.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::deadline::{Deadline, Stopwatch};

/// The wall-clock limit of a minimisation, for programs with slow steps.
const TIME: Duration = Duration::from_secs(20);

/// The cost of starting an execution, in steps.
pub(crate) const START: u64 = 16;

#[derive(Clone, Copy)]
pub(crate) struct Budget<'a> {
    /// How many steps all candidates together may take.
    pub(crate) steps: u64,
    /// When the time of the run is up, if it has one.
    pub(crate) deadline: Option<Deadline>,
    /// Set when the run is interrupted or its time is up: it also cuts candidates short.
    pub(crate) stop: &'a AtomicBool,
}

impl Budget<'_> {
    /// Whether the time is up or the run was interrupted.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_some_and(Deadline::is_past) || self.stop.load(Ordering::Relaxed)
    }
}

pub(crate) trait Subject {
    /// A part of an input that can be left out.
    type Unit: Clone;
    /// An input that was seen to fail.
    type Failure;
    /// Smaller is better.
    type Size: Ord;

    fn units(failure: &Self::Failure) -> &[Self::Unit];

    fn size(failure: &Self::Failure) -> Self::Size;

    /// Runs a candidate: how many steps it took, and the input really run if the cause is the same.
    fn run(
        &mut self,
        candidate: &[Self::Unit],
        best: &Self::Failure,
    ) -> (u64, Option<Self::Failure>);
}

pub(crate) struct Minimiser<'a, S: Subject> {
    pub(crate) subject: S,
    /// The smallest input that was seen to fail.
    pub(crate) best: S::Failure,
    budget: Budget<'a>,
    clock: Stopwatch,
    spent: u64,
    stopped: Option<&'static str>,
}

impl<'a, S: Subject> Minimiser<'a, S> {
    pub(crate) fn new(subject: S, first: S::Failure, budget: Budget<'a>) -> Minimiser<'a, S> {
        let clock = Stopwatch::start();
        Minimiser { subject, best: first, budget, clock, spent: 0, stopped: None }
    }

    /// Why the minimisation stopped before it was done, if it did.
    pub(crate) fn stopped(&self) -> Option<&'static str> {
        self.stopped
    }

    pub(crate) fn steps_left(&self) -> u64 {
        self.budget.steps.saturating_sub(self.spent)
    }

    pub(crate) fn spend(&mut self, steps: u64) {
        self.spent = self.spent.saturating_add(steps);
    }

    pub(crate) fn units(&self) -> &[S::Unit] {
        S::units(&self.best)
    }

    /// Runs these passes until none of them makes the input smaller.
    pub(crate) fn repeat(&mut self, mut passes: impl FnMut(&mut Self)) {
        while self.stopped.is_none() {
            let before = S::size(&self.best);
            passes(self);
            if S::size(&self.best) == before {
                break;
            }
        }
    }

    /// Runs a candidate and takes it if it fails in the same way and is smaller.
    pub(crate) fn accepts(&mut self, candidate: &[S::Unit]) -> bool {
        if self.spent >= self.budget.steps {
            self.stopped = Some("its budget of steps was used up");
        } else if self.budget.deadline.is_some_and(Deadline::is_past) {
            self.stopped = Some("the time was up");
        } else if self.budget.stop.load(Ordering::Relaxed) {
            self.stopped = Some("the run was interrupted");
        } else if self.clock.is_past(TIME) {
            self.stopped = Some("it took too long");
        }
        if self.stopped.is_some() {
            return false;
        }
        let (steps, failure) = self.subject.run(candidate, &self.best);
        self.spend(START.saturating_add(steps));
        match failure {
            Some(failure) if S::size(&failure) < S::size(&self.best) => {
                self.best = failure;
                true
            }
            _ => false,
        }
    }

    /// Tries to leave out runs of units, from runs of this length down to single units.
    pub(crate) fn leave_out_runs(&mut self, longest: usize) {
        let mut length = longest;
        while length > 0 && self.stopped.is_none() {
            // From the end, since later units depend on earlier ones.
            let mut end = self.units().len();
            while end > 0 && self.stopped.is_none() {
                let start = end.saturating_sub(length);
                let units = self.units();
                let candidate = [&units[..start], &units[end..]].concat();
                self.accepts(&candidate);
                end = start.min(self.units().len());
            }
            length = if length == 1 { 0 } else { length.div_ceil(2) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Fails if all of these numbers are in the input.
    struct Needs {
        numbers: Vec<u32>,
        runs: u64,
    }

    impl Subject for Needs {
        type Unit = u32;
        type Failure = Vec<u32>;
        type Size = usize;

        fn units(failure: &Vec<u32>) -> &[u32] {
            failure
        }

        fn size(failure: &Vec<u32>) -> usize {
            failure.len()
        }

        fn run(&mut self, candidate: &[u32], _best: &Vec<u32>) -> (u64, Option<Vec<u32>>) {
            self.runs += 1;
            let fails = self.numbers.iter().all(|number| candidate.contains(number));
            (candidate.len() as u64, fails.then(|| candidate.to_vec()))
        }
    }

    fn minimised(numbers: Vec<u32>, of: u32, steps: u64) -> (Vec<u32>, u64, Option<&'static str>) {
        let stop = AtomicBool::new(false);
        let budget = Budget { steps, deadline: None, stop: &stop };
        let mut minimiser = Minimiser::new(Needs { numbers, runs: 0 }, (0..of).collect(), budget);
        minimiser.repeat(|minimiser| minimiser.leave_out_runs(minimiser.units().len()));
        let stopped = minimiser.stopped();
        (minimiser.best, minimiser.subject.runs, stopped)
    }

    proptest! {
        #[test]
        fn only_what_the_failure_needs_is_left(
            numbers in prop::collection::btree_set(0..200u32, 0..10)
        ) {
            let numbers: Vec<u32> = numbers.into_iter().collect();
            let (left, _, stopped) = minimised(numbers.clone(), 200, u64::MAX);
            prop_assert_eq!(left, numbers);
            prop_assert_eq!(stopped, None);
        }
    }

    #[test]
    fn one_unit_of_a_thousand_is_found_by_halving() {
        assert_eq!(minimised(vec![700], 1000, u64::MAX), (vec![700], 22, None));
    }

    #[test]
    fn a_minimisation_without_budget_stops_with_what_it_has() {
        let (left, runs, stopped) = minimised(vec![0, 99], 100, 1);
        assert_eq!((left.len(), runs), (100, 1));
        assert_eq!(stopped, Some("its budget of steps was used up"));
    }
}
