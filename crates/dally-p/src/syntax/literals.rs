//! Numbers and strings.

use super::ast::{ExprKind, IntLiteral};
use super::parser::{Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::error;
use crate::source::Span;

impl Parser<'_> {
    pub(super) fn int(&mut self) -> Parsed<IntLiteral> {
        let minus = if self.is(Kind::Minus) { Some(self.bump()) } else { None };
        if !self.is(Kind::Int) {
            return Err(self.expected("a whole number"));
        }
        let token = self.token();
        let span = self.bump();
        let digits = self.text_at(self.span_of(token));
        let value = self.int_value(digits, span, minus.is_some());
        Ok(IntLiteral { value, span: minus.unwrap_or(span).to(span) })
    }

    fn int_value(&mut self, digits: &str, span: Span, negative: bool) -> i64 {
        let value = digits.parse::<i64>().ok().map(|value| if negative { -value } else { value });
        match value.filter(|&value| i32::try_from(value).is_ok()) {
            Some(value) => value,
            None => {
                self.remark(error(span, "this number does not fit 32 bits").hint(format!(
                    "literals go from {} to {}; calculate larger numbers",
                    i32::MIN,
                    i32::MAX
                )));
                0
            }
        }
    }

    /// `12`, `1.5` or `.5`
    pub(super) fn number(&mut self) -> ExprKind {
        let start = self.span();
        if self.is(Kind::Int) {
            self.bump();
        }
        if !(self.is(Kind::Dot) && self.kind_after(1) == Kind::Int) {
            return ExprKind::Int(self.int_value(self.text_at(start), start, false));
        }
        let whole = if self.last_span() == start { self.text_at(start) } else { "0" };
        self.bump();
        let fraction = self.bump();
        let text = format!("{whole}.{}", self.text_at(fraction));
        // Digits, a point and digits always parse, perhaps as infinity.
        ExprKind::Float(text.parse().unwrap_or(f64::INFINITY))
    }

    pub(super) fn string(&mut self) -> String {
        let span = self.bump();
        let quoted = self.text_at(span);
        let inner = quoted.get(1..quoted.len().max(2) - 1).unwrap_or("");
        let mut text = String::with_capacity(inner.len());
        let mut rest = inner.char_indices();
        while let Some((at, c)) = rest.next() {
            if c != '\\' {
                text.push(c);
                continue;
            }
            let Some((_, escaped)) = rest.next() else { break };
            let resolved = match escaped {
                'n' => Some('\n'),
                't' => Some('\t'),
                'r' => Some('\r'),
                '0' => Some('\0'),
                '\\' | '"' | '\'' => Some(escaped),
                'u' => {
                    let digits = rest.as_str().get(..4);
                    let digits = digits.filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
                    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                    let code = code.and_then(char::from_u32);
                    rest.by_ref().take(if code.is_some() { 4 } else { 0 }).for_each(drop);
                    code
                }
                _ => None,
            };
            text.extend(resolved);
            if resolved.is_none() {
                let start = span.start + 1 + at as u32;
                let span = Span { start, end: start + 1 + escaped.len_utf8() as u32, ..span };
                self.remark(error(span, "this escape is unknown").hint(
                    "there are \\n, \\t, \\r, \\0, \\\", \\\\ and \\u with four hexadecimal digits",
                ));
            }
        }
        text
    }
}
