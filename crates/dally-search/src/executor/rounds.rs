//! Loops that an execution has closed, gone round again to see whether they repeat.
//!
//! The execution itself takes the rounds, by the choices that were made the first time. Messages
//! have other identities in every round, but the same places among the candidates. If a round
//! differs, there was no loop, and the execution goes on from where the round has led it.

use std::sync::atomic::Ordering;

use dally_core::{Acceptance, Lasso, System, WorkerId};

use super::bugs::livelock;
use super::live::{Conclusion, Failure, HotMonitor, LiveExecution};
use super::{End, Limits, blame};
use crate::liveness::{Loop, Loops};

/// The rounds of a loop whose states are compared whole. One would do.
const WHOLE: usize = 2;

/// The rounds of a loop of which only observations repeat. A part of the state that they leave out
/// may still change, such as a counter of attempts.
const OBSERVED: usize = 100;

/// A long loop is gone round at least so often, but otherwise for at most this many steps.
const AT_LEAST: usize = 10;
const STEPS: usize = 10_000;

/// The rounds after which a loop counts as one.
fn usual(closed: &Loop) -> usize {
    if closed.whole { WHOLE } else { (STEPS / closed.steps.len()).clamp(AT_LEAST, OBSERVED) }
}

pub(super) enum LoopCheck {
    /// The execution has ended: every round was the same, or another bug came first.
    Concluded(Conclusion),
    /// This round differs, in this way.
    Diverged(String),
}

