//! Channels from many senders to one receiver, in the shape of `tokio::sync::mpsc`.
//!
//! A bounded `send` has a scheduling point before it and waits, first come, first served, while
//! the channel is full. An unbounded `send` happens at once, inside the step that calls it.

mod bounded;
mod chan;
mod ends;
pub mod error;
mod permit;
mod recv;
mod send;
mod touch;
mod unbounded;

pub use bounded::{Receiver, Sender, WeakSender, channel};
pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use recv::{Recv, RecvMany};
pub use send::{Closed, Send};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
