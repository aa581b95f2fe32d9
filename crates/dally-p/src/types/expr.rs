//! Expressions. `None` stands for an expression whose error was reported; expressions that contain it
//! are `None` without a further report.

use triomphe::Arc;

use super::body::{Body, Effect};
use super::scope::{Names, ValueName};
use crate::diagnostic::error;
use crate::program::{EventId, Expr, ExprKind, Type, UnaryOp};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    pub fn expr(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        let span = expr.span;
        let made = |kind, ty| Some(Expr { kind, ty, span });
        match &expr.kind {
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Int(value) => made(ExprKind::Int(*value), Type::Int),
            ast::ExprKind::Float(value) => made(ExprKind::Float(*value), Type::Float),
            ast::ExprKind::Bool(value) => made(ExprKind::Bool(*value), Type::Bool),
            ast::ExprKind::Str(text) => self.text(text, span),
            ast::ExprKind::Format(text, at, arguments) => self.format(text, *at, arguments, span),
            ast::ExprKind::Null => made(ExprKind::Null, Type::Null),
            ast::ExprKind::Halt => made(ExprKind::Event(EventId::HALT), Type::Event),
            ast::ExprKind::This => self.this(span),
            ast::ExprKind::Nondet { fair: _ } | ast::ExprKind::Choose(None) => {
                self.does(Effect::Choose, span);
                made(ExprKind::Nondet, Type::Bool)
            }
            ast::ExprKind::Choose(Some(from)) => self.choose(from, span),
            ast::ExprKind::Tuple(of) => {
                let of: Vec<_> = of.iter().map(|part| self.expr(part)).collect();
                let of: Vec<Expr> = of.into_iter().collect::<Option<_>>()?;
                Some(tuple(of, span))
            }
            ast::ExprKind::NamedTuple(of) => self.named_tuple(of, span),
            ast::ExprKind::Field(of, field) => {
                let of = self.expr(of)?;
                let (at, ty) = self.field(&of.ty, field, of.span)?;
                made(ExprKind::Position(Box::new(of), at), ty)
            }
            ast::ExprKind::Position(of, at) => {
                let of = self.expr(of)?;
                let (at, ty) = self.position(&of.ty, *at, of.span)?;
                made(ExprKind::Position(Box::new(of), at), ty)
            }
            ast::ExprKind::Index(of, index) => self.index(of, index, span),
            ast::ExprKind::Default(ty) => made(ExprKind::Default, self.tables.resolve(ty)?),
            ast::ExprKind::New(interface, arguments) => self.create(interface, arguments, span),
            ast::ExprKind::Call(fun, arguments) => self.call(fun, arguments, span),
            ast::ExprKind::Unary(op, of) => {
                let of = self.expr(of)?;
                let ty = self.unary(*op, &of)?;
                made(ExprKind::Unary(*op, Box::new(of)), ty)
            }
            ast::ExprKind::Chain(first, links) => self.chain(first, links, span),
            ast::ExprKind::Cast(of, ty) => {
                let (of, ty) = (self.expr(of), self.tables.resolve(ty));
                self.cast(of?, ty?, span)
            }
            ast::ExprKind::Coerce(of, ty) => {
                let (of, ty) = (self.expr(of), self.tables.resolve(ty));
                self.coerce(of?, ty?, span)
            }
        }
    }

    /// Reports an operand that is not `what` the operation needs.
    pub fn not_a<T>(&mut self, what: &str, found: &Type, span: Span) -> Option<T> {
        let found = self.tables.show(found);
        self.report.refuse(
            error(span, format!("expected a {what}, found `{found}`"))
                .label(format!("this is `{found}`")),
        )
    }

    /// Locals hide fields, which hide parameters of the project, then elements of enums, then events.
    fn name(&mut self, name: &str, span: Span) -> Option<Expr> {
        if let Some((local, ty)) = self.local(name) {
            return Some(Expr { kind: ExprKind::Local(local), ty: ty?, span });
        }
        if let Some(machine) = self.machine()
            && let Some(field) = machine.fields.get(name)
        {
            let ty = machine.field_list[field.index()].ty.clone()?;
            return Some(Expr { kind: ExprKind::Field(field), ty, span });
        }
        if let Some(param) = self.tables.params.get(name) {
            let ty = self.tables.param_list[param.index()].ty.clone()?;
            return Some(Expr { kind: ExprKind::Param(param), ty, span });
        }
        match self.tables.values.get(name) {
            Some(ValueName::Element(id, value)) => {
                Some(Expr { kind: ExprKind::Int(value), ty: Type::Enum(id), span })
            }
            Some(ValueName::Event(event)) => {
                Some(Expr { kind: ExprKind::Event(event), ty: Type::Event, span })
            }
            None => {
                let known = self
                    .variable_names()
                    .chain(self.tables.params.names())
                    .chain(self.tables.values.names());
                let what = "variable, event or enum element";
                self.tables.unknown(span, what, name, known);
                None
            }
        }
    }

    fn this(&mut self, span: Span) -> Option<Expr> {
        self.does(Effect::This, span);
        let Some(machine) = self.machine() else {
            return self.report.refuse(
                error(span, "`this` outside of a machine")
                    .label("no machine here")
                    .hint("give the function a parameter of type `machine` and pass `this` to it"),
            );
        };
        Some(Expr { kind: ExprKind::This, ty: Type::Interface(machine.interface?), span })
    }

    fn choose(&mut self, from: &'a ast::Expr, span: Span) -> Option<Expr> {
        self.does(Effect::Choose, span);
        let from = self.expr(from)?;
        let ty = match &from.ty {
            Type::Int => Type::Int,
            Type::Seq(of) | Type::Set(of) => (**of).clone(),
            Type::Map(key, _) => (**key).clone(),
            other => {
                let other = other.clone();
                return self.not_a("number or collection to choose from", &other, from.span);
            }
        };
        Some(Expr { kind: ExprKind::Choose(Box::new(from)), ty, span })
    }

    fn named_tuple(&mut self, of: &'a [(ast::Name, ast::Expr)], span: Span) -> Option<Expr> {
        let mut seen = Names::default();
        for (name, _) in of {
            seen.declare(name, (), self.report);
        }
        let values: Vec<_> = of.iter().map(|(_, value)| self.expr(value)).collect();
        let values: Vec<Expr> = values.into_iter().collect::<Option<_>>()?;
        let fields: Vec<(Arc<str>, Type)> = of
            .iter()
            .zip(&values)
            .map(|((name, _), value)| (name.text.as_str().into(), value.ty.clone()))
            .collect();
        Some(Expr { kind: ExprKind::Tuple(values), ty: Type::NamedTuple(fields.into()), span })
    }

    /// The position and type of a field of a named tuple.
    pub fn field(&mut self, of: &Type, field: &ast::Name, span: Span) -> Option<(u32, Type)> {
        let Type::NamedTuple(fields) = of else {
            return self.not_a("tuple with named fields", of, span);
        };
        let found = fields.iter().position(|(name, _)| **name == *field.text);
        let Some(at) = found else {
            let names = fields.iter().map(|(name, _)| &**name);
            self.report.unknown(field.span, "field", &field.text, names);
            return None;
        };
        Some((at as u32, fields[at].1.clone()))
    }

    /// The position and type of an element of a tuple.
    pub fn position(&mut self, of: &Type, at: ast::IntLiteral, span: Span) -> Option<(u32, Type)> {
        let Type::Tuple(parts) = of else {
            return self.not_a("tuple", of, span);
        };
        let part = usize::try_from(at.value).ok().and_then(|at| parts.get(at));
        let Some(part) = part else {
            return self.report.refuse(
                error(at.span, format!("the tuple has no element {}", at.value))
                    .label(format!("it has {}, counted from 0", parts.len())),
            );
        };
        Some((at.value as u32, part.clone()))
    }

    fn index(&mut self, of: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Option<Expr> {
        let (of, index) = (self.expr(of), self.expr(index));
        let (of, index) = (of?, index?);
        let ty = match &of.ty {
            Type::Seq(element) | Type::Set(element) => {
                self.expect(&Type::Int, &index)?;
                (**element).clone()
            }
            Type::Map(key, value) => {
                self.expect(key, &index)?;
                (**value).clone()
            }
            other => return self.not_a("sequence, set or map", &other.clone(), of.span),
        };
        Some(Expr { kind: ExprKind::Index(Box::new(of), Box::new(index)), ty, span })
    }

    fn unary(&mut self, op: UnaryOp, of: &Expr) -> Option<Type> {
        Some(match (op, &of.ty) {
            (UnaryOp::Negate, Type::Int | Type::Float) => of.ty.clone(),
            (UnaryOp::Negate, other) => return self.not_a("number", other, of.span),
            (UnaryOp::Not, _) => self.expect(&Type::Bool, of).map(|()| Type::Bool)?,
            (UnaryOp::Keys, Type::Map(key, _)) => Type::Seq(key.clone()),
            (UnaryOp::Values, Type::Map(_, value)) => Type::Seq(value.clone()),
            (UnaryOp::Keys | UnaryOp::Values, other) => return self.not_a("map", other, of.span),
            (UnaryOp::Sizeof, Type::Seq(_) | Type::Set(_) | Type::Map(..)) => Type::Int,
            (UnaryOp::Sizeof, other) => return self.not_a("collection", other, of.span),
        })
    }
}

pub(crate) fn tuple(of: Vec<Expr>, span: Span) -> Expr {
    let types: Vec<Type> = of.iter().map(|part| part.ty.clone()).collect();
    Expr { kind: ExprKind::Tuple(of), ty: Type::Tuple(types.into()), span }
}
