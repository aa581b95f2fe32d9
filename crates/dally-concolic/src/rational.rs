//! Exact fractions, whose operations fail rather than overflow.

use std::cmp::Ordering;

/// A number did not fit into 128 bits: the question is given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Overflow;

/// A fraction in lowest terms, with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rational {
    over: i128,
    under: i128,
}

type Result<T> = std::result::Result<T, Overflow>;

impl Rational {
    pub(crate) const ZERO: Rational = Rational { over: 0, under: 1 };

    pub(crate) fn whole(value: i128) -> Rational {
        Rational { over: value, under: 1 }
    }

    fn new(over: i128, under: i128) -> Rational {
        if under == 1 {
            return Rational { over, under };
        }
        let divisor = gcd(over.unsigned_abs(), under.unsigned_abs()).max(1) as i128;
        let sign = under.signum();
        Rational { over: sign * (over / divisor), under: sign * (under / divisor) }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.over == 0
    }

    pub(crate) fn is_positive(self) -> bool {
        self.over > 0
    }

    /// The number, if it is a whole one.
    pub(crate) fn as_whole(self) -> Option<i128> {
        (self.under == 1).then_some(self.over)
    }

    /// The greatest whole number that is not above it.
    pub(crate) fn floor(self) -> i128 {
        self.over.div_euclid(self.under)
    }

    pub(crate) fn plus(self, other: Rational) -> Result<Rational> {
        if self.under == 1 && other.under == 1 {
            return self.over.checked_add(other.over).map(Rational::whole).ok_or(Overflow);
        }
        let left = self.over.checked_mul(other.under).ok_or(Overflow)?;
        let right = other.over.checked_mul(self.under).ok_or(Overflow)?;
        let under = self.under.checked_mul(other.under).ok_or(Overflow)?;
        Ok(Rational::new(left.checked_add(right).ok_or(Overflow)?, under))
    }

    pub(crate) fn minus(self, other: Rational) -> Result<Rational> {
        self.plus(other.negated()?)
    }

    pub(crate) fn times(self, other: Rational) -> Result<Rational> {
        let over = self.over.checked_mul(other.over).ok_or(Overflow)?;
        let under = self.under.checked_mul(other.under).ok_or(Overflow)?;
        Ok(Rational::new(over, under))
    }

    /// The quotient by a number that is not 0.
    pub(crate) fn divided_by(self, other: Rational) -> Result<Rational> {
        let over = self.over.checked_mul(other.under).ok_or(Overflow)?;
        let under = self.under.checked_mul(other.over).ok_or(Overflow)?;
        Ok(Rational::new(over, under))
    }

    pub(crate) fn negated(self) -> Result<Rational> {
        Ok(Rational { over: self.over.checked_neg().ok_or(Overflow)?, under: self.under })
    }

    pub(crate) fn compare(self, other: Rational) -> Result<Ordering> {
        if self.under == other.under {
            return Ok(self.over.cmp(&other.over));
        }
        let left = self.over.checked_mul(other.under).ok_or(Overflow)?;
        let right = other.over.checked_mul(self.under).ok_or(Overflow)?;
        Ok(left.cmp(&right))
    }
}

/// The greatest common divisor; `gcd(0, n)` is `n`.
pub(crate) fn gcd(mut one: u128, mut other: u128) -> u128 {
    while other != 0 {
        // Most numbers are small, and a division of 64 bits is several times as fast.
        (one, other) = match (u64::try_from(one), u64::try_from(other)) {
            (Ok(small), Ok(smaller)) => (other, u128::from(small % smaller)),
            _ => (other, one % other),
        };
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_exact_and_in_lowest_terms() {
        let half = Rational::whole(1).divided_by(Rational::whole(-2)).unwrap();
        assert_eq!(half.plus(half).unwrap(), Rational::whole(-1));
        assert_eq!(half.floor(), -1);
        assert_eq!(half.as_whole(), None);
        assert_eq!(half.compare(Rational::ZERO), Ok(Ordering::Less));
        assert_eq!(Rational::whole(i128::MAX).plus(Rational::whole(1)), Err(Overflow));
    }
}
