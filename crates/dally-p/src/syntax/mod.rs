//! From text to trees.

pub mod ast;
