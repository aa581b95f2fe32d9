//! The contract between the `#[machine]` attribute and the runtime.

use std::fmt::Debug;
use std::hash::Hash;

use dally_core::fingerprint::Encoder;

use crate::cx::Cx;
use crate::digest::Digest;
use crate::message::{Message, Slot};

/// A machine: states, and what it does on each event in each of them. Implemented by
/// `#[dally::machine]`, with which its items may change.
pub trait Machine: Sized + Debug + Send + Sync + 'static {
    /// Its states, an enum that the attribute makes.
    type State: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// What survives a crash; [`NotDurable`] if the machine cannot crash.
    type Durable: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// The name of the type.
    const NAME: &'static str;

    /// The state it starts in.
    const START: Self::State;

    /// Whether it declares durable state, and so can crash and restart.
    const IS_DURABLE: bool;

    /// All its states.
    const STATES: &'static [Self::State];

    /// The names of the events that it knows, by [`Handles::EVENT`].
    const EVENTS: &'static [&'static str];

    /// The name of a state.
    fn state_name(state: Self::State) -> &'static str;

    /// The rule of this state, and no other, for an event.
    fn reaction(state: Self::State, event: u16) -> Reaction;

    /// Runs the handler that [`Machine::reaction`] promised for this state, which need not be the top
    /// of the stack. Generated code takes the event out by [`crate::message::take`].
    fn handle(
        &mut self,
        cx: &mut Cx<'_, Self>,
        state: Self::State,
        event: u16,
        message: &mut Message,
    );

    /// Runs the entry action of a state, if it has one.
    fn enter(&mut self, cx: &mut Cx<'_, Self>, state: Self::State);

    /// Runs the exit action of a state, if it has one.
    fn leave(&mut self, cx: &mut Cx<'_, Self>, state: Self::State);

    /// Whether the state has a default handler, for when nothing can be dequeued.
    fn has_default(state: Self::State) -> bool;

    /// Runs the default handler of a state.
    fn default_handler(&mut self, cx: &mut Cx<'_, Self>, state: Self::State);

    /// The machine after a crash: `self` as it was created, and what it last persisted. Only
    /// called where [`Machine::IS_DURABLE`] and the machine is captured.
    fn recover(self, durable: Option<Self::Durable>) -> Self;

    /// Whether its inbox is observed along with what it shows.
    const SHOWS_INBOX: bool = true;

    /// A hash of what the machine shows of itself to strategies that learn: see [`shown`].
    fn show(&self) -> u64 {
        0
    }

    /// How its state is captured; `None` for a machine declared `uncaptured`.
    fn capture() -> Option<Capture<Self>>;
}

/// The hash of the value that the `#[observe]` function of a machine answers.
pub fn shown<T: Hash>(value: &T) -> u64 {
    Digest::of(value)
}

/// The durable state of a machine that has none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NotDurable {}

/// What a state does with an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reaction {
    /// Runs a handler.
    Handle,
    /// Leaves it in the inbox for a later state.
    Defer,
    /// Drops it.
    Ignore,
    /// Has no rule for it: the states below on the stack decide, and if none does it is a bug.
    Unhandled,
}

/// A machine that has a rule for events of type `E` in at least one of its states.
#[diagnostic::on_unimplemented(
    message = "machine `{Self}` never handles event `{E}`",
    label = "`{Self}` has no `#[on]`, `#[goto]`, `#[defer]` or `#[ignore]` for `{E}`",
    note = "add a handler such as `#[on(State, {E})]` to the `#[machine]` block of `{Self}`"
)]
pub trait Handles<E>: Machine {
    /// The number of the event among those that the machine knows.
    const EVENT: u16;

    /// How a message with this event is stored: [`crate::message::Shared`] where the machine is
    /// captured, [`crate::message::Opaque`] where it is not.
    type Slot: Slot<E>;
}

/// How the state of a machine is copied, compared and encoded.
pub struct Capture<M> {
    /// A copy.
    pub clone: fn(&M) -> M,
    /// A copy into existing memory.
    pub clone_from: fn(&mut M, &M),
    /// Appends an injective encoding.
    pub encode: fn(&M, &mut Vec<u8>),
    /// A hash, equal where the encoding is.
    pub digest: fn(&M) -> u64,
    /// Whether two machines are equal.
    pub eq: fn(&M, &M) -> bool,
}

impl<M: Clone + Eq + Hash> Capture<M> {
    /// From the derives of the type.
    pub const DERIVED: Capture<M> = Capture {
        clone: M::clone,
        clone_from: M::clone_from,
        encode: |machine, out| Encoder::encode(machine, out),
        digest: Digest::of,
        eq: M::eq,
    };
}
