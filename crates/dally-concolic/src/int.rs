//! The integer of programs whose inputs are explored.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::iter::{Product, Sum};
use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl, Shr, Sub, SubAssign,
};
use std::panic::Location;

use crate::recorder::{self, Pinned, Place, Recorder};
use crate::terms::{Linear, Op, Sign, Term};

/// A 64-bit integer that may depend on inputs.
///
/// It computes as `i64` does in a debug build: overflow and division by 0 panic. In an execution that
/// is recorded, comparisons of it are branches whose other outcome is tried later, and so is whether
/// an operation overflows. Elsewhere it is a plain number.
///
/// What Rust does not let a type redefine needs a plain number: [`Int::pin`] gives the present one,
/// and the execution is then explored for that one only. `match` on literals is written with `==`,
/// `0..x` as a loop with a comparison. To hash an `Int` pins it, too. `{:?}` and `{}` only show the
/// number.
///
/// ```
/// use dally_concolic::Int;
///
/// let mut ids = [Int::from(3), Int::from(1), Int::from(2)];
/// ids.sort();
/// assert_eq!(ids.map(Int::pin), [1, 2, 3]);
/// assert_eq!(ids[2].max(7.into()) * 2 - 1, 13);
/// assert_eq!(Int::from(-7) / 2, -3);
/// ```
#[derive(Clone, Copy, Default)]
pub struct Int {
    value: i64,
    term: u32,
    /// The execution that the term belongs to.
    stamp: u32,
}

/// An operation on two integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arithmetic {
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product.
    Multiply,
    /// The quotient, rounded towards 0.
    Divide,
    /// The remainder of that division, which has the sign of the dividend.
    Remainder,
}

/// Why an operation has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoResult {
    /// It does not fit into 64 bits.
    Overflow,
    /// The divisor is 0.
    DivisionByZero,
}

/// A comparison of two integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// Equal.
    Equal,
    /// Below.
    Less,
    /// Below or equal.
    AtMost,
}

impl Int {
    /// The integer for an input that was just answered: with its term, if the execution is recorded.
    pub fn given(name: &str, value: i64) -> Int {
        let known = recorder::with(|r| r.take(name, value).map(|term| (term, r.stamp())));
        match known.flatten() {
            Some((Term(term), stamp)) => Int { value, term, stamp },
            None => Int::from(value),
        }
    }

    /// The present number. The execution is explored for this one only, and the report says so.
    #[track_caller]
    pub fn pin(self) -> i64 {
        self.pin_because(Pinned::Asked, Location::caller().into());
        self.value
    }

    /// [`Int::pin`], told to the recorder as at this place.
    #[track_caller]
    pub fn pin_at(self, at: Place) -> i64 {
        self.pin_because(Pinned::Asked, at);
        self.value
    }

    /// The present number as another type, if it fits: [`Int::pin`] and a conversion.
    #[track_caller]
    pub fn pin_to<T: TryFrom<i64>>(self) -> Result<T, T::Error> {
        T::try_from(self.pin())
    }

    /// The present number, without any effect: for what the program only shows.
    pub fn shown(self) -> i64 {
        self.value
    }

    /// `then` if this is below `limit`, otherwise `otherwise`: both are explored together, without a
    /// branch, where all of these are small enough to multiply.
    #[track_caller]
    pub fn if_below(self, limit: Int, then: Int, otherwise: Int) -> Int {
        let place: Place = Location::caller().into();
        let holds = i64::from(self.value < limit.value);
        let Some(below) =
            joined(self, limit, |r, left, right| r.made(Op::Less, left, right, holds))
        else {
            return if holds == 1 { then } else { otherwise };
        };
        // otherwise + below * (then - otherwise)
        let below = with_term(below, holds);
        let gap = then.compute(Arithmetic::Subtract, otherwise, place).unwrap_or_else(refuse);
        let part = below.compute(Arithmetic::Multiply, gap, place).unwrap_or_else(refuse);
        otherwise.compute(Arithmetic::Add, part, place).unwrap_or_else(refuse)
    }

