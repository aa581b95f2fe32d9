//! Messages for instructions that fail.

use dally_core::bug::Endless;
use dally_core::{Bug, Problem};

use super::execute::MAX_CALLS;
use super::machine::Machine;
use super::print::{Shown, name_of};
use super::run::{Cx, this};
use super::value::Value;
use crate::lower::code::Code;
use crate::lower::inst::Arith;
use crate::program::{EventId, Type};

#[cold]
pub(super) fn divided(op: Arith, n: i64) -> String {
    match op {
        Arith::Rem => format!("the remainder of {n} by zero is asked for"),
        _ => format!("{n} is divided by zero"),
    }
}

#[cold]
pub(super) fn misfit(code: &Code, event: EventId, payload: &Value) -> String {
    let (ty, name) = &code.payloads[event.index()];
    let carries = if *ty == Type::Null { "nothing".into() } else { format!("`{name}`") };
    let given = match payload {
        Value::Null => "nothing".into(),
        payload => format!("`{}`", Shown(code, payload)),
    };
    format!("event `{}` carries {carries}, but is given {given}", name_of(code, event))
}

/// A machine may not send an event, or not by this interface of the receiver.
#[cold]
pub(super) fn forbidden(
    cx: &Cx<'_, '_>,
    machine: &Machine,
    event: EventId,
    permission: u16,
) -> String {
    let name = name_of(cx.code, event);
    if !cx.of(machine).sends.contains(event) {
        let me = this(cx.code, machine);
        return format!("`{}` sends `{name}`, which it may not send", Shown(cx.code, &me));
    }
    let interface = &cx.code.interfaces[usize::from(permission)].name;
    format!("`{name}` is sent to a machine known as `{interface}`, which does not receive it")
}

#[cold]
pub(super) fn broken(code: &Code, message: &Value) -> String {
    match message {
        Value::Null => "Assertion Failed".to_owned(),
        text => Shown(code, text).to_string(),
    }
}

/// A value has the wrong type: the checker has missed it, or a foreign function answered it. That is
/// reported as a bug, without a panic.
#[cold]
pub(super) fn ill_typed(cx: &Cx<'_, '_>, machine: &Machine, pc: usize) -> Bug {
    let inst = cx.code.insts[pc - 1];
    let message = format!("a value is not of the type that it was checked for ({inst:?})");
    cx.bug(machine, cx.code.spans[pc - 1], message)
}

#[cold]
pub(super) fn too_deep(cx: &Cx<'_, '_>, machine: &Machine, pc: usize, name: &str) -> Bug {
    let bug = cx.bug(machine, cx.code.spans[pc - 1], "");
    let endless = Endless::Calls { function: name.to_owned(), depth: MAX_CALLS };
    Bug { problem: Box::new(Problem::EndlessStep(endless)), ..bug }
}
