//! A bounded buffer with a lost wake-up, the classic of condition variables.
//!
//! One writer puts ten items into a buffer with room for one; two readers take five each.
//! Whoever cannot go on waits to be notified, and whoever changes the buffer notifies one waiter.
//! In the correct version readers and writers wait apart. With [`Bug::LostWakeup`] they wait for
//! the same notification: a reader that made room may wake the other reader, who finds nothing
//! and waits again, while the writer is never told. Then all three wait for ever.
//!
//! From "Learning-based controlled concurrency testing" (Mukherjee et al., OOPSLA 2020), where
//! it is BoundedBuffer.

use std::sync::Arc;

use dally::tasks::sync::{Mutex, Notify};
use dally::tasks::{self, TaskProgram};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// Both conditions, "not empty" and "not full", share one notification.
    LostWakeup,
}

impl Bug {
    fn named(name: &str) -> Option<Bug> {
        (name == "lost-wakeup").then_some(Bug::LostWakeup)
    }
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "bounded-buffer",
    summary: "two readers and a writer share a buffer with room for one item",
    bugs: &[PlantedBug { name: "lost-wakeup", summary: "a notification wakes the wrong waiter" }],
    max_steps: 500,
    program: |bug| Arc::new(program(bug.and_then(Bug::named))),
};

/// One writer and two readers, with this bug or without any.
pub fn program(bug: Option<Bug>) -> TaskProgram {
    TaskProgram::new(PROTOCOL.name, move || async move {
        let buffer = Arc::new(Buffer::new(bug));
        let readers = [(), ()].map(|()| {
            let buffer = buffer.clone();
            tasks::spawn(async move {
                let mut sum = 0;
                for _ in 0..ITEMS / 2 {
                    sum += buffer.take().await;
                }
                sum
            })
        });
        for item in 0..ITEMS {
            buffer.put(item).await;
        }
        let mut sum = 0;
        for reader in readers {
            sum += reader.await.expect("readers do not fail");
        }
        assert_eq!(sum, (0..ITEMS).sum::<u32>(), "an item was lost or doubled");
    })
}

const ITEMS: u32 = 10;

struct Buffer {
    item: Mutex<Option<u32>>,
    not_empty: Arc<Notify>,
    not_full: Arc<Notify>,
}

impl Buffer {
    fn new(bug: Option<Bug>) -> Buffer {
        let not_empty = Arc::new(Notify::new());
        let not_full = match bug {
            Some(Bug::LostWakeup) => not_empty.clone(),
            None => Arc::new(Notify::new()),
        };
        Buffer { item: Mutex::new(None), not_empty, not_full }
    }

    async fn put(&self, item: u32) {
        loop {
            let mut slot = self.item.lock().await;
            if slot.is_none() {
                *slot = Some(item);
                tasks::observe_shared("buffer", &*slot);
                self.not_empty.notify_one();
                return;
            }
            drop(slot);
            self.not_full.notified().await;
        }
    }

    async fn take(&self) -> u32 {
        loop {
            let mut slot = self.item.lock().await;
            if let Some(item) = slot.take() {
                tasks::observe_shared("buffer", &*slot);
                self.not_full.notify_one();
                return item;
            }
            drop(slot);
            self.not_empty.notified().await;
        }
    }
}
