//! What an event or a machine must implement to be captured, with compiler messages that say so.

use std::fmt::Debug;
use std::hash::Hash;

use crate::machine::Capture;
use crate::message::{Opaque, Shared, Slot};

/// A machine whose state can be copied, compared and encoded: every type with these derives. The
/// trait exists for its error message.
#[diagnostic::on_unimplemented(
    message = "the state of machine `{Self}` cannot be captured",
    label = "`{Self}` is not `Clone + Eq + Hash`",
    note = "derive what is missing: `#[derive(Clone, PartialEq, Eq, Hash, Debug)]`",
    note = "or declare it `#[machine(uncaptured, ..)]`: then it needs only `Debug`, and runs \
            where no copies of the state are needed"
)]
pub trait CapturedState: Clone + Eq + Hash {}

impl<M: Clone + Eq + Hash> CapturedState for M {}

/// How a machine with the derives of [`CapturedState`] is captured.
pub const fn captured<M: CapturedState>() -> Capture<M> {
    Capture::DERIVED
}

/// An event that a captured machine can handle, since its inbox is part of its state: derive
/// `Clone, PartialEq, Eq, Hash, Debug`, or declare the machine `uncaptured`.
pub trait CapturedEvent: Sized {
    /// How a message with such an event is stored.
    type Slot: Slot<Self>;
}

impl<E: Clone + Eq + Hash + Debug + Send + Sync + 'static> CapturedEvent for E {
    type Slot = Shared<E>;
}

/// An event that a machine declared `uncaptured` can handle: derive `Debug`.
pub trait OpaqueEvent: Sized {
    /// How a message with such an event is stored.
    type Slot: Slot<Self>;
}

impl<E: Debug + Send + Sync + 'static> OpaqueEvent for E {
    type Slot = Opaque<E>;
}
