//! Texts with holes: `format("{0} and {1}", a, b)`. A plain text is one without arguments, in
//! which braces are doubled too, as in the reference.

use triomphe::Arc;

use super::body::Body;
use super::call::count;
use crate::diagnostic::Diagnostic;
use crate::program::{Expr, ExprKind, Format, Type};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    /// A plain text.
    pub fn text(&mut self, text: &str, span: Span) -> Option<Expr> {
        match pieces(text) {
            Ok((pieces, rest)) if pieces.is_empty() => {
                Some(Expr { kind: ExprKind::Str(rest), ty: Type::String, span })
            }
            Ok((pieces, _)) => {
                self.report.push(
                    Diagnostic::error(span, format!("nothing fills `{{{}}}`", pieces[0].1))
                        .label("a text with a hole")
                        .hint("write `format(\"...\", value)`, or double the braces"),
                );
                None
            }
            Err(problem) => self.bad_format(problem, span),
        }
    }

    /// A text with values.
    pub fn format(
        &mut self,
        text: &str,
        at: Span,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let arguments: Vec<_> = arguments.iter().map(|argument| self.expr(argument)).collect();
        let (pieces, rest) = match pieces(text) {
            Ok(found) => found,
            Err(problem) => return self.bad_format(problem, at),
        };
        let wanted = pieces.iter().map(|(_, hole)| hole + 1).max().unwrap_or(0);
        if wanted != arguments.len() {
            self.report.push(
                Diagnostic::error(
                    span,
                    format!(
                        "this text takes {}, but {} given",
                        count(wanted, "value"),
                        match arguments.len() {
                            1 => "1 is".to_owned(),
                            given => format!("{given} are"),
                        }
                    ),
                )
                .label("holes are counted from `{0}`"),
            );
            return None;
        }
        let arguments = arguments.into_iter().collect::<Option<_>>()?;
        let format = Format { arguments, pieces, rest };
        Some(Expr { kind: ExprKind::Format(Box::new(format)), ty: Type::String, span })
    }

    fn bad_format<T>(&mut self, problem: &str, span: Span) -> Option<T> {
        self.report.push(
            Diagnostic::error(span, problem)
                .label("in this text")
                .hint("a hole is a number in braces, such as `{0}`; write `{{` for a brace"),
        );
        None
    }
}

/// Texts, each before a hole, and the text after the last hole.
type Pieces = (Vec<(Arc<str>, usize)>, Arc<str>);

/// Takes a format apart.
fn pieces(text: &str) -> Result<Pieces, &'static str> {
    /// More arguments nobody writes.
    const HOLES: usize = 1_000;
    let mut pieces: Vec<(Arc<str>, usize)> = Vec::new();
    let mut open = String::new();
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '{' if rest.peek() == Some(&'{') => {
                rest.next();
                open.push('{');
            }
            '{' => {
                let mut hole = 0;
                let mut digits = 0;
                loop {
                    match rest.next() {
                        Some('}') if digits > 0 => break,
                        Some(digit) if digit.is_ascii_digit() => {
                            hole = hole * 10 + digit as usize - '0' as usize;
                            digits += 1;
                        }
                        Some(_) => return Err("a hole without a number"),
                        None => return Err("a hole without an end"),
                    }
                    if hole > HOLES {
                        return Err("a hole with too large a number");
                    }
                }
                pieces.push((std::mem::take(&mut open).into(), hole));
            }
            '}' if rest.peek() == Some(&'}') => {
                rest.next();
                open.push('}');
            }
            '}' => return Err("a closing brace without a hole"),
            other => open.push(other),
        }
    }
    Ok((pieces, open.into()))
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn a_text_is_taken_apart_at_its_holes() {
        let (parts, rest) = pieces("a{0}b{{c}}{12}d").unwrap();
        let parts: Vec<(&str, usize)> = parts.iter().map(|(text, hole)| (&**text, *hole)).collect();
        assert_eq!(parts, [("a", 0), ("b{c}", 12)]);
        assert_eq!(&*rest, "d");
    }

    #[test]
    fn a_text_with_broken_holes_is_refused() {
        for text in ["{", "{}", "{a}", "{1", "}", "a}b", "{0}}", "{99999999999999999999}"] {
            assert!(pieces(text).is_err(), "{text}");
        }
    }
}
