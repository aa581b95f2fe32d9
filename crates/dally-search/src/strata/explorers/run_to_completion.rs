//! The receiver of the last event first.

use dally_core::WorkerId;

use crate::strata::{Explorer, Stepped};

/// Follows the causal sequence of events: the receiver of the most recently sent event runs first
/// (Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive Systems", section 6.2).
///
/// The workers that can step are a stack. A worker that starts, is woken or is sent to comes on
/// top, the last one uppermost; one that blocks is taken off; a delay moves the top to the bottom.
/// In Zing a receiver that was on the stack already stayed where it was, so that a delay lasted
/// until the worker had run; here, by the words of the paper, it lasts until the worker is sent to
/// again.
///
/// Timers and the fault injector start at the bottom. On top, a timer would fire the moment it is
/// set, and in the explorer's own order nothing else would ever happen; at the bottom it fires when
/// no other worker can step, or when delays have put off all others.
#[derive(Debug, Default, Hash)]
pub struct RunToCompletion {
    /// The top last.
    stack: Vec<WorkerId>,
}

impl RunToCompletion {
    fn place(&self, enabled: &[WorkerId]) -> Option<usize> {
        self.stack.iter().rposition(|worker| worker.place_in(enabled).is_ok())
    }

    fn raise(&mut self, worker: WorkerId) {
        self.stack.retain(|&other| other != worker);
        let place = if worker.is_environment() { 0 } else { self.stack.len() };
        self.stack.insert(place, worker);
    }
}

impl Explorer for RunToCompletion {
    fn name(&self) -> String {
        "run-to-completion".into()
    }

    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        self.place(enabled).map(|place| self.stack[place])
    }

    fn delay(&mut self, enabled: &[WorkerId]) {
        if let Some(place) = self.place(enabled) {
            self.stack[..=place].rotate_right(1);
        }
    }

    fn started(&mut self, worker: WorkerId, _name: &str) {
        self.raise(worker);
    }

    fn stepped(&mut self, step: &Stepped<'_>) {
        if !step.blocked.is_empty() {
            self.stack.retain(|worker| worker.place_in(step.blocked).is_err());
        }
        for &worker in step.woken.iter().chain(step.sent) {
            if worker.place_in(step.enabled).is_ok() {
                self.raise(worker);
            }
        }
    }
}

clone_into_place!(RunToCompletion { stack });
