//! Memory that is used again, and machines that are kept once however many states hold them.
//!
//! A search keeps thousands of states that differ in one or two machines from each other, and
//! most machines have been in the same condition before. So a machine that a step has changed is
//! looked for among those of the last steps, and shared if it is there. Both lists are of the
//! thread's and decide nothing but where values lie in memory.

use std::cell::RefCell;

use triomphe::Arc;

use super::machine::Machine;

/// How many machines are kept for their memory.
const SPARES: usize = 256;

/// How many machines are remembered; each has one place, by its hash.
const PLACES: usize = 1 << 15;

struct Workshop {
    spares: Vec<Arc<Machine>>,
    known: Vec<Option<Arc<Machine>>>,
}

thread_local! {
    static WORKSHOP: RefCell<Workshop> =
        const { RefCell::new(Workshop { spares: Vec::new(), known: Vec::new() }) };
}

/// A machine that is nobody's, in any condition.
pub(super) fn spare() -> Arc<Machine> {
    let spare = WORKSHOP.with_borrow_mut(|workshop| workshop.spares.pop());
    spare.unwrap_or_else(|| Arc::new(Machine::blank()))
}

/// Keeps a machine for its memory, unless somebody else has it.
#[inline]
pub(super) fn keep(machine: Arc<Machine>) {
    if Arc::is_unique(&machine) {
        WORKSHOP.with_borrow_mut(|workshop| {
            if workshop.spares.len() < SPARES {
                workshop.spares.push(machine);
            }
        });
    }
}

/// Replaces a machine by one that is the same and known already, or else remembers it.
pub(super) fn intern(machine: &mut Arc<Machine>) {
    let place = machine.share() as usize % PLACES;
    let replaced = WORKSHOP.with_borrow_mut(|workshop| {
        if workshop.known.is_empty() {
            workshop.known.resize(PLACES, None);
        }
        let known = &mut workshop.known[place];
        match known {
            Some(known) if known.is_same(machine) => {
                Some(std::mem::replace(machine, known.clone()))
            }
            _ => known.replace(machine.clone()),
        }
    });
    replaced.into_iter().for_each(keep);
}
