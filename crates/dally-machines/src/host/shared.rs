//! What the machines of a host have in common: who is there, what is under way, what happened.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use dally_core::{Bug, Env, Event, Stop, Text, WorkerId, panics};
use rustc_hash::FxHashMap;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

use super::live::{Ending, Live};
use super::report::{Failure, Report};
use super::store::Keeper;
use super::watch::Watch;
use crate::inbox::Envelope;
use crate::worker::Worker;

/// Told of each failure.
pub(crate) type OnFailure = Box<dyn Fn(&Failure) + Send + Sync>;
/// Told of each event.
pub(crate) type OnEvent = Box<dyn Fn(WorkerId, Event<Text<'_>>) + Send + Sync>;
/// Makes the stores of one type of machine.
pub(crate) type MakeStore = Box<dyn Fn(WorkerId) -> Box<dyn Keeper> + Send + Sync>;

pub(crate) struct Shared {
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) seed: u64,
    pub(crate) drain: Duration,
    pub(crate) stores: BTreeMap<TypeId, MakeStore>,
    pub(crate) on_failure: OnFailure,
    pub(crate) on_event: Option<OnEvent>,
    pub(crate) watch: Mutex<Watch>,
    pub(crate) tally: Mutex<Report>,
    pub(crate) roots: AtomicU32,
    pub(crate) traffic: Traffic,
    phase: AtomicU8,
    machines: RwLock<FxHashMap<WorkerId, Entry>>,
}

/// A machine that is there.
struct Entry {
    name: &'static str,
    inbox: UnboundedSender<Mail>,
    /// Known from shortly after the start.
    task: Option<AbortHandle>,
}

/// What comes through the inbox of a machine's task.
pub(crate) enum Mail {
    Event(Envelope),
    /// The phase has changed.
    Wake,
}

/// How far a host has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Phase {
    Running,
    /// Nothing comes from outside, no timer fires, no default handler runs.
    Draining,
    /// Machines stop where they are.
    Over,
}

/// How much is under way: events not yet handled, and machines at work. A sender counts its event
/// before it looks at the phase. So a count of zero stays zero after [`Phase::Draining`] is set.
#[derive(Default)]
pub(crate) struct Traffic {
    under_way: AtomicUsize,
    waiters: AtomicUsize,
    changed: Notify,
}

impl Traffic {
    pub(crate) fn enter(&self) {
        self.under_way.fetch_add(1, SeqCst);
    }

    pub(crate) fn leave(&self, count: usize) {
        if count > 0 && self.under_way.fetch_sub(count, SeqCst) == count {
            self.tell();
        }
    }

    /// Counts something as under way until the guard is dropped.
    pub(crate) fn pass(&self) -> impl Drop + '_ {
        struct Passage<'a>(&'a Traffic);
        impl Drop for Passage<'_> {
            fn drop(&mut self) {
                self.0.leave(1);
            }
        }
        self.enter();
        Passage(self)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.load(SeqCst) == 0
    }

    fn tell(&self) {
        if self.waiters.load(SeqCst) > 0 {
            self.changed.notify_waiters();
        }
    }

    /// Waits until the condition holds; it is looked at whenever traffic has come to rest and
    /// whenever a machine has ended.
    pub(crate) async fn until(&self, holds: impl Fn() -> bool) {
        struct Waiter<'a>(&'a AtomicUsize);
        impl Drop for Waiter<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, SeqCst);
            }
        }
        self.waiters.fetch_add(1, SeqCst);
        let _waiter = Waiter(&self.waiters);
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if holds() {
                return;
            }
            changed.await;
        }
    }
}

