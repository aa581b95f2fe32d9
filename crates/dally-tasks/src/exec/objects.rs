//! The objects of an execution, and what each of them holds.

use dally_core::{ObjectId, WorkerId};

use crate::exec::{Exec, Phase};
use crate::text::{CLOCK, FAULTS, Kind, Object, WAKERS};

/// What an object holds, as far as observations go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub id: ObjectId,
    /// How many messages or permits; 1 for a lock that is taken.
    pub amount: u64,
    /// The task that has locked it, by its place.
    pub holder: Option<u32>,
}

impl Exec {
    /// A new object of the running task.
    pub fn object(&mut self, kind: Kind) -> Object {
        let id = self.tasks[self.current].next_object();
        if self.phase == Phase::Outside {
            // Nobody observes it.
            return Object { id, kind, run: self.run, index: u32::MAX };
        }
        let index = self.objects.len() as u32;
        self.objects.push(Held { id, amount: 0, holder: None });
        Object { id, kind, run: self.run, index }
    }

    /// The virtual clock as an object: firing a timer writes it.
    pub fn clock(&self) -> Object {
        self.only(Kind::Clock, CLOCK)
    }

    /// The faults that may still happen as an object: operations at which one could strike have an order.
    pub fn faults(&self) -> Object {
        self.only(Kind::Faults, FAULTS)
    }

    /// The wakers of combinators as an object. Such a waker notes in memory of its own which
    /// future is to be polled, in the order of the wakes, so these have an order.
    pub fn wakers(&self) -> Object {
        self.only(Kind::Wakers, WAKERS)
    }

    fn only(&self, kind: Kind, number: u32) -> Object {
        let id = ObjectId { creator: WorkerId::root(0), number };
        Object { id, kind, run: self.run, index: u32::MAX }
    }

    /// Notes how much an object holds, for observations.
    #[inline]
    pub fn holds(&mut self, object: &Object, amount: usize) {
        self.held(object, amount as u64, None);
    }

    /// Notes that the running task has locked an object, for observations.
    #[inline]
    pub fn locks(&mut self, object: &Object) {
        self.held(object, 1, Some(self.current as u32));
    }

    /// Notes that the running task has some of what an object holds, for observations.
    pub fn locks_some(&mut self, object: &Object, left: usize) {
        self.held(object, left as u64, Some(self.current as u32));
    }

    #[inline]
    fn held(&mut self, object: &Object, amount: u64, holder: Option<u32>) {
        if object.run == self.run
            && let Some(held) = self.objects.get_mut(object.index as usize)
        {
            (held.amount, held.holder) = (amount, holder);
        }
    }
}
