use dally_concolic::recorder;
use dally_core::{Cut, Env, Event, EventSink, Stop, Tag, Text as EventText};

use super::casts::fits;
use super::followed;
use super::head::MAX_TEXT;
use super::places::{Trouble, index, too_large};
use super::print::{Bounded, ForReader, Shown, write_template};
use super::value::Value;
use crate::lower::code::{Code, ForeignCode};
use crate::lower::inst::{Arith, Test};
use crate::program::{Template, Type};
use crate::source::Span;

pub(super) enum Refused {
    /// An operand has the wrong type.
    Type,
    /// The program has a bug; the message is for people.
    Because(String),
    Stop(Stop),
}

impl From<Cut> for Refused {
    fn from(cut: Cut) -> Refused {
        Refused::Stop(cut.into())
    }
}

impl From<Stop> for Refused {
    fn from(stop: Stop) -> Refused {
        Refused::Stop(stop)
    }
}

type Done = Result<Value, Refused>;

/// The reference implementation refuses more than 10,000, which it would try one by one. Here they may
/// be followed (`--search concolic`).
const MAX_CHOICES: usize = u32::MAX as usize;

#[inline(always)]
pub(super) fn at_position(tuple: &Value, position: u16) -> Option<&Value> {
    match tuple {
        Value::Tuple(tuple) => tuple.items().get(usize::from(position)),
        _ => None,
    }
}

/// `None` for a division by zero.
#[inline(always)]
pub(super) fn arith(op: Arith, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        Arith::Add => a.wrapping_add(b),
        Arith::Sub => a.wrapping_sub(b),
        Arith::Mul => a.wrapping_mul(b),
        Arith::Div if b != 0 => a.wrapping_div(b),
        Arith::Rem if b != 0 => a.wrapping_rem(b),
        Arith::Div | Arith::Rem => return None,
    })
}

#[inline(never)]
pub(super) fn float(op: Arith, a: &Value, b: &Value) -> Done {
    let (Value::Float(a), Value::Float(b)) = (a, b) else { return Err(Refused::Type) };
    Ok(Value::Float(match op {
        Arith::Add => a + b,
        Arith::Sub => a - b,
        Arith::Mul => a * b,
        Arith::Div => a / b,
        Arith::Rem => a % b,
    }))
}

#[inline(never)]
pub(super) fn concat(a: &Value, b: &Value) -> Done {
    let (Value::Str(a), Value::Str(b)) = (a, b) else { return Err(Refused::Type) };
    short([a.as_str(), b.as_str()].concat())
}

#[inline(never)]
pub(super) fn negate(value: &Value) -> Done {
    match value {
        Value::Int(n) => Ok(Value::Int(n.wrapping_neg())),
        Value::Float(x) => Ok(Value::Float(-x)),
        _ => Err(Refused::Type),
    }
}

#[inline(always)]
pub(super) fn less(a: &Value, b: &Value, or_equal: bool) -> Option<bool> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a < b || or_equal && a == b),
        _ => other_is_less(a, b, or_equal),
    }
}

#[inline(never)]
fn other_is_less(a: &Value, b: &Value, or_equal: bool) -> Option<bool> {
    Some(match (a, b) {
        (Value::Float(a), Value::Float(b)) => a < b || or_equal && a == b,
        (Value::Str(a), Value::Str(b)) => {
            a.as_str() < b.as_str() || or_equal && a.as_str() == b.as_str()
        }
        _ => return None,
    })
}

/// Whether a test holds; `None` if the operands have the wrong types.
#[inline(always)]
pub(super) fn holds(test: Test, a: &Value, b: &Value) -> Option<bool> {
    match test {
        Test::Equal => same(a, b),
        Test::NotEqual => same(a, b).map(|same| !same),
        Test::In => contains(b, a),
        Test::NotIn => contains(b, a).map(|found| !found),
        Test::Less | Test::LessEqual => less(a, b, test == Test::LessEqual),
        Test::NotLess | Test::NotLessEqual => {
            less(a, b, test == Test::NotLessEqual).map(|less| !less)
        }
    }
}

#[inline(always)]
fn same(a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a == b),
        (Value::Machine(_, _, a), Value::Machine(_, _, b)) => Some(a == b),
        _ => others_are_same(a, b),
    }
}

#[inline(never)]
fn others_are_same(a: &Value, b: &Value) -> Option<bool> {
    if followed::is_elsewhere() { None } else { Some(a.equals_another(b)) }
}

fn contains(collection: &Value, value: &Value) -> Option<bool> {
    if followed::is_elsewhere() { None } else { contains_here(collection, value) }
}

#[inline(never)]
pub(super) fn contains_here(collection: &Value, value: &Value) -> Option<bool> {
    Some(match collection {
        Value::Set(set) => set.contains(value),
        Value::Map(map) => map.get(value).is_some(),
        Value::Seq(seq) => seq.iter().any(|item| item.equals(value)),
        _ => return None,
    })
}

