//! A bounded buffer with a lost wake-up, the classic of condition variables.
//!
//! Four writers put five items each into a buffer with room for three; four readers take five each.
//! Whoever cannot go on waits for a condition, and whoever changes the buffer notifies one waiter.
//! In the correct version readers and writers wait for conditions of their own. With
//! [`Bug::LostWakeup`] they wait for the same one: a reader that made room may wake another reader,
//! who finds nothing and waits again, while no writer is told. It takes all eight to wait for ever:
//! more than twice as many as the buffer has room for.
//!
//! A condition is a condition variable: a notification wakes any one of those that wait, and is
//! lost if nobody does.
//!
//! From "Learning-based controlled concurrency testing" (Mukherjee et al., OOPSLA 2020), where
//! it is BoundedBuffer, with nine workers like here; how many of them read and write, and the
//! room, are not told.

use std::sync::Arc;

use std::collections::VecDeque;

use dally::tasks::sync::{Mutex, MutexGuard, Notify};
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
    summary: "four readers and four writers share a buffer with room for three items",
    bugs: &[PlantedBug { name: "lost-wakeup", summary: "a notification wakes the wrong waiter" }],
    max_steps: 1_000,
    program: |bug| Arc::new(program(Size::NINE_WORKERS, bug.and_then(Bug::named))),
};

/// How many share the buffer, and how large it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    /// The readers, and as many writers.
    pub readers: u32,
    /// The room for items.
    pub room: usize,
}

impl Size {
    /// That of the registry.
    pub const NINE_WORKERS: Size = Size { readers: 4, room: 3 };
}

/// Readers and writers, with this bug or without any.
pub fn program(size: Size, bug: Option<Bug>) -> TaskProgram {
    TaskProgram::new(PROTOCOL.name, move || async move {
        let buffer = Arc::new(Buffer::new(size.room, bug));
        let read = |_| {
            let buffer = buffer.clone();
            tasks::spawn(async move {
                let (mut sum, me) = (0, Arc::new(Notify::new()));
                for _ in 0..ITEMS {
                    sum += buffer.take(&me).await;
                }
                sum
            })
        };
        let readers: Vec<_> = (0..size.readers).map(read).collect();
        for writer in 0..size.readers {
            let buffer = buffer.clone();
            let items = writer * ITEMS..(writer + 1) * ITEMS;
            drop(tasks::spawn(async move {
                let me = Arc::new(Notify::new());
                for item in items {
                    buffer.put(item, &me).await;
                }
            }));
        }
        let mut sum = 0;
        for reader in readers {
            sum += reader.await.expect("readers do not fail");
        }
        assert_eq!(sum, (0..size.readers * ITEMS).sum::<u32>(), "an item was lost or doubled");
    })
}

/// How many items each of them takes or puts.
const ITEMS: u32 = 5;

struct Buffer {
    room: usize,
    items: Mutex<VecDeque<u32>>,
    not_empty: Arc<Condition>,
    not_full: Arc<Condition>,
}

impl Buffer {
    fn new(room: usize, bug: Option<Bug>) -> Buffer {
        let not_empty = Arc::new(Condition::default());
        let not_full = match bug {
            Some(Bug::LostWakeup) => not_empty.clone(),
            None => Arc::default(),
        };
        Buffer { room, items: Mutex::default(), not_empty, not_full }
    }

    async fn put(&self, item: u32, me: &Arc<Notify>) {
        let mut items = self.items.lock().await;
        while items.len() == self.room {
            items = self.not_full.wait(&self.items, items, me).await;
        }
        items.push_back(item);
        tasks::observe_shared("buffer", &*items);
        self.not_empty.notify_one();
    }

    async fn take(&self, me: &Arc<Notify>) -> u32 {
        let mut items = self.items.lock().await;
        loop {
            if let Some(item) = items.pop_front() {
                tasks::observe_shared("buffer", &*items);
                self.not_full.notify_one();
                return item;
            }
            items = self.not_empty.wait(&self.items, items, me).await;
        }
    }
}

/// A condition variable: no notification is kept, and any of those that wait may be woken.
#[derive(Default)]
struct Condition {
    /// Whoever waits, each with a notification of its own.
    waiting: Mutex<Vec<Arc<Notify>>>,
}

impl Condition {
    /// Gives the lock back and waits in one go, then takes the lock again.
    async fn wait<'l, T>(
        &self,
        lock: &'l Mutex<T>,
        held: MutexGuard<'l, T>,
        me: &Arc<Notify>,
    ) -> MutexGuard<'l, T> {
        self.waiting().push(me.clone());
        drop(held);
        me.notified().await;
        lock.lock().await
    }

    fn notify_one(&self) {
        let mut waiting = self.waiting();
        if !waiting.is_empty() {
            let any = if waiting.len() > 1 { tasks::choose(waiting.len()) } else { 0 };
            waiting.swap_remove(any).notify_one();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Arc<Notify>>> {
        self.waiting.try_lock().expect("the lock is free between steps")
    }
}
