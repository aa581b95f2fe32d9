//! Sealing by predicates: what a machine is like, and not a region of its code, says where a
//! search by strata spends no delay.
//!
//! Whether a machine seals follows from its data and its state, so it is part of no fingerprint.
//! It is found out when somebody asks, and remembered with the machine until a handler, a crash
//! or a restart may have changed it: steps do nothing for it.

use std::any::Any;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use dally_core::panics;
use triomphe::Arc;

use crate::cell::{Cell, MachineCell};
use crate::machine::Machine;
use crate::slot::Slot;
use crate::system::MachineSystem;

/// Whether the machine in a cell seals the state; machines of other types than it is about do not.
pub(crate) type Predicate = Box<dyn Fn(&dyn Cell) -> bool + Send + Sync>;

/// A predicate over machines of one type.
pub(crate) fn about<M: Machine>(
    holds: impl Fn(&M, M::State) -> bool + Send + Sync + 'static,
) -> Predicate {
    Box::new(move |cell| {
        (cell as &dyn Any)
            .downcast_ref::<MachineCell<M>>()
            .is_some_and(|cell| holds(&cell.body.machine, cell.body.top))
    })
}

/// The predicates of a program: the same in all of its executions.
#[derive(Clone, Default)]
pub(crate) struct Predicates(Option<Arc<Vec<Predicate>>>);

impl Predicates {
    pub(crate) fn new(predicates: Vec<Predicate>) -> Predicates {
        Predicates((!predicates.is_empty()).then(|| Arc::new(predicates)))
    }

    /// Whether one of them holds for one of these machines.
    #[inline]
    pub(crate) fn seal(&self, slots: &[Slot]) -> bool {
        let Some(predicates) = &self.0 else { return false };
        slots.iter().any(|slot| {
            let worker = &slot.worker;
            worker.is_there() && worker.sealing.get_or(|| any(predicates, worker.cell()))
        })
    }

    /// Becomes the same as another; mostly it is.
    #[inline]
    pub(crate) fn restore_from(&mut self, saved: &Predicates) {
        if self.0.as_ref().map(Arc::as_ptr) != saved.0.as_ref().map(Arc::as_ptr) {
            self.0.clone_from(&saved.0);
        }
    }
}

fn any(predicates: &[Predicate], cell: &dyn Cell) -> bool {
    panics::blaming(cell.name(), || predicates.iter().any(|predicate| predicate(cell)))
}

impl MachineSystem {
    /// Whether the state is sealed, computed anew from the whole state: what [`System::sealed`]
    /// must always equal.
    ///
    /// [`System::sealed`]: dally_core::System::sealed
    #[doc(hidden)]
    pub fn sealed_from_scratch(&self) -> bool {
        let predicates = self.seal_while.0.as_ref().map_or(&[][..], |predicates| predicates);
        self.slots
            .iter()
            .map(|slot| &slot.worker)
            .any(|worker| worker.seals > 0 || worker.is_there() && any(predicates, worker.cell()))
    }
}

/// Whether a machine seals the state, as far as that is known.
#[derive(Default)]
pub(crate) struct Sealing(AtomicU8);

const UNKNOWN: u8 = 0;
const OPEN: u8 = 1;
const SEALED: u8 = 2;

impl Sealing {
    /// The machine may have changed.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        *self.0.get_mut() = UNKNOWN;
    }

    #[inline]
    fn get_or(&self, find_out: impl FnOnce() -> bool) -> bool {
        match self.0.load(Relaxed) {
            UNKNOWN => {
                let seals = find_out();
                self.0.store(if seals { SEALED } else { OPEN }, Relaxed);
                seals
            }
            known => known == SEALED,
        }
    }
}

impl Clone for Sealing {
    #[inline]
    fn clone(&self) -> Sealing {
        Sealing(AtomicU8::new(self.0.load(Relaxed)))
    }
}
