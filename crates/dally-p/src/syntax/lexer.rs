//! The lexer. Comments and white space are left out.

use super::token::{Kind, Token};
use crate::diagnostic::{Diagnostic, error};
use crate::source::{FileId, Span};

/// Invariant: the spans of tokens and diagnostics lie inside the text, in order, on character
/// boundaries.
pub(super) struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    /// The last token is [`Kind::End`].
    pub(super) tokens: Vec<Token>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Whether a string or comment is never closed. From then on strings end with their line, so that
    /// no character is read more than twice.
    pub(super) unclosed: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(file: FileId, text: &'a str) -> Lexer<'a> {
        // A byte order mark is no part of the program.
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let tokens = Vec::with_capacity(text.len() / 4);
        let mut lexer = Lexer { file, text, at, tokens, diagnostics: Vec::new(), unclosed: false };
        let mut first_of_line = true;
        loop {
            first_of_line |= lexer.skip_blank();
            let start = lexer.at as u32;
            let Some(kind) = lexer.token() else { continue };
            lexer.tokens.push(Token { kind, first_of_line, start, end: lexer.at as u32 });
            if kind == Kind::End {
                return lexer;
            }
            first_of_line = false;
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn skip_while(&mut self, accept: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !accept(c)).unwrap_or(rest.len());
    }

    fn complain(&mut self, start: usize, end: usize, message: impl Into<String>, hint: &str) {
        let span = Span { file: self.file, start: start as u32, end: end as u32 };
        let wrong = error(span, message);
        self.diagnostics.push(if hint.is_empty() { wrong } else { wrong.hint(hint) });
    }

    /// Skips white space and comments; answers whether a line ended in them.
    fn skip_blank(&mut self) -> bool {
        let start = self.at;
        loop {
            self.skip_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n' | '\x0c'));
            if self.rest().starts_with("//") {
                self.skip_while(|c| c != '\n' && c != '\r');
            } else if self.rest().starts_with("/*") {
                let body = &self.text[self.at + 2..];
                match body.find("*/") {
                    Some(end) => self.at += end + 4,
                    None => {
                        let (at, never) = (self.at, "this comment is never closed");
                        self.complain(at, at + 2, never, "close it with `*/`");
                        self.unclosed = true;
                        self.at = self.text.len();
                    }
                }
            } else {
                return self.text[start..self.at].contains('\n');
            }
        }
    }

    /// The next token; `None` for characters that are reported and skipped.
    fn token(&mut self) -> Option<Kind> {
        let Some(c) = self.peek() else { return Some(Kind::End) };
        match c {
            '_' => Some(self.word()),
            _ if c.is_alphabetic() => Some(self.word()),
            '0'..='9' => Some(self.number()),
            '"' => Some(self.string()),
            _ => self.sign(c),
        }
    }

    fn word(&mut self) -> Kind {
        let start = self.at;
        self.skip_while(is_of_word);
        let text = &self.text[start..self.at];
        if !text.is_ascii() {
            self.complain(
                start,
                self.at,
                format!("`{}` cannot be a name", shorten(text)),
                "names consist of the letters a to z and A to Z, digits and `_`",
            );
            return Kind::Name;
        }
        // The only keyword with a dash.
        if text == "init" && self.rest().starts_with("-condition") {
            let after = &self.rest()["-condition".len()..];
            if !after.starts_with(is_of_word) {
                self.at += "-condition".len();
                return Kind::InitCondition;
            }
        }
        Kind::word(text).unwrap_or(Kind::Name)
    }

    /// Digits only: `1.5` is three tokens, because the `0.1` in `t.0.1` must be.
    fn number(&mut self) -> Kind {
        let start = self.at;
        self.skip_while(|c| c.is_ascii_digit());
        if !self.rest().starts_with(is_of_word) {
            return Kind::Int;
        }
        self.skip_while(is_of_word);
        self.complain(
            start,
            self.at,
            format!("`{}` is neither a number nor a name", shorten(&self.text[start..self.at])),
            "numbers are written like `15` and `1.5`; names begin with a letter or `_`",
        );
        Kind::Bad
    }

    fn string(&mut self) -> Kind {
        let start = self.at;
        self.bump();
        let line_ends = self.unclosed;
        loop {
            self.skip_while(|c| c != '"' && c != '\\' && !(line_ends && c == '\n'));
            match self.peek() {
                Some('"') => {
                    self.bump();
                    return Kind::Str;
                }
                Some('\n') => break,
                Some(_) => {
                    self.bump();
                    self.bump();
                }
                None => break,
            }
        }
        self.complain(start, start + 1, "this text is never closed", "close it with `\"`");
        // The string was probably meant to end on its line, so the next line is read as code.
        self.unclosed = true;
        self.at = start;
        self.skip_while(|c| c != '\n');
        Kind::Bad
    }

    fn sign(&mut self, c: char) -> Option<Kind> {
        if let Some((kind, text)) =
            Kind::SIGNS.iter().find(|(_, text)| self.rest().starts_with(text))
        {
            self.at += text.len();
            return Some(*kind);
        }
        let start = self.at;
        if c == '\'' {
            return Some(self.quoted());
        }
        self.skip_while(|other| other == c);
        let text = shorten(&self.text[start..self.at]);
        let unknown = format!("there is no `{text}` in P");
        let (message, hint) = match c {
            '&' => (unknown, "\"and\" is written `&&`"),
            '|' => (unknown, "\"or\" is written `||`"),
            _ if c.is_control() || c.is_whitespace() => {
                let code = u32::from(c);
                (format!("there is a character U+{code:04X} here, which P does not know"), "")
            }
            _ => (unknown, ""),
        };
        self.complain(start, self.at, message, hint);
        match c {
            '&' => Some(Kind::And),
            '|' => Some(Kind::Or),
            _ => None,
        }
    }

    /// `'...'`, which is no string in P.
    fn quoted(&mut self) -> Kind {
        let start = self.at;
        self.bump();
        self.skip_while(|c| c != '\'' && c != '\n' && c != '\r');
        if self.peek() == Some('\'') {
            self.bump();
        }
        let hint = "write `\"...\"`; there are no single characters in P";
        self.complain(start, self.at, "texts stand in double quotes", hint);
        Kind::Str
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Cuts a piece of the source for a message to a few characters.
pub(super) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}
