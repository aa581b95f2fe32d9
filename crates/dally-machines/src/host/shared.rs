//! What the machines of a host share: the registry of machines, the traffic and the tally.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use dally_core::{Env, Event, Text, WorkerId, panics};
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

pub(crate) type OnFailure = Box<dyn Fn(&Failure) + Send + Sync>;
pub(crate) type OnEvent = Box<dyn Fn(WorkerId, Event<Text<'_>>) + Send + Sync>;
pub(crate) type MakeStore = Box<dyn Fn(WorkerId) -> Box<dyn Keeper> + Send + Sync>;

pub(crate) struct Config {
    pub(crate) seed: u64,
    pub(crate) drain: Duration,
    pub(crate) stores: BTreeMap<TypeId, MakeStore>,
    pub(crate) on_failure: OnFailure,
    pub(crate) on_event: Option<OnEvent>,
}

pub(crate) struct Shared {
    pub(crate) config: Config,
    runtime: tokio::runtime::Handle,
    pub(crate) watch: Mutex<Watch>,
    pub(crate) tally: Mutex<Report>,
    pub(crate) roots: AtomicU32,
    pub(crate) traffic: Traffic,
    phase: AtomicU8,
    machines: RwLock<Machines>,
}

type Machines = FxHashMap<WorkerId, Entry>;

struct Entry {
    name: &'static str,
    inbox: UnboundedSender<Mail>,
    /// Set shortly after the start.
    task: Option<AbortHandle>,
}

pub(crate) enum Mail {
    Event(Envelope),
    /// Wakes the task after a change of phase.
    Wake,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Phase {
    Running,
    /// Nothing comes from outside, no timer fires, no default handler runs.
    Draining,
    /// Machines stop where they are.
    Over,
}

/// How much is under way: unhandled events and working machines. A sender counts its event before
/// it reads the phase, so a count of zero stays zero once [`Phase::Draining`] is set.
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

    /// Waits until the condition holds. It is checked whenever the traffic reaches zero or a machine
    /// ends.
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

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("phase", &self.phase()).finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(config: Config, runtime: tokio::runtime::Handle, watch: Watch) -> Shared {
        Shared {
            config,
            runtime,
            watch: Mutex::new(watch),
            tally: Mutex::default(),
            roots: AtomicU32::new(0),
            traffic: Traffic::default(),
            phase: AtomicU8::new(Phase::Running as u8),
            machines: RwLock::default(),
        }
    }

    fn machines(&self) -> RwLockReadGuard<'_, Machines> {
        self.machines.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn machines_mut(&self) -> RwLockWriteGuard<'_, Machines> {
        self.machines.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(SeqCst) {
            0 => Phase::Running,
            1 => Phase::Draining,
            _ => Phase::Over,
        }
    }

    /// Enters a phase, and wakes the machines so that they notice.
    pub(crate) fn proceed_to(&self, phase: Phase) {
        if self.phase.fetch_max(phase as u8, SeqCst) < phase as u8 {
            // A failed send means that the machine has just ended.
            self.machines().values().for_each(|entry| _ = entry.inbox.send(Mail::Wake));
        }
    }

    pub(crate) fn start(
        self: &Arc<Self>,
        worker: triomphe::Arc<Worker>,
        keeper: Option<Box<dyn Keeper>>,
    ) {
        let (id, name) = (worker.id, worker.cell().name());
        let make = || self.config.stores.get(&worker.cell().machine()).map(|make| make(id));
        let keeper = keeper.or_else(make);
        let (inbox, mail) = unbounded_channel();
        self.traffic.enter();
        lock(&self.tally).created += 1;
        self.machines_mut().insert(id, Entry { name, inbox, task: None });
        let live = Live::new(worker, keeper, mail, Arc::clone(self));
        // Not under the lock: a runtime that is shutting down drops the task at once.
        let task = self.runtime.spawn(live.run()).abort_handle();
        if let Some(entry) = self.machines_mut().get_mut(&id) {
            entry.task = Some(task);
        }
    }

    /// Puts an event into the inbox of a machine; `false` if the machine is gone.
    pub(crate) fn post(&self, to: WorkerId, envelope: Envelope) -> bool {
        self.traffic.enter();
        let sent = self.machines().get(&to).map(|entry| entry.inbox.send(Mail::Event(envelope)));
        let there = matches!(sent, Some(Ok(())));
        if !there {
            self.traffic.leave(1);
        }
        there
    }

    pub(crate) fn is_there(&self, id: WorkerId) -> bool {
        self.machines().contains_key(&id)
    }

    pub(crate) fn is_deserted(&self) -> bool {
        self.machines().is_empty()
    }

    pub(crate) fn name(&self, worker: WorkerId) -> &'static str {
        // The sender may have halted in the meantime.
        self.machines().get(&worker).map_or("machine", |entry| entry.name)
    }

    pub(crate) fn announce(&self, event: &dyn Any, env: &mut dyn Env) {
        let violations = lock(&self.watch).announce(event, env);
        violations.into_iter().for_each(|bug| self.fail(Failure { worker: None, bug }));
    }

    /// Keeps a failure for the report and calls `on_failure`.
    pub(crate) fn fail(&self, failure: Failure) {
        // A callback that panics must not end the machine whose task calls it.
        let _ = panics::catch(|| (self.config.on_failure)(&failure));
        let mut tally = lock(&self.tally);
        tally.failed += u64::from(failure.worker.is_some());
        if tally.failures.len() < Report::KEPT {
            tally.failures.push(failure);
        }
    }

    /// Removes a machine that has ended. Of the events sent to it `held` were counted and not handled,
    /// of which `left` were lost.
    pub(crate) fn ended(&self, id: WorkerId, ending: Ending, held: usize, left: u64) {
        match ending {
            Ending::Halted => lock(&self.tally).halted += 1,
            Ending::Stopped => lock(&self.tally).stopped += 1,
            Ending::Failed(bug) => self.fail(Failure { worker: Some(id), bug: *bug }),
        }
        lock(&self.tally).left += left;
        self.machines_mut().remove(&id);
        self.traffic.leave(held);
        self.traffic.tell();
    }

    /// Aborts the tasks whose handlers do not return, and names them.
    pub(crate) fn abandon(&self) -> Vec<String> {
        let machines = self.machines();
        let mut stuck: Vec<_> = machines.iter().map(|(id, entry)| (*id, entry.name)).collect();
        machines.values().filter_map(|entry| entry.task.as_ref()).for_each(AbortHandle::abort);
        stuck.sort_unstable();
        stuck.into_iter().map(|(id, name)| format!("{name}({id})")).collect()
    }
}

/// Waits at most so long; `false` if that was not enough. Without a time driver there is no limit.
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
