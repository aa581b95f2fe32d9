//! From text to trees.
//!
//! [`parse`] never fails: what it could not make sense of is left out of the tree and said in a
//! diagnostic, so that one run tells everything that is wrong. `lexer` makes tokens, the parser
//! is written by hand and split by idea; what the parser knows of the P verifier and of older
//! versions of P, it knows in order to say so.

mod assignments;
pub mod ast;
mod declarations;
mod expressions;
mod former;
mod lexer;
mod literals;
mod machines;
mod modules;
mod parser;
mod statements;
mod token;
mod types;
mod verifier;

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Sources};

/// The syntax tree of a file, and what is wrong with it in the order of places.
pub fn parse(sources: &Sources, file: FileId) -> (ast::File, Vec<Diagnostic>) {
    let mut parser = parser::Parser::new(file, &sources.file(file).text);
    let tree = parser.file();
    (tree, parser.finish())
}

/// All keywords and signs of the language, for generators of random programs.
pub const SPELLINGS: &[&str] = token::Kind::SPELLINGS;
