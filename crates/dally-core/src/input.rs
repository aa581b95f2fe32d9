//! Inputs: numbers from outside that a step asks for.

use std::ops::RangeInclusive;

/// A question for a number from outside, such as an id, a port or an amount.
///
/// A value is one of a few that the program enumerates; an input may be any number of a range. An
/// [`Env`](crate::Env) that does not vary inputs answers with the one given.
///
/// ```
/// use dally_core::Input;
///
/// let port = Input::named("port").within(1..=65_535).by_default(8_080);
/// assert_eq!((port.least, port.most, port.given), (1, 65_535, 8_080));
/// assert_eq!(Input::from("id").given, 0);
/// assert_eq!(Input::named("level").within(5..=9).given, 5);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Input<'a> {
    /// Its name in schedules and traces.
    pub name: &'a str,
    /// The smallest number that it can be.
    pub least: i64,
    /// The greatest number that it can be.
    pub most: i64,
    /// The number that an [`Env`](crate::Env) answers which does not vary inputs.
    pub given: i64,
}

impl<'a> Input<'a> {
    /// Any number; 0 is given.
    pub fn named(name: &'a str) -> Input<'a> {
        Input { name, least: i64::MIN, most: i64::MAX, given: 0 }
    }

    /// A number of this range. The one given becomes the nearest in it.
    ///
    /// # Panics
    /// If the range is empty.
    #[must_use]
    #[track_caller]
    pub fn within(self, range: RangeInclusive<i64>) -> Input<'a> {
        let (least, most) = range.into_inner();
        assert!(least <= most, "input `{}`: there is no number in {least}..={most}", self.name);
        Input { least, most, given: self.given.clamp(least, most), ..self }
    }

    /// With this as the given number, or the nearest in the range.
    #[must_use]
    pub fn by_default(self, given: i64) -> Input<'a> {
        Input { given: self.clamp(given), ..self }
    }

    /// The number of the range that is nearest to `value`.
    pub fn clamp(&self, value: i64) -> i64 {
        value.clamp(self.least, self.most)
    }
}

impl<'a> From<&'a str> for Input<'a> {
    fn from(name: &'a str) -> Input<'a> {
        Input::named(name)
    }
}
