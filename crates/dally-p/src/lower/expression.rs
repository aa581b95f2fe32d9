//! Expressions. Operands are evaluated from left to right, each once.

use super::condition::{decisions, test_of};
use super::function::Function;
use super::inst::{Arith, Dst, Inst, Kind, Src, Test};
use super::{Lowered, fits};
use crate::program::{BinaryOp, Expr, ExprKind, Format, LiteralValue, Type, UnaryOp};
use crate::source::Span;
use crate::vm::Value;

impl<'p> Function<'_, 'p> {
    /// The value of an expression as an operand; a variable is not copied.
    pub(super) fn operand(&mut self, expr: &'p Expr) -> Lowered<Src> {
        self.span = expr.span;
        Ok(match &expr.kind {
            ExprKind::Int(n) => self.constant(Value::Int(*n)),
            ExprKind::Float(x) => self.constant(Value::Float(*x)),
            ExprKind::Bool(b) => self.constant(Value::Bool(*b)),
            ExprKind::Str(text) => self.constant(Value::text(&**text)),
            ExprKind::Null => self.constant(Value::Null),
            ExprKind::Cast(null) if is_null_of(null, &expr.ty) => self.constant(Value::Null),
            ExprKind::Event(event) => self.constant(Value::Event(*event)),
            ExprKind::Default => {
                let value = self.lower.constants.default_of(&expr.ty, self.lower.program);
                self.constant(value)
            }
            ExprKind::Param(param) => {
                let ty = &self.lower.program.params[param.index()].ty;
                let value = match self.lower.test.params.get(param) {
                    Some(LiteralValue::Int(n)) => Value::Int(*n),
                    Some(LiteralValue::Bool(b)) => Value::Bool(*b),
                    None => self.lower.constants.default_of(ty, self.lower.program),
                };
                self.constant(value)
            }
            ExprKind::Local(local) => Src::new(Kind::Local, local.index()),
            ExprKind::Field(field) => Src::new(Kind::Field, field.index()),
            _ => match item(expr) {
                Some(item) => item,
                None => Src::new(Kind::Temp, self.in_temp(expr)?),
            },
        })
    }

    /// The value of an expression in a new register, which counts as in use only afterwards.
    pub(super) fn in_temp(&mut self, expr: &'p Expr) -> Lowered<usize> {
        let register = self.top;
        self.expression(expr, Dst::register(register))?;
        Ok(self.temp())
    }

    /// The value of an expression as an operand that keeps its value while `others` are evaluated.
    pub(super) fn operand_before(&mut self, expr: &'p Expr, others: &[Expr]) -> Lowered<Src> {
        let src = self.operand(expr)?;
        if src.is_of_field() && others.iter().any(calls) {
            let (dst, copy) = self.result();
            self.emit(Inst::Move(dst, src));
            return Ok(copy);
        }
        Ok(src)
    }

    /// A collection as an operand whose elements are read at once. A map stands for its keys, which
    /// are not copied.
    pub(super) fn collection(&mut self, expr: &'p Expr) -> Lowered<Src> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Keys, map) => self.operand(map),
            _ => self.operand(expr),
        }
    }

    /// A text that is only printed, in a new register.
    pub(super) fn unwritten(&mut self, expr: &'p Expr) -> Lowered<usize> {
        let ExprKind::Format(parts) = &expr.kind else { return self.in_temp(expr) };
        let register = self.top;
        let mut operands = Vec::with_capacity(parts.arguments.len());
        for (at, argument) in parts.arguments.iter().enumerate() {
            operands.push(match argument.kind {
                ExprKind::Format(_) => Src::new(Kind::Temp, self.unwritten(argument)?),
                _ => self.operand_before(argument, &parts.arguments[at + 1..])?,
            });
        }
        let row = self.lower.row(operands, expr.span)?;
        let format = self.template(parts, expr.span)?;
        (self.span, self.top) = (expr.span, register);
        self.emit(Inst::Unwritten(Dst::register(register), format, row));
        Ok(self.temp())
    }

    fn template(&mut self, parts: &'p Format, span: Span) -> Lowered<u16> {
        let format = fits(self.lower.code.formats.len(), u16::MAX.into(), span, "texts")?;
        self.lower.code.formats.push(parts.template.clone());
        Ok(format as u16)
    }

    /// The values of expressions in consecutive registers; answers the first of these.
    pub(super) fn in_sequence(&mut self, exprs: impl Iterator<Item = &'p Expr>) -> Lowered<u16> {
        let first = self.top;
        for expr in exprs {
            self.in_temp(expr)?;
        }
        Ok(first as u16)
    }

    /// Evaluates an expression into a place and frees the temporaries that it took.
    pub(super) fn expression(&mut self, expr: &'p Expr, dst: Dst) -> Lowered<()> {
        let before = self.top;
        self.evaluate(expr, dst, before)?;
        self.top = before;
        Ok(())
    }

    fn evaluate(&mut self, expr: &'p Expr, dst: Dst, before: usize) -> Lowered<()> {
        let span = expr.span;
        let inst = match &expr.kind {
            ExprKind::This => Inst::This(dst),
            ExprKind::Tuple(items) => {
                fits(items.len(), 256, span, "positions in a tuple")?;
                let shape = self.lower.shape(&expr.ty, span)?;
                let mut operands = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    operands.push(self.operand_before(item, &items[at + 1..])?);
                }
                let row = self.lower.row(operands, span)?;
                Inst::Tuple(dst, row, shape)
            }
            ExprKind::Position(tuple, position) => {
                let short = |position: &u32| u8::try_from(*position).ok();
                if let ExprKind::Position(outer, first) = &tuple.kind
                    && let (Some(first), Some(second)) = (short(first), short(position))
                {
                    // The tuple in between is not copied.
                    let outer = self.operand(outer)?;
                    Inst::Inner(dst, outer, first, second)
                } else {
                    Inst::Position(dst, self.operand(tuple)?, *position as u16)
                }
            }
            ExprKind::Index(collection, key) => {
                let collection = self.operand_before(collection, std::slice::from_ref(&**key))?;
                Inst::Index(dst, collection, self.operand(key)?)
            }
            ExprKind::Unary(op, operand) => {
                let operand = match op {
                    UnaryOp::Sizeof => self.collection(operand)?,
                    _ => self.operand(operand)?,
                };
                let inst = match op {
                    UnaryOp::Negate => Inst::Negate,
                    UnaryOp::Not => Inst::Not,
                    UnaryOp::Keys => Inst::Keys,
                    UnaryOp::Values => Inst::Values,
                    UnaryOp::Sizeof => Inst::Sizeof,
                };
                inst(dst, operand)
            }
            ExprKind::Chain(_, links) if decisions(links) < links.len() => {
                return self.short_circuit(expr, dst);
            }
            ExprKind::Chain(first, links) => return self.operators(first, links, span, dst),
            ExprKind::Cast(operand) => {
                let value = self.operand(operand)?;
                if matches!(expr.ty, Type::Any) || expr.ty == operand.ty {
                    Inst::Move(dst, value)
                } else {
                    let ty = self.lower.type_index(&expr.ty, span)?;
                    Inst::Cast(dst, value, ty)
                }
            }
            ExprKind::Coerce(operand) => {
                let value = self.operand(operand)?;
                match &expr.ty {
                    Type::Float => Inst::ToFloat(dst, value),
                    Type::Int => Inst::ToInt(dst, value),
                    Type::Interface(interface) => Inst::ToInterface(dst, value, interface.0 as u16),
                    _ => Inst::Move(dst, value),
                }
            }
            ExprKind::Nondet => Inst::Nondet(dst),
            ExprKind::Choose(from) => Inst::Choose(dst, self.collection(from)?),
            ExprKind::Call(fun, arguments) => {
                let first = self.top as u16;
                for (at, argument) in arguments.iter().enumerate() {
                    match self.lower.behaviour.only_prints(*fun, arguments, at) {
                        true => self.unwritten(argument)?,
                        false => self.in_temp(argument)?,
                    };
                }
                if self.lower.program.funs[fun.index()].body.is_none() {
                    let foreign = self.lower.foreign_fun(*fun)?;
                    Inst::CallForeign(dst, foreign, first)
                } else {
                    let fun = self.lower.fun(*fun) as u16;
                    Inst::Call(dst, fun, first)
                }
            }
            ExprKind::New(interface, payload) => {
                let payload = match payload {
                    Some(payload) => self.operand(payload)?,
                    None => self.constant(Value::Null),
                };
                Inst::New(dst, interface.0 as u16, payload)
            }
            ExprKind::Format(parts) => {
                let first = self.in_sequence(parts.arguments.iter())?;
                Inst::Format(dst, self.template(parts, span)?, first)
            }
            _ => Inst::Move(dst, self.operand(expr)?),
        };
        self.span = span;
        self.top = before;
        self.emit(inst);
        Ok(())
    }

    pub(super) fn right_of(&mut self, op: BinaryOp, operand: &'p Expr) -> Lowered<Src> {
        match op {
            BinaryOp::In => self.collection(operand),
            _ => self.operand(operand),
        }
    }

    /// Operators that evaluate both operands, from left to right. One temporary holds the result of
    /// all but the last.
    pub(super) fn operators(
        &mut self,
        first: &'p Expr,
        links: &'p [(BinaryOp, Expr)],
        span: Span,
        dst: Dst,
    ) -> Lowered<()> {
        let before = self.top;
        let next = links.first().map(|(_, operand)| operand);
        let mut left = self.operand_before(first, next.map_or(&[], std::slice::from_ref))?;
        for (at, (op, operand)) in links.iter().enumerate() {
            let right = self.right_of(*op, operand)?;
            let last = at + 1 == links.len();
            let result = if last { dst } else { Dst::register(before) };
            self.span = if last { span } else { first.span.to(operand.span) };
            self.top = before;
            self.emit(operation(*op, &operand.ty, result, left, right));
            if !last {
                left = Src::new(Kind::Temp, self.temp());
            }
        }
        Ok(())
    }
}

