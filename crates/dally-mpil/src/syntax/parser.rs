//! Trees from tokens. After an error it goes on at the next line, so that several are told.

mod expressions;

use super::ast::{Block, Kind, Name, Process, Source, Span, Statement, Variable};
use super::lexer::{self, Token, shortened};
use crate::diagnostic::Diagnostic;

pub(super) fn parse(tokens: &[Token], end: usize) -> (Source, Vec<Diagnostic>) {
    let mut parser = Parser { tokens, at: 0, end, errors: Vec::new(), depth: 0 };
    let source = parser.source();
    (source, parser.errors)
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    end: usize,
    errors: Vec<Diagnostic>,
    depth: u32,
}

/// The error has been noted.
struct Noted;
type Parsed<T> = Result<T, Noted>;

/// Expressions that are nested deeper than this are refused.
const DEEPEST: u32 = 100;

/// Words that begin declarations and statements, and so are no names.
const WORDS: [&str; 20] = [
    "mailboxes",
    "param",
    "const",
    "process",
    "setup",
    "finally",
    "var",
    "input",
    "send",
    "receive",
    "if",
    "goto",
    "assert",
    "assume",
    "error",
    "halt",
    "in",
    "or",
    "end",
    "unordered",
];

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t lexer::Kind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end..self.end, |token| token.span.clone())
    }

    fn last_end(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |last| self.tokens[last].span.end)
    }

    fn since(&self, start: usize) -> Span {
        start..self.last_end().max(start)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(lexer::Kind::Word(text)) if text == word)
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(lexer::Kind::Mark(text)) if *text == mark)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    fn eat(&mut self, mark: &str) -> bool {
        let is = self.is_mark(mark);
        self.at += usize::from(is);
        is
    }

    fn found(&self) -> String {
        match self.peek() {
            None => "the end of the file".to_owned(),
            Some(lexer::Kind::Word(word)) => format!("`{}`", shortened(word)),
            Some(lexer::Kind::Number(number)) => format!("`{number}`"),
            Some(lexer::Kind::Text(_)) => "a text".to_owned(),
            Some(lexer::Kind::Mark(mark)) => format!("`{mark}`"),
        }
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let message = format!("expected {what}, found {}", self.found());
        let span = self.span();
        self.errors.push(Diagnostic::new(span, message).label(format!("expected {what}")));
        Err(Noted)
    }

    fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.eat(mark) { Ok(()) } else { self.expected(&format!("`{mark}`")) }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        match self.peek() {
            Some(lexer::Kind::Word(word)) if !WORDS.contains(&word.as_str()) => {
                let name = Name { text: word.clone(), span: self.span() };
                self.at += 1;
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    /// Goes on at the next line after an error in what began at `start`. A word that begins a line and
    /// was not expected begins what comes next.
    fn skip_line(&mut self, start: usize) {
        let begins = self.tokens.get(self.at).is_some_and(|token| token.first);
        if begins && self.at > start {
            return;
        }
        self.at += 1;
        while self.tokens.get(self.at).is_some_and(|token| !token.first) {
            self.at += 1;
        }
    }

    fn source(&mut self) -> Source {
        let mut source = Source::default();
        while self.peek().is_some() {
            let before = self.at;
            if self.declaration(&mut source).is_err() {
                self.skip_line(before);
            }
        }
        source
    }

    fn declaration(&mut self, source: &mut Source) -> Parsed<()> {
        let start = self.span();
        if self.eat_word("mailboxes") {
            source.fifo = if self.eat_word("fifo") {
                true
            } else if self.eat_word("unordered") {
                false
            } else {
                return self.expected("`fifo` or `unordered`");
            };
        } else if self.is_word("param") || self.is_word("const") {
            let parameter = self.is_word("param");
            self.at += 1;
            let name = self.name("a name")?;
            self.expect("=")?;
            source.constants.push((name, self.expr()?, parameter));
        } else if self.eat_word("process") {
            let name = self.name("the name of the process")?;
            let family = if self.eat("[") {
                let index = self.name("the name of the index")?;
                if !self.eat_word("in") {
                    return self.expected("`in`");
                }
                let from = self.expr()?;
                self.expect("..")?;
                let to = self.expr()?;
                self.expect("]")?;
                Some((index, from, to))
            } else {
                None
            };
            let body = self.block()?;
            source.processes.push(Process { name, family, body });
        } else if self.is_word("setup") || self.is_word("finally") {
            let finally = self.is_word("finally");
            self.at += 1;
            let block = self.block()?;
            let slot = if finally { &mut source.finally } else { &mut source.setup };
            if slot.replace(block).is_some() {
                let what = if finally { "finally" } else { "setup" };
                let message = format!("there is a second `{what}`");
                self.errors.push(Diagnostic::new(start, message).hint("join the two"));
            }
        } else {
            return self.expected("`process`, `setup`, `finally`, `param`, `const` or `mailboxes`");
        }
        self.eat(";");
        Ok(())
    }

    fn block(&mut self) -> Parsed<Block> {
        self.expect("{")?;
        let mut block = Block::default();
        let mut labels: Vec<Name> = Vec::new();
        while !self.is_mark("}") {
            if self.peek().is_none() {
                return self.expected("`}`");
            }
            let before = self.at;
            if self.is_word("var") {
                if self.variables(&mut block.variables).is_err() {
                    self.skip_line(before);
                }
                continue;
            }
            if let Some(label) = self.label() {
                labels.push(label);
                continue;
            }
            match self.statement() {
                Ok((span, kind)) => {
                    let labels = std::mem::take(&mut labels);
                    block.statements.push(Statement { span, labels, kind });
                }
                Err(Noted) => {
                    // A brace that closes the block is not part of the statement that is wrong.
                    if !self.is_mark("}") {
                        self.skip_line(before);
                    }
                }
            }
        }
        let span = self.span();
        self.expect("}")?;
        if !labels.is_empty() {
            block.statements.push(Statement { span, labels, kind: Kind::Nothing });
        }
        Ok(block)
    }

    fn variables(&mut self, variables: &mut Vec<Variable>) -> Parsed<()> {
        self.at += 1;
        loop {
            let name = self.name("the name of a variable")?;
            let length = if self.eat("[") {
                let length = self.expr()?;
                self.expect("]")?;
                Some(length)
            } else {
                None
            };
            let value = if self.eat("=") { Some(self.expr()?) } else { None };
            variables.push(Variable { name, length, value });
            if !self.eat(",") {
                self.eat(";");
                return Ok(());
            }
        }
    }

    /// A word or a number with a colon after it.
    fn label(&mut self) -> Option<Name> {
        let text = match self.peek()? {
            lexer::Kind::Word(word) => word.clone(),
            lexer::Kind::Number(number) => number.to_string(),
            _ => return None,
        };
        let colon = self.tokens.get(self.at + 1).map(|token| &token.kind);
        if colon != Some(&lexer::Kind::Mark(":")) {
            return None;
        }
        let name = Name { text, span: self.span() };
        self.at += 2;
        Some(name)
    }

    fn label_name(&mut self) -> Parsed<Name> {
        if let Some(lexer::Kind::Number(number)) = self.peek() {
            let name = Name { text: number.to_string(), span: self.span() };
            self.at += 1;
            return Ok(name);
        }
        self.name("a label")
    }

    fn statement(&mut self) -> Parsed<(Span, Kind)> {
        let start = self.span().start;
        let kind = self.statement_kind()?;
        let span = self.since(start);
        self.eat(";");
        Ok((span, kind))
    }

    fn statement_kind(&mut self) -> Parsed<Kind> {
        if self.eat_word("input") {
            let target = self.target()?;
            let range = if self.eat_word("in") {
                let least = self.expr()?;
                self.expect("..=")?;
                Some((least, self.expr()?))
            } else {
                None
            };
            return Ok(Kind::Input(target, range));
        }
        if self.eat_word("send") {
            let to = self.name("the process to send to")?;
            let index = self.index()?;
            let mut values = Vec::new();
            while self.eat(",") {
                values.push(self.expr()?);
            }
            if values.is_empty() {
                return self.expected("`,` and what to send");
            }
            return Ok(Kind::Send(to, index.map(|index| *index), values));
        }
        if self.eat_word("receive") {
            let mut targets = vec![self.target()?];
            while self.eat(",") {
                targets.push(self.target()?);
            }
            let or_end = self.eat_word("or");
            if or_end && !self.eat_word("end") {
                return self.expected("`end`");
            }
            return Ok(Kind::Receive(targets, or_end));
        }
        if self.eat_word("if") {
            let condition = self.condition()?;
            if !self.eat_word("goto") {
                return self.expected("`goto` and a label");
            }
            return Ok(Kind::If(condition, self.label_name()?));
        }
        if self.eat_word("goto") {
            return Ok(Kind::Goto(self.label_name()?));
        }
        if self.eat_word("assert") {
            return Ok(Kind::Assert(self.condition()?));
        }
        if self.eat_word("assume") {
            return Ok(Kind::Assume(self.condition()?));
        }
        if self.eat_word("error") {
            let text = match self.peek() {
                Some(lexer::Kind::Text(text)) => Some(text.clone()),
                _ => None,
            };
            self.at += usize::from(text.is_some());
            return Ok(Kind::Error(text));
        }
        if self.eat_word("halt") {
            return Ok(Kind::Halt);
        }
        if !matches!(self.peek(), Some(lexer::Kind::Word(_))) {
            return self.expected("a statement");
        }
        let target = self.target()?;
        if !self.eat("=") && !self.eat("<-") {
            return self.expected("`=`");
        }
        Ok(Kind::Assign(target, self.expr()?))
    }
}
