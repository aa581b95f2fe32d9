//! Conditions: `&&` and `||` evaluate their right operand only if the left one does not decide, and
//! a condition that only controls a jump makes no value.

use super::Lowered;
use super::expression::{operation, suspends};
use super::function::Function;
use super::inst::{Dst, Inst, Kind, Src, Test};
use crate::program::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::source::Span;
use crate::vm::Value;

impl<'p> Function<'_, 'p> {
    /// `&&` and `||`. The result is made in a temporary, because the right operand may read `dst`.
    pub(super) fn short_circuit(&mut self, expr: &'p Expr, dst: Dst) -> Lowered<()> {
        let (out, result) = self.result();
        if suspends(expr) {
            // The register's old value must not distinguish states.
            let nothing = self.constant(Value::Null);
            self.emit(Inst::Move(out, nothing));
        }
        self.decide(expr, out)?;
        self.span = expr.span;
        self.emit(Inst::Move(dst, result));
        Ok(())
    }

    fn decide(&mut self, expr: &'p Expr, out: Dst) -> Lowered<()> {
        let ExprKind::Chain(first, links) = &expr.kind else {
            return self.expression(expr, out);
        };
        let (before, decisions) = links.split_at(decisions(links));
        if decisions.is_empty() {
            return self.expression(expr, out);
        }
        self.beginning(first, before, out)?;
        let known = Src::new(Kind::Local, out.place(0));
        let mut decided = Vec::new();
        for (at, (op, operand)) in decisions.iter().enumerate() {
            // The operand that decides `a && b` also decides all further `&&`.
            if at > 0 && decisions[at - 1].0 != *op {
                decided.drain(..).for_each(|jump| self.land(jump));
            }
            self.span = expr.span;
            decided.push(match op {
                BinaryOp::And => self.emit(Inst::JumpUnless(known, 0)),
                _ => self.emit(Inst::JumpIf(known, 0)),
            });
            self.decide(operand, out)?;
        }
        decided.into_iter().for_each(|jump| self.land(jump));
        Ok(())
    }

    /// The first operand and the operators after it other than `&&` and `||`.
    fn beginning(
        &mut self,
        first: &'p Expr,
        links: &'p [(BinaryOp, Expr)],
        out: Dst,
    ) -> Lowered<()> {
        let Some((_, last)) = links.last() else { return self.decide(first, out) };
        let before = self.top;
        self.operators(first, links, first.span.to(last.span), out)?;
        self.top = before;
        Ok(())
    }

    /// Jumps if the condition is not `wanted`; answers the jumps, whose targets are still open.
    pub(super) fn jump_unless(&mut self, condition: &'p Expr, wanted: bool) -> Lowered<Vec<usize>> {
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => return self.jump_unless(operand, !wanted),
            ExprKind::Chain(first, links) => {
                let (before, decisions) = links.split_at(decisions(links));
                return self.jump_unless_chain(condition, first, before, decisions, wanted);
            }
            _ => {}
        }
        let before = self.top;
        let value = self.operand(condition)?;
        self.top = before;
        self.span = condition.span;
        Ok(vec![self.jump_unless_value(value, wanted)])
    }

    fn jump_unless_value(&mut self, value: Src, wanted: bool) -> usize {
        match wanted {
            true => self.emit(Inst::JumpUnless(value, 0)),
            false => self.emit(Inst::JumpIf(value, 0)),
        }
    }

    fn jump_unless_chain(
        &mut self,
        condition: &'p Expr,
        first: &'p Expr,
        before: &'p [(BinaryOp, Expr)],
        decisions: &'p [(BinaryOp, Expr)],
        wanted: bool,
    ) -> Lowered<Vec<usize>> {
        // What is wanted of each prefix of the chain: the same as of the whole where both operands
        // must be as wanted, the opposite where one is enough, because then the rest is skipped.
        let mut wants = vec![wanted];
        for (op, _) in decisions.iter().rev() {
            let whole = wants[wants.len() - 1];
            wants.push(if both_count(*op, whole) { whole } else { !whole });
        }
        let mut wants = wants.into_iter().rev();
        let mut want = wants.next().unwrap_or(wanted);
        let mut jumps = match before.split_last() {
            None => self.jump_unless(first, want)?,
            Some((last, others)) => {
                let span = match decisions.is_empty() {
                    true => condition.span,
                    false => first.span.to(last.1.span),
                };
                vec![self.jump_unless_operators(first, others, last, span, want)?]
            }
        };
        for ((_, operand), whole) in decisions.iter().zip(wants) {
            let enough = if want == whole { Vec::new() } else { std::mem::take(&mut jumps) };
            jumps.extend(self.jump_unless(operand, whole)?);
            enough.into_iter().for_each(|jump| self.land(jump));
            want = whole;
        }
        Ok(jumps)
    }

    /// [`Function::jump_unless`] for a chain without `&&` and `||`. If the last operator compares, the
    /// jump tests it.
    fn jump_unless_operators(
        &mut self,
        first: &'p Expr,
        others: &'p [(BinaryOp, Expr)],
        (op, operand): &'p (BinaryOp, Expr),
        span: Span,
        wanted: bool,
    ) -> Lowered<usize> {
        let top = self.top;
        let left = match others.last() {
            None => self.operand_before(first, std::slice::from_ref(operand))?,
            Some((_, last)) => {
                let register = Dst::register(top);
                self.operators(first, others, first.span.to(last.span), register)?;
                self.top = top;
                Src::new(Kind::Temp, self.temp())
            }
        };
        let right = self.right_of(*op, operand)?;
        self.top = top;
        self.span = span;
        if let Some((test, swapped)) = test_of(*op, wanted) {
            let (a, b) = if swapped { (right, left) } else { (left, right) };
            return Ok(self.emit(Inst::Unless(test, a, b, 0)));
        }
        let (dst, value) = self.result();
        self.top = top;
        self.emit(operation(*op, &operand.ty, dst, left, right));
        Ok(self.jump_unless_value(value, wanted))
    }
}

