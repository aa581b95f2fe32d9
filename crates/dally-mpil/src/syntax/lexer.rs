//! Tokens.

use crate::diagnostic::Diagnostic;

use super::ast::Span;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Word(String),
    Number(i64),
    Text(String),
    Mark(&'static str),
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// Whether it is the first on its line.
    pub(super) first: bool,
}

/// Longer ones first.
const MARKS: [&str; 26] = [
    "..=", "==", "!=", "<=", ">=", "..", "<-", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")",
    "[", "]", "{", "}", ",", ":", ";", ".", "|",
];

pub(super) fn tokens(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let (mut tokens, mut errors) = (Vec::new(), Vec::new());
    let (mut at, mut first) = (0, true);
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        if next == '\n' {
            (at, first) = (at + 1, true);
            continue;
        }
        if next.is_whitespace() {
            at += next.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let kind = if next.is_alphabetic() || next == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            at += end;
            Kind::Word(rest[..end].to_owned())
        } else if next.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            at += end;
            match rest[..end].replace('_', "").parse() {
                Ok(number) => Kind::Number(number),
                Err(_) => {
                    let message = format!("`{}` is not a number", shortened(&rest[..end]));
                    let hint = "numbers are decimal and go up to 9223372036854775807";
                    errors.push(Diagnostic::new(start..at, message).hint(hint));
                    Kind::Number(0)
                }
            }
        } else if next == '"' {
            let line = &rest[1..rest.find('\n').unwrap_or(rest.len())];
            match line.find('"') {
                Some(end) => {
                    at += end + 2;
                    Kind::Text(line[..end].to_owned())
                }
                None => {
                    at += line.len() + 1;
                    let message = "a text that does not end on its line";
                    errors.push(Diagnostic::new(start..at, message).hint("close it with `\"`"));
                    Kind::Text(String::new())
                }
            }
        } else if let Some(mark) = MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
            at += mark.len();
            Kind::Mark(mark)
        } else {
            at += next.len_utf8();
            let message = format!("unexpected character `{}`", next.escape_debug());
            errors.push(Diagnostic::new(start..at, message));
            continue;
        };
        tokens.push(Token { kind, span: start..at, first });
        first = false;
    }
    (tokens, errors)
}

pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