    /// The result of an operation, told to the recorder as at this place.
    #[track_caller]
    pub fn compute(self, how: Arithmetic, other: Int, at: Place) -> Result<Int, NoResult> {
        let (a, b) = (self.value, other.value);
        let value = match how {
            Arithmetic::Add => a.checked_add(b),
            Arithmetic::Subtract => a.checked_sub(b),
            Arithmetic::Multiply => a.checked_mul(b),
            Arithmetic::Divide | Arithmetic::Remainder if b == 0 => {
                joined(self, other, |r, _, right| r.decide(&right, Sign::Zero, true, at));
                return Err(NoResult::DivisionByZero);
            }
            Arithmetic::Divide => a.checked_div(b),
            Arithmetic::Remainder => a.checked_rem(b),
        };
        let linear = joined(self, other, |r, left, right| match how {
            Arithmetic::Add => summed(r, (self, &left), (other, &right), 1, at),
            Arithmetic::Subtract => summed(r, (self, &left), (other, &right), -1, at),
            Arithmetic::Multiply => multiplied(r, (self, left), (other, right), at),
            Arithmetic::Divide | Arithmetic::Remainder => {
                divided(r, how, (self, left), (other, right), at)
            }
        });
        let value = value.ok_or(NoResult::Overflow)?;
        Ok(match linear.flatten() {
            Some(linear) => with_term(linear, value),
            None => Int::from(value),
        })
    }

    /// Whether the comparison holds, told to the recorder as at this place.
    #[track_caller]
    pub fn holds(self, how: Comparison, other: Int, at: Place) -> bool {
        let outcome = match how {
            Comparison::Equal => self.value == other.value,
            Comparison::Less => self.value < other.value,
            Comparison::AtMost => self.value <= other.value,
        };
        joined(self, other, |r, left, right| match left.plus(-1, &right) {
            Some(mut difference) => {
                difference.constant += i128::from(how == Comparison::Less);
                let sign = if how == Comparison::Equal { Sign::Zero } else { Sign::AtMostZero };
                r.decide(&difference, sign, outcome, at);
            }
            None => {
                r.pin(&left, self.value, Pinned::Large, at);
                r.pin(&right, other.value, Pinned::Large, at);
            }
        });
        outcome
    }

    /// The sum, in 64 bits without what overflows. Whether it does is a branch.
    #[track_caller]
    pub fn wrapping_add(self, other: impl Into<Int>) -> Int {
        let other = other.into();
        self.wrapped(other, 1, self.value.wrapping_add(other.value), Location::caller().into())
    }

    /// The difference, in 64 bits without what overflows. Whether it does is a branch.
    #[track_caller]
    pub fn wrapping_sub(self, other: impl Into<Int>) -> Int {
        let other = other.into();
        self.wrapped(other, -1, self.value.wrapping_sub(other.value), Location::caller().into())
    }

    #[track_caller]
    fn wrapped(self, other: Int, factor: i64, value: i64, at: Place) -> Int {
        let linear = joined(self, other, |r, left, right| {
            let Some(exact) = left.plus(factor, &right) else {
                r.pin(&left, self.value, Pinned::Large, at);
                r.pin(&right, other.value, Pinned::Large, at);
                return None;
            };
            let sum = i128::from(self.value) + i128::from(factor) * i128::from(other.value);
            let turns = (sum - i128::from(value)) >> 64;
            within(r, &exact, sum, turns << 64, at);
            exact.plus(1, &Linear::constant(-(turns << 64)))
        });
        linear.flatten().map_or(Int::from(value), |linear| with_term(linear, value))
    }

    /// The product, in 64 bits without what overflows, which is no branch.
    #[track_caller]
    pub fn wrapping_mul(self, other: impl Into<Int>) -> Int {
        let other = other.into();
        self.not_linear(Op::Multiply, other, self.value.wrapping_mul(other.value))
    }

    /// The sum, if it does not overflow.
    #[track_caller]
    pub fn checked_add(self, other: impl Into<Int>) -> Option<Int> {
        self.compute(Arithmetic::Add, other.into(), Location::caller().into()).ok()
    }

    /// The difference, if it does not overflow.
    #[track_caller]
    pub fn checked_sub(self, other: impl Into<Int>) -> Option<Int> {
        self.compute(Arithmetic::Subtract, other.into(), Location::caller().into()).ok()
    }

    /// The product, if it does not overflow.
    #[track_caller]
    pub fn checked_mul(self, other: impl Into<Int>) -> Option<Int> {
        self.compute(Arithmetic::Multiply, other.into(), Location::caller().into()).ok()
    }

    /// The absolute value. Whether the number is negative is a branch.
    #[track_caller]
    pub fn abs(self) -> Int {
        if self < 0 { -self } else { self }
    }

