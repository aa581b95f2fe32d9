//! What only the P verifier understands: recognised, in order to say so.
//!
//! All of it is an error, and not a warning: somebody who states an invariant wants it checked.

use super::parser::{Lost, Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

impl Parser<'_> {
    /// A declaration for the verifier.
    pub(super) fn verifier_decl(&mut self) {
        let kind = self.kind();
        let word = self.bump();
        let text = self.text_at(word);
        match kind {
            Kind::Pure => {
                self.remark(
                    Diagnostic::error(word, "`pure` is for the P verifier")
                        .hint("write `fun f(x: T): U { return ...; }`"),
                );
                self.lost = true;
                self.skip_clause();
            }
            Kind::Invariant | Kind::Axiom | Kind::InitCondition => {
                self.not_here(word);
                self.skip_clause();
            }
            Kind::Lemma | Kind::Theorem | Kind::Proof => {
                self.not_here(word);
                self.skip_to(|token| matches!(token.kind, Kind::BraceOpen | Kind::Semi));
                if self.eat(Kind::BraceOpen) {
                    self.skip_to(|_| false);
                }
                self.bump();
            }
            _ => {
                self.remark(Diagnostic::error(word, format!("`{text}` is for the P verifier")));
                self.skip_clause();
            }
        }
    }

    /// What a function requires and ensures.
    pub(super) fn contracts(&mut self) {
        // The name of the result, which stands between a foreign function and its contract.
        if self.is(Kind::Return) && self.kind_after(1) == Kind::ParenOpen {
            let word = self.bump();
            self.remark(Diagnostic::error(word, "to name a result is for the P verifier"));
            self.skip_clause();
        }
        self.clauses_of(&[Kind::Requires, Kind::Ensures]);
    }

    /// The invariants of a loop.
    pub(super) fn loop_invariants(&mut self) {
        self.clauses_of(&[Kind::Invariant]);
    }

    fn clauses_of(&mut self, kinds: &[Kind]) {
        while kinds.contains(&self.kind()) {
            let word = self.bump();
            self.not_here(word);
            self.skip_clause();
        }
    }

    fn skip_clause(&mut self) {
        self.skip_to(|token| token.kind == Kind::Semi);
        self.eat(Kind::Semi);
    }

    fn not_here(&mut self, word: Span) {
        let text = self.text_at(word);
        self.remark(
            Diagnostic::error(word, format!("`{text}` is for the P verifier"))
                .hint("state what should hold in a `spec`, or leave it out"),
        );
    }

    /// An operator for the verifier, with its right operand; whether there was one.
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
        let text = self.text_at(sign);
        let complaint = Diagnostic::error(sign, format!("`{text}` is for the P verifier"));
        self.complain(if advice.is_empty() { complaint } else { complaint.hint(advice) });
        self.bump();
        // What is left of it is its left operand, of another type.
        self.lost |= binds > 0;
        self.binary(binds + 1)?;
        Ok(true)
    }

    /// An expression that begins with a word of the verifier.
    pub(super) fn verifier_expr(&mut self) -> Lost {
        let text = self.text_at(self.span());
        let complaint = Diagnostic::error(self.span(), format!("`{text}` is for the P verifier"));
        self.complain(complaint)
    }
}
