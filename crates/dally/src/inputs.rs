//! Inputs as integers whose comparisons are explored.

#[cfg(any(feature = "tasks", feature = "machines"))]
use std::ops::RangeInclusive;

#[cfg(any(feature = "tasks", feature = "machines"))]
use dally_concolic::Int;
#[cfg(any(feature = "tasks", feature = "machines"))]
use dally_core::Input;

/// A number from outside, such as an id or an amount, in a task: any 64-bit number. With
/// `search = "concolic"` every path that it can take the program on is run once; strategies that draw
/// at random draw it too, often at boundaries, and searches of states use the given one.
///
/// ```
/// #[dally::test(search = "concolic", should_fail = "attempt to add with overflow")]
/// async fn a_balance_overflows() {
///     let balance = dally::input("balance");
///     let amount = dally::input_in("amount", 1..=100);
///     assert!(balance + amount > balance);
/// }
/// # fn main() {}
/// ```
///
/// # Panics
/// Outside of the tasks of an execution. In machines there is [`IntInputs`](crate::IntInputs).
#[cfg(feature = "tasks")]
#[track_caller]
pub fn input<'i>(asked: impl Into<Input<'i>>) -> Int {
    let asked = asked.into();
    Int::given(asked.name, dally_tasks::input(asked))
}

/// A number from outside that lies in this range, in a task: see [`input`].
///
/// # Panics
/// If the range is empty, and where [`input`] does.
#[cfg(feature = "tasks")]
#[track_caller]
pub fn input_in(name: &str, range: RangeInclusive<i64>) -> Int {
    input(Input::named(name).within(range))
}

/// A boolean from outside, in a task: see [`input`]. It is decided where it is asked for, so both are
/// explored.
///
/// # Panics
/// Where [`input`] does.
#[cfg(feature = "tasks")]
#[track_caller]
pub fn input_bool(name: &str) -> bool {
    input_in(name, 0..=1) == 1
}

/// One of these from outside, in a task: see [`input`]. It is decided where it is asked for, so all
/// are explored.
///
/// ```
/// #[derive(Clone, PartialEq, Debug)]
/// enum Mode { Fast, Safe, Off }
///
/// #[dally::test(search = "concolic", should_fail = "switched off")]
/// async fn a_mode_is_never_off() {
///     let mode = dally::input_of("mode", &[Mode::Fast, Mode::Safe, Mode::Off]);
///     assert!(mode != Mode::Off || !dally::input_bool("in use"), "switched off");
/// }
/// # fn main() {}
/// ```
///
/// # Panics
/// If there are none, and where [`input`] does.
#[cfg(feature = "tasks")]
#[track_caller]
pub fn input_of<T: Clone>(name: &str, among: &[T]) -> T {
    decided(input(Input::named(name).within(places(among))), among)
}

/// The places of what there is to choose from.
#[cfg(any(feature = "tasks", feature = "machines"))]
#[track_caller]
fn places<T>(among: &[T]) -> RangeInclusive<i64> {
    assert!(!among.is_empty(), "an input is asked for that is one of nothing");
    0..=among.len() as i64 - 1
}

/// What is at this place, by a branch for each that it is not.
#[cfg(any(feature = "tasks", feature = "machines"))]
#[track_caller]
fn decided<T: Clone>(place: Int, among: &[T]) -> T {
    let last = among.len() - 1;
    let found = (0..last).find(|&at| place == at as i64);
    among[found.unwrap_or(last)].clone()
}

/// Ends the execution, in a task, unless this holds: it then is no execution that the test is about.
/// That is no bug, and such executions are counted on their own.
///
/// ```
/// #[dally::test(search = "concolic")]
/// async fn quotients_are_smaller() {
///     let (a, b) = (dally::input_in("a", 0..=1000), dally::input_in("b", 0..=1000));
///     dally::assume(b != 0);
///     assert!(a / b <= a);
/// }
/// # fn main() {}
/// ```
#[cfg(feature = "tasks")]
pub fn assume(condition: bool) {
    if !condition {
        dally_core::panics::cut();
    }
}

/// Inputs in the handlers of machines, as integers whose comparisons are explored: see
/// [`input`](crate::input), which is for tasks.
#[cfg(feature = "machines")]
pub trait IntInputs {
    /// A number from outside: any 64-bit number.
    fn int<'i>(&mut self, asked: impl Into<Input<'i>>) -> Int;

    /// A number from outside that lies in this range.
    ///
    /// # Panics
    /// If the range is empty.
    #[track_caller]
    fn int_in(&mut self, name: &str, range: RangeInclusive<i64>) -> Int {
        self.int(Input::named(name).within(range))
    }

    /// A boolean from outside. It is decided where it is asked for, so both are explored.
    #[track_caller]
    fn bool_input(&mut self, name: &str) -> bool {
        self.int_in(name, 0..=1) == 1
    }

    /// One of these from outside. It is decided where it is asked for, so all are explored.
    ///
    /// # Panics
    /// If there are none.
    #[track_caller]
    fn input_of<T: Clone>(&mut self, name: &str, among: &[T]) -> T {
        decided(self.int(Input::named(name).within(places(among))), among)
    }

    /// Ends the execution unless this holds: it then is no execution that the test is about.
    fn assume(&mut self, condition: bool) {
        if !condition {
            dally_core::panics::cut();
        }
    }
}

#[cfg(feature = "machines")]
impl<M: dally_machines::Machine> IntInputs for dally_machines::Cx<'_, M> {
    fn int<'i>(&mut self, asked: impl Into<Input<'i>>) -> Int {
        let asked = asked.into();
        Int::given(asked.name, self.input(asked))
    }
}
