//! A value that is set once and waited for, in the shape of `tokio::sync::SetOnce`.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::OnceLock;

use dally_core::Mode;

use super::bound::Bound;
use super::queue::Queue;
use super::until::{Until, Words};
use crate::text::{Kind, Operation};
use crate::waker::rouse;

/// A value that is set once; others wait for it.
pub struct SetOnce<T> {
    /// What it was made with, or what it was given later.
    given: Option<T>,
    value: OnceLock<T>,
    waiting: Bound<State>,
}

struct State {
    set: bool,
    queue: Queue,
}

impl State {
    const fn new(set: bool) -> State {
        State { set, queue: Queue::new() }
    }
}

impl<T> SetOnce<T> {
    /// A cell without a value.
    #[track_caller]
    pub fn new() -> SetOnce<T> {
        SetOnce::new_with(None)
    }

    /// As [`SetOnce::new`], for statics.
    pub const fn const_new() -> SetOnce<T> {
        let waiting = Bound::late(Kind::Once, State::new(false));
        SetOnce { given: None, value: OnceLock::new(), waiting }
    }

    /// A cell with this value, if there is one.
    #[track_caller]
    pub fn new_with(value: Option<T>) -> SetOnce<T> {
        let waiting = Bound::new(Kind::Once, State::new(value.is_some()));
        SetOnce { given: value, value: OnceLock::new(), waiting }
    }

    /// A cell with this value, for statics.
    pub const fn const_new_with(value: T) -> SetOnce<T> {
        let waiting = Bound::late(Kind::Once, State::new(true));
        SetOnce { given: Some(value), value: OnceLock::new(), waiting }
    }

    /// Whether it has a value.
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    /// The value, if it has one.
    pub fn get(&self) -> Option<&T> {
        self.waiting.look(|_| ());
        self.there()
    }

    fn there(&self) -> Option<&T> {
        self.given.as_ref().or(self.value.get())
    }

    /// Gives it this value, unless it has one.
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        self.waiting.point();
        if self.initialized() {
            return Err(SetOnceError(value));
        }
        self.value.get_or_init(|| value);
        let operation = const { &Operation::moving::<T>("put", "into") };
        let woken = self.waiting.settle(
            |state| {
                state.set = true;
                state.queue.dismiss()
            },
            operation,
            Mode::ReadModifyWrite,
        );
        woken.into_iter().for_each(rouse);
        Ok(())
    }

    /// The value without the cell.
    pub fn into_inner(self) -> Option<T> {
        self.given.or(self.value.into_inner())
    }

    /// Waits for the value.
    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> {
        let operation = const { &Operation::plain("wait for the value of") };
        let words = Words { what: "`SetOnce::wait`", operation, at: Location::caller() };
        async move {
            let set = |state: &State| state.set;
            Until::new(&self.waiting, words, |state| &mut state.queue, set, |_| ()).await;
            self.there().expect("it was set")
        }
    }
}

impl<T> Default for SetOnce<T> {
    #[track_caller]
    fn default() -> SetOnce<T> {
        SetOnce::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnce").field("value", &self.get()).finish()
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    #[track_caller]
    fn clone(&self) -> SetOnce<T> {
        SetOnce::new_with(self.get().cloned())
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &SetOnce<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T> From<T> for SetOnce<T> {
    #[track_caller]
    fn from(value: T) -> SetOnce<T> {
        SetOnce::new_with(Some(value))
    }
}

/// The cell has a value; here is the other one back.
#[derive(Debug, PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetOnceError")
    }
}

impl<T: fmt::Debug> Error for SetOnceError<T> {}
