//! The ends of a watch channel.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::panic::Location;
use std::sync::{Arc, RwLockReadGuard};

use super::error::{RecvError, SendError};
use super::{Shared, channel};
use crate::text::Operation;

/// The end that receives: it sees the latest value, and whether it has seen it.
#[derive(Debug)]
pub struct Receiver<T> {
    pub(super) shared: Arc<Shared<T>>,
    /// The version that it has seen.
    pub(super) version: u64,
}

/// The end that sends; clones put into the same channel.
#[derive(Debug)]
pub struct Sender<T> {
    pub(super) shared: Arc<Shared<T>>,
}

/// A look at the value. Whoever changes it waits until this is dropped.
#[derive(Debug)]
#[clippy::has_significant_drop]
pub struct Ref<'a, T> {
    /// Absent only while this is dropped.
    value: Option<RwLockReadGuard<'a, T>>,
    shared: ReadBy<'a, T>,
    has_changed: bool,
}

/// Who looks: the channel hears when it does no more.
struct ReadBy<'a, T>(&'a Shared<T>);

impl<T> fmt::Debug for ReadBy<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl<T> Ref<'_, T> {
    /// Whether the receiver had not seen the value.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is there until this is dropped")
    }
}

impl<T> Drop for Ref<'_, T> {
    fn drop(&mut self) {
        self.value = None;
        self.shared.0.unread();
    }
}

impl<T> Shared<T> {
    /// A look at the value, for somebody who has seen this version; answers also the present one.
    fn look_at(&self, seen: Option<u64>) -> (Ref<'_, T>, u64) {
        let (value, version) = self.read();
        let has_changed = seen.is_some_and(|seen| seen != version);
        (Ref { value: Some(value), shared: ReadBy(self), has_changed }, version)
    }
}

impl<T> Receiver<T> {
    /// Looks at the latest value, which does not count as having seen it.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.look_at(Some(self.version)).0
    }

    /// Looks at the latest value and has seen it.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let (value, version) = self.shared.look_at(Some(self.version));
        self.version = version;
        value
    }

    /// Whether there is a value that it has not seen; an error if there is no sender.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let (version, senders) = self.shared.state.look(|state| (state.version, state.senders));
        if senders == 0 { Err(RecvError(())) } else { Ok(version != self.version) }
    }

    /// Whether there is no sender.
    pub fn is_closed(&self) -> bool {
        self.shared.count(|state| state.senders) == 0
    }

    /// From here on it has not seen the value.
    pub fn mark_changed(&mut self) {
        self.version = self.version.wrapping_sub(1);
    }

    /// From here on it has seen the value.
    pub fn mark_unchanged(&mut self) {
        self.version = self.shared.state.look(|state| state.version);
    }

    /// Waits for a value that it has not seen, and has seen it; an error if there is no sender.
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        let at = Location::caller();
        async move {
            self.version = self.shared.changed(self.version, at).await.ok_or(RecvError(()))?;
            Ok(())
        }
    }

    /// Waits for a value of which `f` is true, and looks at it; an error if there is no sender.
    #[track_caller]
    pub fn wait_for(
        &mut self,
        mut f: impl FnMut(&T) -> bool,
    ) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> {
        let at = Location::caller();
        async move {
            let mut closed = false;
            loop {
                {
                    let (value, version) = self.shared.look_at(Some(self.version));
                    self.version = version;
                    if (!closed || value.has_changed) && f(&value) {
                        return Ok(value);
                    }
                }
                if closed {
                    return Err(RecvError(()));
                }
                match self.shared.changed(self.version, at).await {
                    Some(version) => self.version = version,
                    None => closed = true,
                }
            }
        }
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    fn of(shared: &Arc<Shared<T>>, version: u64) -> Receiver<T> {
        shared.handles(Operation::SILENT, |state| {
            state.receivers += 1;
            Vec::new()
        });
        Receiver { shared: shared.clone(), version }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Receiver<T> {
        Receiver::of(&self.shared, self.version)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.state.point();
        self.shared.handles(const { &Operation::plain("drop a receiver of") }, |state| {
            state.receivers -= 1;
            if state.receivers == 0 { state.closed.dismiss() } else { Vec::new() }
        });
    }
}

impl<T> Sender<T> {
    /// A channel without a receiver.
    #[track_caller]
    pub fn new(init: T) -> Sender<T> {
        channel(init).0
    }

    /// Puts a value in the place of the one before, if there is a receiver.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.receiver_count() == 0 {
            return Err(SendError(value));
        }
        self.send_replace(value);
        Ok(())
    }

    /// Changes the value in its place.
    #[track_caller]
    pub fn send_modify<F>(&self, modify: F)
    where
        F: FnOnce(&mut T),
    {
        self.shared.write(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value in its place; receivers hear of it if the function says that it has.
    #[track_caller]
    pub fn send_if_modified<F>(&self, modify: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        self.shared.write(modify)
    }

    /// Puts a value in the place of the one before, and answers that.
    #[track_caller]
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|old| std::mem::swap(old, &mut value));
        value
    }

    /// Looks at the latest value.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.look_at(None).0
    }

    /// Whether there is no receiver.
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        self.shared.closed(Location::caller())
    }

    /// Another receiver, which has seen the present value.
    pub fn subscribe(&self) -> Receiver<T> {
        let version = self.shared.state.look(|state| state.version);
        Receiver::of(&self.shared, version)
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.shared.count(|state| state.receivers)
    }

    /// How many senders there are.
    pub fn sender_count(&self) -> usize {
        self.shared.count(|state| state.senders)
    }

    /// Whether both belong to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.shared.handles(Operation::SILENT, |state| {
            state.senders += 1;
            Vec::new()
        });
        Sender { shared: self.shared.clone() }
    }
}

impl<T: Default> Default for Sender<T> {
    #[track_caller]
    fn default() -> Sender<T> {
        Sender::new(T::default())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.state.point();
        self.shared.handles(const { &Operation::plain("drop a sender of") }, |state| {
            state.senders -= 1;
            if state.senders == 0 { state.changed.dismiss() } else { Vec::new() }
        });
    }
}
