//! Sealing by predicates over machines: a search by strata spends no delay while one holds.
//!
//! Whether a machine seals follows from its data and its state, so it is in no fingerprint. It is
//! computed on demand and remembered until the machine may have changed.

use std::any::Any;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use dally_core::panics;
use triomphe::Arc;

use crate::cell::{Cell, MachineCell};
use crate::machine::Machine;
use crate::slot::Slot;
use crate::system::MachineSystem;

/// Whether the machine in a cell seals the state; `false` for machines of other types.
pub(crate) type Predicate = Box<dyn Fn(&dyn Cell) -> bool + Send + Sync>;

pub(crate) fn about<M: Machine>(
    holds: impl Fn(&M, M::State) -> bool + Send + Sync + 'static,
) -> Predicate {
    Box::new(move |cell| {
        (cell as &dyn Any)
            .downcast_ref::<MachineCell<M>>()
            .is_some_and(|cell| holds(&cell.body.machine, cell.body.top))
    })
}

#[derive(Clone, Default)]
pub(crate) struct Predicates(Option<Arc<Vec<Predicate>>>);

impl Predicates {
    pub(crate) fn new(predicates: Vec<Predicate>) -> Predicates {
        Predicates((!predicates.is_empty()).then(|| Arc::new(predicates)))
    }

    #[inline]
    pub(crate) fn seal(&self, slots: &[Slot]) -> bool {
        let Some(predicates) = &self.0 else { return false };
        slots.iter().any(|slot| {
            let worker = &slot.worker;
            worker.is_there() && worker.sealing.get_or(|| any(predicates, worker.cell()))
        })
    }

    /// Shares the predicates of `saved`; most systems do already.
    #[inline]
    pub(crate) fn restore_from(&mut self, saved: &Predicates) {
        if self.0.as_ref().map(Arc::as_ptr) != saved.0.as_ref().map(Arc::as_ptr) {
            self.0.clone_from(&saved.0);
        }
    }
}

fn any(predicates: &[Predicate], cell: &dyn Cell) -> bool {
    panics::with_culprit(cell.name(), || predicates.iter().any(|predicate| predicate(cell)))
}

impl MachineSystem {
    /// Recomputes [`System::sealed`](dally_core::System::sealed), which must equal this, from scratch.
    #[doc(hidden)]
    pub fn sealed_from_scratch(&self) -> bool {
        let predicates = self.seal_while.0.as_ref().map_or(&[][..], |predicates| predicates);
        self.slots
            .iter()
            .map(|slot| &slot.worker)
            .any(|worker| worker.seals > 0 || worker.is_there() && any(predicates, worker.cell()))
    }
}

/// Whether a machine seals the state, or that this is unknown.
#[derive(Default)]
pub(crate) struct Sealing(AtomicU8);

const UNKNOWN: u8 = 0;
const OPEN: u8 = 1;
const SEALED: u8 = 2;

impl Sealing {
    /// Called where the machine may have changed.
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