impl LiveExecution<'_> {
    /// Logs the present state, and goes round the loop that it closes if that may be a bug.
    #[inline(never)]
    pub(super) fn look<S: System>(&mut self, system: &mut S, now: Acceptance) -> Option<LoopCheck> {
        let (steps, loops) = (self.env.steps, self.limits.loops);
        self.env.loop_detector.arrive(system, now, steps, steps - self.env.values);
        if matches!(loops, Loops::AtEnd { .. }) {
            return None;
        }
        let closed = self.closed(system)?;
        Some(self.go_round(&closed, usual(&closed), system))
    }

    /// The loop that the present state closes, if it is a bug under the limits.
    fn closed<S: System>(&mut self, system: &S) -> Option<Loop> {
        let Limits { loops, fairness, blamed, .. } = *self.limits;
        self.env.loop_detector.closed(loops, fairness, |monitor| {
            blamed.is_none_or(|name| name == blame(&system.monitor(monitor).0))
        })
    }

    /// Goes round the loop that a recording ends with.
    pub(super) fn look_at_end<S: System>(&mut self, system: &mut S) -> Option<LoopCheck> {
        let Loops::AtEnd { rounds, .. } = self.limits.loops else { return None };
        let Some(closed) = self.closed(system) else {
            let how = "the steps no longer lead back to where they began while a monitor waits";
            return Some(LoopCheck::Diverged(how.into()));
        };
        // At least one round, since it shows the states of the monitor.
        let rounds = rounds.map_or(usual(&closed), |rounds| rounds as usize).max(1);
        Some(self.go_round(&closed, rounds, system))
    }

    fn go_round<S: System>(&mut self, closed: &Loop, rounds: usize, system: &mut S) -> LoopCheck {
        let before = self.env.steps;
        let mut states = vec![system.monitor(closed.monitor).1];
        // The bug of a monitor that became too hot in a round. It counts if there is no loop.
        let mut overheated = None;
        for round in 1..=rounds {
            for step in closed.steps.clone() {
                let check = self.go_on(closed, step, &mut states, round, &mut overheated, system);
                if let Err(check) = check {
                    return self.in_vain(before, check, overheated);
                }
            }
            if !self.env.loop_detector.owes_nothing() {
                let how = "a message that could be taken again and again is never taken";
                return self.in_vain(before, LoopCheck::Diverged(how.into()), overheated);
            }
        }
        let (monitor, _) = system.monitor(closed.monitor);
        let worst: Vec<String> = (closed.steps.clone().zip(&states[1..]))
            .filter(|(step, _)| {
                !closed.visits || self.env.loop_detector.is_visited(step + 1, closed.monitor)
            })
            .map(|(_, state)| state.clone())
            .collect();
        let bug = livelock(&monitor, &worst, closed.visits, closed.steps.len());
        let at = self.env.loop_detector.choices(closed.steps.end);
        let values = at - (closed.stem + closed.steps.len());
        let (stem, whole) = (closed.stem, closed.whole);
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        self.env.loop_detector.end_rounds(0);
        let lasso = Some(Lasso { stem, monitor, states, rounds, whole });
        LoopCheck::Concluded(Conclusion::Failed(Box::new(Failure {
            bug,
            at: Some((at, values)),
            lasso,
        })))
    }

    /// Ends rounds that showed no loop. Unless the run halts, a too hot monitor is the bug.
    fn in_vain(
        &mut self,
        before: usize,
        check: LoopCheck,
        overheated: Option<Conclusion>,
    ) -> LoopCheck {
        let steps = self.env.steps - before;
        self.env.loop_detector.end_rounds(steps);
        let halted = matches!(check, LoopCheck::Concluded(Conclusion::Ended(End::Halted)));
        overheated.filter(|_| !halted).map_or(check, LoopCheck::Concluded)
    }

    /// Takes one step of the loop again. The first round records the monitor's states.
    fn go_on<S: System>(
        &mut self,
        closed: &Loop,
        step: usize,
        states: &mut Vec<String>,
        round: usize,
        overheated: &mut Option<Conclusion>,
        system: &mut S,
    ) -> Result<(), LoopCheck> {
        if self.halt.load(Ordering::Relaxed) {
            return Err(LoopCheck::Concluded(Conclusion::Ended(End::Halted)));
        }
        let number = step - closed.steps.start + 1;
        let astray = |what: &str| {
            let length = closed.steps.len();
            LoopCheck::Diverged(format!("in round {round}, at step {number} of {length}, {what}"))
        };
        let worker = self.env.loop_detector.worker(step);
        let known = self.env.loop_detector.enabled(step);
        if known != system.enabled() {
            return Err(astray(&others(known, system.enabled())));
        }
        let steps = self.env.steps;
        self.env.loop_detector.again(step);
        let now = match self.step(worker, system) {
            Ok(now) => now,
            Err(conclusion) => {
                // After the end of its recording a replay cuts every step that asks something.
                let how = self.env.loop_detector.strayed().filter(|_| self.env.cut.is_some());
                return Err(how.map_or(LoopCheck::Concluded(conclusion), |how| astray(&how)));
            }
        };
        // What has to be confirmed is suspected once more by the step after the rounds.
        if let Some(HotMonitor { bug, .. }) = self.heat(now, steps, system)
            && overheated.is_none()
            && self.limits.confirm_temperature == 0
        {
            let at = Some((self.env.steps, self.env.values));
            *overheated = Some(Conclusion::Failed(Box::new(Failure { bug, at, lasso: None })));
        }
        if let Some(how) = self.env.loop_detector.strayed() {
            let name = system.name(worker);
            return Err(astray(&format!("{name} ({worker}) {how}")));
        }
        if !self.env.loop_detector.is_again(step + 1, system, now) {
            return Err(astray("the state after it is another"));
        }
        let (_, state) = system.monitor(closed.monitor);
        match states.get(number) {
            None if number == closed.steps.len() && state != states[0] => {
                return Err(astray(&format!(
                    "the monitor ends in {state} and began in {}",
                    states[0]
                )));
            }
            None => states.push(state),
            Some(known) if *known == state => {}
            Some(known) => {
                return Err(astray(&format!("the monitor goes to {state} and not to {known}")));
            }
        }
        Ok(())
    }
}

/// How two sets of workers that can step differ.
fn others(known: &[WorkerId], now: &[WorkerId]) -> String {
    let gone = known.iter().find(|worker| !now.contains(worker));
    let new = now.iter().find(|worker| !known.contains(worker));
    match (gone, new) {
        (Some(gone), _) => format!("worker {gone} cannot step any more"),
        (None, Some(new)) => format!("worker {new} can step, too"),
        (None, None) => "the same workers can step in another order".into(),
    }
}
