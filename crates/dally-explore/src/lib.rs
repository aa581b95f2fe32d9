//! Exploring an execution by hand.
//!
//! A [`Session`] is a path of choices in a program. It is asked by [`Request`]s and answers with [`Reply`]s:
//! the present state, who can step and what that would do, a step, a step back, the answer to a question of a
//! step, a run of a strategy from here, a search from here for a bug or for a state in which a [`Condition`]
//! holds, a map of the states around. The program is run again along the path each time
//! ([`dally_search::by_hand`]), so any program can be explored.
//!
//! - [`terminal`]: a session by lines of text;
//! - [`page`]: what a browser shows of a session;
//! - [`lines`]: sessions of another process.

mod condition;
pub mod lines;
pub mod page;
mod picture;
mod program;
mod request;
mod session;
pub mod terminal;
mod until;

pub use condition::{Condition, ConditionError};
pub use picture::{Life, MonitorState, Picture, Worker};
pub use program::{Explorable, Search};
pub use request::{Map, MapState, MapStep, Offer, Place, Reply, Request, View};
pub use session::Session;
