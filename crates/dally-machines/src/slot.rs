//! A slot of a system: a worker with copy-on-write and its remembered hashes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dally_core::bug::Uncontrolled;
use dally_core::{Bug, Observe, Problem, Stop, WorkerId, fingerprint};
use triomphe::Arc;

use crate::inbox::Mailbox;
use crate::pool::Pool;
use crate::worker::Worker;

/// A worker, shared with the forks of the system until one of them changes it.
pub(crate) struct Slot {
    pub(crate) id: WorkerId,
    pub(crate) worker: Arc<Worker>,
    /// The worker's share in the fingerprint; zero if unknown.
    share: AtomicU64,
    /// The worker's share in the last observation, of the kind that the system says; zero if unknown.
    observed: AtomicU64,
    pub(crate) listed: bool,
}

impl Slot {
    pub(crate) fn new(worker: Arc<Worker>) -> Slot {
        let (share, observed) = (AtomicU64::new(0), AtomicU64::new(0));
        Slot { id: worker.id, worker, share, observed, listed: false }
    }

    #[inline(always)]
    pub(crate) fn own(&mut self) -> Option<&mut Worker> {
        *self.share.get_mut() = 0;
        *self.observed.get_mut() = 0;
        Arc::get_mut(&mut self.worker)
    }

    /// The worker for writing: copied first if it is shared.
    #[inline]
    pub(crate) fn unshared(&mut self, pool: &mut Pool) -> Result<&mut Worker, Stop> {
        *self.share.get_mut() = 0;
        *self.observed.get_mut() = 0;
        if !Arc::is_unique(&self.worker) {
            unshare(&mut self.worker, pool)?;
        }
        match Arc::get_mut(&mut self.worker) {
            Some(worker) => Ok(worker),
            None => unreachable!("the pointer is unique, or was just made so"),
        }
    }

    /// Shares the worker with equal ones of other states, if nothing shares it yet.
    pub(crate) fn intern(&mut self, mailbox: Mailbox, pool: &mut Pool) {
        if Arc::is_unique(&self.worker) && !self.worker.is_busy() {
            pool.intern(self.share(mailbox), &mut self.worker);
        }
    }

    #[inline(always)]
    pub(crate) fn relist(&mut self, enabled: &mut Vec<WorkerId>) {
        self.list_as(self.worker.is_enabled(), enabled);
    }

    /// [`Slot::relist`], for callers who know whether the worker is enabled.
    #[inline(always)]
    pub(crate) fn list_as(&mut self, now: bool, enabled: &mut Vec<WorkerId>) {
        if now != self.listed {
            self.listed = now;
            list(enabled, self.id, now);
        }
    }

    #[inline(always)]
    pub(crate) fn share(&self, mailbox: Mailbox) -> u64 {
        known_or(&self.share, || fingerprint::part(self.id.to_bits(), self.worker.digest(mailbox)))
    }

    #[inline(always)]
    pub(crate) fn observed(&self, how: Observe, mailbox: Mailbox) -> u64 {
        known_or(&self.observed, || self.worker.observation(how, mailbox))
    }

    /// Called when another kind of observation is asked for.
    pub(crate) fn forget_observed(&self) {
        self.observed.store(0, Relaxed);
    }

    pub(crate) fn share_from_scratch(&self, mailbox: Mailbox) -> u64 {
        fingerprint::part(self.id.to_bits(), self.worker.digest_from_scratch(mailbox))
    }

    pub(crate) fn fork(&self) -> Slot {
        let share = AtomicU64::new(self.share.load(Relaxed));
        let observed = AtomicU64::new(self.observed.load(Relaxed));
        Slot { id: self.id, worker: self.worker.clone(), share, observed, listed: self.listed }
    }

    /// Shares the worker of `saved`. Returns the worker that was here, if no other slot shares it.
    #[inline]
    pub(crate) fn restore_from(&mut self, saved: &Slot) -> Option<Arc<Worker>> {
        // The other fields follow from the worker.
        if Arc::ptr_eq(&self.worker, &saved.worker) {
            return None;
        }
        (self.id, self.listed) = (saved.id, saved.listed);
        *self.share.get_mut() = saved.share.load(Relaxed);
        *self.observed.get_mut() = saved.observed.load(Relaxed);
        let own = std::mem::replace(&mut self.worker, saved.worker.clone());
        Arc::is_unique(&own).then_some(own)
    }

    /// Copies the worker of `saved` into the memory of the present worker if possible, else shares it.
    pub(crate) fn copy_from(&mut self, saved: &Slot, pool: &mut Pool) {
        let copied = !Arc::ptr_eq(&self.worker, &saved.worker)
            && Arc::get_mut(&mut self.worker)
                .is_some_and(|worker| worker.copy_from(&saved.worker, pool));
        if copied {
            (self.id, self.listed) = (saved.id, saved.listed);
            *self.share.get_mut() = saved.share.load(Relaxed);
            *self.observed.get_mut() = saved.observed.load(Relaxed);
        } else if let Some(unused) = self.restore_from(saved) {
            pool.put_worker(unused);
        }
    }
}

/// The remembered value, or the computed one, which is remembered from now on. Zero means unknown.
#[inline(always)]
pub(crate) fn known_or(remembered: &AtomicU64, find_out: impl FnOnce() -> u64) -> u64 {
    #[inline(never)]
    fn renew(remembered: &AtomicU64, find_out: impl FnOnce() -> u64) -> u64 {
        let found = find_out();
        remembered.store(found, Relaxed);
        found
    }
    match remembered.load(Relaxed) {
        0 => renew(remembered, find_out),
        known => known,
    }
}

#[inline(never)]
fn unshare(shared: &mut Arc<Worker>, pool: &mut Pool) -> Result<(), Stop> {
    if let Some(mut spare) = pool.worker(shared.kind)
        && Arc::get_mut(&mut spare).is_some_and(|worker| worker.copy_from(shared, pool))
    {
        *shared = spare;
        return Ok(());
    }
    let Some(copy) = shared.duplicate() else {
        let bug = Bug::new(Problem::Uncontrolled(Uncontrolled::Fork));
        return Err(bug.by(shared.cell().name()).into());
    };
    *shared = Arc::new(copy);
    Ok(())
}

/// Inserts a worker into a sorted list that lacks it, or removes it from one that has it.
#[inline]
pub(crate) fn list(enabled: &mut Vec<WorkerId>, worker: WorkerId, on: bool) {
    // The position in the list is unpredictable, so a short list is scanned to its end, branchless.
    const SHORT: usize = 8;
    if enabled.len() > SHORT {
        return list_long(enabled, worker, on);
    }
    if on {
        let mut highest = worker;
        for listed in enabled.iter_mut() {
            (*listed, highest) = ((*listed).min(highest), (*listed).max(highest));
        }
        enabled.push(highest);
    } else {
        let mut kept = 0;
        for at in 0..enabled.len() {
            let listed = enabled[at];
            enabled[kept] = listed;
            kept += usize::from(listed != worker);
        }
        enabled.truncate(kept);
    }
}

#[cold]
fn list_long(enabled: &mut Vec<WorkerId>, worker: WorkerId, on: bool) {
    match (worker.place_in(enabled), on) {
        (Err(at), true) if at == enabled.len() => enabled.push(worker),
        (Err(at), true) => enabled.insert(at, worker),
        (Ok(at), false) if at + 1 == enabled.len() => enabled.truncate(at),
        (Ok(at), false) => {
            enabled.remove(at);
        }
        _ => {}
    }
}
