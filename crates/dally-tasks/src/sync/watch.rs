//! The latest value for many receivers, in the shape of `tokio::sync::watch`.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use dally_core::Mode;

use super::bound::Bound;
use super::queue::Queue;
use super::until::{Until, Words};
use crate::task;
use crate::text::{Kind, Operation};
use crate::waker::rouse;

pub use self::ends::{Receiver, Ref, Sender};

mod ends;

/// A channel that holds the latest value.
#[track_caller]
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let state = State {
        version: 0,
        senders: 1,
        receivers: 1,
        readers: 0,
        changed: Queue::new(),
        unread: Queue::new(),
        closed: Queue::new(),
    };
    let shared = Shared { state: Bound::new(Kind::Watch, state), value: RwLock::new(init) };
    let shared = Arc::new(shared);
    (Sender { shared: shared.clone() }, Receiver { shared, version: 0 })
}

struct Shared<T> {
    state: Bound<State>,
    value: RwLock<T>,
}

struct State {
    version: u64,
    senders: usize,
    receivers: usize,
    /// How many look at the value.
    readers: usize,
    /// Those who wait for another value.
    changed: Queue,
    /// Those who wait until nobody looks at the value.
    unread: Queue,
    /// Those who wait until there is no receiver.
    closed: Queue,
}

impl<T> Shared<T> {
    /// Looks at the value; answers also its version.
    fn read(&self) -> (RwLockReadGuard<'_, T>, u64) {
        self.state.point();
        let version = self.state.settle(
            |state| {
                state.readers += 1;
                state.version
            },
            const { &Operation::plain("look at") },
            Mode::Read,
        );
        (self.value.read().unwrap_or_else(PoisonError::into_inner), version)
    }

    /// Somebody looks no more.
    fn unread(&self) {
        let woken = self.state.settle(
            |state| {
                state.readers -= 1;
                if state.readers == 0 { state.unread.dismiss() } else { Vec::new() }
            },
            Operation::SILENT,
            Mode::Read,
        );
        woken.into_iter().for_each(rouse);
    }

    /// Changes the value, and wakes those who wait for that if `modify` says so.
    #[track_caller]
    fn write(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        self.state.point();
        // Who looks at the value keeps the thread of whoever changes it waiting.
        if self.state.look(|state| state.readers > 0) {
            let operation = const { &Operation::plain("change") };
            let words = Words { what: "`watch::Sender::send`", operation, at: Location::caller() };
            let ready = |state: &State| state.readers == 0;
            let unread = Until::new(&self.state, words, |state| &mut state.unread, ready, |_| ());
            task::stall(words.what, unread);
        }
        let modified = {
            let mut value = self.value.write().unwrap_or_else(PoisonError::into_inner);
            modify(&mut value)
        };
        let woken = self.state.settle(
            |state| {
                if !modified {
                    return Vec::new();
                }
                state.version += 1;
                state.changed.dismiss()
            },
            const { &Operation::moving::<T>("put", "into") },
            Mode::ReadModifyWrite,
        );
        woken.into_iter().for_each(rouse);
        modified
    }

    fn count(&self, of: impl FnOnce(&State) -> usize) -> usize {
        self.state.look(of)
    }

    /// Waits until another version than this is there; answers it, or `None` if there is no sender.
    fn changed(
        &self,
        seen: u64,
        at: &'static Location<'static>,
    ) -> impl Future<Output = Option<u64>> + '_ {
        let operation = const { &Operation::plain("see a change of") };
        let words = Words { what: "`watch::Receiver::changed`", operation, at };
        let ready = move |state: &State| state.version != seen || state.senders == 0;
        let take = move |state: &mut State| (state.version != seen).then_some(state.version);
        Until::new(&self.state, words, |state| &mut state.changed, ready, take)
    }

    /// Waits until there is no receiver.
    fn closed(&self, at: &'static Location<'static>) -> impl Future<Output = ()> + '_ {
        let operation = const { &Operation::plain("see the last receiver drop from") };
        let words = Words { what: "`watch::Sender::closed`", operation, at };
        let ready = |state: &State| state.receivers == 0;
        Until::new(&self.state, words, |state| &mut state.closed, ready, |_| ())
    }

    /// Adds or drops a handle.
    fn handles(
        &self,
        operation: &'static Operation,
        f: impl FnOnce(&mut State) -> Vec<std::task::Waker>,
    ) {
        let woken = self.state.settle(f, operation, Mode::ReadModifyWrite);
        woken.into_iter().for_each(rouse);
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.state.look(|state| state.version);
        let mut shown = f.debug_struct("Shared");
        match self.value.try_read() {
            Ok(value) => shown.field("value", &*value),
            Err(_) => shown.field("value", &format_args!("<locked>")),
        };
        shown.field("version", &version).finish_non_exhaustive()
    }
}

/// Why nothing was sent or received.
pub mod error {
    use std::error::Error;
    use std::fmt;

    /// There is no receiver; here is the value back.
    #[derive(PartialEq, Eq, Clone, Copy)]
    pub struct SendError<T>(pub T);

    impl<T> fmt::Debug for SendError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("SendError").finish_non_exhaustive()
        }
    }

    impl<T> fmt::Display for SendError<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl<T> Error for SendError<T> {}

    /// There is no sender.
    #[derive(Debug, Clone)]
    pub struct RecvError(pub(super) ());

    impl fmt::Display for RecvError {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("channel closed")
        }
    }

    impl Error for RecvError {}
}
