//! The parser's state, its errors and their recovery, shared by all parsing functions.
//!
//! A parsing function either makes its tree or reports an error and answers [`Lost`]. The loop over a
//! list (declarations, states, statements) catches that, skips to where the next element is likely to
//! begin, and goes on. Each turn of such a loop consumes a token, so parsing is linear in the length
//! of the file.

use super::ast::Name;
use super::lexer::{Lexer, shorten};
use super::token::{Kind, Token};
use crate::diagnostic::{Diagnostic, error};
use crate::source::{FileId, Span};

/// Parsing cannot go on here; the reason has been reported.
pub(super) struct Lost;

pub(super) type Parsed<T> = Result<T, Lost>;

/// The greatest height of a tree. Walking and dropping trees is recursive, and this many levels fit
/// the smallest stack of a thread.
pub(super) const HIGHEST: u32 = 256;

/// After this many errors the rest of the file is skipped.
const MOST_COMPLAINTS: usize = 50;

pub(super) struct Parser<'a> {
    file: FileId,
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    diagnostics: Vec<Diagnostic>,
    /// See [`Lexer::unclosed`](super::lexer::Lexer::unclosed).
    pub(super) unclosed: bool,
    /// Whether a declaration is missing in the tree.
    pub(super) lost: bool,
    /// The declarations and clauses for the P verifier, which are skipped.
    pub(super) verifier: Vec<Span>,
    /// The token of the last error: there is at most one for each token.
    complained_at: Option<usize>,
    /// The depth of the tree that is being parsed.
    depth: u32,
    /// The height of the last parsed expression.
    pub(super) height: u32,
}

