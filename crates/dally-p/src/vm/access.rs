//! Reading of operands.

use super::operations::{Refused, at_position};
use super::places::too_large;
use super::tuple::Tuple;
use super::value::Value;
use crate::lower::inst::{Dst, Src};

/// The value of an operand, given where the registers of the frame begin; `None` for an item of a
/// value that is no tuple.
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

/// Puts a tuple of the operands of a row into a register. Temporaries are emptied.
#[inline(never)]
pub(super) fn put_tuple(
    regs: &mut [Value],
    consts: &[Value],
    base: usize,
    row: &[Src],
    shape: u32,
    dst: Dst,
) -> Result<(), Refused> {
    let mut fits = true;
    let items = row.iter().map(|&src| {
        if src.is_temp() {
            return std::mem::take(&mut regs[src.place(base)]);
        }
        let item = look(src, regs, consts, base);
        fits &= item.is_some();
        item.unwrap_or(&Value::Null).clone()
    });
    match Tuple::new(shape, items) {
        Ok(tuple) if fits => regs[dst.place(base)].put(Value::Tuple(tuple)),
        Ok(_) => return Err(Refused::Type),
        Err(_) => return Err(Refused::Because(too_large())),
    }
    Ok(())
}

/// Empties the temporaries of a row and the register that would have got the text.
#[inline(never)]
pub(super) fn drop_row(regs: &mut [Value], base: usize, row: &[Src], dst: Dst) {
    for src in row.iter().filter(|src| src.is_temp()) {
        regs[src.place(base)].put(Value::Null);
    }
    regs[dst.place(base)].put(Value::Null);
}