impl Shared {
    pub(crate) fn new(
        runtime: tokio::runtime::Handle,
        seed: u64,
        drain: Duration,
        stores: BTreeMap<TypeId, MakeStore>,
        on_failure: OnFailure,
        on_event: Option<OnEvent>,
        watch: Watch,
    ) -> Shared {
        Shared {
            runtime,
            seed,
            drain,
            stores,
            on_failure,
            on_event,
            watch: Mutex::new(watch),
            tally: Mutex::default(),
            roots: AtomicU32::new(0),
            traffic: Traffic::default(),
            phase: AtomicU8::new(Phase::Running as u8),
            machines: RwLock::default(),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(SeqCst) {
            0 => Phase::Running,
            1 => Phase::Draining,
            _ => Phase::Over,
        }
    }

    /// Goes on to a phase, and wakes the machines so that they notice.
    pub(crate) fn proceed_to(&self, phase: Phase) {
        if self.phase.fetch_max(phase as u8, SeqCst) < phase as u8 {
            let machines = self.machines.read().unwrap_or_else(PoisonError::into_inner);
            for entry in machines.values() {
                // A machine that has just ended needs no waking.
                let _ = entry.inbox.send(Mail::Wake);
            }
        }
    }

    /// Brings a machine to life in a task of its own.
    pub(crate) fn start(
        self: &Arc<Self>,
        worker: triomphe::Arc<Worker>,
        keeper: Option<Box<dyn Keeper>>,
    ) {
        let (id, name) = (worker.id, worker.cell().name());
        let make = || self.stores.get(&worker.cell().machine()).map(|make| make(id));
        let keeper = keeper.or_else(make);
        let (inbox, mail) = unbounded_channel();
        self.traffic.enter();
        lock(&self.tally).created += 1;
        let entry = Entry { name, inbox, task: None };
        self.machines.write().unwrap_or_else(PoisonError::into_inner).insert(id, entry);
        let live = Live::new(worker, keeper, mail, Arc::clone(self));
        // Not under the lock: a runtime that is shutting down drops the task at once.
        let task = self.runtime.spawn(live.run()).abort_handle();
        let mut machines = self.machines.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = machines.get_mut(&id) {
            entry.task = Some(task);
        }
    }

    /// Puts an event into the inbox of a machine; `false` if it is not there.
    pub(crate) fn post(&self, to: WorkerId, envelope: Envelope) -> bool {
        self.traffic.enter();
        let machines = self.machines.read().unwrap_or_else(PoisonError::into_inner);
        let sent = machines.get(&to).map(|entry| entry.inbox.send(Mail::Event(envelope)));
        drop(machines);
        let there = matches!(sent, Some(Ok(())));
        if !there {
            self.traffic.leave(1);
        }
        there
    }

    pub(crate) fn is_there(&self, id: WorkerId) -> bool {
        self.machines.read().unwrap_or_else(PoisonError::into_inner).contains_key(&id)
    }

    pub(crate) fn is_deserted(&self) -> bool {
        self.machines.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The name of a worker.
    pub(crate) fn name(&self, worker: WorkerId) -> &'static str {
        let machines = self.machines.read().unwrap_or_else(PoisonError::into_inner);
        // The sender may have halted in the meantime.
        machines.get(&worker).map_or("machine", |entry| entry.name)
    }

    /// Tells the monitors.
    pub(crate) fn announce(&self, event: &dyn Any, env: &mut dyn Env) -> Result<(), Stop> {
        let violations = {
            let mut watch = lock(&self.watch);
            if watch.is_empty() {
                return Ok(());
            }
            watch.announce(event, env)?
        };
        for bug in violations {
            self.fail(Failure { worker: None, bug });
        }
        Ok(())
    }

    /// Keeps a failure for the report and tells whoever wants to know.
    pub(crate) fn fail(&self, failure: Failure) {
        // A callback that panics must not take a machine with it that did nothing wrong.
        let _ = panics::catch(|| (self.on_failure)(&failure));
        let mut tally = lock(&self.tally);
        tally.failed += u64::from(failure.worker.is_some());
        if tally.failures.len() < Report::KEPT {
            tally.failures.push(failure);
        }
    }

    /// A machine has come to its end, with so many events counted and not yet handled, of which
    /// `left` were lost to it.
    pub(crate) fn ended(&self, id: WorkerId, ending: Ending, held: usize, left: u64) {
        match ending {
            Ending::Halted => lock(&self.tally).halted += 1,
            Ending::Stopped => lock(&self.tally).stopped += 1,
            Ending::Failed(bug) => self.fail(Failure { worker: Some(id), bug: *bug }),
        }
        lock(&self.tally).left += left;
        self.machines.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.traffic.leave(held);
        self.traffic.tell();
    }

    /// Gives up on machines whose handlers do not return, and says which they are.
    pub(crate) fn abandon(&self) -> Vec<String> {
        let machines = self.machines.read().unwrap_or_else(PoisonError::into_inner);
        let mut stuck: Vec<_> = machines.iter().map(|(id, entry)| (*id, entry.name)).collect();
        for entry in machines.values() {
            if let Some(task) = &entry.task {
                task.abort();
            }
        }
        stuck.sort_unstable();
        stuck.into_iter().map(|(id, name)| format!("{name}({id})")).collect()
    }
}

/// Waits at most so long; `false` if that was not enough. Without a clock it waits as long as it
/// takes.
pub(crate) async fn at_most(time: Duration, future: impl Future<Output = ()>) -> bool {
    match panics::catch(|| tokio::time::sleep(time)) {
        Ok(sleep) => tokio::select! {
            biased;
            () = future => true,
            () = sleep => false,
        },
        Err(_) => {
            future.await;
            true
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A machine's own bug, named after it.
pub(crate) fn blame(bug: Bug, name: &'static str) -> Box<Bug> {
    Box::new(if bug.culprit.is_some() { bug } else { bug.by(name) })
}
