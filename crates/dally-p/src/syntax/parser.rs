//! The parser: what all its parts share. It walks over the tokens of one file, complains, and
//! finds its feet again.
//!
//! Every function that parses either makes its tree or complains and answers [`Lost`]; whoever
//! holds a list (declarations, states, statements) catches that, skips to where the next element
//! is likely to begin, and goes on. Each turn of such a loop consumes a token, so parsing is
//! linear in the length of the file.

use super::ast::Name;
use super::lexer::{self, shorten};
use super::token::{Kind, Token};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// The parser could not go on here; it has said why.
pub(super) struct Lost;

/// What parsing gives.
pub(super) type Parsed<T> = Result<T, Lost>;

/// How high a tree may grow. Everything that walks trees, and drops them, recurses; this many
/// levels fit the smallest stack of a thread.
pub(super) const HIGHEST: u32 = 256;

/// How many complaints a file gets before the parser gives up on it.
const MOST_COMPLAINTS: usize = 50;

/// A walk over the tokens of one file.
pub(super) struct Parser<'a> {
    file: FileId,
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    diagnostics: Vec<Diagnostic>,
    /// Whether a text or comment has swallowed what follows it.
    pub(super) unclosed: bool,
    /// Whether something that declares names is missing in the tree.
    pub(super) lost: bool,
    /// The token at which the parser last complained: one complaint for each is enough.
    complained_at: Option<usize>,
    /// How many trees are open above the one that is being parsed.
    depth: u32,
    /// The height of the expression that was parsed last.
    pub(super) height: u32,
}

impl<'a> Parser<'a> {
    /// At the first token of a file.
    pub(super) fn new(file: FileId, text: &'a str) -> Parser<'a> {
        let lexed = lexer::lex(file, text);
        Parser {
            file,
            text,
            tokens: lexed.tokens,
            at: 0,
            diagnostics: lexed.diagnostics,
            unclosed: lexed.unclosed,
            lost: false,
            complained_at: None,
            depth: 0,
            height: 0,
        }
    }

    /// What it complained about.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span);
        self.diagnostics.truncate(MOST_COMPLAINTS);
        self.diagnostics
    }

    /// The token in front, which is [`Kind::End`] for ever once the file is over.
    pub(super) fn token(&self) -> Token {
        self.tokens[self.at]
    }

    /// What the token in front is.
    pub(super) fn kind(&self) -> Kind {
        self.token().kind
    }

    /// What the n-th token after the one in front is.
    pub(super) fn kind_after(&self, n: usize) -> Kind {
        self.tokens.get(self.at + n).map_or(Kind::End, |token| token.kind)
    }

