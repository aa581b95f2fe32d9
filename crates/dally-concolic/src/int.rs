//! The integer of programs whose inputs are explored.

mod arithmetic;
mod comparison;
mod operators;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;

pub use self::arithmetic::{Arithmetic, NoResult};
pub use self::comparison::Comparison;
use crate::recorder::{self, Offer, Pinned, Place, Recorder};
use crate::terms::{Linear, Term};

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

impl Int {
    /// The integer for an input that was just answered: with its term, if the execution is recorded.
    pub fn given(name: &str, value: i64) -> Int {
        let known = recorder::with(|r| r.take(name, value).map(|term| (term, r.stamp())));
        match known.flatten() {
            Some((Term(term), stamp)) => Int { value, term, stamp },
            None => Int::from(value),
        }
    }

    /// A number that the program chooses, by `ask`, which answers one of so many values. In an
    /// execution that is recorded it is an input; elsewhere a plain number.
    pub fn chosen<E>(offer: Offer, ask: impl FnOnce(u32) -> Result<u32, E>) -> Result<Int, E> {
        let of = u32::try_from(offer.count()).unwrap_or(u32::MAX);
        recorder::with(|r| r.offer(offer.clone()));
        let value = offer.at(ask(of)?);
        let known = recorder::with(|r| r.accepted().map(|term| (term, r.stamp())));
        Ok(match known.flatten() {
            Some((Term(term), stamp)) => Int { value, term, stamp },
            None => Int::from(value),
        })
    }

    /// The number and its term, for values of another language; 0 is no term.
    pub fn parts(self) -> (i64, u32) {
        (self.value, self.term)
    }

    /// What [`Int::parts`] took apart, in the same execution.
    pub fn of_parts(value: i64, term: u32) -> Int {
        let stamp = recorder::with(|r| r.stamp()).filter(|_| term != 0);
        stamp.map_or(Int::from(value), |stamp| Int { value, term, stamp })
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

    /// [`Int::pin`] of a number that is hashed, told to the recorder as at this place.
    #[track_caller]
    pub fn hashed_at(self, at: Place) -> i64 {
        self.pin_because(Pinned::Hashed, at);
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

    #[track_caller]
    fn pin_because(self, why: Pinned, at: Place) {
        joined(self, Int::default(), |r, own, _| r.pin(&own, self.value, why, at));
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
    entered(left, right, |r| {
        let linear = |r: &Recorder, int: Int| r.terms.linear(Term(int.term), int.value);
        let (left, right) = (linear(r, left), linear(r, right));
        body(r, left, right)
    })
}

/// Runs `body` with the recorder, if one of the operands depends on inputs.
///
/// # Panics
/// If a number is used that belongs to another execution.
#[track_caller]
fn entered<R>(left: Int, right: Int, body: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    if left.term == 0 && right.term == 0 {
        return None;
    }
    let entered = recorder::with(|r| {
        let of = |int: Int| int.term == 0 || int.stamp == r.stamp();
        (of(left) && of(right)).then(|| body(r))
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
