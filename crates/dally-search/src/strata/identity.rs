//! When two states are the same, and what a search does with a state that it has reached.
//!
//! - Two states are the same if their *identities* are. Where states are copied, the identity is
//!   the fingerprint, a hash of the whole state. Where they are replayed, it is the happens-before
//!   fingerprint of the choices that lead there ([`StateSpace::identity`]).
//! - With [`Plan::with_explorer`](super::Plan::with_explorer) the hash of the explorer is mixed in:
//!   then a state with another order of transitions is another state.
//! - With [`Plan::exact`](super::Plan::exact) the identity is not trusted: states are compared byte
//!   by byte, in parts. Only the hash of the explorer is compared.

use dally_core::bug::Uncontrolled;
use dally_core::{Bug, Problem, fingerprint};

use super::depth_first::DepthFirstWorker;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use super::visited::{Visit, Visited};
use crate::liveness::Node;

/// The identity of the live state of a space, with this order of transitions.
#[inline]
pub(super) fn identity_of<S: StateSpace, O: TransitionOrder>(
    space: &mut S,
    order: &O,
    with_order: bool,
) -> u64 {
    let identity = space.identity();
    if with_order { fingerprint::mix(identity, order.hash()) } else { identity }
}

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    pub(super) fn identity(&mut self, order: &O) -> u64 {
        identity_of(&mut self.space, order, self.shared_state.with_order)
    }

    /// Remembers the live state, which a step from the top of the stack has led to. If the search
    /// goes on from it, returns its number in the transition log, or 0 if there is no log.
    pub(super) fn is_new(&mut self, identity: u64) -> Option<Node> {
        if self.shared_state.log.is_some() {
            return self.log_arrival(identity);
        }
        self.remember(identity).then_some(0)
    }

    /// Remembers the live state; `true` if the search goes on from it.
    pub(super) fn remember(&mut self, identity: u64) -> bool {
        let (space, with_order) = (&self.space, self.shared_state.with_order);
        let visit = self.shared_state.visited.insert(&mut self.slot, identity, |part| {
            space.parts(part);
            if with_order {
                // The identity contains the hash of the explorer.
                part(&identity.to_le_bytes());
            }
        });
        let new = match visit {
            Visit::New | Visit::Unstored => true,
            Visit::Known => false,
            Visit::NoRoom => {
                self.shared_state.memory_is_full();
                true
            }
        };
        if let Some(visible) = self.space.visible_hash()
            && !self.shared_state.is_visibly_same(identity, visible, new)
        {
            self.found(Bug::new(Problem::Uncontrolled(Uncontrolled::State)));
        }
        new
    }
}
