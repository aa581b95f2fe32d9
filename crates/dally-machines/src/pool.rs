//! Memory that is used again: emptied messages, and workers of ended executions.

use std::any::{Any, TypeId};

use triomphe::Arc;
use unsize::{CoerceUnsize, Coercion};

use crate::message::{Content, Message};
use crate::worker::Worker;

/// How many emptied messages of one type are kept: more than are in flight in most programs.
const KEPT: usize = 1024;

/// What a system has to reuse. A program uses few types, so they are found by looking along a
/// short list.
#[derive(Default)]
pub(crate) struct Pool {
    messages: Vec<(TypeId, Vec<Message>)>,
    workers: Vec<(TypeId, Vec<Arc<Worker>>)>,
}

impl Pool {
    /// A message with this content.
    #[inline]
    pub(crate) fn message<S: Content>(&mut self, content: S) -> Message {
        let kind = TypeId::of::<S>();
        if let Some((_, emptied)) = self.messages.iter_mut().find(|bucket| bucket.0 == kind)
            && let Some(mut message) = emptied.pop()
        {
            let slot = Arc::get_mut(&mut message)
                .and_then(|content| (content as &mut dyn Any).downcast_mut::<S>());
            if let Some(slot) = slot {
                *slot = content;
                return message;
            }
        }
        Arc::new(content).unsize(Coercion!(to dyn Content))
    }

    /// Takes back a message that is done with.
    #[inline]
    pub(crate) fn put(&mut self, mut message: Message) {
        let Some(content) = Arc::get_mut(&mut message) else { return };
        let kind = content.clear();
        match self.messages.iter_mut().find(|bucket| bucket.0 == kind) {
            Some((_, emptied)) if emptied.len() < KEPT => emptied.push(message),
            Some(_) => {}
            None => self.messages.push((kind, vec![message])),
        }
    }

    /// A worker of an ended execution whose machine is of this type.
    pub(crate) fn worker(&mut self, machine: TypeId) -> Option<Arc<Worker>> {
        self.workers.iter_mut().find(|bucket| bucket.0 == machine)?.1.pop()
    }

    /// Takes back a worker.
    pub(crate) fn put_worker(&mut self, mut worker: Arc<Worker>) {
        let Some(unshared) = Arc::get_mut(&mut worker) else { return };
        unshared.clear(self);
        let kind = unshared.cell.machine();
        match self.workers.iter_mut().find(|bucket| bucket.0 == kind) {
            Some((_, spare)) if spare.len() < KEPT => spare.push(worker),
            Some(_) => {}
            None => self.workers.push((kind, vec![worker])),
        }
    }
}
