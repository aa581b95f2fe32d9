//! Places: variables and paths into them.

use super::body::Body;
use crate::diagnostic::error;
use crate::program::{Place, Projection, Root, Type};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    /// The left side of an assignment.
    pub fn place(&mut self, expr: &'a ast::Expr) -> Option<Place> {
        let mut place = match &expr.kind {
            ast::ExprKind::Name(name) => self.variable(name, expr.span)?,
            ast::ExprKind::Field(of, field) => {
                let mut place = self.place(of)?;
                let (at, ty) = self.field(&place.ty, field, place.span)?;
                place.path.push(Projection::Position(at));
                place.ty = ty;
                place
            }
            ast::ExprKind::Position(of, at) => {
                let mut place = self.place(of)?;
                let (at, ty) = self.position(&place.ty, *at, place.span)?;
                place.path.push(Projection::Position(at));
                place.ty = ty;
                place
            }
            ast::ExprKind::Index(of, index) => self.element(of, index)?,
            _ => {
                return self.report.refuse(
                    error(expr.span, "this cannot be assigned to")
                        .label("not a variable, or part of one"),
                );
            }
        };
        place.span = expr.span;
        Some(place)
    }

    fn element(&mut self, of: &'a ast::Expr, index: &'a ast::Expr) -> Option<Place> {
        let (place, index) = (self.place(of), self.expr(index));
        let (mut place, index) = (place?, index?);
        place.ty = match &place.ty.clone() {
            Type::Seq(element) => {
                self.expect(&Type::Int, &index)?;
                place.path.push(Projection::Key(index));
                (**element).clone()
            }
            Type::Map(key, value) => {
                self.expect(key, &index)?;
                place.path.push(Projection::Key(index));
                (**value).clone()
            }
            Type::Set(_) => {
                return self.report.refuse(
                    error(place.span, "an element of a set cannot be replaced")
                        .label("this is a set")
                        .hint("remove it with `-=` and add another with `+=`"),
                );
            }
            other => return self.not_a("sequence or map", other, place.span),
        };
        Some(place)
    }

    /// The declaration of a variable and what it is, if the place is a whole variable.
    pub fn declaration(&self, place: &Place) -> Option<(Span, String)> {
        if !place.path.is_empty() {
            return None;
        }
        let (name, span) = match place.root {
            Root::Local(local) => {
                let local = &self.checked.locals[local.index()];
                (&*local.name, local.span)
            }
            Root::Field(field) => {
                let name = self.machine()?.field_list[field.index()].name;
                (&*name.text, name.span)
            }
        };
        Some((span, format!("`{name}` is `{}`", self.tables.show(&place.ty))))
    }

    /// The variable of this name, which must be assignable.
    pub fn variable(&mut self, name: &str, span: Span) -> Option<Place> {
        if let Some((local, ty)) = self.local(name) {
            return Some(Place { root: Root::Local(local), path: Vec::new(), ty: ty?, span });
        }
        if let Some(machine) = self.machine()
            && let Some(field) = machine.fields.get(name)
        {
            let ty = machine.field_list[field.index()].ty.clone()?;
            return Some(Place { root: Root::Field(field), path: Vec::new(), ty, span });
        }
        if let Some(declared) = self.tables.params.place(name) {
            return self.report.refuse(
                error(span, format!("`{name}` cannot be changed"))
                    .label("a parameter of the project is set by the test")
                    .also(declared, "declared here"),
            );
        }
        if let Some(declared) = self.tables.values.place(name) {
            return self.report.refuse(
                error(span, format!("`{name}` is not a variable"))
                    .label("cannot be assigned to")
                    .also(declared, "declared here"),
            );
        }
        let known = self.variable_names();
        self.tables.unknown(span, "variable", name, known);
        None
    }
}
