//! Addresses of machines.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use dally_core::WorkerId;

use crate::machine::Machine;

/// The address of a machine, for sending events to it: plain data that events can hold.
pub struct Addr<M> {
    id: WorkerId,
    machine: PhantomData<fn() -> M>,
}

impl<M> Addr<M> {
    pub(crate) fn new(id: WorkerId) -> Addr<M> {
        Addr { id, machine: PhantomData }
    }

    /// The worker at this address.
    pub fn id(self) -> WorkerId {
        self.id
    }
}

impl<M> Clone for Addr<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Addr<M> {}

impl<M> PartialEq for Addr<M> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<M> Eq for Addr<M> {}

impl<M> PartialOrd for Addr<M> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<M> Ord for Addr<M> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(&other.id)
    }
}

impl<M> Hash for Addr<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl<M: Machine> fmt::Debug for Addr<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", M::NAME, self.id)
    }
}

/// Such as `Participant(0.2)`.
impl<M: Machine> fmt::Display for Addr<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
