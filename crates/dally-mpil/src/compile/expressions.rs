//! Expressions, conditions and what is assigned to.

use dally_concolic::int::Comparison;

use super::{Compiler, Role, Scope};
use crate::code::{Condition, Expr, Slot, Variable};
use crate::syntax::ast::{self, ExprKind, Relation, Target};

impl Compiler<'_> {
    pub(super) fn condition(&mut self, condition: &ast::Condition, scope: &Scope<'_>) -> Condition {
        let left = self.expr(&condition.left, scope);
        let right = self.expr(&condition.right, scope);
        let (how, negated, turned) = match condition.relation {
            Relation::Equal => (Comparison::Equal, false, false),
            Relation::Differs => (Comparison::Equal, true, false),
            Relation::Less => (Comparison::Less, false, false),
            Relation::AtMost => (Comparison::AtMost, false, false),
            Relation::Greater => (Comparison::Less, false, true),
            Relation::AtLeast => (Comparison::AtMost, false, true),
        };
        let (left, right) = if turned { (right, left) } else { (left, right) };
        Condition { left, how, right, negated }
    }

    /// Where to write.
    pub(super) fn target(&mut self, target: &Target, scope: &Scope<'_>) -> Slot {
        let name = &target.name;
        if let Some(variable) = scope.own.find(&name.text).cloned() {
            if scope.own.index.as_deref() == Some(&name.text) {
                self.error(&name.span, format!("`{}` is the index of the process", name.text))
                    .hint = Some("assign it to a variable and change that".to_owned());
            }
            return self.slot(target, &variable, scope);
        }
        let message = if self.constants.contains_key(&name.text) {
            format!("`{}` is a constant", name.text)
        } else if scope.shared.is_some_and(|shared| shared.find(&name.text).is_some()) {
            format!("`{}` belongs to `setup`: processes can only read it", name.text)
        } else {
            format!("there is no variable `{}`", name.text)
        };
        self.error(&name.span, message).hint =
            Some(format!("declare it here: `var {}`", name.text));
        Slot { at: 0, index: None, name: name.text.clone() }
    }

    pub(super) fn slot(&mut self, target: &Target, variable: &Variable, scope: &Scope<'_>) -> Slot {
        let name = &target.name;
        let index = match (variable.length, &target.index) {
            (None, None) => None,
            (Some(length), Some(index)) => Some((length, Box::new(self.expr(index, scope)))),
            (Some(_), None) => {
                self.error(&name.span, format!("`{}` is an array", name.text)).hint =
                    Some(format!("name one of its values, as in `{}[0]`", name.text));
                None
            }
            (None, Some(index)) => {
                self.error(&index.span, format!("`{}` is no array", name.text));
                None
            }
        };
        Slot { at: variable.at, index, name: name.text.clone() }
    }

    pub(super) fn expr(&mut self, expr: &ast::Expr, scope: &Scope<'_>) -> Expr {
        match &expr.kind {
            ExprKind::Number(number) => Expr::Number(*number),
            ExprKind::Variable(target) => self.variable(target, scope),
            ExprKind::Of(process, index, target) => {
                if scope.role != Role::Finally {
                    let message = "a process cannot look into another";
                    self.error(&expr.span, message).hint =
                        Some("send a message, or look at it in `finally`".to_owned());
                }
                let (family, index) = self.process(process, index.as_deref(), scope);
                let layout = self.layouts.get(family).cloned().unwrap_or_default();
                let slot = match layout.find(&target.name.text).cloned() {
                    Some(variable) => self.slot(target, &variable, scope),
                    None => {
                        let name = &target.name;
                        let message = format!("`{}` has no variable `{}`", process.text, name.text);
                        self.error(&name.span, message);
                        Slot { at: 0, index: None, name: name.text.clone() }
                    }
                };
                Expr::Of(family, index.map(Box::new), slot)
            }
            ExprKind::Negated(inner) => match self.expr(inner, scope) {
                Expr::Number(number) if number != i64::MIN => Expr::Number(-number),
                inner => Expr::Negated(Box::new(inner)),
            },
            ExprKind::Arithmetic(how, left, right) => {
                let (left, right) = (self.expr(left, scope), self.expr(right, scope));
                Expr::Arithmetic(*how, Box::new(left), Box::new(right))
            }
        }
    }

    pub(super) fn variable(&mut self, target: &Target, scope: &Scope<'_>) -> Expr {
        let name = &target.name;
        if let Some(variable) = scope.own.find(&name.text).cloned() {
            return Expr::Own(self.slot(target, &variable, scope));
        }
        if let Some(variable) = scope.shared.and_then(|shared| shared.find(&name.text)).cloned() {
            return Expr::Shared(self.slot(target, &variable, scope));
        }
        match (self.constants.get(&name.text).copied(), &target.index) {
            (Some(value), None) => Expr::Number(value),
            (Some(_), Some(index)) => {
                self.error(&index.span, format!("`{}` is no array", name.text));
                Expr::Number(0)
            }
            (None, _) => {
                self.error(&name.span, format!("there is no variable `{}`", name.text)).hint =
                    Some(format!("declare it here: `var {}`", name.text));
                Expr::Number(0)
            }
        }
    }
}
