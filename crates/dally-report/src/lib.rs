//! Findings and traces of Dally, for people and for programs.
//!
//! - [`text`]: what a failing test prints, and what a clean run covered;
//! - [`json`]: the same as a documented, versioned document (`docs/json.md`);
//! - [`store`]: the directory where findings are kept;
//! - [`charts`]: figures as line charts.
//!
//! Invariant: this crate knows findings and reports and nothing of how they came about.

pub mod about;
pub mod charts;
pub mod json;
pub mod store;
pub mod text;

pub use about::About;
pub use store::Store;
pub use text::Style;
