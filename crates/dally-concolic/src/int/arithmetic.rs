//! Sums, products and quotients: exact terms, where overflow and division by 0 are branches.

use std::panic::Location;

use super::{Int, joined, with_term};
use crate::recorder::{Pinned, Place, Recorder};
use crate::terms::{Linear, Op, Sign};

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

impl Int {
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

    /// The sum, in 64 bits without what overflows. Whether it does is a branch.
    #[track_caller]
    pub fn wrapping_add(self, other: impl Into<Int>) -> Int {
        self.wrapping_at(Arithmetic::Add, other.into(), Location::caller().into())
    }

    /// The difference, in 64 bits without what overflows. Whether it does is a branch.
    #[track_caller]
    pub fn wrapping_sub(self, other: impl Into<Int>) -> Int {
        self.wrapping_at(Arithmetic::Subtract, other.into(), Location::caller().into())
    }

    /// The product, in 64 bits without what overflows, which is no branch.
    #[track_caller]
    pub fn wrapping_mul(self, other: impl Into<Int>) -> Int {
        self.wrapping_at(Arithmetic::Multiply, other.into(), Location::caller().into())
    }

    /// A sum, difference or product, in 64 bits without what overflows, told to the recorder as at this
    /// place.
    #[track_caller]
    pub fn wrapping_at(self, how: Arithmetic, other: Int, at: Place) -> Int {
        let (a, b) = (self.value, other.value);
        let (value, factor) = match how {
            Arithmetic::Subtract => (a.wrapping_sub(b), -1),
            Arithmetic::Multiply => (a.wrapping_mul(b), 1),
            _ => (a.wrapping_add(b), 1),
        };
        let linear = joined(self, other, |r, left, right| {
            let (exact, result) = match how {
                Arithmetic::Multiply => {
                    let by_constant = match (self.term, other.term) {
                        (0, _) => right.times(a),
                        (_, 0) => left.times(b),
                        _ => None,
                    };
                    let ends = by_constant.as_ref().map(|linear| r.terms.range(linear));
                    let fits = |&(least, most): &(i128, i128)| {
                        least >= i64::MIN.into() && most <= i64::MAX.into()
                    };
                    // How often a product wraps is one of many numbers, and no branch.
                    if !ends.as_ref().is_some_and(fits) {
                        return Some(r.made(Op::Multiply, left, right, value));
                    }
                    (by_constant, i128::from(value))
                }
                _ => {
                    let sum = i128::from(a) + i128::from(factor) * i128::from(b);
                    (left.plus(factor, &right), sum)
                }
            };
            let Some(exact) = exact else {
                r.pin(&left, a, Pinned::Large, at);
                r.pin(&right, b, Pinned::Large, at);
                return None;
            };
            // Too large, too small or neither: the same questions in each case, so that the step has the
            // same branches up to the outcome that differs.
            within(r, &exact, result, at);
            let turns = (result - i128::from(value)) >> 64;
            exact.plus(1, &Linear::constant(-(turns << 64)))
        });
        linear.flatten().map_or(Int::from(value), |linear| with_term(linear, value))
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
    pub(super) fn not_linear(self, op: Op, other: Int, value: i64) -> Int {
        let linear = joined(self, other, |r, left, right| r.made(op, left, right, value));
        linear.map_or(Int::from(value), |linear| with_term(linear, value))
    }

    #[track_caller]
    pub(super) fn shifted(self, op: Op, by: u32, name: &str) -> Int {
        assert!(by < 64, "attempt to shift {name} with overflow");
        let by = Int::from(i64::from(by));
        self.not_linear(op, by, op.apply(self.value, by.value).unwrap_or_default())
    }
}

/// Tells the recorder that an exact result fits into 64 bits, or on which side not.
fn within(r: &mut Recorder, exact: &Linear, result: i128, at: Place) {
    let (most, least) = (i128::from(i64::MAX), i128::from(i64::MIN));
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
            within(r, &exact, result, at);
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
        within(r, &exact, i128::from(a.value) * i128::from(b.value), at);
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
