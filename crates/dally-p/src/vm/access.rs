//! What instructions read: registers of a frame, variables of the machine, constants, and items of
//! tuples in variables.

use super::machine::Machine;
use super::operations::{Refused, at_position};
use super::places::too_large;
use super::tuple::Tuple;
use super::value::Value;
use crate::lower::inst::Src;

/// What an operand is, given where the registers of the frame begin; `None` if it is an item of what
/// is no tuple.
#[inline(always)]
pub(super) fn look<'v>(
    src: Src,
    regs: &'v [Value],
    consts: &'v [Value],
    base: usize,
) -> Option<&'v Value> {
    if src.is_item() {
        return at_position(&regs[src.tuple_place(base)], src.position());
    }
    let all = if src.is_const() { consts } else { regs };
    Some(&all[src.place(base)])
}

/// The same for whoever keeps it: a temporary is emptied, all else is copied.
#[inline(always)]
pub(super) fn take(src: Src, regs: &mut [Value], consts: &[Value], base: usize) -> Option<Value> {
    match src.is_temp() {
        true => Some(std::mem::take(&mut regs[src.place(base)])),
        false => look(src, regs, consts, base).cloned(),
    }
}

/// A tuple of the operands of a row.
#[inline(never)]
pub(super) fn tuple(
    machine: &mut Machine,
    consts: &[Value],
    base: usize,
    row: &[Src],
    shape: u16,
) -> Result<Value, Refused> {
    let regs = &mut machine.regs[..];
    let mut fits = true;
    let items = row.iter().map(|&src| {
        let item = take(src, regs, consts, base);
        fits &= item.is_some();
        item.unwrap_or_default()
    });
    match Tuple::new(shape.into(), items) {
        Ok(tuple) if fits => Ok(Value::Tuple(tuple)),
        Ok(_) => Err(Refused::Type),
        Err(_) => Err(Refused::Because(too_large())),
    }
}
