//! Recycled memory: emptied messages, and workers of ended executions. Interned workers of states
//! that a search keeps.

use std::any::{Any, TypeId};
use std::sync::Mutex;

use triomphe::Arc;
use unsize::{CoerceUnsize, Coercion};

use crate::message::{Content, Message, Slot};
use crate::worker::Worker;

/// How many emptied messages of one type are kept: more than most programs have in flight.
const KEPT: usize = 1024;

/// How many workers are interned, each in the place that its hash determines. A search keeps states
/// by the million, and most of their machines are in one of a few thousand conditions.
const INTERNED: usize = 1 << 13;

/// The memory that a system reuses, by type. A program has few types, so lists are scanned.
#[derive(Default)]
pub(crate) struct Pool {
    messages: Vec<(TypeId, Vec<Arc<dyn Content>>)>,
    /// By the kind of the machine. A worker may still hold the values of its last execution.
    workers: Vec<(u64, Vec<Arc<Worker>>)>,
    donated: Mutex<Vec<Arc<Worker>>>,
    interned: Vec<Option<Arc<Worker>>>,
}

impl Pool {
    #[inline]
    pub(crate) fn message<S: Slot<E>, E>(&mut self, event: E) -> Message {
        match S::in_place(event) {
            Ok(message) => message,
            Err(event) => self.shared(S::new(event)),
        }
    }

    pub(crate) fn shared<S: Content>(&mut self, content: S) -> Message {
        let kind = TypeId::of::<S>();
        if let Some((_, emptied)) = self.messages.iter_mut().find(|bucket| bucket.0 == kind)
            && let Some(mut message) = emptied.pop()
        {
            let slot = Arc::get_mut(&mut message)
                .and_then(|content| (content as &mut dyn Any).downcast_mut::<S>());
            if let Some(slot) = slot {
                *slot = content;
                return Message::shared(message);
            }
        }
        Message::shared(Arc::new(content).unsize(Coercion!(to dyn Content)))
    }

    #[inline]
    pub(crate) fn put(&mut self, message: Message) {
        if let Some(content) = message.into_shared() {
            self.recycle(content);
        }
    }

    #[inline(never)]
    fn recycle(&mut self, mut message: Arc<dyn Content>) {
        let Some(content) = Arc::get_mut(&mut message) else { return };
        let kind = content.clear();
        match self.messages.iter_mut().find(|bucket| bucket.0 == kind) {
            Some((_, emptied)) if emptied.len() < KEPT => emptied.push(message),
            Some(_) => {}
            None => self.messages.push((kind, vec![message])),
        }
    }

    /// A worker whose machine is of this kind; its other contents are arbitrary.
    pub(crate) fn worker(&mut self, kind: u64) -> Option<Arc<Worker>> {
        for (of, shelf) in &mut self.workers {
            if *of == kind
                && let Some(spare) = shelf.pop()
            {
                return Some(spare);
            }
        }
        self.unpack(kind)
    }

    /// Sorts the donated workers into the shelves, and takes one of this kind.
    #[inline(never)]
    fn unpack(&mut self, kind: u64) -> Option<Arc<Worker>> {
        let donated = self.donated.get_mut().ok()?;
        if donated.is_empty() {
            return None;
        }
        let mut donated = std::mem::take(donated);
        donated.drain(..).for_each(|worker| self.keep(worker));
        if let Ok(empty) = self.donated.get_mut() {
            *empty = donated;
        }
        self.workers.iter_mut().find(|shelf| shelf.0 == kind)?.1.pop()
    }

    /// Keeps a worker that nothing else shares, with its contents.
    #[inline]
    pub(crate) fn keep(&mut self, worker: Arc<Worker>) {
        let kind = worker.kind;
        match self.workers.iter_mut().find(|shelf| shelf.0 == kind) {
            Some((_, spare)) if spare.len() < KEPT => spare.push(worker),
            Some(_) => {}
            None => self.workers.push((kind, vec![worker])),
        }
    }

    /// Replaces a worker of this hash, which nothing else shares, by an interned one that is the same,
    /// or else interns it.
    pub(crate) fn intern(&mut self, hash: u64, worker: &mut Arc<Worker>) {
        if self.interned.is_empty() {
            self.interned.resize(INTERNED, None);
        }
        let place = &mut self.interned[(hash >> 32) as usize % INTERNED];
        let unused = match place {
            Some(known) if known.same(worker) => Some(std::mem::replace(worker, known.clone())),
            _ => place.replace(worker.clone()),
        };
        if let Some(unused) = unused.filter(Arc::is_unique) {
            self.keep(unused);
        }
    }

    /// As [`Pool::keep`], called by another system. If the lock is taken, the worker is dropped.
    pub(crate) fn donate(&self, worker: Arc<Worker>) {
        if let Ok(mut donated) = self.donated.try_lock()
            && donated.len() < KEPT
        {
            donated.push(worker);
        }
    }

    /// Keeps a worker whose execution is over, and drops its contents.
    pub(crate) fn put_worker(&mut self, mut worker: Arc<Worker>) {
        if let Some(unshared) = Arc::get_mut(&mut worker) {
            unshared.clear(self);
            self.keep(worker);
        }
    }
}
