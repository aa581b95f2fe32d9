//! Findings and traces of Dally, for people and for programs.
//!
//! - [`text`]: what a failing test prints, and what a clean run covered;
//! - [`json`]: the same as a documented, versioned document (`docs/json.md`);
//! - [`page`]: a finding as one HTML file with a space-time diagram;
//! - [`export`]: a trace in the formats of other viewers;
//! - [`formats`]: what was checked, for CI servers and code scanning;
//! - [`store`]: the directory where findings are kept;
//! - [`charts`]: figures as line charts; [`diagram`]: states of machines and what was covered;
//! - [`tell`]: how all of it is printed.
//!
//! Invariants: this crate knows findings and reports and nothing of how they came about; nothing that it
//! gives out has a character that a terminal would act on, but for colours of its own.
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod about;
pub mod charts;
pub mod diagram;
pub mod export;
pub mod formats;
pub mod json;
pub mod page;
pub mod store;
pub mod survival;
pub mod tell;
pub mod text;

pub use about::About;
pub use store::Store;
pub use text::Style;
