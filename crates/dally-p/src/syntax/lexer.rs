//! From characters to tokens. Comments and white space are left out.

use super::token::{Kind, Token};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// What the lexer makes of a file.
///
/// Invariant: the spans of tokens and diagnostics lie inside the text, in order, at the borders
/// of characters.
pub(crate) struct Lexed {
    /// The tokens, the last of which is [`Kind::End`].
    pub(crate) tokens: Vec<Token>,
    /// What is wrong with them.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether a text or comment is never closed and has swallowed what follows.
    pub(crate) unclosed: bool,
}

/// The tokens of a file.
pub(crate) fn lex(file: FileId, text: &str) -> Lexed {
    let mut lexer = Lexer { file, text, at: 0, unclosed: false, diagnostics: Vec::new() };
    // A byte order mark is no part of the program.
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut first_of_line = true;
    loop {
        first_of_line |= lexer.skip_blank();
        let start = lexer.at;
        let kind = lexer.token();
        let Some(kind) = kind else { continue };
        tokens.push(Token { kind, first_of_line, start: start as u32, end: lexer.at as u32 });
        if kind == Kind::End {
            return Lexed { tokens, diagnostics: lexer.diagnostics, unclosed: lexer.unclosed };
        }
        first_of_line = false;
    }
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    /// Set once a text was not closed: from then on texts end with their line, so that no
    /// character is looked at more than twice.
    unclosed: bool,
    diagnostics: Vec<Diagnostic>,
}

impl Lexer<'_> {
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

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32 }
    }

    /// Skips white space and comments; whether there was an end of a line in them.
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
                        let open = self.span(self.at, self.at + 2);
                        self.diagnostics.push(
                            Diagnostic::error(open, "this comment is never closed")
                                .hint("close it with `*/`"),
                        );
                        self.unclosed = true;
                        self.at = self.text.len();
                    }
                }
            } else {
                return self.text[start..self.at].contains('\n');
            }
        }
    }

    /// The next token; `None` for what is complained about and best overlooked.
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
            let here = self.span(start, self.at);
            self.diagnostics.push(
                Diagnostic::error(here, format!("`{}` cannot be a name", shorten(text)))
                    .hint("names consist of the letters a to z and A to Z, digits and `_`"),
            );
            return Kind::Name;
        }
        // The one keyword with a dash.
        if text == "init" && self.rest().starts_with("-condition") {
            let after = &self.rest()["-condition".len()..];
            if !after.starts_with(is_of_word) {
                self.at += "-condition".len();
                return Kind::InitCondition;
            }
        }
        Kind::word(text).unwrap_or(Kind::Name)
    }

    /// Digits only: `1.5` is three tokens, so that `t.0.1` can be too.
    fn number(&mut self) -> Kind {
        let start = self.at;
        self.skip_while(|c| c.is_ascii_digit());
        if !self.rest().starts_with(is_of_word) {
            return Kind::Int;
        }
        self.skip_while(is_of_word);
        let all = self.span(start, self.at);
        let text = &self.text[start..self.at];
        self.diagnostics.push(
            Diagnostic::error(all, format!("`{}` is neither a number nor a name", shorten(text)))
                .hint("numbers are written like `15` and `1.5`; names begin with a letter or `_`"),
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
        let open = self.span(start, start + 1);
        self.diagnostics
            .push(Diagnostic::error(open, "this text is never closed").hint("close it with `\"`"));
        // Most likely it was meant to end on its line: so go on with the next one.
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
        let here = self.span(start, self.at);
        let diagnostic = match c {
            '&' => Diagnostic::error(here, format!("there is no `{text}` in P"))
                .hint("\"and\" is written `&&`"),
            '|' => Diagnostic::error(here, format!("there is no `{text}` in P"))
                .hint("\"or\" is written `||`"),
            _ if c.is_control() || c.is_whitespace() => Diagnostic::error(
                here,
                format!("there is a character U+{:04X} here, which P does not know", u32::from(c)),
            ),
            _ => Diagnostic::error(here, format!("there is no `{text}` in P")),
        };
        self.diagnostics.push(diagnostic);
        match c {
            '&' => Some(Kind::And),
            '|' => Some(Kind::Or),
            _ => None,
        }
    }

    /// `'...'`, which is no text in P.
    fn quoted(&mut self) -> Kind {
        let start = self.at;
        self.bump();
        self.skip_while(|c| c != '\'' && c != '\n' && c != '\r');
        if self.peek() == Some('\'') {
            self.bump();
        }
        let here = self.span(start, self.at);
        self.diagnostics.push(
            Diagnostic::error(here, "texts stand in double quotes")
                .hint("write `\"...\"`; there are no single characters in P"),
        );
        Kind::Str
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// No message repeats more than a few characters of the source.
pub(super) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}
