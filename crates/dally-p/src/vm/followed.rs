//! Chosen numbers that are followed: under concolic execution a choice is an input, and what the
//! program computes of it has a term. A followed value is not of the kind that instructions expect, so
//! they come here by the way of values of a wrong type, and the loop of instructions knows nothing
//! of them.
//!
//! Arithmetic and comparisons are followed, and places in sequences. A value that is hashed, because it
//! is in a large set or map, or given to a foreign function or written into a text, is kept at the
//! number that it is, and the report says where.

use std::cell::Cell;

use dally_concolic::int::{Arithmetic, Comparison, NoResult};
use dally_concolic::recorder::{self, Offer};
use dally_concolic::{Int, Place};
use dally_core::{Env, EventSink, Stop, Tag};
use triomphe::Arc;

use super::access::look;
use super::blame::{divided, ill_typed};
use super::collections::{Map, Set};
use super::machine::Machine;
use super::operations::{Refused, choose, contains_here, element, elements};
use super::places::{Trouble, change};
use super::run::Cx;
use super::tuple::Tuple;
use super::value::Value;
use crate::lower::code::{Code, Step};
use crate::lower::inst::{Arith, Inst, Src, Test};
use crate::program::Change;
use crate::source::Span;

/// The places of a sequence up to which a followed index is told from each of them; in a longer one
/// it is kept at the number that it is.
const FEW: usize = 64;

/// Sets of numbers with more gaps than this between them are explored number by number.
const MOST_GAPS: u64 = 64;

thread_local! {
    /// Where the instruction stands that is done here; `None` while the ordinary loop runs.
    static HERE: Cell<Option<Place>> = const { Cell::new(None) };
}

/// Whether values that are compared may be followed, and the comparison has to be made here.
#[inline]
pub(super) fn is_elsewhere() -> bool {
    recorder::is_present() && HERE.get().is_none()
}

fn here() -> Place {
    HERE.get().unwrap_or(Place { file: None, line: 0, column: 0 })
}

/// Runs with the place of these instructions.
fn at<R>(code: &Code, span: Span, run: impl FnOnce() -> R) -> R {
    let location = code.sources.location(span);
    HERE.set(Some(Place::in_file(&location.file, location.line, location.column)));
    let done = run();
    HERE.set(None);
    done
}

/// A followed value, or a plain one.
fn value_of(int: Int, is_bool: bool) -> Value {
    match (int.parts(), is_bool) {
        ((value, 0), false) => Value::Int(value),
        ((value, 0), true) => Value::Bool(value != 0),
        ((value, term), _) => Value::Followed(is_bool, term, value),
    }
}

/// The number of a value, or 0 and 1 for `false` and `true`.
fn int_of(value: &Value) -> Option<Int> {
    Some(match *value {
        Value::Int(n) => Int::from(n),
        Value::Bool(b) => Int::from(b),
        Value::Followed(_, term, value) => Int::of_parts(value, term),
        _ => return None,
    })
}

/// The value without its term, which is kept at this value.
pub(super) fn hashed(value: &Value) -> Value {
    let Value::Followed(is_bool, term, number) = *value else { return value.clone() };
    Int::of_parts(number, term).hashed_at(here());
    if is_bool { Value::Bool(number != 0) } else { Value::Int(number) }
}

fn pinned(value: &Value) -> Value {
    let Value::Followed(is_bool, term, number) = *value else { return value.clone() };
    Int::of_parts(number, term).pin_at(here());
    if is_bool { Value::Bool(number != 0) } else { Value::Int(number) }
}

/// Values for what does not follow them: a foreign function, a text. Collections with followed values
/// inside are made again.
pub(super) fn all_pinned(code: &Code, span: Span, values: &[Value]) -> Vec<Value> {
    at(code, span, || values.iter().map(deeply_pinned).collect())
}

fn deeply_pinned(value: &Value) -> Value {
    let made = match value {
        Value::Followed(..) => Some(pinned(value)),
        Value::Tuple(tuple) => {
            let items: Vec<Value> = tuple.items().iter().map(deeply_pinned).collect();
            Tuple::new(tuple.shape(), items.into_iter()).ok().map(Value::Tuple)
        }
        Value::Seq(seq) => Some(Value::seq(seq.iter().map(deeply_pinned))),
        Value::Set(set) => {
            let mut made = Set::default();
            let added = set.items().iter().try_for_each(|item| made.add(deeply_pinned(item)));
            added.ok().map(|()| Value::Set(Arc::new(made)))
        }
        Value::Map(map) => {
            let mut made = Map::default();
            let mut pairs =
                map.iter().map(|(key, value)| (deeply_pinned(key), deeply_pinned(value)));
            let added = pairs.try_for_each(|(key, value)| made.insert(key, value));
            added.ok().map(|()| Value::Map(Arc::new(made)))
        }
        _ => None,
    };
    // Nothing grows, so nothing becomes too large.
    made.unwrap_or_else(|| value.clone())
}

