//! The assumption of a parametric test: a condition over its parameters, evaluated for each
//! combination of values.

use crate::diagnostic::Diagnostic;
use crate::program::{BinaryOp, Expr, ExprKind, LiteralValue, ParamId, Type};

/// Evaluates a checked condition under the values of the parameters.
pub(crate) fn holds(
    condition: &Expr,
    values: &impl Fn(ParamId) -> Option<LiteralValue>,
) -> Result<bool, Diagnostic> {
    match evaluate(condition, values)? {
        LiteralValue::Bool(value) => Ok(value),
        LiteralValue::Int(_) => Err(unsupported(condition)),
    }
}

fn number(
    expr: &Expr,
    values: &impl Fn(ParamId) -> Option<LiteralValue>,
) -> Result<i64, Diagnostic> {
    match evaluate(expr, values)? {
        LiteralValue::Int(value) => Ok(value),
        LiteralValue::Bool(_) => Err(unsupported(expr)),
    }
}

fn evaluate(
    expr: &Expr,
    values: &impl Fn(ParamId) -> Option<LiteralValue>,
) -> Result<LiteralValue, Diagnostic> {
    Ok(match &expr.kind {
        ExprKind::Int(value) => LiteralValue::Int(*value),
        ExprKind::Bool(value) => LiteralValue::Bool(*value),
        ExprKind::Param(param) => values(*param).ok_or_else(|| {
            Diagnostic::error(expr.span, "a parameter that the test does not set")
                .label("has no value here")
                .hint("add it to `param (...)` of the test")
        })?,
        ExprKind::Negate(of) => LiteralValue::Int(number(of, values)?.wrapping_neg()),
        ExprKind::Not(of) => LiteralValue::Bool(!holds(of, values)?),
        ExprKind::Coerce(of) if matches!(expr.ty, Type::Int | Type::Enum(_)) => {
            LiteralValue::Int(number(of, values)?)
        }
        ExprKind::Binary(op, left, right) => binary(*op, left, right, expr, values)?,
        _ => return Err(unsupported(expr)),
    })
}

fn binary(
    op: BinaryOp,
    left: &Expr,
    right: &Expr,
    whole: &Expr,
    values: &impl Fn(ParamId) -> Option<LiteralValue>,
) -> Result<LiteralValue, Diagnostic> {
    use LiteralValue::{Bool, Int};
    let numbers = || Ok((number(left, values)?, number(right, values)?));
    let divided = |by: fn(i64, i64) -> i64| match numbers()? {
        (_, 0) => Err(Diagnostic::error(whole.span, "division by zero in an assumption")),
        (left, right) => Ok(Int(by(left, right))),
    };
    Ok(match op {
        BinaryOp::And => Bool(holds(left, values)? && holds(right, values)?),
        BinaryOp::Or => Bool(holds(left, values)? || holds(right, values)?),
        BinaryOp::Equal => Bool(evaluate(left, values)? == evaluate(right, values)?),
        BinaryOp::NotEqual => Bool(evaluate(left, values)? != evaluate(right, values)?),
        BinaryOp::Less => numbers().map(|(left, right)| Bool(left < right))?,
        BinaryOp::LessEqual => numbers().map(|(left, right)| Bool(left <= right))?,
        BinaryOp::Greater => numbers().map(|(left, right)| Bool(left > right))?,
        BinaryOp::GreaterEqual => numbers().map(|(left, right)| Bool(left >= right))?,
        BinaryOp::Add => numbers().map(|(left, right)| Int(left.wrapping_add(right)))?,
        BinaryOp::Sub => numbers().map(|(left, right)| Int(left.wrapping_sub(right)))?,
        BinaryOp::Mul => numbers().map(|(left, right)| Int(left.wrapping_mul(right)))?,
        BinaryOp::Div => divided(i64::wrapping_div)?,
        BinaryOp::Rem => divided(i64::wrapping_rem)?,
        BinaryOp::In => return Err(unsupported(whole)),
    })
}

fn unsupported(expr: &Expr) -> Diagnostic {
    Diagnostic::error(expr.span, "not possible in an assumption")
        .label("neither a parameter, a literal nor an operator")
}