    #[track_caller]
    fn not_linear(self, op: Op, other: Int, value: i64) -> Int {
        let linear = joined(self, other, |r, left, right| r.made(op, left, right, value));
        linear.map_or(Int::from(value), |linear| with_term(linear, value))
    }

    #[track_caller]
    fn pin_because(self, why: Pinned, at: Place) {
        joined(self, Int::default(), |r, own, _| r.pin(&own, self.value, why, at));
    }

    #[track_caller]
    fn shifted(self, op: Op, by: u32, name: &str) -> Int {
        assert!(by < 64, "attempt to shift {name} with overflow");
        let by = Int::from(i64::from(by));
        self.not_linear(op, by, op.apply(self.value, by.value).unwrap_or_default())
    }
}

/// Runs `body` with the recorder and both operands as linear terms, if one of them depends on inputs.
///
/// # Panics
/// If a number is used that belongs to another execution.
#[track_caller]
fn joined<R>(
    left: Int,
    right: Int,
    body: impl FnOnce(&mut Recorder, Linear, Linear) -> R,
) -> Option<R> {
    if left.term == 0 && right.term == 0 {
        return None;
    }
    let entered = recorder::with(|r| {
        let of = |int: Int| int.term == 0 || int.stamp == r.stamp();
        if !of(left) || !of(right) {
            return None;
        }
        let linear = |r: &Recorder, int: Int| r.terms.linear(Term(int.term), int.value);
        let (left, right) = (linear(r, left), linear(r, right));
        Some(body(r, left, right))
    });
    match entered {
        Some(Some(result)) => Some(result),
        // A second panic would abort the process.
        _ if std::thread::panicking() => None,
        Some(None) => panic!(
            "an `Int` of another execution is used: it was kept in a static, a thread-local or \
             another place that outlives the execution. Keep it in the program's own state, or keep \
             the plain number (`pin`)"
        ),
        None => panic!(
            "an `Int` is used outside of its execution: after the execution has ended, or on a \
             thread of its own. Take the plain number (`pin`) while the execution runs"
        ),
    }
}

fn with_term(linear: Linear, value: i64) -> Int {
    let known = recorder::with(|r| (r.terms.term(linear), r.stamp()));
    known.map_or(Int::from(value), |(Term(term), stamp)| Int { value, term, stamp })
}

/// Tells the recorder that an exact result lies in the 64 bits around `turns`, or on which side not.
fn within(r: &mut Recorder, exact: &Linear, result: i128, turns: i128, at: Place) {
    let (most, least) = (i128::from(i64::MAX) + turns, i128::from(i64::MIN) + turns);
    if let Some(above) = exact.plus(1, &Linear::constant(-most)) {
        r.decide(&above, Sign::AtMostZero, result <= most, at);
    }
    let below = Linear::constant(least).plus(-1, exact);
    if let (Some(below), true) = (below, result <= most) {
        r.decide(&below, Sign::AtMostZero, result >= least, at);
    }
}

type Operand<L> = (Int, L);

fn summed(
    r: &mut Recorder,
    (a, left): Operand<&Linear>,
    (b, right): Operand<&Linear>,
    factor: i64,
    at: Place,
) -> Option<Linear> {
    match left.plus(factor, right) {
        Some(exact) => {
            let result = i128::from(a.value) + i128::from(factor) * i128::from(b.value);
            within(r, &exact, result, 0, at);
            Some(exact)
        }
        None => {
            r.pin(left, a.value, Pinned::Large, at);
            r.pin(right, b.value, Pinned::Large, at);
            None
        }
    }
}

fn multiplied(
    r: &mut Recorder,
    (a, left): Operand<Linear>,
    (b, right): Operand<Linear>,
    at: Place,
) -> Option<Linear> {
    let by_constant = match (a.term, b.term) {
        (0, _) => right.times(a.value),
        (_, 0) => left.times(b.value),
        _ => None,
    };
    if let Some(exact) = by_constant {
        within(r, &exact, i128::from(a.value) * i128::from(b.value), 0, at);
        return Some(exact);
    }
    let overflows = a.value.checked_mul(b.value).is_none();
    let ends = [r.terms.range(&left), r.terms.range(&right)];
    let far = ends.map(|(least, most)| least.unsigned_abs().max(most.unsigned_abs()));
    if far[0].checked_mul(far[1]).is_none_or(|most| most > i64::MAX as u128) {
        let carry =
            r.made(Op::MultiplyOverflows, left.clone(), right.clone(), i64::from(overflows));
        r.decide(&carry, Sign::Zero, !overflows, at);
    }
    (!overflows).then(|| r.made(Op::Multiply, left, right, a.value * b.value))
}

