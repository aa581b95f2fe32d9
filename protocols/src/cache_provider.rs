//! A cache in front of a storage that fails: the service must get through its initialisation
//! before it can show its bug.
//!
//! The service first loads its shards, one after the other. If a load fails it gives up, by
//! design, and there is nothing left to test. Then it serves clients: a write goes to the storage,
//! is tried once more if it fails, and refused if it fails again. A read is answered from the
//! cache. With [`Bug::DirtyRead`] that may be a value whose write is still under way, and if
//! the write is then refused, a client was given what was never stored. The correct service lets
//! reads of a key wait while it is being written.
//!
//! The storage tosses a coin for every request, so a random schedule gets through the
//! initialisation once in 32,768 times: a strategy has to learn which values lead on.
//!
//! A stand-in for the production service CacheProvider of "Learning-based controlled concurrency
//! testing" (Mukherjee et al., OOPSLA 2020, figure 2), whose code is not public.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::Arc;

use dally::machines::{Addr, Cx, MachineProgram, MonitorCx, Setup};
use dally::{machine, monitor};

use crate::registry::{PlantedBug, Protocol};

/// A mistake in the service.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// A read is answered with a value that is still being written.
    DirtyRead,
}

/// Its entry in the registry.
pub const PROTOCOL: Protocol = Protocol {
    name: "cache-provider",
    summary: "a cache that gives up if storage fails at the start, and copes with it later",
    bugs: &[PlantedBug {
        name: "dirty-read",
        summary: "a client is given a value whose write fails in the end",
    }],
    max_steps: 1_000,
    program: |name| {
        let bug = (name == Some("dirty-read")).then_some(Bug::DirtyRead);
        Arc::new(program(bug))
    },
};

/// The service with this bug or without any.
pub fn program(bug: Option<Bug>) -> MachineProgram {
    MachineProgram::new(PROTOCOL.name, move |setup| deploy(setup, bug))
}

/// Creates the storage, the service, its clients and the monitor.
pub fn deploy(setup: &mut Setup, bug: Option<Bug>) {
    let storage = setup.create(Storage);
    let service = setup.create(Service::new(storage, bug));
    for key in 0..WRITERS {
        setup.create(Writer { service, key, left: 2 });
    }
    setup.create(Reader { service, left: 2 * WRITERS });
    setup.monitor(OnlyStored::default());
}

/// How many loads must succeed before the service serves.
const SHARDS: u32 = 15;
const WRITERS: u32 = 2;
/// How often a write is tried.
const ATTEMPTS: u32 = 2;

type Key = u32;
/// Every write has a value of its own; 0 is what was there before the first.
type Value = u32;

/// To the storage: load the next shard.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Load {
    service: Addr<Service>,
}

/// From the storage: whether that went well.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Loaded {
    ok: bool,
}

/// To the storage: store this.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Store {
    key: Key,
    service: Addr<Service>,
}

/// From the storage: whether that went well.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stored {
    key: Key,
    ok: bool,
}

/// To the service: store this.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Put {
    key: Key,
    value: Value,
    client: Addr<Writer>,
}

/// From the service: it was stored or refused.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct PutDone;

/// To the service: what is stored here?
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Get {
    key: Key,
    client: Addr<Reader>,
}

/// From the service: this.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Got {
    value: Value,
}

/// Fails whenever it likes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Storage;

#[machine(states(Ready))]
impl Storage {
    #[on(Ready, Load)]
    fn load(&mut self, cx: &mut Cx<Self>, Load { service }: Load) {
        let ok = cx.flip();
        cx.send(service, Loaded { ok });
    }

    #[on(Ready, Store)]
    fn store(&mut self, cx: &mut Cx<Self>, Store { key, service }: Store) {
        let ok = cx.flip();
        cx.send(service, Stored { key, ok });
    }
}

/// A write that is not decided yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pending {
    value: Value,
    attempts: u32,
    writer: Addr<Writer>,
    /// Who waits to read, in the correct version.
    readers: Vec<Addr<Reader>>,
}

/// The service under test.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Service {
    storage: Addr<Storage>,
    loaded: u32,
    cache: BTreeMap<Key, Value>,
    pending: BTreeMap<Key, Pending>,
    bug: Option<Bug>,
}

#[machine(states(Loading, Serving))]
impl Service {
    fn new(storage: Addr<Storage>, bug: Option<Bug>) -> Service {
        Service { storage, loaded: 0, cache: BTreeMap::new(), pending: BTreeMap::new(), bug }
    }

