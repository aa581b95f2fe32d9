//! What made the steps of a trace possible: a message, a creation, a wake-up, the step before of the same
//! worker. This is less than the order of steps that do not commute: two sends to one inbox have an
//! order and could as well have had the other.

use std::collections::BTreeMap;

use dally_core::{Event, Item, MessageId, Trace, WorkerId};

pub(crate) struct Causes {
    workers: Vec<WorkerId>,
    before: Vec<Vec<usize>>,
    next: Vec<Vec<usize>>,
}

impl Causes {
    pub(crate) fn of(trace: &Trace) -> Causes {
        let workers: Vec<WorkerId> = trace.steps.iter().map(|step| step.worker).collect();
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); workers.len()];
        let mut sent: BTreeMap<MessageId, usize> = BTreeMap::new();
        // The step that a worker's next step needs: its own last one, and those that have made or woken it since.
        let mut ready: BTreeMap<WorkerId, Vec<usize>> = BTreeMap::new();
        for (at, step) in trace.steps.iter().enumerate() {
            before[at] = ready.insert(step.worker, vec![at]).unwrap_or_default();
            for item in &step.items {
                let Item::Event(event) = item else { continue };
                match *event {
                    Event::Sent { message, .. } => {
                        sent.insert(message, at);
                    }
                    Event::Duplicated { copy, .. } => {
                        sent.insert(copy, at);
                    }
                    Event::Received { message, .. } | Event::Discarded { message, .. } => {
                        before[at].extend(sent.get(&message).filter(|&&sent| sent < at));
                    }
                    Event::Created { worker, .. }
                    | Event::Enabled { worker }
                    | Event::Crashed { worker }
                    | Event::Restarted { worker }
                    | Event::TimerSet { timer: worker, .. }
                        if worker != step.worker =>
                    {
                        ready.entry(worker).or_default().push(at);
                    }
                    _ => {}
                }
            }
        }
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); workers.len()];
        for (at, before) in before.iter().enumerate() {
            before.iter().for_each(|&cause| next[cause].push(at));
        }
        Causes { workers, before, next }
    }

    pub(crate) fn len(&self) -> usize {
        self.workers.len()
    }

    /// The step and all that made it possible, in order.
    pub(crate) fn past(&self, step: usize) -> Vec<usize> {
        closure(step, &self.before, |_| true)
    }

    /// The step and all that it made possible, in order, but for the steps of one worker and what only those
    /// made possible.
    pub(crate) fn future_without(&self, step: usize, worker: Option<WorkerId>) -> Vec<usize> {
        closure(step, &self.next, |at| Some(self.workers[at]) != worker)
    }
}

fn closure(of: usize, edges: &[Vec<usize>], takes: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut found = vec![false; edges.len()];
    let mut open = vec![of];
    found[of] = true;
    while let Some(step) = open.pop() {
        for &other in &edges[step] {
            if !found[other] && takes(other) {
                found[other] = true;
                open.push(other);
            }
        }
    }
    (0..edges.len()).filter(|&at| found[at]).collect()
}

/// The parts with these indices, which are in order, before the others or after them.
pub(crate) fn moved<T: Clone>(all: &[T], chosen: &[usize], to_front: bool) -> Vec<T> {
    let is_chosen = |at: &usize| chosen.binary_search(at).is_ok();
    let (mut first, mut last): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(is_chosen);
    if !to_front {
        std::mem::swap(&mut first, &mut last);
    }
    first.into_iter().chain(last).map(|at| all[at].clone()).collect()
}

#[cfg(test)]
mod tests {
    use dally_core::{Text, Tracer};

    use super::*;

    #[test]
    fn a_receipt_needs_its_send_and_not_an_earlier_send_to_the_same_inbox() {
        let workers = [0, 1, 2].map(WorkerId::root);
        let [a, b, c] = workers;
        let message = |sender| MessageId { sender, number: 0 };
        let payload = Text::Str("");
        let sent = |sender| Event::Sent { message: message(sender), to: c, payload };
        let received = |sender| Event::Received { message: message(sender), payload };
        let steps = [(a, sent(a)), (b, sent(b)), (c, received(a)), (c, received(b))];
        let mut tracer = Tracer::without_texts();
        for (worker, event) in steps {
            tracer.step(worker, String::new);
            tracer.event(event);
        }
        let trace = tracer.finish();
        // The order has it, the causes have not.
        assert_eq!(trace.steps[1].after, [1]);
        let causes = Causes::of(&trace);
        assert_eq!((causes.past(1), causes.past(2)), (vec![1], vec![0, 2]));
        assert_eq!(causes.past(3), [0, 1, 2, 3]);
        assert_eq!(causes.future_without(0, None), [0, 2, 3]);
        assert_eq!(causes.future_without(0, Some(c)), [0]);
        assert_eq!(moved(&['a', 'b', 'c', 'd'], &[1, 3], true), ['b', 'd', 'a', 'c']);
        assert_eq!(moved(&['a', 'b', 'c', 'd'], &[1, 3], false), ['a', 'c', 'b', 'd']);
    }
}