fn divided(
    r: &mut Recorder,
    how: Arithmetic,
    (a, left): Operand<Linear>,
    (b, right): Operand<Linear>,
    at: Place,
) -> Option<Linear> {
    r.decide(&right, Sign::Zero, false, at);
    // The one quotient that overflows is that of the smallest number by -1.
    let minus_one = right.plus(1, &Linear::constant(1))?;
    let (least, _) = r.terms.range(&left);
    if least <= i64::MIN.into() {
        r.decide(&minus_one, Sign::Zero, b.value == -1, at);
        if b.value == -1 {
            let smallest = left.plus(1, &Linear::constant(-i128::from(i64::MIN)))?;
            r.decide(&smallest, Sign::Zero, a.value == i64::MIN, at);
        }
    }
    let (op, value) = match how {
        Arithmetic::Divide => (Op::Divide, a.value.checked_div(b.value)?),
        _ => (Op::Remainder, a.value.checked_rem(b.value)?),
    };
    match (op, b.term, b.value) {
        (Op::Divide, 0, 1 | -1) => left.times(b.value),
        (Op::Remainder, 0, 1 | -1) => Some(Linear::constant(0)),
        _ => Some(r.made(op, left, right, value)),
    }
}

#[track_caller]
fn refuse(why: NoResult) -> Int {
    match why {
        NoResult::Overflow => panic!("arithmetic overflow"),
        NoResult::DivisionByZero => panic!("division by zero"),
    }
}

impl From<i64> for Int {
    fn from(value: i64) -> Int {
        Int { value, term: 0, stamp: 0 }
    }
}

macro_rules! from_smaller {
    ($($type:ty)*) => {$(
        impl From<$type> for Int {
            fn from(value: $type) -> Int {
                Int::from(i64::from(value))
            }
        }
    )*};
}
from_smaller!(i8 i16 i32 u8 u16 u32 bool);

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value, f)
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value, f)
    }
}

impl Hash for Int {
    #[track_caller]
    fn hash<H: Hasher>(&self, state: &mut H) {
        // What Dally hashes itself, such as the states of machines, decides nothing in the program.
        if !std::any::type_name::<H>().starts_with("dally_") {
            self.pin_because(Pinned::Hashed, Location::caller().into());
        }
        self.value.hash(state);
    }
}

macro_rules! operator {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident $how:ident, $words:literal;)*) => {$(
        impl<T: Into<Int>> $trait<T> for Int {
            type Output = Int;

            #[track_caller]
            fn $method(self, other: T) -> Int {
                match self.compute(Arithmetic::$how, other.into(), Location::caller().into()) {
                    Ok(result) => result,
                    Err(NoResult::Overflow) => panic!("attempt to {} with overflow", $words),
                    Err(NoResult::DivisionByZero) => panic!("attempt to {} by zero", $words),
                }
            }
        }

        impl $trait<Int> for i64 {
            type Output = Int;

            #[track_caller]
            fn $method(self, other: Int) -> Int {
                Int::from(self).$method(other)
            }
        }

        impl<T: Into<Int>> $assign<T> for Int {
            #[track_caller]
            fn $assign_method(&mut self, other: T) {
                *self = (*self).$method(other);
            }
        }
    )*};
}
operator! {
    Add add AddAssign add_assign Add, "add";
    Sub sub SubAssign sub_assign Subtract, "subtract";
    Mul mul MulAssign mul_assign Multiply, "multiply";
    Div div DivAssign div_assign Divide, "divide";
    Rem rem RemAssign rem_assign Remainder, "calculate the remainder";
}

macro_rules! bit_operator {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident $op:ident;)*) => {$(
        impl<T: Into<Int>> $trait<T> for Int {
            type Output = Int;

            #[track_caller]
            fn $method(self, other: T) -> Int {
                let other = other.into();
                let value = Op::$op.apply(self.value, other.value).unwrap_or_default();
                self.not_linear(Op::$op, other, value)
            }
        }

        impl<T: Into<Int>> $assign<T> for Int {
            #[track_caller]
            fn $assign_method(&mut self, other: T) {
                *self = (*self).$method(other);
            }
        }
    )*};
}
bit_operator! {
    BitAnd bitand BitAndAssign bitand_assign And;
    BitOr bitor BitOrAssign bitor_assign Or;
    BitXor bitxor BitXorAssign bitxor_assign Xor;
}

