//! Comparisons: branches, whose other outcome is tried later.

use std::cmp::Ordering;
use std::panic::Location;

use super::{Int, entered};
use crate::recorder::{Pinned, Place};
use crate::terms::Term;

/// A comparison of two integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    /// Equal.
    Equal,
    /// Below.
    Less,
    /// Below or equal.
    AtMost,
}

impl Int {
    /// Whether the comparison holds, told to the recorder as at this place.
    #[track_caller]
    pub fn holds(self, how: Comparison, other: Int, at: Place) -> bool {
        let outcome = match how {
            Comparison::Equal => self.value == other.value,
            Comparison::Less => self.value < other.value,
            Comparison::AtMost => self.value <= other.value,
        };
        let side = |int: Int| (Term(int.term), if int.term == 0 { int.value } else { 0 });
        entered(self, other, |r| match r.comparison((how, side(self), side(other))) {
            Some(compared) => r.decided(compared, outcome, at),
            None => {
                for int in [self, other] {
                    let linear = r.terms.linear(Term(int.term), int.value);
                    r.pin(&linear, int.value, Pinned::Large, at);
                }
            }
        });
        outcome
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
