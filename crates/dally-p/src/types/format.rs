//! `format("{0} and {1}", a, b)`. A string without arguments is a format too: braces in it are
//! doubled, as in the reference implementation.

use dally_core::words::count;
use triomphe::Arc;

use super::body::Body;
use super::call::are;
use crate::diagnostic::error;
use crate::program::{Expr, ExprKind, Format, Template, Type};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    pub fn text(&mut self, text: &str, span: Span) -> Option<Expr> {
        match pieces(text) {
            Ok((pieces, rest)) if pieces.is_empty() => {
                Some(Expr { kind: ExprKind::Str(rest), ty: Type::String, span })
            }
            Ok((pieces, _)) => self.report.refuse(
                error(span, format!("nothing fills `{{{}}}`", pieces[0].1))
                    .label("a text with a hole")
                    .hint("write `format(\"...\", value)`, or double the braces"),
            ),
            Err(problem) => self.bad_format(problem, span),
        }
    }

    pub fn format(
        &mut self,
        text: &str,
        at: Span,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let arguments: Vec<_> = args.iter().map(|argument| self.expr(argument)).collect();
        let (pieces, rest) = match pieces(text) {
            Ok(found) => found,
            Err(problem) => return self.bad_format(problem, at),
        };
        let wanted = pieces.iter().map(|(_, hole)| hole + 1).max().unwrap_or(0);
        if wanted != arguments.len() {
            return self.report.refuse(
                error(
                    span,
                    format!(
                        "this text takes {}, but {} given",
                        count(wanted as u64, "value"),
                        are(arguments.len())
                    ),
                )
                .label("holes are counted from `{0}`"),
            );
        }
        let arguments = arguments.into_iter().collect::<Option<_>>()?;
        let format = Format { arguments, template: Template { pieces, rest } };
        Some(Expr { kind: ExprKind::Format(Box::new(format)), ty: Type::String, span })
    }

    fn bad_format<T>(&mut self, problem: &str, span: Span) -> Option<T> {
        self.report.refuse(
            error(span, problem)
                .label("in this text")
                .hint("a hole is a number in braces, such as `{0}`; write `{{` for a brace"),
        )
    }
}

/// Texts, each followed by the argument of this index, and the text after the last argument.
type Pieces = (Vec<(Arc<str>, usize)>, Arc<str>);

fn pieces(text: &str) -> Result<Pieces, &'static str> {
    /// The greatest number of arguments.
    const HOLES: usize = 1_000;
    let mut pieces: Vec<(Arc<str>, usize)> = Vec::new();
    let mut open = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let brace = &rest[at..=at];
        open += &rest[..at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            open += brace;
            rest = after;
            continue;
        }
        if brace == "}" {
            return Err("a closing brace without a hole");
        }
        let after = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let digits = &rest[..rest.len() - after.len()];
        rest = match after.strip_prefix('}') {
            Some(after) if !digits.is_empty() => after,
            _ if after.is_empty() => return Err("a hole without an end"),
            _ => return Err("a hole without a number"),
        };
        let hole = digits.parse().ok().filter(|hole| *hole <= HOLES);
        let hole = hole.ok_or("a hole with too large a number")?;
        pieces.push((std::mem::take(&mut open).into(), hole));
    }
    open += rest;
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
