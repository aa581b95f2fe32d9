//! From text to trees.

pub(crate) mod ast;
mod lexer;
mod parser;

use crate::diagnostic::Diagnostic;

/// The tree of a program, or what is wrong with its text.
pub(crate) fn parse(text: &str) -> Result<ast::Source, Vec<Diagnostic>> {
    let (tokens, mut errors) = lexer::tokens(text);
    let (source, more) = parser::parse(&tokens, text.len());
    errors.extend(more);
    if errors.is_empty() { Ok(source) } else { Err(errors) }
}
