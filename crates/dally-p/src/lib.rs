//! The P language, from source text to a system under Dally's control.
//!
//! Data flows one way: [`syntax`] turns files into trees, [`types`] resolves names and checks
//! types over all files of a project, [`modules`] evaluates the module system and makes the list
//! of tests, [`lower`] compiles functions to a compact code, and [`vm`] runs it as a
//! `dally_core::System`.
//!
//! Invariant: errors are values with source spans ([`diagnostic::Diagnostic`]); no input makes
//! this crate panic or hang.

pub mod diagnostic;
pub mod program;
pub mod source;
pub mod syntax;
mod modules;
mod types;