/// Whether two values of which one is followed are equal: a branch.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (int_of(left), int_of(right)) {
        (Some(one), Some(other)) => one.holds(Comparison::Equal, other, here()),
        _ => false,
    }
}

/// A chosen boolean, as an input.
#[cold]
pub(super) fn flip(code: &Code, span: Span, env: &mut EventSink<'_>) -> Result<Value, Stop> {
    let offer = Offer { name: name(code, span, "$"), least: 0, most: 1, members: None };
    Ok(value_of(Int::chosen(offer, |of| env.value(of, Tag::Program))?, true))
}

/// A chosen number below this one or among these, as an input; `None` if it is none, and has to be
/// chosen as elsewhere.
#[cold]
pub(super) fn chosen(
    code: &Code,
    span: Span,
    env: &mut EventSink<'_>,
    from: &Value,
) -> Result<Option<Value>, Stop> {
    let (least, most, members) = match from {
        Value::Int(n) if *n > 1 && u32::try_from(*n).is_ok() => (0, *n - 1, None),
        collection => {
            let numbers = elements(collection).map(|items| items.iter().map(plain).collect());
            let Some(Some(numbers)) = numbers else { return Ok(None) };
            let numbers: Vec<i64> = numbers;
            let (Some(&least), Some(&most)) = (numbers.iter().min(), numbers.iter().max()) else {
                return Ok(None);
            };
            let gaps = most.abs_diff(least).saturating_add(1).saturating_sub(numbers.len() as u64);
            if numbers.len() < 2 || gaps > MOST_GAPS {
                return Ok(None);
            }
            (least, most, Some(numbers))
        }
    };
    let offer = Offer { name: name(code, span, "choose"), least, most, members };
    Ok(Some(value_of(Int::chosen(offer, |of| env.value(of, Tag::Program))?, false)))
}

fn plain(value: &Value) -> Option<i64> {
    match *value {
        Value::Int(n) => Some(n),
        _ => None,
    }
}

fn name(code: &Code, span: Span, what: &str) -> String {
    let location = code.sources.location(span);
    format!("{what} at {}:{}", location.file, location.line)
}

/// Does the instruction before `pc` with the followed values that it has. Answers where to go on.
///
/// # Errors
/// If no operand is followed: a value has the wrong type.
#[cold]
#[inline(never)]
pub(super) fn resume(
    cx: &mut Cx<'_, '_>,
    machine: &mut Machine,
    pc: usize,
    base: usize,
) -> Result<usize, Stop> {
    if !recorder::is_present() {
        return Err(ill_typed(cx, machine, pc).into());
    }
    let (code, span) = (cx.code, cx.code.spans[pc - 1]);
    let done = at(code, span, || Following { cx, machine, pc, base }.perform());
    match done {
        Ok(next) => Ok(next),
        Err(Refused::Type) => Err(ill_typed(cx, machine, pc).into()),
        Err(Refused::Because(what)) => Err(cx.bug(machine, span, what).into()),
        Err(Refused::Stop(stop)) => Err(stop),
    }
}

struct Following<'a, 'c, 'e> {
    cx: &'a mut Cx<'c, 'e>,
    machine: &'a mut Machine,
    pc: usize,
    base: usize,
}

