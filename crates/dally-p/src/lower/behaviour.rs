//! What functions do that matters to how their callers are lowered: whether a machine can be suspended
//! in them, and which of their parameters are only printed.

use crate::program::{Expr, ExprKind, Format, FunId, Program, Stmt, StmtKind, Type};
use crate::types::order;

/// By function.
pub(super) struct Behaviour(Vec<Option<Does>>);

struct Does {
    suspends: bool,
    /// By parameter: whether its value reaches nothing but prints, in functions that do not suspend.
    prints: Vec<bool>,
}

impl Behaviour {
    pub(super) fn of(program: &Program) -> Behaviour {
        let mut known = Behaviour((0..program.funs.len()).map(|_| None).collect());
        let body = |at: usize| program.funs[at].body.as_deref().unwrap_or_default();
        let calls = |at: usize| {
            let mut calls = Vec::new();
            walk(body(at), &mut |statement| {
                for expr in statement.exprs() {
                    callees(expr, &mut calls);
                }
            });
            calls
        };
        for at in order(program.funs.len(), calls).sorted {
            let fun = &program.funs[at];
            let suspends = fun.body.is_some() && known.statements_suspend(body(at));
            let is_text = |at: usize| fun.locals.get(at).is_some_and(|it| it.ty == Type::String);
            let mut prints: Vec<bool> =
                (0..fun.params).map(|at| fun.body.is_some() && !suspends && is_text(at)).collect();
            walk(body(at), &mut |statement| known.find_uses(statement, &mut prints));
            known.0[at] = Some(Does { suspends, prints });
        }
        known
    }

    /// Whether a machine can be suspended in these statements.
    pub(super) fn statements_suspend(&self, body: &[Stmt]) -> bool {
        let mut suspends = false;
        walk(body, &mut |statement| {
            suspends |= matches!(statement.kind, StmtKind::Send(..) | StmtKind::Receive(_))
                || statement.exprs().into_iter().any(|expr| self.suspends(expr));
        });
        suspends
    }

    /// Whether a machine can be suspended during the evaluation of an expression.
    pub(super) fn suspends(&self, expr: &Expr) -> bool {
        let here = match &expr.kind {
            ExprKind::New(..) => true,
            // A function that is not known yet calls itself.
            ExprKind::Call(fun, _) => self.0[fun.index()].as_ref().is_none_or(|it| it.suspends),
            _ => false,
        };
        here || expr.parts().into_iter().any(|part| self.suspends(part))
    }

    /// Whether a function only prints the argument at this position, and nothing that is evaluated
    /// before the call can suspend.
    pub(super) fn only_prints(&self, fun: FunId, arguments: &[Expr], position: usize) -> bool {
        let known = self.0[fun.index()].as_ref();
        known.is_some_and(|it| it.prints.get(position) == Some(&true))
            && !arguments.iter().any(|argument| self.suspends(argument))
    }

    /// Notes the parameters that a statement does more with than to print them.
    fn find_uses(&self, statement: &Stmt, prints: &mut [bool]) {
        let printed = matches!(statement.kind, StmtKind::Print(_));
        for expr in statement.exprs() {
            self.find_uses_in(expr, printed, prints);
        }
    }

    fn find_uses_in(&self, expr: &Expr, printed: bool, prints: &mut [bool]) {
        match &expr.kind {
            ExprKind::Local(local) => {
                if let Some(prints) = prints.get_mut(local.index()) {
                    *prints &= printed;
                }
            }
            ExprKind::Format(format) => {
                let Format { arguments, .. } = &**format;
                arguments.iter().for_each(|it| self.find_uses_in(it, printed, prints));
            }
            ExprKind::Call(fun, arguments) => {
                for (at, argument) in arguments.iter().enumerate() {
                    self.find_uses_in(argument, self.only_prints(*fun, arguments, at), prints);
                }
            }
            _ => expr.parts().into_iter().for_each(|it| self.find_uses_in(it, false, prints)),
        }
    }
}

fn walk<'p>(body: impl IntoIterator<Item = &'p Stmt>, each: &mut dyn FnMut(&'p Stmt)) {
    for statement in body {
        each(statement);
        walk(statement.inner(), each);
    }
}

fn callees(expr: &Expr, calls: &mut Vec<usize>) {
    if let ExprKind::Call(fun, _) = &expr.kind {
        calls.push(fun.index());
    }
    expr.parts().into_iter().for_each(|part| callees(part, calls));
}
