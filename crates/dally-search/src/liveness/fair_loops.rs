//! Which loops of the log are fair.

use std::ops::Range;

use dally_core::fingerprint::mix;
use dally_core::{Answer, Question, Tag, WorkerId};

use super::Fairness;
use super::loop_detector::{LoopDetector, Scratch};

impl LoopDetector {
    /// Whether going round these steps for ever is fair, but for the messages that are owed.
    /// `by_chance`: strongly fair loops must be such that chance cannot leave them.
    pub(super) fn is_fair(
        &mut self,
        steps: Range<usize>,
        fairness: Fairness,
        by_chance: bool,
    ) -> bool {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.owed.clear();
        let fair = match fairness {
            Fairness::None => true,
            // An execution has finitely many faults: it goes round no loop for ever that has one.
            Fairness::Weak | Fairness::Strong if self.has_fault(steps.clone()) => false,
            Fairness::Weak => {
                self.who_steps(steps.clone(), &mut scratch.workers);
                self.is_weakly_fair(steps, &mut scratch)
            }
            Fairness::Strong => {
                self.who_steps(steps.clone(), &mut scratch.workers);
                self.all_step(steps.clone(), &scratch.workers)
                    && self.all_is_taken(steps.clone(), by_chance, &mut scratch)
                    && (!by_chance || self.all_step_everywhere(steps, &mut scratch))
            }
        };
        self.scratch = scratch;
        fair
    }

    fn who_steps(&self, steps: Range<usize>, workers: &mut Vec<WorkerId>) {
        workers.clear();
        workers.extend(steps.map(|step| self.worker(step)));
        workers.sort_unstable();
        workers.dedup();
    }

    /// Whether everybody who can step in all states does.
    fn is_weakly_fair(&self, steps: Range<usize>, scratch: &mut Scratch) -> bool {
        let Scratch { workers, others: waiting, .. } = scratch;
        waiting.clear();
        waiting.extend(self.enabled(steps.start).iter().copied().filter(|worker| {
            *worker != WorkerId::FAULTS && workers.binary_search(worker).is_err()
        }));
        for state in steps {
            if waiting.is_empty() {
                return true;
            }
            let enabled = self.enabled(state);
            waiting.retain(|worker| worker.place_in(enabled).is_ok());
        }
        waiting.is_empty()
    }

    /// Whether everybody who can step in some state does.
    fn all_step(&self, steps: Range<usize>, workers: &[WorkerId]) -> bool {
        let mut last: &[WorkerId] = &[];
        for state in steps {
            let enabled = self.enabled(state);
            // Most states have the enabled set of the one before, and then its memory.
            if !std::ptr::eq(enabled, last) {
                let steps = |worker: &WorkerId| {
                    *worker == WorkerId::FAULTS || workers.binary_search(worker).is_ok()
                };
                if !enabled.iter().all(steps) {
                    return false;
                }
                last = enabled;
            }
        }
        true
    }

    /// Whether everybody who can step in some state does so in that state.
    fn all_step_everywhere(&self, steps: Range<usize>, scratch: &mut Scratch) -> bool {
        let Scratch { states, moves, .. } = scratch;
        states.clear();
        moves.clear();
        for step in steps {
            states.push((self.hash_of(step), step));
            moves.push((self.hash_of(step), self.worker(step)));
        }
        states.sort_unstable();
        states.dedup_by_key(|state| state.0);
        moves.sort_unstable();
        states.iter().all(|&(hash, state)| {
            let mut enabled = self.enabled(state).iter().filter(|&&w| w != WorkerId::FAULTS);
            enabled.all(|&worker| moves.binary_search(&(hash, worker)).is_ok())
        })
    }

    /// Whether a step of these is a fault.
    fn has_fault(&self, mut steps: Range<usize>) -> bool {
        let is_fault = |answer: Answer| {
            matches!(answer.question, Question::Value { tag: Tag::Fault, .. }) && answer.index > 0
        };
        steps.any(|step| {
            self.worker(step) == WorkerId::FAULTS
                || self.answered(step).any(|(answer, ..)| is_fault(answer))
        })
    }

    /// Whether every value that a worker could choose is chosen by it, and by chance in the very
    /// state where it could. Values are told apart by the place of the program where they are
    /// asked for and by what was answered before in the step. Messages are owed that were not seen
    /// to be chosen.
    fn all_is_taken(&self, steps: Range<usize>, by_chance: bool, scratch: &mut Scratch) -> bool {
        let Scratch { taken, asked, owed, delivered, .. } = scratch;
        taken.clear();
        asked.clear();
        delivered.clear();
        for step in steps {
            let worker = self.worker(step);
            let state = if by_chance { self.hash_of(step) } else { 0 };
            let mut before = 0;
            for (answer, place, senders) in self.answered(step) {
                let value = match answer.question {
                    // Fairness does not ask for faults.
                    Question::Value { tag: Tag::Fault, .. } => continue,
                    Question::Value { of, .. } => Some(of),
                    // Chance would give another number sooner or later.
                    Question::Input if by_chance => return false,
                    Question::Input => None,
                    Question::Delivery { of } if by_chance => Some(of),
                    Question::Delivery { .. } => {
                        let sender = senders.get(answer.index as usize);
                        delivered.extend(sender.map(|&sender| (worker, sender)));
                        owed.extend(senders.iter().map(|&sender| (worker, sender)));
                        before = mix(before, sender.map_or(0, |sender| sender.to_bits()));
                        continue;
                    }
                };
                if let Some(of) = value {
                    before = mix(mix(before, place), of.into());
                    taken.push((state, worker, before, answer.index as u32));
                    asked.push((state, worker, before, of));
                }
                before = mix(before, answer.index as u64);
            }
        }
        for list in [&mut *taken, asked] {
            list.sort_unstable();
            list.dedup();
        }
        for list in [&mut *owed, delivered] {
            list.sort_unstable();
            list.dedup();
        }
        owed.retain(|pair| delivered.binary_search(pair).is_err());
        asked.iter().all(|&(state, worker, question, of)| {
            let below = |value| taken.partition_point(|&t| t < (state, worker, question, value));
            below(of) - below(0) == of as usize
        })
    }
}
