//! Operators and conversions.

use super::body::Body;
use crate::diagnostic::error;
use crate::program::{BinaryOp, Expr, ExprKind, Type};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    /// Operators with two operands, from left to right.
    pub fn chain(
        &mut self,
        first: &'a ast::Expr,
        links: &'a [(BinaryOp, ast::Expr)],
        span: Span,
    ) -> Option<Expr> {
        let mut left = self.expr(first);
        for (at, (op, right)) in links.iter().enumerate() {
            let right = self.expr(right);
            left = match (left, right) {
                (Some(left), Some(right)) => {
                    let last = at + 1 == links.len();
                    let span = if last { span } else { left.span.to(right.span) };
                    let ty = self.result_of(*op, &left, &right, span);
                    ty.map(|ty| link(left, at > 0, *op, right, ty, span))
                }
                _ => None,
            };
        }
        left
    }

    /// The type of the result of an operator. Operands of arithmetic and order have the same type; of
    /// those of equality one may be more general than the other.
    fn result_of(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> Option<Type> {
        let ty = match op {
            BinaryOp::And | BinaryOp::Or => {
                let (left, right) =
                    (self.expect(&Type::Bool, left), self.expect(&Type::Bool, right));
                left.and(right)?;
                Type::Bool
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                if !self.tables.comparable(&left.ty, &right.ty) {
                    return self.incompatible(op, left, right, span);
                }
                Type::Bool
            }
            BinaryOp::In => self.contains(left, right)?,
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                if left.ty != right.ty || !matches!(left.ty, Type::Int | Type::Float | Type::String)
                {
                    return self.incompatible(op, left, right, span);
                }
                Type::Bool
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                let text = left.ty == Type::String && op == BinaryOp::Add;
                if left.ty != right.ty || !(text || matches!(left.ty, Type::Int | Type::Float)) {
                    return self.incompatible(op, left, right, span);
                }
                left.ty.clone()
            }
        };
        Some(ty)
    }

    fn contains(&mut self, left: &Expr, right: &Expr) -> Option<Type> {
        match &right.ty {
            Type::Seq(of) | Type::Set(of) | Type::Map(of, _) => self.expect(of, left)?,
            other => return self.not_a("collection", other, right.span),
        }
        Some(Type::Bool)
    }

    fn incompatible<T>(&mut self, op: BinaryOp, left: &Expr, right: &Expr, at: Span) -> Option<T> {
        let (left_name, right_name) = (self.tables.show(&left.ty), self.tables.show(&right.ty));
        let sign = op.sign();
        let mut wrong =
            error(at, format!("`{sign}` does not take `{left_name}` and `{right_name}`"))
                .also(left.span, format!("this is `{left_name}`"))
                .also(right.span, format!("this is `{right_name}`"));
        match (&left.ty, &right.ty) {
            (Type::Int, Type::Float) | (Type::Float, Type::Int) => {
                wrong = wrong.hint("convert one side with `to float` or `to int`");
            }
            (Type::Enum(_), Type::Int) | (Type::Int, Type::Enum(_)) => {
                wrong = wrong.hint("convert the enum with `to int`");
            }
            (Type::Enum(a), Type::Enum(b)) if a == b && sign != "==" => {
                wrong = wrong.hint("convert both sides with `to int`");
            }
            (Type::String, _) | (_, Type::String) if op == BinaryOp::Add => {
                wrong = wrong.hint("make a text of the other side with `format(\"{0}\", ...)`");
            }
            (Type::Null, other) | (other, Type::Null)
                if self.tables.may_be_sent(other).is_some() =>
            {
                let name = self.tables.show(other);
                wrong = wrong.hint(format!("compare with `default({name})`"));
            }
            _ => {}
        }
        self.report.refuse(wrong)
    }

    /// `e as T`: one of the types is more general than the other.
    pub fn cast(&mut self, of: Expr, ty: Type, span: Span) -> Option<Expr> {
        if !self.tables.comparable(&of.ty, &ty) {
            let (from, to) = (self.tables.show(&of.ty), self.tables.show(&ty));
            let numbers = |ty: &Type| matches!(ty, Type::Int | Type::Float | Type::Enum(_));
            let mut wrong = error(span, format!("`{from}` is never `{to}`"))
                .label("this cast can never succeed");
            if numbers(&of.ty) && numbers(&ty) {
                wrong = wrong.hint(format!("`to {to}` converts numbers and enums"));
            }
            return self.report.refuse(wrong);
        }
        Some(Expr { kind: ExprKind::Cast(Box::new(of)), ty, span })
    }

    /// `e to T`: between numbers and enums, and to an interface that receives no more events.
    pub fn coerce(&mut self, of: Expr, ty: Type, span: Span) -> Option<Expr> {
        let allowed = match (&of.ty, &ty) {
            (Type::Int, Type::Int | Type::Float | Type::Enum(_))
            | (Type::Float, Type::Int | Type::Float)
            | (Type::Enum(_), Type::Int) => true,
            (Type::Enum(from), Type::Enum(to)) => from == to,
            (from, to) => match (self.tables.may_be_sent(from), self.tables.may_be_sent(to)) {
                (_, None) => false,
                (Some(from), Some(to)) => {
                    if let Some(extra) = to.difference(from).next() {
                        let event = self.tables.event_list[extra.index()].name;
                        let (from, to) = (self.tables.show(&of.ty), self.tables.show(&ty));
                        return self.report.refuse(
                            error(span, format!("a `{to}` may be sent more than a `{from}`"))
                                .label(format!("`{from}` does not receive `{event}`")),
                        );
                    }
                    true
                }
                (None, Some(_)) => *from == Type::Machine,
            },
        };
        if !allowed {
            let (from, to) = (self.tables.show(&of.ty), self.tables.show(&ty));
            let mut wrong = error(span, format!("`{from}` cannot be converted to `{to}`"))
                .label("`to` converts between numbers and enums, and machines to an interface");
            if self.tables.assignable(&ty, &of.ty) {
                wrong = wrong.hint(format!("no conversion is needed: `{from}` is `{to}`"));
            } else if self.tables.comparable(&of.ty, &ty) {
                wrong = wrong.hint(format!("`as {to}` checks at run time that it is one"));
            }
            return self.report.refuse(wrong);
        }
        Some(Expr { kind: ExprKind::Coerce(Box::new(of)), ty, span })
    }
}

/// Appends an operator and its right operand to a chain, or begins one.
fn link(left: Expr, goes_on: bool, op: BinaryOp, right: Expr, ty: Type, span: Span) -> Expr {
    let kind = match left.kind {
        ExprKind::Chain(first, mut links) if goes_on => {
            links.push((op, right));
            ExprKind::Chain(first, links)
        }
        kind => ExprKind::Chain(Box::new(Expr { kind, ..left }), vec![(op, right)]),
    };
    Expr { kind, ty, span }
}
