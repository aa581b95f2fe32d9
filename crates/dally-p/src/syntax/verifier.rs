//! Syntax of the P verifier: declarations and clauses are skipped, and a project that has some gets one
//! warning. Expressions and statements of the verifier are errors: code cannot go on without them.

use super::parser::{Lost, Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::{Diagnostic, error};
use crate::source::Span;

impl Parser<'_> {
    pub(super) fn verifier_decl(&mut self) {
        let kind = self.kind();
        let word = self.bump();
        match kind {
            Kind::Pure | Kind::Invariant | Kind::Axiom | Kind::InitCondition => {
                self.verifier.push(word);
                self.skip_clause();
            }
            Kind::Lemma | Kind::Theorem | Kind::Proof => {
                self.verifier.push(word);
                self.skip_to(|token| matches!(token.kind, Kind::BraceOpen | Kind::Semi));
                if self.eat(Kind::BraceOpen) {
                    self.skip_to(|_| false);
                }
                self.bump();
            }
            _ => {
                self.remark(self.foreign(word));
                self.skip_clause();
            }
        }
    }

    /// The error for a keyword or sign of the verifier.
    fn foreign(&self, word: Span) -> Diagnostic {
        error(word, format!("`{}` is for the P verifier", self.text_at(word)))
    }

    pub(super) fn contracts(&mut self) {
        // The named result, between a foreign function and its contract.
        if self.is(Kind::Return) && self.kind_after(1) == Kind::ParenOpen {
            let word = self.bump();
            self.verifier.push(word);
            self.skip_clause();
        }
        self.clauses_of(&[Kind::Requires, Kind::Ensures]);
    }

    pub(super) fn loop_invariants(&mut self) {
        self.clauses_of(&[Kind::Invariant]);
    }

    fn clauses_of(&mut self, kinds: &[Kind]) {
        while kinds.contains(&self.kind()) {
            let word = self.bump();
            self.verifier.push(word);
            self.skip_clause();
        }
    }

    fn skip_clause(&mut self) {
        self.skip_to(|token| token.kind == Kind::Semi);
        self.eat(Kind::Semi);
    }

    /// Reports an operator for the verifier with its right operand; answers whether there was one.
    pub(super) fn verifier_operator(&mut self, tightness: u8) -> Parsed<bool> {
        let (binds, advice) = match self.kind() {
            Kind::Implies => (0, "write `!a || b`"),
            Kind::Iff => (0, "write `a == b`"),
            Kind::Is | Kind::Targets => (4, ""),
            _ => return Ok(false),
        };
        if binds < tightness {
            return Ok(false);
        }
        let sign = self.span();
        let complaint = self.foreign(sign);
        self.complain(if advice.is_empty() { complaint } else { complaint.hint(advice) });
        self.bump();
        // The tree has only the left operand, whose type differs from that of the whole.
        self.lost |= binds > 0;
        self.binary(binds + 1)?;
        Ok(true)
    }

    pub(super) fn verifier_expr(&mut self) -> Lost {
        self.complain(self.foreign(self.span()))
    }
}
