//! Tasks in the order in which they came to wait.

use std::collections::VecDeque;
use std::task::Waker;

use super::notify::Which;

/// A queue that is served first come, first served, as tokio's primitives promise. What is
/// granted to a waiter is its own, even before it steps: nobody overtakes.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Sorted by ticket.
    entries: VecDeque<Entry>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    ticket: u64,
    granted: bool,
    /// Its turn came because it was the last.
    as_last: bool,
    waker: Option<Waker>,
}

/// How a waiter stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// Its turn has come, and its place is given up.
    Granted,
    NotYet,
    /// Everybody was sent away.
    Gone,
}

impl Queue {
    pub const fn new() -> Queue {
        Queue { entries: VecDeque::new(), next: 0 }
    }

    pub fn push(&mut self, waker: Option<Waker>) -> u64 {
        let ticket = self.next;
        self.next += 1;
        self.entries.push_back(Entry { ticket, granted: false, as_last: false, waker });
        ticket
    }

    /// It is the first one's turn; answers whether there was one, and the waker to call.
    #[inline]
    pub fn grant(&mut self) -> Option<Option<Waker>> {
        if self.entries.is_empty() {
            return None;
        }
        let first = self.entries.iter_mut().find(|entry| !entry.granted)?;
        first.granted = true;
        Some(first.waker.take())
    }

    /// It is the last one's turn; answers as [`Queue::grant`].
    pub fn grant_last(&mut self) -> Option<Option<Waker>> {
        let last = self.entries.iter_mut().rfind(|entry| !entry.granted)?;
        (last.granted, last.as_last) = (true, true);
        Some(last.waker.take())
    }

    /// As the first or the last of those who waited a waiter's turn has come.
    pub fn granted_as(&self, ticket: u64) -> Which {
        match self.entries.binary_search_by_key(&ticket, |entry| entry.ticket) {
            Ok(place) if self.entries[place].as_last => Which::Last,
            _ => Which::First,
        }
    }

    /// Asks for a turn. While it has not come, `waker` is the one to call, if there is one; the
    /// one that it replaces is handed back, to be dropped elsewhere.
    #[inline]
    pub fn ask(&mut self, ticket: u64, waker: Option<&Waker>) -> (Turn, Option<Waker>) {
        let Ok(place) = self.entries.binary_search_by_key(&ticket, |entry| entry.ticket) else {
            return (Turn::Gone, None);
        };
        if self.entries[place].granted {
            return (Turn::Granted, self.entries.remove(place).and_then(|entry| entry.waker));
        }
        let old = waker.and_then(|waker| self.entries[place].waker.replace(waker.clone()));
        (Turn::NotYet, old)
    }

    /// Whether a waiter need not wait any more.
    #[inline]
    pub fn is_over(&self, ticket: u64) -> bool {
        match self.entries.binary_search_by_key(&ticket, |entry| entry.ticket) {
            Ok(place) => self.entries[place].granted,
            Err(_) => true,
        }
    }

    /// A waiter gives up; answers whether its turn had come, and its waker.
    pub fn leave(&mut self, ticket: u64) -> (bool, Option<Waker>) {
        let place = self.entries.binary_search_by_key(&ticket, |entry| entry.ticket);
        match place.ok().and_then(|place| self.entries.remove(place)) {
            Some(entry) => (entry.granted, entry.waker),
            None => (false, None),
        }
    }

    /// Sends everybody away whose turn has not come, for the caller to wake.
    pub fn dismiss(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        if self.entries.is_empty() {
            return wakers;
        }
        self.entries.retain_mut(|entry| {
            if !entry.granted {
                wakers.extend(entry.waker.take());
            }
            entry.granted
        });
        wakers
    }
}