    /// Whether the token in front is this.
    pub(super) fn is(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    /// Whether the token in front is this name, which is no keyword.
    pub(super) fn is_name(&self, name: &str) -> bool {
        self.is(Kind::Name) && self.text_of(self.token()) == name
    }

    /// Where a token stands.
    pub(super) fn span_of(&self, token: Token) -> Span {
        Span { file: self.file, start: token.start, end: token.end }
    }

    /// Where the token in front stands.
    pub(super) fn span(&self) -> Span {
        self.span_of(self.token())
    }

    /// Where the token before that stands.
    pub(super) fn last_span(&self) -> Span {
        match self.at.checked_sub(1) {
            Some(before) => self.span_of(self.tokens[before]),
            None => Span { file: self.file, start: 0, end: 0 },
        }
    }

    /// From the start of a tree to the last token that was consumed.
    pub(super) fn since(&self, start: Span) -> Span {
        start.to(self.last_span())
    }

    /// How a token is written.
    pub(super) fn text_of(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// The text of a stretch of this file.
    pub(super) fn text_at(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Consumes the token in front.
    pub(super) fn bump(&mut self) -> Span {
        let span = self.span();
        if !self.is(Kind::End) {
            self.at += 1;
        }
        span
    }

    /// Consumes the token in front if it is this.
    pub(super) fn eat(&mut self, kind: Kind) -> bool {
        let is = self.is(kind);
        if is {
            self.bump();
        }
        is
    }

    /// Consumes this token, or complains.
    pub(super) fn expect(&mut self, kind: Kind) -> Parsed<Span> {
        if self.is(kind) {
            return Ok(self.bump());
        }
        Err(self.expected(&kind.describe()))
    }

    /// Consumes the `;` that ends `what`. If it was only forgotten, that is said, and parsing
    /// goes on as if it was there.
    pub(super) fn expect_semi(&mut self, what: &str) -> Parsed<()> {
        if self.eat(Kind::Semi) {
            return Ok(());
        }
        let after = self.after_last();
        let forgotten =
            self.token().first_of_line || matches!(self.kind(), Kind::BraceClose | Kind::End);
        let complaint =
            Diagnostic::error(after, format!("expected `;` after {what}")).label("here");
        if forgotten {
            self.complain(complaint);
            return Ok(());
        }
        let found = self.found();
        Err(self.complain(Diagnostic::error(
            self.span(),
            format!("expected `;` after {what}, found {found}"),
        )))
    }

    /// The empty stretch after the last token.
    pub(super) fn after_last(&self) -> Span {
        let last = self.last_span();
        Span { start: last.end, ..last }
    }

    /// Complains that something else was expected here.
    pub(super) fn expected(&mut self, what: &str) -> Lost {
        let complaint = self.unexpected(what);
        self.complain(complaint)
    }

    /// What to say if something else was expected here.
    pub(super) fn unexpected(&self, what: &str) -> Diagnostic {
        let found = self.found();
        Diagnostic::error(self.span(), format!("expected {what}, found {found}"))
    }

    /// The token in front, for people.
    pub(super) fn found(&self) -> String {
        let token = self.token();
        match token.kind {
            Kind::End => "the end of the file".into(),
            Kind::Str => "a text".into(),
            kind if kind.is_word() => format!("the keyword `{}`", self.text_of(token)),
            _ => format!("`{}`", shorten(self.text_of(token))),
        }
    }

    /// Keeps a complaint, unless there already is one about this token.
    pub(super) fn complain(&mut self, diagnostic: Diagnostic) -> Lost {
        // The lexer has said what is wrong with a bad token.
        if self.complained_at != Some(self.at) && !self.is(Kind::Bad) {
            self.diagnostics.push(diagnostic);
        }
        self.complained_at = Some(self.at);
        if self.diagnostics.len() >= MOST_COMPLAINTS {
            self.give_up();
        }
        Lost
    }

    /// Keeps a remark that does not concern the token in front.
    pub(super) fn remark(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        if self.diagnostics.len() >= MOST_COMPLAINTS {
            self.give_up();
        }
    }

    /// Leaves the rest of the file alone, without another word.
    fn give_up(&mut self) {
        self.lost = true;
        self.at = self.tokens.len() - 1;
        self.complained_at = Some(self.at);
    }

    /// Parses something one level deeper, unless that is too deep.
    pub(super) fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Parser<'a>) -> Parsed<T>,
    ) -> Parsed<T> {
        if self.depth >= HIGHEST {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Checks that an expression on top of others of this height is not too high.
    pub(super) fn grow(&mut self, below: u32) -> Parsed<()> {
        self.height = below + 1;
        if self.depth + self.height > HIGHEST {
            return Err(self.too_deep());
        }
        Ok(())
    }

    fn too_deep(&mut self) -> Lost {
        let complaint = Diagnostic::error(self.span(), "this is nested too deeply")
            .label(format!("more than {HIGHEST} levels"))
            .hint("give parts of it names: functions, types and variables");
        self.complain(complaint);
        self.give_up();
        Lost
    }

    /// Consumes a name, or complains.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.token();
        if token.kind == Kind::Name {
            let span = self.bump();
            return Ok(Name { text: self.text_of(token).into(), span });
        }
        let mut complaint = self.unexpected(what);
        if token.kind.is_of_the_verifier() {
            let word = self.text_of(token);
            complaint = complaint.hint(format!("`{word}` is reserved for the P verifier"));
        } else if token.kind.is_word() {
            complaint = complaint.hint("a keyword cannot be a name");
        }
        let follows = self.kind_after(1);
        let lost = self.complain(complaint);
        // `var type: int;`: the name is wrong, and nothing else.
        let only_a_bad_name = token.kind.is_word()
            && matches!(
                follows,
                Kind::Colon | Kind::Comma | Kind::Semi | Kind::Assign | Kind::ParenClose
            );
        if only_a_bad_name {
            let span = self.bump();
            return Ok(Name { text: self.text_of(token).into(), span });
        }
        Err(lost)
    }

    /// One or more names with commas between.
    pub(super) fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.eat(Kind::Comma) {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    /// Consumes the token in front if it still is the one at which something began to be parsed:
    /// each turn of a loop gets on.
    pub(super) fn get_past(&mut self, before: Span) {
        if self.span() == before {
            self.bump();
        }
    }

    /// Skips tokens, brackets together with what is in them, up to one that `stops` or that
    /// closes a brace which was opened before.
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
