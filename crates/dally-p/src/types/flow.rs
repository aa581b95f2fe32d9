//! The check that a function with a result returns one on all paths.

use super::scope::{FunDecl, Tables};
use crate::diagnostic::error;
use crate::program::{ExprKind, Stmt, StmtKind, Type};

pub(crate) fn all_paths_return(body: &[Stmt], fun: &FunDecl<'_>, tables: &Tables<'_>) {
    if body.iter().any(ends) {
        return;
    }
    let returns = tables.show(fun.returns.as_ref().unwrap_or(&Type::Null));
    tables.report.push(
        error(fun.decl.name.span, format!("not all paths of `{}` return a value", fun.name))
            .label(format!("should return `{returns}`"))
            .hint("end every path with `return`, or with `assert false` if it cannot be taken"),
    );
}

/// Whether the code after a statement is never reached.
fn ends(statement: &Stmt) -> bool {
    match &statement.kind {
        StmtKind::Return(_) | StmtKind::Raise(..) | StmtKind::Goto(..) => true,
        StmtKind::Assert(condition, _) => matches!(condition.kind, ExprKind::Bool(false)),
        StmtKind::Block(statements) => statements.iter().any(ends),
        StmtKind::If(arms, Some(otherwise)) => {
            arms.iter().all(|arm| ends(&arm.then)) && ends(otherwise)
        }
        StmtKind::Receive(cases) => cases.iter().all(|case| case.body.iter().any(ends)),
        _ => false,
    }
}
