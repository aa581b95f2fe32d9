//! The P language, from source text to a system under Dally's control.
//!
//! Data flows one way: [`syntax`] turns files into trees, `types` resolves names and checks
//! types over all files of a project, `modules` evaluates the module system and makes the list
//! of tests, `lower` compiles functions to a compact code, and [`vm`] runs it as a
//! `dally_core::System`.
//!
//! Invariant: errors are values with source spans ([`diagnostic::Diagnostic`]); no input makes
//! this crate panic or hang.

mod compile;
pub mod diagnostic;
pub mod foreign_crate;
pub mod grammar;
mod lower;
mod modules;
mod open;
pub mod peasy;
pub mod program;
pub mod project;
pub mod source;
mod stubs;
pub mod syntax;
mod types;
pub mod vm;

pub use compile::{Compiled, compile};
pub use open::{OpenError, Project};
