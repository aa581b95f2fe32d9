//! Permits that are given out first come, first served: what semaphores and locks are made of.

use std::collections::VecDeque;
use std::panic::Location;
use std::task::{Context, Poll, Waker};

use dally_core::bug::PlaceOf;
use dally_core::{Access, Mode, Resource};

use super::bound::Bound;
use super::semaphore::{AcquireError, TryAcquireError};
use crate::current;
use crate::text::{Operation, Wait};
use crate::waker::rouse;

/// How many permits are free, and who waits for some. Whoever waits takes what there is and is given what
/// comes, so nobody overtakes.
pub(super) struct Permits {
    pub free: usize,
    pub closed: bool,
    /// Sorted by ticket.
    waiters: VecDeque<Waiter>,
    next: u64,
}

struct Waiter {
    ticket: u64,
    wants: usize,
    /// How many it has not got yet. With 0 it stays until it comes for them.
    missing: usize,
    waker: Option<Waker>,
}

/// The most permits that there can be.
pub(super) const MOST: usize = usize::MAX >> 3;

impl Permits {
    pub const fn new(free: usize) -> Permits {
        Permits { free, closed: false, waiters: VecDeque::new(), next: 0 }
    }

    pub fn take(&mut self, wants: usize) -> Result<(), TryAcquireError> {
        if self.closed {
            return Err(TryAcquireError::Closed);
        }
        self.free = self.free.checked_sub(wants).ok_or(TryAcquireError::NoPermits)?;
        Ok(())
    }

    /// Gives permits to those who wait and keeps the rest; answers whom to wake.
    #[track_caller]
    pub fn add(&mut self, mut more: usize) -> Vec<Waker> {
        let mut woken = Vec::new();
        for waiter in &mut self.waiters {
            // Who was sent away is given nothing more.
            if more == 0 || self.closed {
                break;
            }
            let given = waiter.missing.min(more);
            if given > 0 {
                waiter.missing -= given;
                more -= given;
                if waiter.missing == 0 {
                    woken.extend(waiter.waker.take());
                }
            }
        }
        assert!(
            more <= MOST && self.free + more <= MOST,
            "number of added permits ({more}) would overflow MAX_PERMITS ({MOST})"
        );
        self.free += more;
        woken
    }

    /// As [`Permits::add`] for one permit.
    #[inline]
    pub fn add_one(&mut self) -> Option<Waker> {
        match self.waiters.iter_mut().find(|waiter| waiter.missing > 0 && !self.closed) {
            None => {
                self.free += 1;
                None
            }
            Some(waiter) => {
                waiter.missing -= 1;
                if waiter.missing == 0 { waiter.waker.take() } else { None }
            }
        }
    }

    /// Takes what there is and waits for the rest; answers the ticket.
    pub fn enqueue(&mut self, wants: usize, waker: Waker) -> u64 {
        let ticket = self.next;
        self.next += 1;
        let missing = wants - std::mem::take(&mut self.free);
        self.waiters.push_back(Waiter { ticket, wants, missing, waker: Some(waker) });
        ticket
    }

    /// Whether a waiter has all permits. While it has not, `waker` is the one to call; the one that it replaces is
    /// handed back, to be dropped elsewhere.
    pub fn ask(&mut self, ticket: u64, waker: &Waker) -> (bool, Option<Waker>) {
        match self.waiter(ticket) {
            Some(waiter) if waiter.missing > 0 => (false, waiter.waker.replace(waker.clone())),
            _ => (true, self.leave(ticket).1),
        }
    }

    /// Sends everybody away who waits; answers whom to wake.
    pub fn close(&mut self) -> Vec<Waker> {
        self.closed = true;
        self.waiters.iter_mut().filter_map(|waiter| waiter.waker.take()).collect()
    }

    /// A waiter gives up or is done; answers the permits that it has.
    pub fn leave(&mut self, ticket: u64) -> (usize, Option<Waker>) {
        let place = self.waiters.binary_search_by_key(&ticket, |waiter| waiter.ticket);
        match place.ok().and_then(|place| self.waiters.remove(place)) {
            Some(waiter) => (waiter.wants - waiter.missing, waiter.waker),
            None => (0, None),
        }
    }

    fn waiter(&mut self, ticket: u64) -> Option<&mut Waiter> {
        let place = self.waiters.binary_search_by_key(&ticket, |waiter| waiter.ticket).ok()?;
        self.waiters.get_mut(place)
    }

