//! State machines in Rust under Dally's control.
//!
//! A machine's handler is a function from (state, event, chosen values) to (state, effects). It
//! runs when its event is dequeued; raise, goto, push and pop happen at once. What others can see
//! (send, create, announce, timers, persist, halt) is queued and then released in order, with
//! scheduling points in between, so every global state can be captured although handlers are Rust.
//!
//! Invariant: a machine's step is a pure function of the state and the choices made.

pub mod addr;
pub mod capture;
pub mod cx;
#[cfg(feature = "host")]
pub mod host;
pub mod machine;
pub mod message;
pub mod monitor;

mod body;
mod cell;
mod digest;
mod effect;
mod encoding;
mod faults;
mod inbox;
mod pending;
mod place;
mod plain;
mod pool;
mod program;
mod sealing;
mod slot;
mod step;
mod system;
mod timer;
mod transition_cache;
mod twice;
mod worker;

pub use addr::Addr;
pub use cx::Cx;
pub use digest::Digest;
pub use faults::Faults;
pub use inbox::Mailbox;
pub use machine::{Capture, Handles, Machine, NotDurable, Reaction};
pub use monitor::{MonitorCx, MonitorMachine, Verdict};
pub use program::{Granularity, MachineProgram, Setup};
pub use system::MachineSystem;
