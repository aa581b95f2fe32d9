//! Memory that is used again, and machines that are kept once however many states hold them.
//!
//! A search keeps thousands of states that differ in one or two machines from each other, and
//! most machines have been in the same condition before. So what is new in a state that is kept is
//! looked for among what was new lately, and shared if it is there; lists of workers as well. All
//! this is of the thread's and decides nothing but where values lie in memory.

use std::cell::RefCell;

use dally_core::WorkerId;
use triomphe::Arc;

use super::digest::Digest;
use super::machine::Machine;

/// A list of workers, shared by the states that have the same.
type List = Arc<Vec<WorkerId>>;

/// How many machines are kept for their memory, and how many lists.
const SPARES: usize = 256;

/// How many machines are remembered; each has one place, by its hash.
const PLACES: usize = 1 << 15;

/// The same for lists of workers, which are far fewer.
const LISTS: usize = 1 << 10;

struct Workshop {
    spares: Vec<Arc<Machine>>,
    known: Vec<Option<Arc<Machine>>>,
    spare_lists: Vec<List>,
    known_lists: Vec<Option<List>>,
}

thread_local! {
    static WORKSHOP: RefCell<Workshop> = const {
        RefCell::new(Workshop {
            spares: Vec::new(),
            known: Vec::new(),
            spare_lists: Vec::new(),
            known_lists: Vec::new(),
        })
    };
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
        let same = |known: &Arc<Machine>, new: &Arc<Machine>| known.is_same(new);
        share(&mut workshop.known, PLACES, place, machine, same)
    });
    replaced.into_iter().for_each(keep);
}

/// A list to be changed: copied first if it is shared.
#[inline]
pub(super) fn own_list(list: &mut List) -> &mut Vec<WorkerId> {
    if !Arc::is_unique(list) {
        let mut copy =
            WORKSHOP.with_borrow_mut(|workshop| workshop.spare_lists.pop()).unwrap_or_default();
        if let Some(workers) = Arc::get_mut(&mut copy) {
            workers.clone_from(list);
        }
        *list = copy;
    }
    match Arc::get_mut(list) {
        Some(workers) => workers,
        None => unreachable!("the pointer is unique, or was just made so"),
    }
}

/// Keeps a list for its memory, unless somebody else has it.
#[inline]
pub(super) fn keep_list(list: List) {
    if Arc::is_unique(&list) {
        WORKSHOP.with_borrow_mut(|workshop| {
            if workshop.spare_lists.len() < SPARES {
                workshop.spare_lists.push(list);
            }
        });
    }
}

/// Replaces a list by one that is the same and known already, or else remembers it.
pub(super) fn intern_list(list: &mut List) {
    let mut digest = Digest::new(list.len() as u64);
    digest.all(list, |worker| worker.to_bits());
    let place = digest.value() as usize % LISTS;
    let replaced = WORKSHOP.with_borrow_mut(|workshop| {
        share(&mut workshop.known_lists, LISTS, place, list, |known, new| known == new)
    });
    replaced.into_iter().for_each(keep_list);
}

/// Has a pointer point to what is at a place of a table, if it is the same, and else puts it there.
/// Answers what is not pointed to any more.
fn share<T>(
    known: &mut Vec<Option<Arc<T>>>,
    places: usize,
    place: usize,
    new: &mut Arc<T>,
    same: impl Fn(&Arc<T>, &Arc<T>) -> bool,
) -> Option<Arc<T>> {
    if known.is_empty() {
        known.resize(places, None);
    }
    let known = &mut known[place];
    match known {
        Some(known) if same(known, new) => Some(std::mem::replace(new, known.clone())),
        _ => known.replace(new.clone()),
    }
}
