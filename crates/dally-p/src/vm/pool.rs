//! Recycled memory, and interning of parts of states.
//!
//! A search keeps thousands of states that differ from each other in one or two machines, and most
//! machines have been in the same condition before. So new machines and lists of workers of a saved
//! state are shared with equal ones of recent states. Pools belong to threads, and affect nothing but
//! where values lie in memory.

use std::cell::RefCell;
use std::thread::LocalKey;

use dally_core::WorkerId;
use triomphe::Arc;

use super::digest::Digest;

/// How many parts are kept as spare memory.
const SPARES: usize = 256;

/// A part of a state: a machine or a list of workers.
pub(super) trait Pooled: Sized + 'static {
    /// How many are remembered, each in a place determined by its hash.
    const PLACES: usize;

    fn blank() -> Self;
    /// Overwrites this part with a copy, in the same memory.
    fn copy_from(&mut self, other: &Self);
    fn hash(&self) -> u64;
    fn is_same(&self, other: &Self) -> bool;
    fn pool() -> &'static LocalKey<RefCell<Pool<Self>>>;
}

pub(super) struct Pool<T> {
    spares: Vec<Arc<T>>,
    known: Vec<Option<Arc<T>>>,
}

impl<T> Pool<T> {
    pub(super) const fn new() -> RefCell<Pool<T>> {
        RefCell::new(Pool { spares: Vec::new(), known: Vec::new() })
    }
}

impl Pooled for Vec<WorkerId> {
    const PLACES: usize = 1 << 10;

    fn blank() -> Vec<WorkerId> {
        Vec::new()
    }

    fn copy_from(&mut self, other: &Vec<WorkerId>) {
        self.clone_from(other);
    }

    fn hash(&self) -> u64 {
        let mut digest = Digest::new(self.len() as u64);
        digest.all(self, |worker| worker.to_bits());
        digest.value()
    }

    fn is_same(&self, other: &Vec<WorkerId>) -> bool {
        self == other
    }

    fn pool() -> &'static LocalKey<RefCell<Pool<Vec<WorkerId>>>> {
        thread_local! {
            static LISTS: RefCell<Pool<Vec<WorkerId>>> = const { Pool::new() };
        }
        &LISTS
    }
}

/// A new part, in recycled memory if there is some.
pub(super) fn make<T: Pooled>(fill: impl FnOnce(&mut T)) -> Arc<T> {
    let spare = T::pool().with_borrow_mut(|pool| pool.spares.pop());
    let mut part = spare.unwrap_or_else(|| Arc::new(T::blank()));
    if let Some(part) = Arc::get_mut(&mut part) {
        fill(part);
    }
    part
}

/// Keeps the memory of a part, unless the part is shared.
#[inline]
pub(super) fn keep<T: Pooled>(part: Arc<T>) {
    if Arc::is_unique(&part) {
        T::pool().with_borrow_mut(|pool| {
            if pool.spares.len() < SPARES {
                pool.spares.push(part);
            }
        });
    }
}

/// The part for writing: copied first if it is shared.
#[inline]
pub(super) fn own<T: Pooled>(part: &mut Arc<T>) -> &mut T {
    if !Arc::is_unique(part) {
        unshare(part);
    }
    match Arc::get_mut(part) {
        Some(part) => part,
        None => unreachable!("the pointer is unique, or was just made so"),
    }
}

#[inline(never)]
fn unshare<T: Pooled>(part: &mut Arc<T>) {
    *part = make(|copy: &mut T| copy.copy_from(part));
}

/// Replaces a part by an equal one that is remembered, or else by a copy in as little memory as it
/// needs, which is remembered. Its own memory, which is as large as steps need it, is recycled.
pub(super) fn intern<T: Pooled>(part: &mut Arc<T>) {
    let place = part.hash() as usize % T::PLACES;
    let (known, forgotten) = T::pool().with_borrow_mut(|pool| {
        if pool.known.is_empty() {
            pool.known.resize(T::PLACES, None);
        }
        match &mut pool.known[place] {
            Some(known) if known.is_same(part) => (known.clone(), None),
            other => {
                let mut small = T::blank();
                small.copy_from(part);
                let small = Arc::new(small);
                (small.clone(), other.replace(small))
            }
        }
    });
    let wide = std::mem::replace(part, known);
    forgotten.into_iter().chain([wide]).for_each(keep);
}
