//! Expressions, conditions and what is assigned to.

use dally_concolic::int::Arithmetic;

use super::super::ast::{Condition, Expr, ExprKind, Relation, Target};
use super::super::lexer;
use super::{DEEPEST, Noted, Parsed, Parser};
use crate::diagnostic::Diagnostic;

impl Parser<'_> {
    pub(super) fn target(&mut self) -> Parsed<Target> {
        let name = self.name("a variable")?;
        Ok(Target { name, index: self.index()? })
    }

    pub(super) fn index(&mut self) -> Parsed<Option<Box<Expr>>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let index = self.expr()?;
        self.expect("]")?;
        Ok(Some(Box::new(index)))
    }

    pub(super) fn condition(&mut self) -> Parsed<Condition> {
        let start = self.span().start;
        let left = self.expr()?;
        let relations = [
            ("==", Relation::Equal),
            ("=", Relation::Equal),
            ("!=", Relation::Differs),
            ("<=", Relation::AtMost),
            (">=", Relation::AtLeast),
            ("<", Relation::Less),
            (">", Relation::Greater),
        ];
        let Some((_, relation)) = relations.into_iter().find(|(mark, _)| self.eat(mark)) else {
            return self.expected("a comparison: `==`, `!=`, `<`, `<=`, `>` or `>=`");
        };
        let right = self.expr()?;
        Ok(Condition { left, relation, right, span: self.since(start) })
    }

    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        let parsed = if self.depth > DEEPEST {
            let message = format!("expressions are nested at most {DEEPEST} deep");
            let span = self.span();
            self.errors.push(
                Diagnostic::new(span, message).hint("assign a part of it to a variable before"),
            );
            Err(Noted)
        } else {
            self.sum()
        };
        self.depth -= 1;
        parsed
    }

    fn sum(&mut self) -> Parsed<Expr> {
        let operators = [("+", Arithmetic::Add), ("-", Arithmetic::Subtract)];
        self.chain(&operators, Parser::product)
    }

    fn product(&mut self) -> Parsed<Expr> {
        let operators =
            [("*", Arithmetic::Multiply), ("/", Arithmetic::Divide), ("%", Arithmetic::Remainder)];
        self.chain(&operators, Parser::factor)
    }

    fn chain(
        &mut self,
        operators: &[(&str, Arithmetic)],
        operand: fn(&mut Self) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        let mut left = operand(self)?;
        let mut links = 0;
        while let Some(&(_, how)) = operators.iter().find(|(mark, _)| self.is_mark(mark)) {
            self.at += 1;
            links += 1;
            // A chain is as deep a tree as a nest.
            if links > DEEPEST {
                return self.expected(&format!("at most {DEEPEST} operators in a row"));
            }
            let right = operand(self)?;
            let span = left.span.start..right.span.end;
            let kind = ExprKind::Arithmetic(how, Box::new(left), Box::new(right));
            left = Expr { span, kind };
        }
        Ok(left)
    }

    fn factor(&mut self) -> Parsed<Expr> {
        let start = self.span().start;
        if self.eat("-") {
            self.depth += 1;
            let operand = if self.depth > DEEPEST { self.expr() } else { self.factor() };
            self.depth -= 1;
            let kind = ExprKind::Negated(Box::new(operand?));
            return Ok(Expr { span: self.since(start), kind });
        }
        if self.eat("(") {
            let inner = self.expr()?;
            self.expect(")")?;
            return Ok(Expr { span: self.since(start), ..inner });
        }
        if let Some(&lexer::Kind::Number(number)) = self.peek() {
            self.at += 1;
            return Ok(Expr { span: self.since(start), kind: ExprKind::Number(number) });
        }
        let name = self.name("an expression")?;
        let index = self.index()?;
        let kind = if self.eat(".") {
            ExprKind::Of(name, index, self.target()?)
        } else {
            ExprKind::Variable(Target { name, index })
        };
        Ok(Expr { span: self.since(start), kind })
    }
}