    #[observe]
    fn holds(&self) -> impl Hash {
        let pending = self.pending.iter().map(|(key, write)| (*key, write.value, write.attempts));
        (self.loaded, &self.cache, pending.collect::<Vec<_>>())
    }

    #[entry(Loading)]
    fn load(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.storage, Load { service: cx.me() });
    }

    #[on(Loading, Loaded)]
    fn loaded(&mut self, cx: &mut Cx<Self>, Loaded { ok }: Loaded) {
        if !ok {
            return cx.halt();
        }
        self.loaded += 1;
        cx.goto(if self.loaded < SHARDS { Loading } else { Serving });
    }

    #[on(Serving, Put)]
    fn put(&mut self, cx: &mut Cx<Self>, Put { key, value, client }: Put) {
        let pending = Pending { value, attempts: 1, writer: client, readers: Vec::new() };
        self.pending.insert(key, pending);
        cx.send(self.storage, Store { key, service: cx.me() });
    }

    #[on(Serving, Stored)]
    fn stored(&mut self, cx: &mut Cx<Self>, Stored { key, ok }: Stored) {
        let Some(pending) = self.pending.get_mut(&key) else { return };
        if !ok && pending.attempts < ATTEMPTS {
            pending.attempts += 1;
            return cx.send(self.storage, Store { key, service: cx.me() });
        }
        let Some(done) = self.pending.remove(&key) else { return };
        if ok {
            self.cache.insert(key, done.value);
        } else {
            cx.announce(Refused { value: done.value });
        }
        for reader in done.readers {
            self.answer(cx, key, reader);
        }
        cx.send(done.writer, PutDone);
    }

    #[on(Serving, Get)]
    fn get(&mut self, cx: &mut Cx<Self>, Get { key, client }: Get) {
        match self.pending.get_mut(&key) {
            Some(pending) if self.bug == Some(Bug::DirtyRead) => {
                let value = pending.value;
                cx.announce(Served { value });
                cx.send(client, Got { value });
            }
            Some(pending) => pending.readers.push(client),
            None => self.answer(cx, key, client),
        }
    }

    fn answer(&self, cx: &mut Cx<Self>, key: Key, client: Addr<Reader>) {
        let value = self.cache.get(&key).copied().unwrap_or_default();
        cx.announce(Served { value });
        cx.send(client, Got { value });
    }

    #[defer(Loading, Put, Get)]
    const RULES: () = ();
}

/// Writes to its key, one value after the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Writer {
    service: Addr<Service>,
    key: Key,
    left: u32,
}

#[machine(states(Writing))]
impl Writer {
    #[entry(Writing)]
    fn write(&mut self, cx: &mut Cx<Self>) {
        if self.left == 0 {
            return cx.halt();
        }
        let value = 1 + self.key * 10 + self.left;
        self.left -= 1;
        cx.send(self.service, Put { key: self.key, value, client: cx.me() });
    }

    #[goto(Writing, PutDone => Writing)]
    const RULES: () = ();
}

/// Reads any key, several times.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Reader {
    service: Addr<Service>,
    left: u32,
}

#[machine(states(Reading))]
impl Reader {
    #[entry(Reading)]
    fn read(&mut self, cx: &mut Cx<Self>) {
        if self.left == 0 {
            return cx.halt();
        }
        self.left -= 1;
        let key = cx.choose(WRITERS as usize) as Key;
        cx.send(self.service, Get { key, client: cx.me() });
    }

    #[goto(Reading, Got => Reading)]
    const RULES: () = ();
}

/// Announced by the service when it answers a read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Served {
    /// With this.
    pub value: Value,
}

/// Announced by the service when it gives up a write.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Refused {
    /// Of this.
    pub value: Value,
}

/// No client is given a value whose write is refused.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct OnlyStored {
    served: BTreeSet<Value>,
    refused: BTreeSet<Value>,
}

#[monitor(states(Watching))]
impl OnlyStored {
    #[on(Watching, Served)]
    fn served(&mut self, _: &mut MonitorCx<Self>, Served { value }: Served) {
        self.served.insert(value);
        self.compare(value);
    }

    #[on(Watching, Refused)]
    fn refused(&mut self, _: &mut MonitorCx<Self>, Refused { value }: Refused) {
        self.refused.insert(value);
        self.compare(value);
    }

    fn compare(&self, value: Value) {
        let both = self.served.contains(&value) && self.refused.contains(&value);
        assert!(!both, "a client was given {value}, which was never stored");
    }
}
