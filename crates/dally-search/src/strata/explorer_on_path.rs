//! An explorer along the path of an execution.

use dally_core::{Event, System, Text, WorkerId, fingerprint};

use super::explorer::{Explorer, Stepped};

/// An explorer along the path of an execution: it is told what its contract says.
#[derive(Debug)]
pub(crate) struct ExplorerOnPath<E> {
    explorer: E,
    /// The workers that have started and have not finished, sorted.
    known: Vec<WorkerId>,
}

impl<E: Explorer> ExplorerOnPath<E> {
    /// At the first state of an execution. Its workers start in the order of their ids, timers and
    /// the fault injector last: otherwise the injector, which has the smallest id, would be first.
    pub(crate) fn new(explorer: E, system: &(impl System + ?Sized)) -> ExplorerOnPath<E> {
        let mut on_path_explorer = ExplorerOnPath { explorer, known: Vec::new() };
        for environment in [false, true] {
            for &worker in system.enabled() {
                if worker.is_environment() == environment {
                    on_path_explorer.start(worker, system);
                }
            }
        }
        on_path_explorer
    }

    #[inline]
    pub(crate) fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        self.explorer.next(enabled)
    }

    #[inline]
    pub(crate) fn delay(&mut self, enabled: &[WorkerId]) {
        self.explorer.delay(enabled);
    }

    /// Called after a step of `worker`, with the workers enabled before it and what was heard.
    pub(crate) fn after(
        &mut self,
        worker: WorkerId,
        before: &[WorkerId],
        system: &(impl System + ?Sized),
        summary: &mut StepSummary,
    ) {
        let enabled = system.enabled();
        summary.compare(before, enabled);
        for &halted in &summary.halted {
            // A timer that was cancelled and set again in one step has not finished.
            if halted.place_in(enabled).is_ok() {
                continue;
            }
            // A finished worker is forgotten, so that it starts anew if it comes back.
            if let Ok(place) = halted.place_in(&self.known) {
                self.known.remove(place);
                self.explorer.finished(halted);
            }
        }
        for &woken in &summary.woken {
            self.start(woken, system);
        }
        self.explorer.stepped(&Stepped {
            worker,
            enabled,
            sent: &summary.sent,
            woken: &summary.woken,
            blocked: &summary.blocked,
            hints: &summary.hints,
        });
    }

    /// A hash of the explorer's state, which has the known workers if they matter to it.
    pub(crate) fn hash(&self, scratch: &mut Vec<u8>) -> u64 {
        scratch.clear();
        fingerprint::Encoder::encode(&self.explorer, scratch);
        fingerprint::of_bytes(scratch)
    }

    pub(crate) fn known(&self) -> &[WorkerId] {
        &self.known
    }

    fn start(&mut self, worker: WorkerId, system: &(impl System + ?Sized)) {
        if let Err(place) = worker.place_in(&self.known) {
            self.known.insert(place, worker);
            self.explorer.started(worker, &system.name(worker));
        }
    }
}

impl<E: Clone> Clone for ExplorerOnPath<E> {
    fn clone(&self) -> ExplorerOnPath<E> {
        ExplorerOnPath { explorer: self.explorer.clone(), known: self.known.clone() }
    }

    fn clone_from(&mut self, other: &ExplorerOnPath<E>) {
        self.explorer.clone_from(&other.explorer);
        self.known.clone_from(&other.known);
    }
}

/// What a step did, as far as explorers need it. Used for all steps, to save allocations.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepSummary {
    sent: Vec<WorkerId>,
    halted: Vec<WorkerId>,
    hints: Vec<String>,
    woken: Vec<WorkerId>,
    blocked: Vec<WorkerId>,
}

impl StepSummary {
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.sent.clear();
        self.halted.clear();
        self.hints.clear();
    }

    #[inline]
    pub(crate) fn hear(&mut self, event: &Event<Text<'_>>) {
        match event {
            Event::Sent { to, .. } => self.sent.push(*to),
            Event::Halted { worker } | Event::TimerCancelled { timer: worker } => {
                self.halted.push(*worker);
            }
            Event::Hinted { hint } => self.hints.push(hint.to_string()),
            _ => {}
        }
    }

    /// Finds the workers that can step now and could not before, and the other way round.
    fn compare(&mut self, before: &[WorkerId], now: &[WorkerId]) {
        self.woken.clear();
        self.blocked.clear();
        let (mut old, mut new) = (0, 0);
        while old < before.len() && new < now.len() {
            let (was, is) = (before[old], now[new]);
            if was < is {
                self.blocked.push(was);
            } else if is < was {
                self.woken.push(is);
            }
            old += usize::from(was <= is);
            new += usize::from(is <= was);
        }
        self.blocked.extend_from_slice(&before[old..]);
        self.woken.extend_from_slice(&now[new..]);
    }
}

#[cfg(test)]
mod tests;
