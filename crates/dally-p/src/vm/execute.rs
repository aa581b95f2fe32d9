//! The instructions of one machine, until it waits or its outermost function is left.

use std::fmt::Write;

use dally_core::{Bug, BugKind, Event, Stop, Text};

use super::casts::{fits, to_int};
use super::machine::{Frame, Machine, Phase};
use super::places::{Change, Trouble, change, index, too_large};
use super::print::{Carried, Shown, name_of};
use super::run::{Cx, this};
use super::tuple::Tuple;
use super::value::{MAX_TEXT, Value};
use crate::lower::code::{Code, FormatCode};
use crate::lower::inst::{Arith, Inst, Kind, Test};
use crate::program::{EventId, Type};

/// Why execution stops.
pub(crate) enum Exit {
    /// The machine waits; its phase says for what.
    Waits,
    /// The outermost function has returned.
    Returned,
    Raised(EventId, Value),
    Goto(u16, Value),
}

/// More calls inside each other than this are a recursion without end.
const MAX_CALLS: usize = 10_000;

/// A choice has at most this many values.
const MAX_CHOICES: usize = 10_000;

/// Runs the innermost frame of a machine and those around it.
pub(crate) fn execute(cx: &mut Cx<'_, '_>, machine: &mut Machine) -> Result<Exit, Stop> {
    let code = cx.code;
    let (insts, consts) = (&code.insts[..], &code.consts[..]);
    let Some(frame) = machine.frames.last() else { return Ok(Exit::Returned) };
    let (mut pc, mut base) = (frame.pc as usize, frame.base as usize);

    macro_rules! get {
        ($src:expr) => {
            match $src.kind() {
                Kind::Local | Kind::Temp => &machine.regs[base + $src.index()],
                Kind::Field => &machine.regs[$src.index()],
                Kind::Const => &consts[$src.index()],
            }
        };
    }
    macro_rules! take {
        ($src:expr) => {
            match $src.kind() {
                Kind::Temp => std::mem::take(&mut machine.regs[base + $src.index()]),
                _ => get!($src).clone(),
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
    macro_rules! wrong_type {
        () => {
            return Err(ill_typed(cx, machine, pc).into())
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
    macro_rules! float {
        ($src:expr) => {
            match get!($src) {
                Value::Float(x) => *x,
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
    // Empties the variables that are of no use any more.
    macro_rules! forget {
        () => {
            for &dead in code.dead_at(pc - 1) {
                machine.regs[base + usize::from(dead)].put(Value::Null);
            }
        };
    }
    macro_rules! wait {
        ($phase:expr) => {{
            machine.phase = $phase;
            forget!();
            machine.live = (base + usize::from(code.heights[pc - 1])) as u32;
            if let Some(frame) = machine.frames.last_mut() {
                frame.pc = pc as u32;
            }
            return Ok(Exit::Waits);
        }};
    }
    macro_rules! change {
        ($what:expr, $root:expr, $path:expr, $first:expr) => {{
            let root = $root.place(base);
            let (below, keys) = machine.regs.split_at_mut(base + usize::from($first));
            let path = &code.paths[usize::from($path)];
            if let Err(trouble) = change(&mut below[root], path, keys, 0, $what) {
                let first = base + usize::from($first);
                let what = trouble.in_words(code, &machine.regs[first..]);
                fail!("{what}");
            }
        }};
    }

    loop {
        let inst = insts[pc];
        pc += 1;
        match inst {
            Inst::Mark(block) => cx.coverage.reach(block),
            Inst::Move(dst, src) => set!(dst, take!(src)),
            Inst::Load(dst, at) => set!(dst, consts[at as usize].clone()),
            Inst::Int(op, dst, a, b) => {
                let (a, b) = (int!(a), int!(b));
                let result = match op {
                    Arith::Add => a.wrapping_add(b),
                    Arith::Sub => a.wrapping_sub(b),
                    Arith::Mul => a.wrapping_mul(b),
                    Arith::Div if b != 0 => a.wrapping_div(b),
                    Arith::Rem if b != 0 => a.wrapping_rem(b),
                    Arith::Div => fail!("{a} is divided by zero"),
                    Arith::Rem => fail!("the remainder of {a} by zero is asked for"),
                };
                set!(dst, Value::Int(result));
            }
            Inst::Float(op, dst, a, b) => {
                let (a, b) = (float!(a), float!(b));
                set!(
                    dst,
                    Value::Float(match op {
                        Arith::Add => a + b,
                        Arith::Sub => a - b,
                        Arith::Mul => a * b,
                        Arith::Div => a / b,
                        Arith::Rem => a % b,
                    })
                );
            }
            Inst::Concat(dst, a, b) => {
                let text = match (get!(a), get!(b)) {
                    (Value::Str(a), Value::Str(b)) => [a.as_str(), b.as_str()].concat(),
                    _ => wrong_type!(),
                };
                match short(text) {
                    Some(text) => set!(dst, text),
                    None => fail!("{}", too_large()),
                }
            }
            Inst::Negate(dst, src) => {
                let negated = match get!(src) {
                    Value::Int(n) => Value::Int(n.wrapping_neg()),
                    Value::Float(x) => Value::Float(-x),
                    _ => wrong_type!(),
                };
                set!(dst, negated);
            }
            Inst::Not(dst, src) => set!(dst, Value::Bool(!bool!(src))),
            Inst::Less(dst, a, b) => match less(get!(a), get!(b), false) {
                Some(less) => set!(dst, Value::Bool(less)),
                None => wrong_type!(),
            },
            Inst::LessEqual(dst, a, b) => match less(get!(a), get!(b), true) {
                Some(less) => set!(dst, Value::Bool(less)),
                None => wrong_type!(),
            },
            Inst::Equal(dst, a, b) => {
                let equal = equal(get!(a), get!(b));
                set!(dst, Value::Bool(equal));
            }
            Inst::NotEqual(dst, a, b) => {
                let equal = equal(get!(a), get!(b));
                set!(dst, Value::Bool(!equal));
            }
            Inst::In(dst, value, collection) => {
                let value = get!(value);
                let found = match get!(collection) {
                    Value::Set(set) => set.contains(value),
                    Value::Map(map) => map.get(value).is_some(),
                    Value::Seq(seq) => seq.iter().any(|item| item.equals(value)),
                    _ => wrong_type!(),
                };
                set!(dst, Value::Bool(found));
            }
            Inst::Jump(to) => pc = to as usize,
            Inst::Loop(to) => {
                cx.env.turn()?;
                pc = to as usize;
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
                let (a, b) = (get!(a), get!(b));
                let holds = match test {
                    Test::Equal => equal(a, b),
                    Test::NotEqual => !equal(a, b),
                    Test::Less | Test::LessEqual => match less(a, b, test == Test::LessEqual) {
                        Some(less) => less,
                        None => wrong_type!(),
                    },
                    Test::NotLess | Test::NotLessEqual => {
                        match less(a, b, test == Test::NotLessEqual) {
                            Some(less) => !less,
                            None => wrong_type!(),
                        }
                    }
                };
                if !holds {
                    pc += usize::from(by);
                }
            }
            Inst::Tuple(count, dst, first, shape) => {
                let first = base + usize::from(first);
                let items = machine.regs[first..first + usize::from(count)].iter_mut();
                match Tuple::new(shape.into(), items.map(std::mem::take)) {
                    Ok(tuple) => set!(dst, Value::Tuple(tuple)),
                    Err(_) => fail!("{}", too_large()),
                }
            }
            Inst::Position(dst, tuple, position) => {
                let Some(item) = at_position(get!(tuple), position) else { wrong_type!() };
                set!(dst, item.clone());
            }
            Inst::Inner(dst, tuple, first, second) => {
                let inner = at_position(get!(tuple), first.into());
                let Some(item) = inner.and_then(|inner| at_position(inner, second.into())) else {
                    wrong_type!()
                };
                set!(dst, item.clone());
            }
            Inst::Index(dst, collection, key) => {
                let (collection, key) = (get!(collection), get!(key));
                let found = match collection {
                    Value::Seq(seq) => index(key, seq.len()).map(|at| &seq[at]),
                    Value::Set(set) => index(key, set.len()).map(|at| &set.items()[at]),
                    Value::Map(map) => map.get(key).ok_or(Trouble::NoKey(0)),
                    _ => Err(Trouble::Type),
                };
                match found {
                    Ok(found) => {
                        let found = found.clone();
                        set!(dst, found);
                    }
                    Err(trouble) => {
                        let key = key.clone();
                        let what = trouble.in_words(code, &[key]);
                        fail!("{what}");
                    }
                }
            }
            Inst::Keys(dst, map) => {
                let keys = match get!(map) {
                    Value::Map(map) => Value::seq(map.keys().iter().cloned()),
                    _ => wrong_type!(),
                };
                set!(dst, keys);
            }
            Inst::Values(dst, map) => {
                let values = match get!(map) {
                    Value::Map(map) => Value::seq(map.values().iter().cloned()),
                    _ => wrong_type!(),
                };
                set!(dst, values);
            }
            Inst::Sizeof(dst, collection) => match size(get!(collection)) {
                Some(size) => set!(dst, Value::Int(size as i64)),
                None => wrong_type!(),
            },
            Inst::Cast(dst, src, ty) => {
                let (ty, name) = &code.types[usize::from(ty)];
                if !fits(code, get!(src), ty) {
                    let value = get!(src).clone();
                    fail!("`{}` is cast to `{name}`, which it is not", Shown(code, &value));
                }
                set!(dst, take!(src));
            }
            Inst::ToInt(dst, src) => match to_int(get!(src)) {
                Some(n) => set!(dst, Value::Int(n)),
                None => wrong_type!(),
            },
            Inst::ToFloat(dst, src) => {
                let x = match get!(src) {
                    Value::Int(n) => *n as f64,
                    Value::Float(x) => *x,
                    _ => wrong_type!(),
                };
                set!(dst, Value::Float(x));
            }
            Inst::ToInterface(dst, src, interface) => {
                let value = match get!(src) {
                    Value::Machine(kind, _, id) => Value::Machine(*kind, interface, *id),
                    Value::Null => Value::Null,
                    _ => wrong_type!(),
                };
                set!(dst, value);
            }
            Inst::This(dst) => set!(dst, this(code, machine)),
            Inst::Nondet(dst) => {
                let value = cx.env.value(2)? == 1;
                set!(dst, Value::Bool(value));
            }
            Inst::Choose(dst, from) => {
                let of = match get!(from) {
                    Value::Int(n) if *n < 0 => {
                        let n = *n;
                        fail!("choose({n}): there is no number from 0 to below {n}")
                    }
                    Value::Int(n) => usize::try_from(*n).unwrap_or(usize::MAX),
                    collection => match size(collection) {
                        Some(0) => fail!("choose from an empty collection"),
                        Some(size) => size,
                        None => wrong_type!(),
                    },
                };
                if of > MAX_CHOICES {
                    fail!("choose among {of} values: there may be {MAX_CHOICES}");
                }
                let at = if of == 0 { 0 } else { cx.env.value(of as u32)? as usize };
                let chosen = match get!(from) {
                    Value::Seq(seq) => seq[at].clone(),
                    Value::Set(set) => set.items()[at].clone(),
                    Value::Map(map) => map.keys()[at].clone(),
                    _ => Value::Int(at as i64),
                };
                set!(dst, chosen);
            }
            Inst::Next(first, over) => {
                let first = base + usize::from(first);
                let Value::Int(at) = machine.regs[first + 1] else { wrong_type!() };
                let items = match &machine.regs[first] {
                    Value::Seq(seq) => &***seq,
                    Value::Set(set) => set.items(),
                    Value::Map(map) => map.keys(),
                    _ => wrong_type!(),
                };
                match items.get(at as usize) {
                    Some(item) => {
                        let item = item.clone();
                        machine.regs[first + 2].put(item);
                        machine.regs[first + 1].put(Value::Int(at + 1));
                    }
                    None => {
                        machine.regs[first] = Value::Null;
                        pc = over as usize;
                    }
                }
            }
            Inst::Call(dst, fun, first) => {
                cx.env.turn()?;
                let callee = &code.funs[usize::from(fun)];
                if machine.frames.len() >= MAX_CALLS {
                    return Err(too_deep(cx, machine, pc, &callee.name).into());
                }
                if let Some(frame) = machine.frames.last_mut() {
                    frame.pc = pc as u32;
                }
                forget!();
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
                let foreign = &code.foreign[usize::from(fun)];
                let first = base + usize::from(first);
                let values = &machine.regs[first..first + usize::from(foreign.params)];
                let answer = dally_core::panics::catch(|| (foreign.fun)(values))?;
                match answer {
                    Ok(value) => {
                        let fitting = match &foreign.returns {
                            Some(ty) => fits(code, &value, ty),
                            None => true,
                        };
                        if !fitting {
                            let (name, value) = (&foreign.name, Shown(code, &value));
                            fail!("foreign function `{name}` returns `{value}`, of another type");
                        }
                        set!(dst, value);
                    }
                    Err(message) => fail!("foreign function `{}`: {message}", foreign.name),
                }
            }
            Inst::Return(_) | Inst::ReturnNothing => {
                let value = match inst {
                    Inst::Return(src) => take!(src),
                    _ => Value::Null,
                };
                let Some(callee) = machine.frames.pop() else { return Ok(Exit::Returned) };
                let left = &code.funs[usize::from(callee.fun)];
                // What its variables hold must not seem shared when it is changed elsewhere.
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
                wait!(Phase::Creating(linked, dst));
            }
            Inst::Carry(event, payload) => {
                // A null event is the business of what follows.
                if let Value::Event(event) = *get!(event)
                    && event != EventId::NULL
                    && !fits(code, get!(payload), &code.payloads[event.index()].0)
                {
                    let what = misfit(code, event, get!(payload));
                    fail!("{what}");
                }
            }
            Inst::Send(to, event, payload) => {
                let (event, (permission, to)) = match (get!(event), get!(to)) {
                    (Value::Event(event), Value::Machine(_, permission, id)) => {
                        (*event, (*permission, *id))
                    }
                    (Value::Null, _) => fail!("a null event is sent"),
                    (_, Value::Null) => fail!("an event is sent to null"),
                    _ => wrong_type!(),
                };
                if event == EventId::NULL {
                    fail!("a null event is sent");
                }
                if event != EventId::HALT {
                    if !cx.of(machine).sends.contains(event) {
                        let me = this(code, machine);
                        let name = name_of(code, event);
                        fail!("`{}` sends `{name}`, which it may not send", Shown(code, &me));
                    }
                    let interface = &code.interfaces[usize::from(permission)];
                    if !interface.receives.contains(event) {
                        let name = name_of(code, event);
                        fail!(
                            "`{name}` is sent to a machine known as `{}`, which does not receive it",
                            interface.name
                        );
                    }
                }
                let payload = take!(payload);
                cx.tell_specs(machine.interface, event, &payload)?;
                (machine.to, machine.event) = (to, event);
                machine.parcel.put(payload);
                wait!(Phase::Sending);
            }
            Inst::Announce(event, payload) => {
                let event = match get!(event) {
                    Value::Event(EventId::NULL) | Value::Null => fail!("a null event is announced"),
                    Value::Event(event) => *event,
                    _ => wrong_type!(),
                };
                let payload = take!(payload);
                let carried = Carried(code, event, &payload);
                cx.env.tell(|| Event::Announced { payload: Text::Display(&carried) })?;
                cx.tell_specs(machine.interface, event, &payload)?;
            }
            Inst::Raise(event, payload) => {
                let event = match get!(event) {
                    Value::Event(EventId::NULL) | Value::Null => fail!("a null event is raised"),
                    Value::Event(event) => *event,
                    _ => wrong_type!(),
                };
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
                    Some(at) => wait!(Phase::Receiving(receive, at as u32)),
                    None => {
                        cx.env.tell(|| Event::Blocked { on: Text::Str("receive") })?;
                        wait!(Phase::Waiting(receive))
                    }
                }
            }
            Inst::Fail(message) => {
                let place = code.sources.location(code.spans[pc - 1]);
                let message = match get!(message) {
                    Value::Null => format!("Assertion Failed: {place}"),
                    text => format!("Assertion Failed: {place} {}", Shown(code, text)),
                };
                fail!("{message}");
            }
            Inst::Print(text) => {
                let shown = Shown(code, get!(text));
                cx.env.tell(|| Event::Noted { text: Text::Display(&shown) })?;
            }
            Inst::Format(dst, format, first) => {
                let FormatCode { pieces, rest } = &code.formats[usize::from(format)];
                let first = base + usize::from(first);
                let mut text = String::new();
                for (piece, argument) in pieces {
                    // Writing to a text cannot fail.
                    let value = &machine.regs[first + argument];
                    let _ = write!(text, "{piece}{}", Shown(code, value));
                    if text.len() > MAX_TEXT {
                        fail!("{}", too_large());
                    }
                }
                text.push_str(rest);
                match short(text) {
                    Some(text) => set!(dst, text),
                    None => fail!("{}", too_large()),
                }
            }
            Inst::Store(root, path, first) => change!(Change::Store, root, path, first),
            Inst::Insert(root, path, first) => change!(Change::Insert, root, path, first),
            Inst::Add(root, path, first) => change!(Change::Add, root, path, first),
            Inst::Remove(root, path, first) => change!(Change::Remove, root, path, first),
        }
    }
}

#[inline(always)]
fn at_position(tuple: &Value, position: u16) -> Option<&Value> {
    match tuple {
        Value::Tuple(tuple) => tuple.items().get(usize::from(position)),
        _ => None,
    }
}

#[inline]
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a == b,
        _ => a.equals(b),
    }
}

#[inline]
fn less(a: &Value, b: &Value, or_equal: bool) -> Option<bool> {
    Some(match (a, b) {
        (Value::Int(a), Value::Int(b)) => a < b || or_equal && a == b,
        (Value::Float(a), Value::Float(b)) => a < b || or_equal && a == b,
        (Value::Str(a), Value::Str(b)) => {
            a.as_str() < b.as_str() || or_equal && a.as_str() == b.as_str()
        }
        _ => return None,
    })
}

fn size(collection: &Value) -> Option<usize> {
    Some(match collection {
        Value::Seq(seq) => seq.len(),
        Value::Set(set) => set.len(),
        Value::Map(map) => map.len(),
        _ => return None,
    })
}

/// A text that is not too long.
fn short(text: String) -> Option<Value> {
    let value = Value::text(text);
    value.is_small().then_some(value)
}

/// What an event is given is not what it carries.
#[cold]
fn misfit(code: &Code, event: EventId, payload: &Value) -> String {
    let (ty, name) = &code.payloads[event.index()];
    let carries = if *ty == Type::Null { "nothing".into() } else { format!("`{name}`") };
    let given = match payload {
        Value::Null => "nothing".into(),
        payload => format!("`{}`", Shown(code, payload)),
    };
    format!("event `{}` carries {carries}, but is given {given}", name_of(code, event))
}

/// The checker let something pass that it should not have, or a foreign function lied: that is a
/// bug to be reported, not a reason to panic.
#[cold]
fn ill_typed(cx: &Cx<'_, '_>, machine: &Machine, pc: usize) -> Bug {
    let inst = cx.code.insts[pc - 1];
    let message = format!("a value is not of the type that it was checked for ({inst:?})");
    cx.bug(machine, cx.code.spans[pc - 1], message)
}

#[cold]
fn too_deep(cx: &Cx<'_, '_>, machine: &Machine, pc: usize, name: &str) -> Bug {
    let message =
        format!("function `{name}` is called {MAX_CALLS} deep: a recursion that does not end");
    let bug = cx.bug(machine, cx.code.spans[pc - 1], message);
    Bug { kind: BugKind::EndlessStep, ..bug }
}
