//! An execution under way: its steps, how hot its monitors are, and why it ends.

use std::sync::atomic::AtomicBool;

use dally_core::{Acceptance, Bug, Lasso, Stop, System, WorkerId};

use super::bugs::{endless, too_hot};
use super::env::{CutReason, StepEnv};
use super::{End, Limits};
use crate::liveness::bits;

pub(super) enum Conclusion {
    Ended(End),
    Failed(Box<Failure>),
}

pub(super) struct Failure {
    pub(super) bug: Bug,
    /// The choices and the values among them up to the bug, if the execution has gone on since.
    pub(super) at: Option<(usize, usize)>,
    pub(super) lasso: Option<Lasso>,
}

impl Conclusion {
    pub(super) fn failed(bug: Bug) -> Conclusion {
        Conclusion::Failed(Box::new(Failure { bug, at: None, lasso: None }))
    }
}

/// A monitor that has been hot for longer than the bound, for so many steps.
pub(super) struct HotMonitor {
    pub(super) bug: Bug,
    pub(super) monitor: usize,
    pub(super) hot: usize,
}

pub(super) struct LiveExecution<'a> {
    pub(super) env: StepEnv<'a>,
    pub(super) limits: &'a Limits,
    pub(super) halt: &'a AtomicBool,
    /// Whether the strategy is fair from here on.
    pub(super) fair: bool,
    pub(super) temperatures: Temperatures,
    /// For how many steps a monitor may be hot, by the backlog that was last looked at.
    pub(super) too_hot_after: usize,
    /// The monitors that have been hot since the step bound was reached.
    pub(super) overdue: Option<u64>,
}

impl LiveExecution<'_> {
    #[inline(always)]
    pub(super) fn step<S: System>(
        &mut self,
        worker: WorkerId,
        system: &mut S,
    ) -> Result<Acceptance, Conclusion> {
        self.env.step(worker, system);
        let stepped = system.step(worker, &mut self.env);
        if let Some(recorder) = self.env.recorder.as_deref_mut() {
            recorder.stepped(worker, system);
        }
        if stepped.is_err() || self.env.cut.is_some() {
            return Err(match (self.env.cut, stepped) {
                (Some(CutReason::Endless), _) if self.limits.long_steps_end => {
                    Conclusion::Ended(End::StepBound)
                }
                (Some(CutReason::Endless), _) => {
                    Conclusion::failed(endless(system, worker, self.limits.step_items))
                }
                (_, Err(Stop::Bug(bug))) => Conclusion::failed(bug.in_step_of(worker)),
                (Some(CutReason::Strategy(why)), _) => Conclusion::Ended(why.into()),
                (None, _) => Conclusion::Ended(End::Strategy),
            });
        }
        Ok(system.acceptance())
    }

    /// Updates the temperatures after a step that began after `steps`.
    #[inline]
    pub(super) fn heat<S: System>(
        &mut self,
        now: Acceptance,
        steps: usize,
        system: &S,
    ) -> Option<HotMonitor> {
        let temperatures = &mut self.temperatures;
        let hot = now.waiting();
        if !self.fair || (hot | temperatures.hot) == 0 {
            return None;
        }
        let passed = self.env.steps - steps;
        let monitor = temperatures.rise(hot, passed, self.too_hot_after)?;
        // The backlog may have grown since it was last looked at.
        self.too_hot_after = self.limits.least_hot(system.backlog());
        let hot = temperatures.steps[monitor];
        (hot > self.too_hot_after).then(|| {
            // A replay goes by this bound alone, so no earlier step may exceed it.
            let bound = self.too_hot_after.max(hot - passed);
            HotMonitor { bug: too_hot(system, monitor, bound), monitor, hot }
        })
    }

    /// Whether the execution goes on although it has as many steps as a schedule may have: it is fair,
    /// and a monitor has been hot all the time since the step bound.
    #[cold]
    pub(super) fn goes_on(&mut self, now: Acceptance) -> bool {
        let hot = now.waiting();
        let overdue = self.overdue.map_or(hot, |overdue| overdue & hot);
        self.overdue = Some(overdue);
        let hot = bits(overdue).map(|monitor| self.temperatures.steps[monitor as usize]).max();
        self.fair && hot.is_some_and(|hot| self.env.steps < self.limits.longest(hot))
    }
}

/// For how many steps without a break each monitor has been hot.
pub(super) struct Temperatures {
    hot: u64,
    steps: [usize; 64],
}

impl Temperatures {
    pub(super) fn new() -> Temperatures {
        Temperatures { hot: 0, steps: [0; 64] }
    }

    /// Counts `passed` more steps; returns the first monitor that exceeds the bound.
    fn rise(&mut self, hot: u64, passed: usize, bound: usize) -> Option<usize> {
        let mut exceeded = None;
        let mut touched = hot | self.hot;
        while touched != 0 {
            let monitor = touched.trailing_zeros() as usize;
            touched &= touched - 1;
            let steps = &mut self.steps[monitor];
            *steps = if hot >> monitor & 1 == 1 { *steps + passed } else { 0 };
            if *steps > bound {
                exceeded = exceeded.or(Some(monitor));
            }
        }
        self.hot = hot;
        exceeded
    }
}
