//! Where the worker with an id is.

use dally_core::WorkerId;

use crate::slot::Slot;
use crate::system::{MachineSystem, Stamp};

/// What an id stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The machine in this slot.
    Machine(usize),
    /// A timer of the machine in this slot.
    Timer(usize, usize),
}

/// The number of a slot that is never there.
const NO_SLOT: usize = usize::MAX;

impl MachineSystem {
    /// The slot of a machine, if a guess finds it: the first machines of a set-up, whose ids differ
    /// in the top four bits, are mostly in the slots of their numbers, and it is they who talk
    /// most.
    #[inline(always)]
    pub(crate) fn guess(&self, worker: WorkerId) -> Option<&Slot> {
        self.slots.get(guessed(worker)).filter(|slot| slot.id == worker)
    }

    /// The number of a machine's slot, or [`NO_SLOT`]: every step asks for it, and asks for the
    /// slot itself right after that, which tells the two apart at no cost.
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

    /// The number of a machine's slot.
    #[inline(always)]
    pub(crate) fn machine(&self, worker: WorkerId) -> Option<usize> {
        Some(self.slot_of(worker)).filter(|&slot| slot < self.slots.len())
    }

    /// What an id stands for.
    pub(crate) fn find(&self, worker: WorkerId) -> Option<Place> {
        // A short list is faster scanned than halved.
        if self.index.len() <= 8 {
            return self.index.iter().find(|entry| entry.0 == worker).map(|entry| entry.1);
        }
        let at = self.index.binary_search_by_key(&worker, |entry| entry.0).ok()?;
        Some(self.index[at].1)
    }

    /// Notes what a new id stands for.
    pub(crate) fn register(&mut self, id: WorkerId, place: Place) {
        if let Err(at) = self.index.binary_search_by_key(&id, |entry| entry.0) {
            self.index.insert(at, (id, place));
            self.index_stamp = Stamp::new();
        }
    }
}

/// The slot that a worker would be in if it were one of the first machines of a set-up.
#[inline(always)]
fn guessed(worker: WorkerId) -> usize {
    (worker.to_bits() >> 60).wrapping_sub(2) as usize
}
