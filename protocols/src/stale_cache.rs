//! A cache in front of a store, with a stale read.
//!
//! A read that misses the cache asks the store and keeps the answer. A write changes the store and
//! then drops the entry from the cache. With [`Bug::StaleRead`] a read can get the old value from
//! the store, be overtaken by a write and its invalidation, and then keep the old value: every
//! later read is wrong. In the correct version an invalidation also counts up, and a reader
//! keeps its answer only if there was no invalidation since it asked: the lease of Nishtala et
//! al., "Scaling Memcache at Facebook" (NSDI 2013), section 3.2.1.

use std::sync::Arc;

use dally::tasks::sync::Mutex;
use dally::tasks::{self, TaskProgram};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in the cache.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A reader keeps what the store answered, however long ago that was.
    StaleRead,
}

impl Bug {
    fn named(name: &str) -> Option<Bug> {
        (name == "stale-read").then_some(Bug::StaleRead)
    }
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "stale-cache",
    summary: "a reader and a writer share a cache in front of a store",
    bugs: &[PlantedBug {
        name: "stale-read",
        summary: "a slow reader puts an old value back after the invalidation",
    }],
    max_steps: 500,
    program: |bug| Arc::new(program(bug.and_then(Bug::named))),
};

/// A reader, a writer and then a last read, with this bug or without any.
pub fn program(bug: Option<Bug>) -> TaskProgram {
    TaskProgram::new(PROTOCOL.name, move || async move {
        let service = Arc::new(Service::new(bug));
        let reader = tasks::spawn({
            let service = service.clone();
            async move { service.read().await }
        });
        let writer = tasks::spawn({
            let service = service.clone();
            async move { service.write(1).await }
        });
        reader.await.expect("the reader does not fail");
        writer.await.expect("the writer does not fail");
        assert_eq!(service.read().await, 1, "the cache answers with an old value");
    })
}

struct Service {
    store: Mutex<u32>,
    cache: Mutex<Cache>,
    bug: Option<Bug>,
}

#[derive(Default)]
struct Cache {
    value: Option<u32>,
    invalidations: u32,
}

impl Service {
    fn new(bug: Option<Bug>) -> Service {
        Service { store: Mutex::new(0), cache: Mutex::new(Cache::default()), bug }
    }

    async fn read(&self) -> u32 {
        let lease = {
            let cache = self.cache.lock().await;
            match cache.value {
                Some(value) => return value,
                None => cache.invalidations,
            }
        };
        let value = *self.store.lock().await;
        let mut cache = self.cache.lock().await;
        if cache.invalidations == lease || self.bug == Some(Bug::StaleRead) {
            cache.value = Some(value);
        }
        value
    }

    async fn write(&self, value: u32) {
        *self.store.lock().await = value;
        let mut cache = self.cache.lock().await;
        cache.value = None;
        cache.invalidations += 1;
    }
}
