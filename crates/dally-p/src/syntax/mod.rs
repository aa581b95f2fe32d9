//! [`parse`] never fails: what it cannot read is left out of the tree and reported, so that one run
//! reports all errors. The parser is written by hand. It skips declarations for the P
//! verifier, and recognises syntax of older versions of P only to report it.

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

/// The syntax tree of a file, and its errors in the order of places.
pub fn parse(sources: &Sources, file: FileId) -> (ast::File, Vec<Diagnostic>) {
    let mut parser = parser::Parser::new(file, &sources.file(file).text);
    let tree = parser.file();
    (tree, parser.finish())
}

/// All keywords and signs of the language, for generators of random programs.
pub const SPELLINGS: &[&str] = token::Kind::SPELLINGS;
