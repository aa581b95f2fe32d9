//! The place of a worker in a system, and the copy-on-write behind it.

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
    /// The worker's share in the fingerprint; zero while it is not known.
    share: AtomicU64,
    /// The worker's share in the observation that the system was last asked for; zero while it is
    /// not known.
    observed: AtomicU64,
    /// Whether the worker is in the list of enabled ones.
    pub(crate) listed: bool,
}

impl Slot {
    pub(crate) fn new(worker: Arc<Worker>) -> Slot {
        let (share, observed) = (AtomicU64::new(0), AtomicU64::new(0));
        Slot { id: worker.id, worker, share, observed, listed: false }
    }

    /// The worker, to be changed, if it is not shared.
    #[inline(always)]
    pub(crate) fn own(&mut self) -> Option<&mut Worker> {
        *self.share.get_mut() = 0;
        *self.observed.get_mut() = 0;
        Arc::get_mut(&mut self.worker)
    }

    /// The worker, to be changed: copied first if it is shared.
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

    /// Puts the worker into the list of enabled ones or takes it out.
    #[inline(always)]
    pub(crate) fn relist(&mut self, enabled: &mut Vec<WorkerId>) {
        self.list_as(self.worker.is_enabled(), enabled);
    }

    /// The same, where it is known whether the worker is enabled.
    #[inline(always)]
    pub(crate) fn list_as(&mut self, now: bool, enabled: &mut Vec<WorkerId>) {
        if now != self.listed {
            self.listed = now;
            list(enabled, self.id, now);
        }
    }

    /// The worker's share in the fingerprint, computed once after a change.
    #[inline(always)]
    pub(crate) fn share(&self, mailbox: Mailbox) -> u64 {
        match self.share.load(Relaxed) {
            0 => self.renew_share(mailbox),
            known => known,
        }
    }

    #[inline(never)]
    fn renew_share(&self, mailbox: Mailbox) -> u64 {
        let share = fingerprint::part(self.id.to_bits(), self.worker.digest(mailbox));
        self.share.store(share, Relaxed);
        share
    }

    /// The worker's share in an observation, computed once after a change.
    #[inline(always)]
    pub(crate) fn observed(&self, how: Observe) -> u64 {
        match self.observed.load(Relaxed) {
            0 => self.observe(how),
            known => known,
        }
    }

    #[inline(never)]
    fn observe(&self, how: Observe) -> u64 {
        let share = self.worker.observation(how);
        self.observed.store(share, Relaxed);
        share
    }

    /// From now on another kind of observation is asked for.
    pub(crate) fn forget_observed(&self) {
        self.observed.store(0, Relaxed);
    }

    pub(crate) fn share_from_scratch(&self, mailbox: Mailbox) -> u64 {
        fingerprint::part(self.id.to_bits(), self.worker.digest_from_scratch(mailbox))
    }

    /// Another place for the same worker.
    pub(crate) fn fork(&self) -> Slot {
        let share = AtomicU64::new(self.share.load(Relaxed));
        let observed = AtomicU64::new(self.observed.load(Relaxed));
        Slot { id: self.id, worker: self.worker.clone(), share, observed, listed: self.listed }
    }

    /// Goes back to what was saved, by sharing it; answers the worker that was here, if no other
    /// slot shares it.
    #[inline]
    pub(crate) fn restore_from(&mut self, saved: &Slot) -> Option<Arc<Worker>> {
        // The rest follows from the worker.
        if Arc::ptr_eq(&self.worker, &saved.worker) {
            return None;
        }
        (self.id, self.listed) = (saved.id, saved.listed);
        *self.share.get_mut() = saved.share.load(Relaxed);
        *self.observed.get_mut() = saved.observed.load(Relaxed);
        let own = std::mem::replace(&mut self.worker, saved.worker.clone());
        Arc::is_unique(&own).then_some(own)
    }

    /// Goes back to what was saved, by a copy in the memory of the present worker if that can be.
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

/// Puts a worker into a sorted list that it is not in, or takes it out of one that it is in.
#[inline]
pub(crate) fn list(enabled: &mut Vec<WorkerId>, worker: WorkerId, on: bool) {
    // The processor cannot predict where in the list a worker belongs. A short list is gone through
    // to its end, without a branch that depends on its entries.
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