impl<'a> Parser<'a> {
    pub(super) fn new(file: FileId, text: &'a str) -> Parser<'a> {
        let lexed = Lexer::new(file, text);
        Parser {
            file,
            text,
            tokens: lexed.tokens,
            at: 0,
            diagnostics: lexed.diagnostics,
            unclosed: lexed.unclosed,
            lost: false,
            verifier: Vec::new(),
            complained_at: None,
            depth: 0,
            height: 0,
        }
    }

    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span);
        self.diagnostics.truncate(MOST_COMPLAINTS);
        self.diagnostics
    }

    /// The next token; at the end of the file always [`Kind::End`].
    pub(super) fn token(&self) -> Token {
        self.tokens[self.at]
    }

    pub(super) fn kind(&self) -> Kind {
        self.token().kind
    }

    pub(super) fn kind_after(&self, n: usize) -> Kind {
        self.tokens.get(self.at + n).map_or(Kind::End, |token| token.kind)
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    /// Whether the next token is this name, which is no keyword.
    pub(super) fn is_name(&self, name: &str) -> bool {
        self.is(Kind::Name) && self.text_at(self.span()) == name
    }

    pub(super) fn span_of(&self, token: Token) -> Span {
        Span { file: self.file, start: token.start, end: token.end }
    }

    pub(super) fn span(&self) -> Span {
        self.span_of(self.token())
    }

    pub(super) fn last_span(&self) -> Span {
        match self.at.checked_sub(1) {
            Some(before) => self.span_of(self.tokens[before]),
            None => Span { file: self.file, start: 0, end: 0 },
        }
    }

    /// From the start of a tree to the last consumed token.
    pub(super) fn since(&self, start: Span) -> Span {
        start.to(self.last_span())
    }

    pub(super) fn text_at(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    pub(super) fn bump(&mut self) -> Span {
        let span = self.span();
        if !self.is(Kind::End) {
            self.at += 1;
        }
        span
    }

    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let is = self.is(kind);
        if is {
            self.bump();
        }
        is
    }

    pub(super) fn expect(&mut self, kind: Kind) -> Parsed<Span> {
        if self.is(kind) {
            return Ok(self.bump());
        }
        Err(self.expected(&kind.describe()))
    }

    /// Consumes the `;` that ends `what`. If only that is missing, it is reported, and parsing goes
    /// on.
    pub(super) fn expect_semi(&mut self, what: &str) -> Parsed<()> {
        if self.eat(Kind::Semi) {
            return Ok(());
        }
        let after = self.after_last();
        let forgotten =
            self.token().first_of_line || matches!(self.kind(), Kind::BraceClose | Kind::End);
        let complaint = error(after, format!("expected `;` after {what}")).label("here");
        if forgotten {
            self.complain(complaint);
            return Ok(());
        }
        let found = self.found();
        Err(self.complain(error(self.span(), format!("expected `;` after {what}, found {found}"))))
    }

    pub(super) fn after_last(&self) -> Span {
        let last = self.last_span();
        Span { start: last.end, ..last }
    }

    pub(super) fn expected(&mut self, what: &str) -> Lost {
        let complaint = self.unexpected(what);
        self.complain(complaint)
    }

    /// [`Parser::expected`] with advice.
    pub(super) fn instead_of(&mut self, what: &str, hint: impl Into<String>) -> Lost {
        let complaint = self.unexpected(what).hint(hint);
        self.complain(complaint)
    }

    /// Reports the next token, with advice.
    pub(super) fn wrong(&mut self, message: impl Into<String>, hint: impl Into<String>) -> Lost {
        self.complain(error(self.span(), message).hint(hint))
    }

    /// Reports the next token, with advice, and goes on after it.
    pub(super) fn leave_out(&mut self, message: impl Into<String>, hint: impl Into<String>) {
        self.wrong(message, hint);
        self.bump();
    }

    pub(super) fn unexpected(&self, what: &str) -> Diagnostic {
        let found = self.found();
        error(self.span(), format!("expected {what}, found {found}"))
    }

    pub(super) fn found(&self) -> String {
        let token = self.token();
        match token.kind {
            Kind::End => "the end of the file".into(),
            Kind::Str => "a text".into(),
            kind if kind.is_word() => {
                format!("the keyword `{}`", self.text_at(self.span_of(token)))
            }
            _ => format!("`{}`", shorten(self.text_at(self.span_of(token)))),
        }
    }

    /// Reports an error, unless the next token has one already.
    pub(super) fn complain(&mut self, diagnostic: Diagnostic) -> Lost {
        // The lexer has reported bad tokens.
        if self.complained_at != Some(self.at) && !self.is(Kind::Bad) {
            self.diagnostics.push(diagnostic);
        }
        self.complained_at = Some(self.at);
        if self.diagnostics.len() >= MOST_COMPLAINTS {
            self.give_up();
        }
        Lost
    }

    /// Reports something that does not concern the next token.
    pub(super) fn remark(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        if self.diagnostics.len() >= MOST_COMPLAINTS {
            self.give_up();
        }
    }

    fn give_up(&mut self) {
        self.lost = true;
        self.at = self.tokens.len() - 1;
        self.complained_at = Some(self.at);
    }

    /// Parses something one level deeper, or reports that the tree is too high.
    pub(super) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= HIGHEST {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Sets the height of an expression on top of others of height `below`, or reports that it is too
    /// high.
    pub(super) fn grow(&mut self, below: u32) -> Parsed<()> {
        self.height = below + 1;
        if self.depth + self.height > HIGHEST {
            return Err(self.too_deep());
        }
        Ok(())
    }

    fn too_deep(&mut self) -> Lost {
        let complaint = error(self.span(), "this is nested too deeply")
            .label(format!("more than {HIGHEST} levels"))
            .hint("give parts of it names: functions, types and variables");
        self.complain(complaint);
        self.give_up();
        Lost
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.token();
        if token.kind == Kind::Name {
            let span = self.bump();
            return Ok(Name { text: self.text_at(self.span_of(token)).into(), span });
        }
        let mut complaint = self.unexpected(what);
        if token.kind.is_of_the_verifier() {
            let word = self.text_at(self.span_of(token));
            complaint = complaint.hint(format!("`{word}` is reserved for the P verifier"));
        } else if token.kind.is_word() {
            complaint = complaint.hint("a keyword cannot be a name");
        }
        let follows = self.kind_after(1);
        let lost = self.complain(complaint);
        // `var type: int;`: only the name is wrong.
        let only_a_bad_name = token.kind.is_word()
            && matches!(
                follows,
                Kind::Colon | Kind::Comma | Kind::Semi | Kind::Assign | Kind::ParenClose
            );
        if only_a_bad_name {
            let span = self.bump();
            return Ok(Name { text: self.text_at(self.span_of(token)).into(), span });
        }
        Err(lost)
    }

    pub(super) fn in_parens<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.expect(Kind::ParenOpen)?;
        let inside = parse(self)?;
        self.expect(Kind::ParenClose)?;
        Ok(inside)
    }

    pub(super) fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        self.several(|parser| parser.name(what))
    }

    /// One or more, separated by commas. Leaves the greatest height of them.
    pub(super) fn several<T>(&mut self, one: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut all = vec![one(self)?];
        let mut highest = self.height;
        while self.eat(Kind::Comma) {
            all.push(one(self)?);
            highest = highest.max(self.height);
        }
        self.height = highest;
        Ok(all)
    }

    /// Any number, separated by commas, up to a closing token; a comma may follow the last.
    pub(super) fn up_to<T>(
        &mut self,
        close: Kind,
        one: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let (mut all, mut highest) = (Vec::new(), 0);
        while !self.is(close) {
            all.push(one(self)?);
            highest = highest.max(self.height);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.height = highest;
        Ok(all)
    }

    /// Consumes the next token if nothing was consumed since `before`, so that every turn of a loop
    /// makes progress.
    pub(super) fn get_past(&mut self, before: Span) {
        if self.span() == before {
            self.bump();
        }
    }

    /// Skips tokens, and brackets with their contents, up to a token that `stops` or a closing brace
    /// whose opening one was not skipped.
    pub(super) fn skip_to(&mut self, stops: impl Fn(Token) -> bool) {
        let mut open = 0u32;
        loop {
            let token = self.token();
            match token.kind {
                Kind::End => return,
                _ if open == 0 && stops(token) => return,
                Kind::BraceOpen | Kind::ParenOpen | Kind::BracketOpen => open += 1,
                Kind::BraceClose if open == 0 => return,
                Kind::BraceClose | Kind::ParenClose | Kind::BracketClose => {
                    open = open.saturating_sub(1);
                }
                _ => {}
            }
            self.bump();
        }
    }
}
