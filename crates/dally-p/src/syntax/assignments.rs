//! Statements that begin with a name: assignments and calls.

use super::ast::{Expr, ExprKind, StmtKind};
use super::parser::{Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::Diagnostic;

impl Parser<'_> {
    /// An assignment or a call.
    pub(super) fn named_statement(&mut self) -> Parsed<StmtKind> {
        self.former_statement()?;
        let first = self.postfix()?;
        match self.kind() {
            Kind::Assign => self.assign(first),
            Kind::Define | Kind::Equal => {
                let sign = self.found();
                let complaint = Diagnostic::error(self.span(), format!("{sign} does not assign"))
                    .hint("write `=` to assign");
                self.complain(complaint);
                self.assign(first)
            }
            Kind::Insert => self.insert(first),
            Kind::Remove => {
                self.place(&first);
                self.bump();
                let what = self.expr()?;
                self.expect_semi("`-=`")?;
                Ok(StmtKind::Remove(first, what))
            }
            _ => match first.kind {
                ExprKind::Call(name, args) => {
                    self.expect_semi("a call")?;
                    Ok(StmtKind::Call(name, args))
                }
                _ => Err(self.half_statement(&first)),
            },
        }
    }

    fn assign(&mut self, place: Expr) -> Parsed<StmtKind> {
        self.place(&place);
        self.bump();
        let value = self.expr()?;
        self.former_transfer();
        self.expect_semi("an assignment")?;
        Ok(StmtKind::Assign(place, value))
    }

    /// `place += (k, v);` or `place += (v);`
    fn insert(&mut self, place: Expr) -> Parsed<StmtKind> {
        self.place(&place);
        self.bump();
        if !self.is(Kind::ParenOpen) {
            let complaint = self.unexpected("`(`").hint(
                "write `s += (x);` for a set and `s += (k, x);` for a sequence or map; \
                 to add numbers or texts, `n = n + x;`",
            );
            return Err(self.complain(complaint));
        }
        self.bump();
        if self.is(Kind::Name) && self.kind_after(1) == Kind::Assign {
            let complaint = self
                .unexpected("an expression")
                .hint("a tuple has parentheses of its own: `s += ((x = 1, y = 2));`");
            return Err(self.complain(complaint));
        }
        let first = self.expr()?;
        self.former_transfer();
        let second = if self.eat(Kind::Comma) { Some(self.expr()?) } else { None };
        self.former_transfer();
        if self.is(Kind::Comma) {
            let complaint = self
                .unexpected("`)`")
                .hint("a tuple has parentheses of its own: `s += (k, (x, y));`");
            return Err(self.complain(complaint));
        }
        self.expect(Kind::ParenClose)?;
        self.expect_semi("`+=`")?;
        Ok(match second {
            Some(second) => StmtKind::Insert(place, first, second),
            None => StmtKind::Add(place, first),
        })
    }

    /// Complains if something cannot be assigned to.
    fn place(&mut self, expr: &Expr) {
        let mut inner = expr;
        loop {
            match &inner.kind {
                ExprKind::Name(_) => return,
                ExprKind::Field(of, _) | ExprKind::Position(of, _) | ExprKind::Index(of, _) => {
                    inner = of;
                }
                _ => break,
            }
        }
        self.complain(
            Diagnostic::error(inner.span, "this cannot be changed: it is no variable")
                .hint("what can be changed begins with a variable: `x`, `x.field`, `x.0`, `x[i]`"),
        );
    }
}
