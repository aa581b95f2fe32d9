//! Waiting for something to become true of a primitive, where all who wait are woken when it may have.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

use super::bound::Bound;
use super::queue::Queue;
use crate::current;
use crate::text::{Operation, Wait};

/// What somebody waits for, in words.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub what: &'static str,
    pub operation: &'static Operation,
    pub at: &'static Location<'static>,
}

/// Waits until `ready` says so of the state, and then does `take`.
pub(super) struct Until<'a, S, R, T> {
    on: &'a Bound<S>,
    words: Words,
    /// Those who wait; whoever makes it true dismisses them.
    queue: fn(&mut S) -> &mut Queue,
    ready: R,
    take: T,
    ticket: Option<u64>,
    waited: bool,
}

impl<'a, S, R, T> Until<'a, S, R, T> {
    pub fn new<V>(
        on: &'a Bound<S>,
        words: Words,
        queue: fn(&mut S) -> &mut Queue,
        ready: R,
        take: T,
    ) -> Until<'a, S, R, T>
    where
        R: FnMut(&S) -> bool,
        T: FnMut(&mut S) -> V,
    {
        Until { on, words, queue, ready, take, ticket: None, waited: false }
    }
}

impl<S, R, T> Unpin for Until<'_, S, R, T> {}

impl<S, R, T, V> Future for Until<'_, S, R, T>
where
    R: FnMut(&S) -> bool,
    T: FnMut(&mut S) -> V,
{
    type Output = V;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<V> {
        let mut old: Option<Waker> = None;
        let this = &mut *self;
        let Words { operation, at, .. } = this.words;
        let done = current::attempt(cx, |passed| {
            this.on.with(at, |exec, state, object| {
                let next = Access::update(Resource::Object(object.id));
                if !(this.ready)(state) {
                    let queue = (this.queue)(state);
                    match this.ticket.filter(|&ticket| !queue.is_over(ticket)) {
                        Some(ticket) => old = queue.ask(ticket, Some(cx.waker())).1,
                        None => this.ticket = Some(queue.push(Some(cx.waker().clone()))),
                    }
                    this.waited = true;
                    exec.touch_silently(object, Mode::Read);
                    let wait = Wait { object: *object, operation, place: PlaceOf::Operation, at };
                    exec.wait(wait, next, cx.waker());
                    return Some(Poll::Pending);
                }
                if !passed && exec.stands_before(cx.waker(), this.waited, Some(next)) {
                    // It has seen that there is no need to wait.
                    exec.touch_silently(object, Mode::Read);
                    return None;
                }
                if let Some(ticket) = this.ticket.take() {
                    old = (this.queue)(state).leave(ticket).1;
                }
                this.waited = false;
                exec.touch(object, Mode::ReadModifyWrite, operation);
                Some(Poll::Ready((this.take)(state)))
            })
        });
        drop(old);
        done
    }
}

impl<S, R, T> Drop for Until<'_, S, R, T> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let queue = self.queue;
        let leave = |state: &mut S| queue(state).leave(ticket);
        drop(self.on.settle(leave, Operation::SILENT, Mode::Read));
    }
}