/// The element of a sequence or set by its number, or the value of a map by its key.
#[inline(never)]
pub(super) fn element<'v>(collection: &'v Value, key: &Value) -> Result<&'v Value, Trouble> {
    match collection {
        Value::Seq(seq) => index(key, seq.len()).map(|at| &seq[at]),
        Value::Set(set) => index(key, set.items().len()).map(|at| &set.items()[at]),
        Value::Map(_) if followed::is_elsewhere() => Err(Trouble::Type),
        Value::Map(map) => map.get(key).ok_or(Trouble::NoKey(0)),
        _ => Err(Trouble::Type),
    }
}

/// What `foreach` iterates over: the elements of a sequence or set, the keys of a map.
#[inline(always)]
pub(super) fn elements(collection: &Value) -> Option<&[Value]> {
    Some(match collection {
        Value::Seq(seq) => seq,
        Value::Set(set) => set.items(),
        Value::Map(map) => map.keys(),
        _ => return None,
    })
}

#[inline(always)]
pub(super) fn size(collection: &Value) -> Option<usize> {
    elements(collection).map(<[Value]>::len)
}

#[inline(never)]
pub(super) fn keys(map: &Value) -> Done {
    let Value::Map(map) = map else { return Err(Refused::Type) };
    Ok(Value::seq(map.keys().iter().cloned()))
}

#[inline(never)]
pub(super) fn values(map: &Value) -> Done {
    let Value::Map(map) = map else { return Err(Refused::Type) };
    Ok(Value::seq(map.values().iter().cloned()))
}

#[inline(never)]
pub(super) fn to_float(value: &Value) -> Done {
    match value {
        Value::Int(n) => Ok(Value::Float(*n as f64)),
        Value::Float(x) => Ok(Value::Float(*x)),
        _ => Err(Refused::Type),
    }
}

#[inline(never)]
pub(super) fn to_interface(value: &Value, interface: u16) -> Done {
    match value {
        Value::Machine(kind, _, id) => Ok(Value::Machine(*kind, interface, *id)),
        Value::Null => Ok(Value::Null),
        _ => Err(Refused::Type),
    }
}

/// A chosen number below this one, or a chosen element of this collection.
#[inline(never)]
pub(super) fn choose(code: &Code, env: &mut EventSink<'_>, span: Span, from: &Value) -> Done {
    let refused = |what: String| Err(Refused::Because(what));
    let of = match from {
        Value::Int(n) if *n < 0 => {
            return refused(format!("choose({n}): there is no number from 0 to below {n}"));
        }
        Value::Int(n) => usize::try_from(*n).unwrap_or(usize::MAX),
        collection => match size(collection) {
            Some(0) => return refused("choose from an empty collection".into()),
            Some(size) => size,
            None => return Err(Refused::Type),
        },
    };
    if of > MAX_CHOICES {
        return refused(format!("choose among {of} values: there may be {MAX_CHOICES}"));
    }
    let followed = match recorder::is_present() {
        true => followed::chosen(code, span, env, from)?,
        false => None,
    };
    let chosen = match followed {
        Some(followed) => followed,
        None => {
            let at = if of == 0 { 0 } else { env.value(of as u32, Tag::Program)? as usize };
            match elements(from) {
                Some(elements) => elements[at].clone(),
                None => Value::Int(at as i64),
            }
        }
    };
    let told = ForReader(code, &chosen, &Type::Any);
    env.tell(|| Event::Chosen { value: EventText::Display(&told) })?;
    Ok(chosen)
}

#[inline(never)]
pub(super) fn call_foreign(
    code: &Code,
    span: Span,
    foreign: &ForeignCode,
    values: &[Value],
) -> Done {
    let name = &foreign.name;
    let pinned;
    let values = if recorder::is_present() {
        pinned = followed::all_pinned(code, span, values);
        &pinned
    } else {
        values
    };
    match dally_core::panics::catch(|| (foreign.fun)(values))? {
        Ok(value) if foreign.returns.as_ref().is_none_or(|ty| fits(code, &value, ty)) => Ok(value),
        Ok(value) => Err(Refused::Because(format!(
            "foreign function `{name}` returns `{}`, of another type",
            Shown(code, &value)
        ))),
        Err(message) => Err(Refused::Because(format!("foreign function `{name}`: {message}"))),
    }
}

#[inline(never)]
pub(super) fn formatted(code: &Code, span: Span, template: &Template, values: &[Value]) -> Done {
    let mut text = Bounded::default();
    let pinned;
    let values = if recorder::is_present() {
        let used = template.pieces.iter().map(|(_, argument)| argument + 1).max().unwrap_or(0);
        pinned = followed::all_pinned(code, span, &values[..used]);
        &pinned
    } else {
        values
    };
    match write_template(&mut text, code, template, values) {
        Ok(()) => Ok(Value::text(text.0)),
        Err(_) => Err(Refused::Because(too_large())),
    }
}

/// A string that is below the limit.
fn short(text: String) -> Done {
    match text.len() < MAX_TEXT {
        true => Ok(Value::text(text)),
        false => Err(Refused::Because(too_large())),
    }
}
