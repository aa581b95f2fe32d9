//! The index from worker ids to slots and timers.

use dally_core::WorkerId;
use triomphe::Arc;

use crate::slot::Slot;
use crate::system::{MachineSystem, Stamp};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Machine(usize),
    Timer(usize, usize),
}

const NO_SLOT: usize = usize::MAX;

impl MachineSystem {
    /// The slot of a machine, if it is where [`guessed`] says: true for most machines of the set-up,
    /// which exchange most of the messages.
    #[inline(always)]
    pub(crate) fn guess(&self, worker: WorkerId) -> Option<&Slot> {
        self.slots.get(guessed(worker)).filter(|slot| slot.id == worker)
    }

    /// The number of a machine's slot, or [`NO_SLOT`]. Callers index `slots` next, so the bounds check
    /// there tells the two apart at no cost.
    #[inline(always)]
    pub(crate) fn slot_of(&self, worker: WorkerId) -> usize {
        if self.guess(worker).is_some() { guessed(worker) } else { self.look_up_slot(worker) }
    }

    #[inline(never)]
    fn look_up_slot(&self, worker: WorkerId) -> usize {
        match self.find(worker) {
            Some(Place::Machine(slot)) => slot,
            _ => NO_SLOT,
        }
    }

    #[inline(always)]
    pub(crate) fn machine(&self, worker: WorkerId) -> Option<usize> {
        Some(self.slot_of(worker)).filter(|&slot| slot < self.slots.len())
    }

    pub(crate) fn find(&self, worker: WorkerId) -> Option<Place> {
        // A linear scan of a short list beats a binary search.
        if self.index.len() <= 8 {
            return self.index.iter().find(|entry| entry.0 == worker).map(|entry| entry.1);
        }
        let at = self.index.binary_search_by_key(&worker, |entry| entry.0).ok()?;
        Some(self.index[at].1)
    }

    pub(crate) fn register(&mut self, id: WorkerId, place: Place) {
        if let Err(at) = self.index.binary_search_by_key(&id, |entry| entry.0) {
            Arc::make_mut(&mut self.index).insert(at, (id, place));
            self.index_stamp = Stamp::new();
        }
    }
}

/// The slot that a worker would be in if it were one of the first machines of a set-up.
#[inline(always)]
fn guessed(worker: WorkerId) -> usize {
    (worker.to_bits() >> 60).wrapping_sub(2) as usize
}
