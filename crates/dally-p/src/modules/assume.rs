//! The assumption of a parametric test: a condition over its parameters, evaluated for each
//! combination of values.

use super::values::Values;
use crate::diagnostic::{Diagnostic, error};
use crate::program::{BinaryOp, Expr, ExprKind, LiteralValue, Type, UnaryOp};
use crate::source::Span;

pub(crate) fn holds(condition: &Expr, values: &Values) -> Result<bool, Diagnostic> {
    match evaluate(condition, values)? {
        LiteralValue::Bool(value) => Ok(value),
        LiteralValue::Int(_) => Err(unsupported(condition.span)),
    }
}

fn number(expr: &Expr, values: &Values) -> Result<i64, Diagnostic> {
    match evaluate(expr, values)? {
        LiteralValue::Int(value) => Ok(value),
        LiteralValue::Bool(_) => Err(unsupported(expr.span)),
    }
}

fn evaluate(expr: &Expr, values: &Values) -> Result<LiteralValue, Diagnostic> {
    Ok(match &expr.kind {
        ExprKind::Int(value) => LiteralValue::Int(*value),
        ExprKind::Bool(value) => LiteralValue::Bool(*value),
        ExprKind::Param(param) => values.get(param).copied().ok_or_else(|| {
            error(expr.span, "a parameter that the test does not set")
                .label("has no value here")
                .hint("add it to `param (...)` of the test")
        })?,
        ExprKind::Unary(UnaryOp::Negate, of) => {
            LiteralValue::Int(number(of, values)?.wrapping_neg())
        }
        ExprKind::Unary(UnaryOp::Not, of) => LiteralValue::Bool(!holds(of, values)?),
        ExprKind::Coerce(of) if matches!(expr.ty, Type::Int | Type::Enum(_)) => {
            LiteralValue::Int(number(of, values)?)
        }
        ExprKind::Chain(first, links) => {
            let mut result = evaluate(first, values)?;
            for (op, operand) in links {
                let span = first.span.to(operand.span);
                result = operate(*op, result, operand, span, values)?;
            }
            result
        }
        _ => return Err(unsupported(expr.span)),
    })
}

fn operate(
    op: BinaryOp,
    left: LiteralValue,
    operand: &Expr,
    span: Span,
    values: &Values,
) -> Result<LiteralValue, Diagnostic> {
    use LiteralValue::{Bool, Int};
    // `&&` and `||` evaluate the right operand only if the left does not decide.
    match (op, left) {
        (BinaryOp::And, Bool(false)) | (BinaryOp::Or, Bool(true)) => return Ok(left),
        (BinaryOp::And | BinaryOp::Or, _) => return holds(operand, values).map(Bool),
        _ => {}
    }
    let right = evaluate(operand, values)?;
    let (a, b) = match (op, left, right) {
        (BinaryOp::Equal, ..) => return Ok(Bool(left == right)),
        (BinaryOp::NotEqual, ..) => return Ok(Bool(left != right)),
        (_, Int(a), Int(b)) => (a, b),
        _ => return Err(unsupported(span)),
    };
    Ok(match op {
        BinaryOp::Less => Bool(a < b),
        BinaryOp::LessEqual => Bool(a <= b),
        BinaryOp::Greater => Bool(a > b),
        BinaryOp::GreaterEqual => Bool(a >= b),
        BinaryOp::Add => Int(a.wrapping_add(b)),
        BinaryOp::Sub => Int(a.wrapping_sub(b)),
        BinaryOp::Mul => Int(a.wrapping_mul(b)),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => {
            return Err(error(span, "division by zero in an assumption"));
        }
        BinaryOp::Div => Int(a.wrapping_div(b)),
        BinaryOp::Rem => Int(a.wrapping_rem(b)),
        _ => return Err(unsupported(span)),
    })
}

fn unsupported(span: Span) -> Diagnostic {
    error(span, "not possible in an assumption")
        .label("neither a parameter, a literal nor an operator")
}