impl Following<'_, '_, '_> {
    fn get(&self, src: Src) -> Result<Value, Refused> {
        let found = look(src, &self.machine.regs, &self.cx.code.consts, self.base);
        found.cloned().ok_or(Refused::Type)
    }

    fn int(&self, src: Src) -> Result<Int, Refused> {
        match self.get(src)? {
            Value::Bool(_) | Value::Followed(true, ..) => Err(Refused::Type),
            value => int_of(&value).ok_or(Refused::Type),
        }
    }

    /// Whether a boolean is true: a branch. From here on it is a plain one, so that a loop that asks
    /// again and again comes back to a state that it was in.
    fn decided(&mut self, src: Src) -> Result<bool, Refused> {
        let Value::Followed(true, term, value) = self.get(src)? else { return Err(Refused::Type) };
        let is_true = !Int::of_parts(value, term).holds(Comparison::Equal, 0.into(), here());
        if !src.is_item() {
            self.machine.regs[src.place(self.base)].put(Value::Bool(is_true));
        }
        Ok(is_true)
    }

    fn perform(mut self) -> Result<usize, Refused> {
        let code = self.cx.code;
        let next = self.pc;
        let (dst, value) = match code.insts[self.pc - 1] {
            Inst::Int(op, dst, a, b) => {
                let (a, b) = (self.int(a)?, self.int(b)?);
                (dst, value_of(arith(op, a, b)?, false))
            }
            Inst::Negate(dst, src) => {
                let zero = Int::from(0);
                (
                    dst,
                    value_of(zero.wrapping_at(Arithmetic::Subtract, self.int(src)?, here()), false),
                )
            }
            Inst::Not(dst, src) => match self.get(src)? {
                Value::Followed(true, term, value) => {
                    let is = Int::of_parts(value, term);
                    let not = Int::from(1).wrapping_at(Arithmetic::Subtract, is, here());
                    (dst, value_of(not, true))
                }
                _ => return Err(Refused::Type),
            },
            Inst::Test(test, dst, a, b) => (dst, Value::Bool(self.holds(test, a, b)?)),
            Inst::Unless(test, a, b, by) => {
                let skips = if self.holds(test, a, b)? { 0 } else { usize::from(by) };
                return Ok(next + skips);
            }
            Inst::JumpIf(src, to) => {
                return Ok(if self.decided(src)? { to as usize } else { next });
            }
            Inst::JumpUnless(src, to) => {
                return Ok(if self.decided(src)? { next } else { to as usize });
            }
            Inst::Index(dst, collection, key) => {
                let (collection, key) = (self.get(collection)?, self.get(key)?);
                let found = element(&collection, &key).map_err(|trouble| match trouble {
                    Trouble::Type => Refused::Type,
                    other => Refused::Because(other.in_words(code, std::slice::from_ref(&key))),
                })?;
                (dst, found.clone())
            }
            Inst::ToInt(dst, src) => (dst, value_of(self.int(src)?, false)),
            Inst::ToFloat(dst, src) => match pinned(&self.get(src)?) {
                Value::Int(n) => (dst, Value::Float(n as f64)),
                _ => return Err(Refused::Type),
            },
            Inst::Choose(dst, from) => {
                let from = pinned(&self.get(from)?);
                (dst, choose(code, self.cx.env, code.spans[self.pc - 1], &from)?)
            }
            _ => return Err(Refused::Type),
        };
        self.machine.regs[dst.place(self.base)].put(value);
        Ok(next)
    }

    fn holds(&self, test: Test, a: Src, b: Src) -> Result<bool, Refused> {
        let (left, right) = (self.get(a)?, self.get(b)?);
        let compare = |how| match (int_of(&left), int_of(&right)) {
            (Some(left), Some(right)) => Ok(left.holds(how, right, here())),
            _ => Err(Refused::Type),
        };
        match test {
            Test::Equal => Ok(left.equals(&right)),
            Test::NotEqual => Ok(!left.equals(&right)),
            Test::In => contains_here(&right, &left).ok_or(Refused::Type),
            Test::NotIn => contains_here(&right, &left).map(|found| !found).ok_or(Refused::Type),
            Test::Less => compare(Comparison::Less),
            Test::LessEqual => compare(Comparison::AtMost),
            Test::NotLess => compare(Comparison::Less).map(|less| !less),
            Test::NotLessEqual => compare(Comparison::AtMost).map(|less| !less),
        }
    }
}

/// The result in 64 bits, without what overflows.
fn arith(op: Arith, a: Int, b: Int) -> Result<Int, Refused> {
    let how = match op {
        Arith::Add => Arithmetic::Add,
        Arith::Sub => Arithmetic::Subtract,
        Arith::Mul => Arithmetic::Multiply,
        Arith::Div => Arithmetic::Divide,
        Arith::Rem => Arithmetic::Remainder,
    };
    if matches!(op, Arith::Add | Arith::Sub | Arith::Mul) {
        return Ok(a.wrapping_at(how, b, here()));
    }
    match a.compute(how, b, here()) {
        Ok(result) => Ok(result),
        // The smallest number by -1 is itself again, and leaves 0.
        Err(NoResult::Overflow) if op == Arith::Div => Ok(a),
        Err(NoResult::Overflow) => Ok(Int::from(0)),
        Err(NoResult::DivisionByZero) => Err(Refused::Because(divided(op, a.shown()))),
    }
}

/// An index as a plain number: told from every place of a short sequence by a branch each. `None` if
/// it is no number, or the instruction has to be done here.
#[cold]
#[inline(never)]
pub(super) fn index(key: &Value, length: usize) -> Option<i64> {
    let Value::Followed(false, term, value) = *key else { return None };
    HERE.get()?;
    let index = Int::of_parts(value, term);
    if length <= FEW {
        let is = |&place: &i64| index.holds(Comparison::Equal, place.into(), here());
        if let Some(place) = (0..length as i64).find(is) {
            return Some(place);
        }
    }
    Some(index.pin_at(here()))
}

/// [`change`], where keys and values may be followed.
#[cold]
#[inline(never)]
pub(super) fn changed(
    code: &Code,
    span: Span,
    value: &mut Value,
    path: &[Step],
    keys: &mut [Value],
    what: Change,
) -> Result<(), Trouble> {
    at(code, span, || change(value, path, keys, 0, what))
}