/// The instruction of an operator other than `&&` and `||`, whose right operand has this type.
pub(super) fn operation(op: BinaryOp, ty: &Type, dst: Dst, a: Src, b: Src) -> Inst {
    let arith = |op| match ty {
        Type::Float => Inst::Float(op, dst, a, b),
        Type::String => Inst::Concat(dst, a, b),
        _ => Inst::Int(op, dst, a, b),
    };
    match op {
        BinaryOp::Mul => arith(Arith::Mul),
        BinaryOp::Div => arith(Arith::Div),
        BinaryOp::Rem => arith(Arith::Rem),
        BinaryOp::Add => arith(Arith::Add),
        BinaryOp::Sub => arith(Arith::Sub),
        _ => {
            // `&&` and `||` are lowered to jumps; the other operators are tests.
            let (test, swapped) = test_of(op, true).unwrap_or((Test::Equal, false));
            let (a, b) = if swapped { (b, a) } else { (a, b) };
            Inst::Test(test, dst, a, b)
        }
    }
}

/// Whether an expression is `null` and a cast to this type cannot fail.
fn is_null_of(expr: &Expr, ty: &Type) -> bool {
    let nullable = matches!(ty, Type::Event | Type::Machine | Type::Interface(_) | Type::Any);
    nullable && matches!(expr.kind, ExprKind::Null)
}

fn item(expr: &Expr) -> Option<Src> {
    let ExprKind::Position(tuple, position) = &expr.kind else { return None };
    let tuple = match &tuple.kind {
        ExprKind::Local(local) => Src::new(Kind::Local, local.index()),
        ExprKind::Field(field) => Src::new(Kind::Field, field.index()),
        _ => return None,
    };
    Src::item(tuple, *position)
}

/// Whether evaluating an expression can change the variables of the machine.
fn calls(expr: &Expr) -> bool {
    contains(expr, &|part| matches!(part.kind, ExprKind::Call(..)))
}

/// Whether the execution can be suspended during the evaluation of an expression.
pub(super) fn suspends(expr: &Expr) -> bool {
    contains(expr, &|part| matches!(part.kind, ExprKind::Call(..) | ExprKind::New(..)))
}

fn contains(expr: &Expr, wanted: &dyn Fn(&Expr) -> bool) -> bool {
    wanted(expr) || expr.parts().into_iter().any(|part| contains(part, wanted))
}
