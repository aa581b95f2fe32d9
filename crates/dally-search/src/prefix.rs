//! The choices that lead to a state, shared by all states whose paths begin alike.

use std::sync::Arc;

use dally_core::{Choice, WorkerId};

/// A step and all steps before it, which states share where their paths begin alike.
#[derive(Debug)]
pub(crate) struct Prefix {
    before: Option<Arc<Prefix>>,
    worker: WorkerId,
    inside: Box<[Choice]>,
    /// The number of choices from the first on.
    length: usize,
    /// The identity of the state that the step leads to.
    pub(crate) identity: u64,
}

impl Prefix {
    /// Adds a step with these choices, the worker first.
    pub(crate) fn extend(
        before: Option<Arc<Prefix>>,
        choices: &[Choice],
        identity: u64,
    ) -> Option<Arc<Prefix>> {
        match choices.split_first() {
            Some((&Choice::Worker(worker), inside)) => {
                let length = before.as_ref().map_or(0, |before| before.length) + choices.len();
                Some(Arc::new(Prefix { before, worker, inside: inside.into(), length, identity }))
            }
            _ => before,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn steps(&self) -> Vec<&Prefix> {
        let mut steps = Vec::new();
        let mut at = Some(self);
        while let Some(step) = at {
            steps.push(step);
            at = step.before.as_deref();
        }
        steps.reverse();
        steps
    }

    pub(crate) fn choices(&self) -> Vec<Choice> {
        let mut choices = Vec::with_capacity(self.length);
        for step in self.steps() {
            choices.push(Choice::Worker(step.worker));
            choices.extend_from_slice(&step.inside);
        }
        choices
    }

    pub(crate) const BYTES: usize = size_of::<Prefix>() + 16;
}

/// Steps from which nothing leads any more, kept for their memory: a search by strata makes and drops
/// millions of them.
#[derive(Default)]
pub(crate) struct SparePrefixes(Vec<Arc<Prefix>>);

impl SparePrefixes {
    const MOST: usize = 1 << 14;

    /// Adds a step of a worker, with these choices inside.
    pub(crate) fn extend(
        &mut self,
        before: Option<Arc<Prefix>>,
        worker: WorkerId,
        inside: &[Choice],
        identity: u64,
    ) -> Arc<Prefix> {
        let length = before.as_ref().map_or(0, |before| before.length) + 1 + inside.len();
        let step = Prefix { before, worker, inside: inside.into(), length, identity };
        let Some(mut spare) = self.0.pop() else { return Arc::new(step) };
        match Arc::get_mut(&mut spare) {
            Some(place) => {
                *place = step;
                spare
            }
            None => Arc::new(step),
        }
    }

    /// Keeps the steps from the last one on that nobody else has.
    pub(crate) fn recycle(&mut self, last: Option<Arc<Prefix>>) {
        let mut next = last;
        while self.0.len() < Self::MOST
            && let Some(mut step) = next.take()
        {
            if let Some(own) = Arc::get_mut(&mut step) {
                next = own.before.take();
                self.0.push(step);
            }
        }
    }
}

/// Long chains must not be dropped by recursion.
impl Drop for Prefix {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut prefix) = next.and_then(Arc::into_inner) {
            next = prefix.before.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_nobody_has_any_more_are_used_again() {
        let mut spare = SparePrefixes::default();
        let worker = WorkerId::root;
        let first = spare.extend(None, worker(0), &[Choice::Input(7)], 1);
        let second = spare.extend(Some(first.clone()), worker(1), &[], 2);
        let third = spare.extend(Some(second), worker(2), &[], 3);
        spare.recycle(Some(third));
        assert_eq!(spare.0.len(), 2, "the first step is still in use");
        let other = spare.extend(Some(first), worker(3), &[], 4);
        assert_eq!(spare.0.len(), 1);
        let choices = [Choice::Worker(worker(0)), Choice::Input(7), Choice::Worker(worker(3))];
        assert_eq!((other.len(), other.choices()), (3, choices.to_vec()));
    }

    #[test]
    fn a_prefix_of_a_million_steps_is_written_and_dropped() {
        let mut prefix = None;
        for step in 0..1_000_000u64 {
            let choice = [Choice::Worker(WorkerId::root((step % 3) as u32))];
            prefix = Prefix::extend(prefix, &choice, step);
        }
        let last = prefix.unwrap();
        assert_eq!((last.len(), last.choices().len()), (1_000_000, 1_000_000));
        assert_eq!(last.steps()[7].identity, 7);
        drop(last);
    }
}
