//! A log of transitions, for searches to which it matters how states hang together.

use dally_core::{Choice, System, WorkerId};

use super::entry::Value;
use crate::liveness::Node;

/// Keeps states and the transitions between them. A search without one keeps states alone.
pub(crate) trait Log: Send + Sync {
    /// A step from a known state has led to this one; or it is the first.
    fn arrived(&self, from: Option<Node>, arrival: &Arrival<'_>) -> Logged;

    /// Some transitions of a state will be taken later or by another thread.
    fn opened(&self, node: Node);

    /// A thread has taken all transitions of a state that it will take for now.
    fn left(&self, node: Node);

    /// How many bytes it takes.
    fn bytes(&self) -> u64;
}

/// A state that was come to, and the step that led there.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) identity: u64,
    /// Gives the parts of the state, for exact storage.
    pub(crate) parts: &'a Parts<'a>,
    pub(crate) system: &'a dyn System,
    pub(crate) worker: WorkerId,
    pub(crate) values: &'a [Value],
    /// The choices of the step, if there are values.
    pub(crate) choices: &'a [Choice],
}

/// Gives the parts of a state to the function that it gets, one after the other.
pub(crate) type Parts<'a> = dyn Fn(&mut dyn FnMut(&[u8])) + 'a;

/// What a log says of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Logged {
    /// It is new, and has this number.
    New(Node),
    Known,
    /// There is no room for it, or for the transition to it.
    NoRoom,
}