    /// Whether a waiter need not wait any more.
    pub fn is_over(&mut self, ticket: u64) -> bool {
        self.closed || self.waiter(ticket).is_none_or(|waiter| waiter.missing == 0)
    }
}

/// The way to permits: how far somebody has come.
pub(super) struct Attempt {
    pub wants: usize,
    ticket: Option<u64>,
    operation: &'static Operation,
    at: &'static Location<'static>,
}

impl Attempt {
    #[track_caller]
    pub fn new(wants: usize, operation: &'static Operation) -> Attempt {
        Attempt { wants, ticket: None, operation, at: Location::caller() }
    }

    pub fn poll(
        &mut self,
        permits: &Bound<Permits>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), AcquireError>> {
        let mut old = None;
        let taken =
            current::attempt(cx, |passed| self.attempt(permits, cx.waker(), passed, &mut old));
        drop(old);
        taken
    }

    /// As [`current::attempt`] wants it. Answers also a waker to drop.
    fn attempt(
        &mut self,
        permits: &Bound<Permits>,
        waker: &Waker,
        passed: bool,
        old: &mut Option<Waker>,
    ) -> Option<Poll<Result<(), AcquireError>>> {
        permits.with(self.at, |exec, permits, object| {
            let next = Access::update(Resource::Object(object.id));
            // Coming to wait has an effect, the place in the queue and the permits that it takes, so
            // there is a point before it whether or not there are enough.
            if !passed
                && self.ticket.is_none_or(|ticket| permits.is_over(ticket))
                && exec.stands_before(waker, self.ticket.is_some(), Some(next))
            {
                return None;
            }
            if permits.closed {
                exec.touch(
                    object,
                    Mode::ReadModifyWrite,
                    const { &Operation::plain("find closed") },
                );
                return Some(Poll::Ready(Err(AcquireError(()))));
            }
            let ticket = match self.ticket {
                None if permits.take(self.wants).is_ok() => {
                    exec.touch(object, Mode::ReadModifyWrite, self.operation);
                    exec.locks_some(object, permits.free);
                    return Some(Poll::Ready(Ok(())));
                }
                None => {
                    let ticket = permits.enqueue(self.wants, waker.clone());
                    self.ticket = Some(ticket);
                    // Its place in the queue depends on who came before.
                    exec.touch_silently(object, Mode::ReadModifyWrite);
                    ticket
                }
                Some(ticket) => ticket,
            };
            let (done, replaced) = permits.ask(ticket, waker);
            *old = replaced;
            if !done {
                exec.touch_silently(object, Mode::Read);
                let (operation, at) = (self.operation, self.at);
                let wait = Wait { object: *object, operation, place: PlaceOf::Operation, at };
                exec.wait(wait, next, waker);
                return Some(Poll::Pending);
            }
            self.ticket = None;
            exec.touch(object, Mode::ReadModifyWrite, self.operation);
            exec.locks_some(object, permits.free);
            Some(Poll::Ready(Ok(())))
        })
    }

    /// Gives up: what it has got goes to others.
    pub fn give_up(&mut self, permits: &Bound<Permits>) {
        let Some(ticket) = self.ticket.take() else { return };
        let leave = |permits: &mut Permits| {
            let (has, waker) = permits.leave(ticket);
            (permits.add(has), waker)
        };
        let (woken, own) = permits.settle(leave, Operation::SILENT, Mode::ReadModifyWrite);
        drop(own);
        woken.into_iter().for_each(rouse);
    }
}

/// Tries to take permits at once.
#[track_caller]
pub(super) fn try_take(
    permits: &Bound<Permits>,
    wants: usize,
    deeds: (&'static Operation, &'static Operation),
) -> Result<(), TryAcquireError> {
    permits.point();
    permits.with(Location::caller(), |exec, permits, object| {
        let taken = permits.take(wants);
        // Failing looks at the permits as well, and orders this step with the holder's.
        let operation = if taken.is_ok() { deeds.0 } else { deeds.1 };
        exec.touch(object, Mode::ReadModifyWrite, operation);
        if taken.is_ok() {
            exec.locks_some(object, permits.free);
        }
        taken
    })
}

/// Gives permits back, in a destructor too.
#[track_caller]
pub(super) fn give_back(permits: &Bound<Permits>, more: usize, operation: &'static Operation) {
    permits.point();
    let woken = permits.settle_held(|permits| permits.add(more), |permits| permits.free, operation);
    woken.into_iter().for_each(rouse);
}
