//! The instructions of one machine, until it waits or its outermost function is left.
//!
//! Frequent operations are written out in the loop. Rare ones are calls, because code in the loop
//! costs the others processor registers.

use dally_concolic::recorder;
use dally_core::{Env, Event, Stop, Tag, Text};

use super::access::{drop_row, look, put_tuple};
use super::blame::{broken, divided, forbidden, misfit, too_deep};
use super::casts::{conformed, fits, to_int};
use super::followed;
use super::machine::{Frame, Machine, Phase};
use super::operations::{
    Refused, arith, at_position, call_foreign, choose, concat, element, elements, float, formatted,
    holds, keys, negate, size, to_float, to_interface, values,
};
use super::places::{Trouble, change};
use super::print::{Carried, Printed, Shown, UNWRITTEN};
use super::run::{Cx, this};
use super::value::Value;
use crate::lower::inst::Inst;
use crate::program::EventId;

pub(crate) enum Exit {
    /// The machine waits; its phase says for what.
    Waits,
    Returned,
    Raised(EventId, Value),
    Goto(u16, Value),
}

/// The greatest depth of calls; deeper ones are an endless recursion.
pub(super) const MAX_CALLS: usize = 10_000;

/// Runs the innermost frame of a machine, and then its callers.
pub(crate) fn execute(cx: &mut Cx<'_, '_>, machine: &mut Machine) -> Result<Exit, Stop> {
    let code = cx.code;
    let (insts, consts) = (&code.insts[..], &code.consts[..]);
    let Some(frame) = machine.frames.last() else { return Ok(Exit::Returned) };
    let (mut pc, mut base) = (frame.pc as usize, frame.base as usize);

    macro_rules! wrong_type {
        () => {{
            // A value that is followed is of no type that is expected here.
            pc = followed::resume(cx, machine, pc, base)?;
            continue;
        }};
    }
    macro_rules! get {
        ($src:expr) => {
            match look($src, &machine.regs, consts, base) {
                Some(value) => value,
                None => wrong_type!(),
            }
        };
    }
    // An operand to keep: a temporary is moved out, anything else is copied. The value is never in an
    // option, which would be written in pieces and read as a whole: see `copy.rs`.
    macro_rules! take {
        ($src:expr) => {
            match $src.is_temp() {
                true => std::mem::take(&mut machine.regs[$src.place(base)]),
                false => get!($src).clone(),
            }
        };
    }
    macro_rules! set {
        ($dst:expr, $value:expr) => {{
            let value = $value;
            machine.regs[$dst.place(base)].put(value)
        }};
    }
    macro_rules! fail {
        ($($message:tt)*) => {
            return Err(cx.bug(machine, code.spans[pc - 1], format!($($message)*)).into())
        };
    }
    macro_rules! done {
        ($result:expr) => {
            match $result {
                Ok(value) => value,
                Err(Refused::Type) => wrong_type!(),
                Err(Refused::Because(what)) => fail!("{what}"),
                Err(Refused::Stop(stop)) => return Err(stop),
            }
        };
    }
    // A result that is `None` if the operands have the wrong types.
    macro_rules! typed {
        ($result:expr) => {
            match $result {
                Some(value) => value,
                None => wrong_type!(),
            }
        };
    }
    macro_rules! event {
        ($src:expr, $fate:literal) => {
            match get!($src) {
                Value::Event(EventId::NULL) | Value::Null => fail!("a null event is {}", $fate),
                Value::Event(event) => *event,
                _ => wrong_type!(),
            }
        };
    }
    macro_rules! int {
        ($src:expr) => {
            match get!($src) {
                Value::Int(n) => *n,
                _ => wrong_type!(),
            }
        };
    }
    macro_rules! bool {
        ($src:expr) => {
            match get!($src) {
                Value::Bool(b) => *b,
                _ => wrong_type!(),
            }
        };
    }
    let phase = loop {
        let inst = insts[pc];
        pc += 1;
        match inst {
            Inst::Mark(block) => cx.coverage.reach(block),
            Inst::Move(dst, src) if src.is_temp() => {
                let value = std::mem::take(&mut machine.regs[src.place(base)]);
                set!(dst, value);
            }
            Inst::Move(dst, src) => set!(dst, get!(src).clone()),
            Inst::Load(dst, at) => set!(dst, consts[at as usize].clone()),
            Inst::Int(op, dst, a, b) => {
                let (a, b) = (int!(a), int!(b));
                match arith(op, a, b) {
                    Some(result) => set!(dst, Value::Int(result)),
                    None => fail!("{}", divided(op, a)),
                }
            }
            Inst::Float(op, dst, a, b) => set!(dst, done!(float(op, get!(a), get!(b)))),
            Inst::Concat(dst, a, b) => set!(dst, done!(concat(get!(a), get!(b)))),
            Inst::Negate(dst, src) => set!(dst, done!(negate(get!(src)))),
            Inst::Not(dst, src) => set!(dst, Value::Bool(!bool!(src))),
            Inst::Test(test, dst, a, b) => {
                set!(dst, Value::Bool(typed!(holds(test, get!(a), get!(b)))));
            }
            Inst::Jump(to) => pc = to as usize,
            Inst::Loop(to) => {
                pc = to as usize;
                if cx.env.turn()? {
                    cx.look_back(machine, pc)?;
                }
            }
            Inst::JumpIf(src, to) => {
                if bool!(src) {
                    pc = to as usize;
                }
            }
            Inst::JumpUnless(src, to) => {
                if !bool!(src) {
                    pc = to as usize;
                }
            }
            Inst::Unless(test, a, b, by) => {
                if !typed!(holds(test, get!(a), get!(b))) {
                    pc += usize::from(by);
                }
            }
            Inst::Tuple(dst, row, shape) => {
                let row = &code.rows[usize::from(row)];
                done!(put_tuple(&mut machine.regs, consts, base, row, shape.into(), dst));
            }
            Inst::Position(dst, tuple, position) => {
                set!(dst, typed!(at_position(get!(tuple), position)).clone());
            }
            Inst::Inner(dst, tuple, first, second) => {
                let inner = at_position(get!(tuple), first.into());
                let item = typed!(inner.and_then(|inner| at_position(inner, second.into())));
                set!(dst, item.clone());
            }
            Inst::Index(dst, collection, key) => {
                let (collection, key) = (get!(collection), get!(key));
                match element(collection, key) {
                    Ok(found) => set!(dst, found.clone()),
                    Err(Trouble::Type) => wrong_type!(),
                    Err(trouble) => {
                        let what = trouble.in_words(code, std::slice::from_ref(key));
                        fail!("{what}");
                    }
                }
            }
            Inst::Keys(dst, map) => set!(dst, done!(keys(get!(map)))),
            Inst::Values(dst, map) => set!(dst, done!(values(get!(map)))),
            Inst::Sizeof(dst, collection) => {
                set!(dst, Value::Int(typed!(size(get!(collection))) as i64));
            }
            Inst::Cast(dst, src, ty) => {
                let (ty, name) = &code.types[usize::from(ty)];
                if fits(code, get!(src), ty) {
                    set!(dst, take!(src));
                } else if let Some(value) = conformed(code, get!(src), ty) {
                    set!(dst, value);
                } else {
                    let value = get!(src).clone();
                    fail!("`{}` is cast to `{name}`, which it is not", Shown(code, &value));
                }
            }
            Inst::ToInt(dst, src) => set!(dst, Value::Int(typed!(to_int(get!(src))))),
            Inst::ToFloat(dst, src) => set!(dst, done!(to_float(get!(src)))),
            Inst::ToInterface(dst, src, interface) => {
                set!(dst, done!(to_interface(get!(src), interface)));
            }
            Inst::This(dst) => set!(dst, this(code, machine)),
            Inst::Nondet(dst) => {
                cx.chooses(machine, pc)?;
                let value = match recorder::is_present() {
                    false => Value::Bool(cx.env.value(2, Tag::Program)? == 1),
                    true => followed::flip(code, code.spans[pc - 1], cx.env)?,
                };
                let is_true = matches!(value, Value::Bool(true) | Value::Followed(_, _, 1));
                cx.env.tell(|| Event::Chosen {
                    value: Text::Str(if is_true { "true" } else { "false" }),
                })?;
                set!(dst, value);
            }
            Inst::Choose(dst, from) => {
                cx.chooses(machine, pc)?;
                set!(dst, done!(choose(code, cx.env, code.spans[pc - 1], get!(from))));
            }
            Inst::Next(dst, first, by) => {
                let first = base + usize::from(first);
                let Value::Int(at) = machine.regs[first + 1] else { wrong_type!() };
                match typed!(elements(&machine.regs[first])).get(at as usize) {
                    Some(item) => {
                        set!(dst, item.clone());
                        machine.regs[first + 1].put(Value::Int(at + 1));
                    }
                    None => {
                        machine.regs[first].put(Value::Null);
                        pc += usize::from(by);
                    }
                }
            }
            Inst::Call(dst, fun, first) => {
                if cx.env.turn()? {
                    cx.look_back(machine, pc)?;
                }
                let callee = &code.funs[usize::from(fun)];
                if machine.frames.len() >= MAX_CALLS {
                    return Err(too_deep(cx, machine, pc, &callee.name).into());
                }
                if let Some(frame) = machine.frames.last_mut() {
                    frame.pc = pc as u32;
                }
                machine.forget(base, code.dead_at(pc - 1));
                base += usize::from(first);
                machine.make_room(base + usize::from(callee.size));
                let locals = base + usize::from(callee.params);
                for (local, default) in machine.regs[locals..].iter_mut().zip(&callee.defaults) {
                    local.put(default.clone());
                }
                pc = callee.entry as usize;
                machine.frames.push(Frame { pc: callee.entry, base: base as u32, fun, dst });
            }
            Inst::CallForeign(dst, fun, first) => {
                cx.past.forget();
                let foreign = &code.foreign[usize::from(fun)];
                let first = base + usize::from(first);
                let values = &machine.regs[first..first + usize::from(foreign.params)];
                set!(dst, done!(call_foreign(code, code.spans[pc - 1], foreign, values)));
            }
            Inst::Return(_) | Inst::ReturnNothing => {
                let value = match inst {
                    Inst::Return(src) => take!(src),
                    _ => Value::Null,
                };
                let Some(callee) = machine.frames.pop() else { return Ok(Exit::Returned) };
                let left = &code.funs[usize::from(callee.fun)];
                // References in dead registers would make values seem shared and force copies.
                let Some(&caller) = machine.frames.last() else {
                    machine.empty(base..base + usize::from(left.size));
                    return Ok(Exit::Returned);
                };
                machine.empty(base..base + usize::from(left.locals));
                (pc, base) = (caller.pc as usize, caller.base as usize);
                set!(callee.dst, value);
            }
            Inst::New(dst, interface, payload) => {
                let links = &code.interfaces[usize::from(machine.interface)].links;
                let Some(linked) = links[usize::from(interface)] else {
                    let wanted = &code.interfaces[usize::from(interface)].name;
                    fail!("`{}` may not create `{wanted}`", Shown(code, &this(code, machine)));
                };
                let payload = take!(payload);
                machine.parcel.put(payload);
                break Phase::Creating(linked, dst);
            }
            Inst::Carry(event, payload) => {
                // The next instruction reports a null event.
                if let Value::Event(event) = *get!(event)
                    && event != EventId::NULL
                    && !fits(code, get!(payload), &code.payloads[event.index()].0)
                {
                    match conformed(code, get!(payload), &code.payloads[event.index()].0) {
                        Some(value) => machine.regs[payload.place(base)].put(value),
                        None => {
                            let what = misfit(code, event, get!(payload));
                            fail!("{what}");
                        }
                    }
                }
            }
            Inst::Send(to, event, payload) => {
                let event = event!(event, "sent");
                let (permission, to) = match get!(to) {
                    Value::Machine(_, permission, id) => (*permission, *id),
                    Value::Null => fail!("an event is sent to null"),
                    _ => wrong_type!(),
                };
                if event != EventId::HALT
                    && !(cx.of(machine).sends.contains(event)
                        && code.interfaces[usize::from(permission)].receives.contains(event))
                {
                    fail!("{}", forbidden(cx, machine, event, permission));
                }
                let payload = take!(payload);
                cx.tell_specs(machine, event, &payload, Some(to))?;
                (machine.to, machine.event) = (to, event);
                machine.parcel.put(payload);
                break Phase::Sending;
            }
            Inst::Announce(event, payload) => {
                let event = event!(event, "announced");
                let payload = take!(payload);
                let carried = Carried(code, event, &payload);
                cx.env.tell(|| Event::Announced { payload: Text::Data(&carried) })?;
                cx.tell_specs(machine, event, &payload, None)?;
                if event == code.directives.seal {
                    machine.seals = machine.seals.saturating_add(1);
                } else if event == code.directives.unseal {
                    let Some(left) = machine.seals.checked_sub(1) else {
                        fail!("`dally_unseal` is announced by a machine that holds no seal");
                    };
                    machine.seals = left;
                } else if event == code.directives.hint {
                    let words = Shown(code, &payload);
                    cx.env.tell(|| Event::Hinted { hint: Text::Display(&words) })?;
                } else if event == code.directives.observe || event == code.directives.observe_only
                {
                    machine.shown = payload.identity();
                    machine.shows_queue = event == code.directives.observe;
                } else if event == code.directives.rare {
                    cx.rare = true;
                }
            }
            Inst::Raise(event, payload) => {
                let event = event!(event, "raised");
                let payload = take!(payload);
                cx.tell_raised(event, &payload)?;
                return Ok(Exit::Raised(event, payload));
            }
            Inst::Goto(state, payload) => return Ok(Exit::Goto(state, take!(payload))),
            Inst::Receive(receive) => {
                let wanted = &code.receives[usize::from(receive)];
                let takes =
                    |event: EventId| event == EventId::HALT || wanted.cases[event.index()] != 0;
                match machine.inbox.iter().position(|envelope| takes(envelope.event)) {
                    Some(at) => break Phase::Receiving(receive, at as u32),
                    None => {
                        cx.env.tell(|| Event::Blocked { on: Text::Str("receive") })?;
                        break Phase::Waiting(receive);
                    }
                }
            }
            Inst::Fail(message) => {
                let message = broken(code, get!(message));
                fail!("{message}");
            }
            Inst::Print(text) => {
                let text = Printed(code, get!(text));
                cx.env.tell(|| Event::Noted { text: Text::Display(&text) })?;
            }
            Inst::Format(dst, format, first) => {
                let first = base + usize::from(first);
                let format = &code.formats[usize::from(format)];
                set!(
                    dst,
                    done!(formatted(code, code.spans[pc - 1], format, &machine.regs[first..]))
                );
            }
            Inst::Unwritten(dst, format, row) => {
                let row = &code.rows[usize::from(row)];
                let shape = UNWRITTEN + u32::from(format);
                match cx.env.is_heard() {
                    false => drop_row(&mut machine.regs, base, row, dst),
                    true => match put_tuple(&mut machine.regs, consts, base, row, shape, dst) {
                        // Whether anybody hears it must make no difference.
                        Err(Refused::Because(_)) => set!(dst, Value::text("(too long to print)")),
                        made => done!(made),
                    },
                }
            }
            Inst::Change(what, root, path, first) => {
                let root = root.place(base);
                let first = base + usize::from(first);
                let (below, keys) = machine.regs.split_at_mut(first);
                let path = &code.paths[usize::from(path)];
                let changed = match recorder::is_present() {
                    false => change(&mut below[root], path, keys, 0, what),
                    true => {
                        let span = code.spans[pc - 1];
                        followed::changed(code, span, &mut below[root], path, keys, what)
                    }
                };
                if let Err(trouble) = changed {
                    let what = trouble.in_words(code, &machine.regs[first..]);
                    fail!("{what}");
                }
            }
        }
    };
    machine.phase = phase;
    machine.forget(base, code.dead_at(pc - 1));
    machine.live = (base + usize::from(code.heights[pc - 1])) as u32;
    if let Some(frame) = machine.frames.last_mut() {
        frame.pc = pc as u32;
    }
    Ok(Exit::Waits)
}
