use std::collections::BTreeSet;

use super::{Expr, ExprKind, FunId, Program, Projection, StateId, Stmt, StmtKind};

/// What functions come to, with all functions that they call.
#[derive(Clone, Default, Debug)]
pub struct Reach {
    /// The functions themselves and those they call.
    pub funs: BTreeSet<FunId>,
    /// The states that `goto` statements name.
    pub gotos: BTreeSet<StateId>,
}

impl Program {
    /// What these functions come to.
    pub fn reach(&self, from: impl IntoIterator<Item = FunId>) -> Reach {
        let mut reach = Reach::default();
        let mut waiting: Vec<FunId> = from.into_iter().collect();
        while let Some(fun) = waiting.pop() {
            if reach.funs.insert(fun) {
                let body = self.funs[fun.index()].body.iter().flatten();
                body.for_each(|statement| reach.statement(statement, &mut waiting));
            }
        }
        reach
    }
}

impl Reach {
    fn statement(&mut self, statement: &Stmt, calls: &mut Vec<FunId>) {
        let mut expr = |expr: &Expr| expression(expr, calls);
        let mut inner: Vec<&Stmt> = Vec::new();
        match &statement.kind {
            StmtKind::Block(body) => inner.extend(body),
            StmtKind::Assert(condition, message) => {
                expr(condition);
                message.iter().for_each(expr);
            }
            StmtKind::Print(one) | StmtKind::Effect(one) => expr(one),
            StmtKind::Return(one) => one.iter().for_each(expr),
            StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Change(_, place, values) => {
                for projection in &place.path {
                    if let Projection::Key(key) = projection {
                        expr(key);
                    }
                }
                values.iter().for_each(expr);
            }
            StmtKind::While(condition, body) | StmtKind::Foreach(_, condition, body) => {
                expr(condition);
                inner.push(body);
            }
            StmtKind::If(arms, otherwise) => {
                for arm in arms {
                    expr(&arm.condition);
                    inner.push(&arm.then);
                }
                inner.extend(otherwise.as_deref());
            }
            StmtKind::Raise(event, payload) | StmtKind::Announce(event, payload) => {
                expr(event);
                payload.iter().for_each(expr);
            }
            StmtKind::Send(to, event, payload) => {
                expr(to);
                expr(event);
                payload.iter().for_each(expr);
            }
            StmtKind::Goto(to, payload) => {
                self.gotos.insert(*to);
                payload.iter().for_each(expr);
            }
            StmtKind::Receive(cases) => inner.extend(cases.iter().flat_map(|case| &case.body)),
        }
        for statement in inner {
            self.statement(statement, calls);
        }
    }
}

fn expression(expr: &Expr, calls: &mut Vec<FunId>) {
    if let ExprKind::Call(fun, _) = &expr.kind {
        calls.push(*fun);
    }
    expr.parts().into_iter().for_each(|part| expression(part, calls));
}