impl Shl<u32> for Int {
    type Output = Int;

    #[track_caller]
    fn shl(self, by: u32) -> Int {
        self.shifted(Op::ShiftLeft, by, "left")
    }
}

impl Shr<u32> for Int {
    type Output = Int;

    #[track_caller]
    fn shr(self, by: u32) -> Int {
        self.shifted(Op::ShiftRight, by, "right")
    }
}

impl Neg for Int {
    type Output = Int;

    #[track_caller]
    fn neg(self) -> Int {
        let zero = Int::from(0);
        match zero.compute(Arithmetic::Subtract, self, Location::caller().into()) {
            Ok(result) => result,
            Err(_) => panic!("attempt to negate with overflow"),
        }
    }
}

impl Not for Int {
    type Output = Int;

    #[track_caller]
    fn not(self) -> Int {
        // -1 - x never overflows.
        Int::from(-1)
            .compute(Arithmetic::Subtract, self, Location::caller().into())
            .unwrap_or_default()
    }
}

impl Sum for Int {
    #[track_caller]
    fn sum<I: Iterator<Item = Int>>(all: I) -> Int {
        all.fold(Int::from(0), |total, next| total + next)
    }
}

impl Product for Int {
    #[track_caller]
    fn product<I: Iterator<Item = Int>>(all: I) -> Int {
        all.fold(Int::from(1), |total, next| total * next)
    }
}

impl Eq for Int {}

impl PartialEq for Int {
    #[track_caller]
    fn eq(&self, other: &Int) -> bool {
        self.holds(Comparison::Equal, *other, Location::caller().into())
    }
}

impl Ord for Int {
    #[track_caller]
    fn cmp(&self, other: &Int) -> Ordering {
        let at: Place = Location::caller().into();
        if self.holds(Comparison::Less, *other, at) {
            Ordering::Less
        } else if self.holds(Comparison::Equal, *other, at) {
            Ordering::Equal
        } else {
            Ordering::Greater
        }
    }
}

macro_rules! ordered {
    ($($other:ty),*) => {$(
        impl PartialOrd<$other> for Int {
            #[track_caller]
            fn partial_cmp(&self, other: &$other) -> Option<Ordering> {
                Some(self.cmp(&Int::from(*other)))
            }

            #[track_caller]
            fn lt(&self, other: &$other) -> bool {
                self.holds(Comparison::Less, Int::from(*other), Location::caller().into())
            }

            #[track_caller]
            fn le(&self, other: &$other) -> bool {
                self.holds(Comparison::AtMost, Int::from(*other), Location::caller().into())
            }

            #[track_caller]
            fn gt(&self, other: &$other) -> bool {
                Int::from(*other).holds(Comparison::Less, *self, Location::caller().into())
            }

            #[track_caller]
            fn ge(&self, other: &$other) -> bool {
                Int::from(*other).holds(Comparison::AtMost, *self, Location::caller().into())
            }
        }
    )*};
}
ordered!(Int, i64);

impl PartialEq<i64> for Int {
    #[track_caller]
    fn eq(&self, other: &i64) -> bool {
        *self == Int::from(*other)
    }
}

impl PartialEq<Int> for i64 {
    #[track_caller]
    fn eq(&self, other: &Int) -> bool {
        Int::from(*self) == *other
    }
}

impl PartialOrd<Int> for i64 {
    #[track_caller]
    fn partial_cmp(&self, other: &Int) -> Option<Ordering> {
        Some(Int::from(*self).cmp(other))
    }

    #[track_caller]
    fn lt(&self, other: &Int) -> bool {
        Int::from(*self) < *other
    }

    #[track_caller]
    fn le(&self, other: &Int) -> bool {
        Int::from(*self) <= *other
    }

    #[track_caller]
    fn gt(&self, other: &Int) -> bool {
        *other < Int::from(*self)
    }

    #[track_caller]
    fn ge(&self, other: &Int) -> bool {
        *other <= Int::from(*self)
    }
}
