//! Statements that begin with a name: assignments and calls.

use super::ast::{Change, Expr, ExprKind, StmtKind};
use super::parser::{Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::error;

impl Parser<'_> {
    pub(super) fn named_statement(&mut self) -> Parsed<StmtKind> {
        self.former_statement()?;
        let first = self.postfix()?;
        match self.kind() {
            Kind::Assign => self.assign(first),
            Kind::Define | Kind::Equal => {
                let sign = self.found();
                self.wrong(format!("{sign} does not assign"), "write `=` to assign");
                self.assign(first)
            }
            Kind::Insert => self.insert(first),
            Kind::Remove => {
                self.place(&first);
                self.bump();
                let what = self.expr()?;
                self.expect_semi("`-=`")?;
                Ok(StmtKind::Change(Change::Remove, first, vec![what]))
            }
            _ => match first.kind {
                ExprKind::Call(..) => {
                    self.expect_semi("a call")?;
                    Ok(StmtKind::Effect(first))
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
        Ok(StmtKind::Change(Change::Store, place, vec![value]))
    }

    /// `place += (k, v);` or `place += (v);`
    fn insert(&mut self, place: Expr) -> Parsed<StmtKind> {
        self.place(&place);
        self.bump();
        if !self.is(Kind::ParenOpen) {
            return Err(self.instead_of(
                "`(`",
                "write `s += (x);` for a set and `s += (k, x);` for a sequence or map; \
                 to add numbers or texts, `n = n + x;`",
            ));
        }
        self.bump();
        if self.is(Kind::Name) && self.kind_after(1) == Kind::Assign {
            return Err(self.instead_of(
                "an expression",
                "a tuple has parentheses of its own: `s += ((x = 1, y = 2));`",
            ));
        }
        let first = self.expr()?;
        self.former_transfer();
        let second = if self.eat(Kind::Comma) { Some(self.expr()?) } else { None };
        self.former_transfer();
        if self.is(Kind::Comma) {
            return Err(
                self.instead_of("`)`", "a tuple has parentheses of its own: `s += (k, (x, y));`")
            );
        }
        self.expect(Kind::ParenClose)?;
        self.expect_semi("`+=`")?;
        Ok(match second {
            Some(second) => StmtKind::Change(Change::Insert, place, vec![first, second]),
            None => StmtKind::Change(Change::Add, place, vec![first]),
        })
    }

    /// Reports an expression that cannot be assigned to.
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
            error(inner.span, "this cannot be changed: it is no variable")
                .hint("what can be changed begins with a variable: `x`, `x.field`, `x.0`, `x[i]`"),
        );
    }
}
