//! The causal past of a bug: the steps without which it would not have come to it.

use std::collections::BTreeSet;

use crate::bug::{Bug, BugKind, Problem};
use crate::choice::{Choice, MessageId, Tag};
use crate::event::{Event, Transition};
use crate::finding::Finding;
use crate::trace::{Item, Trace};
use crate::worker::WorkerId;

impl Finding {
    /// The steps of the trace, from 0, that the bug showed in: see [`Trace::shows`].
    pub fn shows_in(&self) -> Vec<usize> {
        self.trace.shows(&self.bug)
    }

    /// For each step of the trace whether it led to the bug: whether it is one of
    /// [`shows_in`](Finding::shows_in) or happened before one of them.
    pub fn past(&self) -> Vec<bool> {
        self.trace.past(&self.shows_in())
    }

    /// For each step that [led to the bug](Finding::past) whether the bug would be the same if the step had
    /// done nothing: it only enters the first state of a machine, or sends and creates what no other step of
    /// the past receives or is a step of. Where a bug shows in more than one step, no step is so.
    pub fn idle(&self) -> Vec<bool> {
        let steps = &self.trace.steps;
        let mut idle = vec![false; steps.len()];
        if self.shows_in().len() != 1 {
            return idle;
        }
        let past = self.past();
        let of_past = || steps.iter().zip(&past).filter(|(_, past)| **past).map(|(step, _)| step);
        let workers: BTreeSet<WorkerId> = of_past().map(|step| step.worker).collect();
        let received: BTreeSet<MessageId> = of_past()
            .flat_map(|step| step.items.iter().map(move |item| (step.worker, item)))
            .filter_map(|(worker, item)| match item {
                // What a worker sends to itself comes back to it without anybody's doing.
                Item::Event(Event::Received { message, .. } | Event::Discarded { message, .. }) => {
                    (message.sender != worker).then_some(*message)
                }
                Item::Event(Event::Duplicated { message, .. }) => Some(*message),
                _ => None,
            })
            .collect();
        for (at, step) in steps.iter().enumerate() {
            let last = at + 1 == steps.len();
            let does_nothing = |item: &Item| match item {
                Item::Event(Event::Sent { message, .. }) => !received.contains(message),
                Item::Event(Event::Created { worker, .. }) => !workers.contains(worker),
                Item::Event(Event::Changed { how: Transition::Start, .. }) => true,
                // Who is sent something or created can step, of which the other item says whether it matters.
                Item::Event(Event::Enabled { worker: woken }) => {
                    *woken == step.worker
                        || step.items.iter().any(|item| match item {
                            Item::Event(Event::Sent { to, .. }) => to == woken,
                            Item::Event(Event::Created { worker, .. }) => worker == woken,
                            _ => false,
                        })
                }
                // No fault.
                Item::Choice(Choice::Value { index: 0, tag: Tag::Fault, .. }) => true,
                _ => false,
            };
            idle[at] = past[at] && !last && step.items.iter().all(does_nothing);
        }
        idle
    }
}

fn shows_in_a_step(kind: BugKind) -> bool {
    matches!(
        kind,
        BugKind::Panic
            | BugKind::Assertion
            | BugKind::UnhandledEvent
            | BugKind::Monitor
            | BugKind::EndlessStep
    )
}

impl Trace {
    /// The steps, from 0, that a bug at the end of the trace showed in: the last one, or those that the waiting
    /// workers of a deadlock took last. Bugs that are about the length of an execution, its whole end or
    /// what never happens in it show in all steps.
    pub fn shows(&self, bug: &Bug) -> Vec<usize> {
        let steps = &self.steps;
        let last_of = |worker: WorkerId| steps.iter().rposition(|step| step.worker == worker);
        match &*bug.problem {
            Problem::Deadlock { waiting } if !waiting.is_empty() => {
                let mut last: Vec<usize> =
                    waiting.iter().filter_map(|waiting| last_of(waiting.worker)).collect();
                last.sort_unstable();
                last
            }
            Problem::Panic { at_tear_down: true, .. } => (0..steps.len()).collect(),
            _ if shows_in_a_step(bug.kind()) => steps.len().checked_sub(1).into_iter().collect(),
            _ => (0..steps.len()).collect(),
        }
    }

    /// For each step whether it is one of these, counted from 0, or happened before one of them.
    pub fn past(&self, of: &[usize]) -> Vec<bool> {
        let mut past = vec![false; self.steps.len()];
        for &step in of {
            past[step] = true;
        }
        // Workers of which a later step is in the past.
        let mut known: BTreeSet<WorkerId> = BTreeSet::new();
        for at in (0..past.len()).rev() {
            let step = &self.steps[at];
            past[at] |= known.contains(&step.worker);
            if past[at] {
                known.insert(step.worker);
                for &before in &step.after {
                    if let Some(step) = past.get_mut((before as usize).wrapping_sub(1)) {
                        *step = true;
                    }
                }
            }
        }
        past
    }
}