/// How many operators at the start of a chain evaluate both operands: `&&` and `||`, which do not,
/// bind loosest and so come last.
pub(super) fn decisions(links: &[(BinaryOp, Expr)]) -> usize {
    links.partition_point(|(op, _)| !matches!(op, BinaryOp::And | BinaryOp::Or))
}

/// Whether both operands must be as wanted for the whole to be, and not just one.
fn both_count(op: BinaryOp, wanted: bool) -> bool {
    (op == BinaryOp::And) == wanted
}

/// The test for this outcome of a comparison, and whether its operands are swapped.
pub(super) fn test_of(op: BinaryOp, wanted: bool) -> Option<(Test, bool)> {
    Some(match (op, wanted) {
        (BinaryOp::Equal, true) | (BinaryOp::NotEqual, false) => (Test::Equal, false),
        (BinaryOp::NotEqual, true) | (BinaryOp::Equal, false) => (Test::NotEqual, false),
        (BinaryOp::Less, true) => (Test::Less, false),
        (BinaryOp::Less, false) => (Test::NotLess, false),
        (BinaryOp::LessEqual, true) => (Test::LessEqual, false),
        (BinaryOp::LessEqual, false) => (Test::NotLessEqual, false),
        (BinaryOp::Greater, true) => (Test::Less, true),
        (BinaryOp::Greater, false) => (Test::NotLess, true),
        (BinaryOp::GreaterEqual, true) => (Test::LessEqual, true),
        (BinaryOp::GreaterEqual, false) => (Test::NotLessEqual, true),
        (BinaryOp::In, true) => (Test::In, false),
        (BinaryOp::In, false) => (Test::NotIn, false),
        _ => return None,
    })
}
