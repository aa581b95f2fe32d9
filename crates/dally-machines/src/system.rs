//! One live execution of a program of machines.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use dally_core::bug::{Named, Uncontrolled};
use dally_core::report::Census;
use dally_core::{
    Acceptance, Bug, Captured, Cut, Env, EventSink, Fingerprint, Footprint, LONGEST_FIELDS,
    MessageId, Monitors, Observe, Problem, Status, Stop, System, Text, WorkerId,
};
use triomphe::Arc;

use crate::encoding;
use crate::faults::Faults;
use crate::inbox::Mailbox;
use crate::place::Place;
use crate::pool::Pool;
use crate::program::Granularity;
use crate::sealing::Predicates;
use crate::slot::{Slot, known_or};
use crate::transition_cache::KnownSteps;
use crate::worker::Worker;

/// An execution of machines: workers shared copy-on-write with its forks, in the order of their
/// creation, and a list of the enabled ones that is updated with each change.
#[derive(Default)]
pub struct MachineSystem {
    pub(crate) rules: Rules,
    pub(crate) slots: Vec<Slot>,
    /// Where each worker is, sorted by id.
    pub(crate) index: Arc<Vec<(WorkerId, Place)>>,
    pub(crate) index_stamp: Stamp,
    pub(crate) enabled: Vec<WorkerId>,
    /// The faults that may still happen.
    pub(crate) budget: Faults,
    /// The first of the machines that is not captured, if there is one.
    pub(crate) uncaptured: Option<&'static str>,
    /// How many machines can crash, and how many are down.
    pub(crate) mortals: u32,
    pub(crate) down: u32,
    pub(crate) faults_listed: bool,
    pub(crate) seals: u32,
    /// Whether the last step did what its machine calls rare.
    pub(crate) rare: bool,
    pub(crate) seal_while: Predicates,
    pub(crate) monitors: Monitors,
    pub(crate) monitors_stamp: Stamp,
    /// The monitors' share in the fingerprint; zero if unknown.
    pub(crate) monitors_share: AtomicU64,
    /// Which kind of observation the slots remember.
    pub(crate) observed: AtomicU8,
    /// Whether this system has ever stepped; a saved state has not.
    pub(crate) stepped: bool,
    pub(crate) pool: Pool,
    /// The transition cache, made when a search first looks ahead.
    pub(crate) known_steps: Option<Box<KnownSteps>>,
    /// Whether the present step is being noted in `known_steps`.
    pub(crate) noting: bool,
    pub(crate) candidates: Vec<(MessageId, u32)>,
    pub(crate) candidate_ids: Vec<MessageId>,
    /// Names machines outside this system: in production each runs in a system of its own.
    #[cfg(feature = "host")]
    pub(crate) elsewhere: Option<crate::host::Describe>,
}

/// About how many bytes a machine's data and its messages take, measured on the bundled protocols.
const CELL_AND_INBOX: usize = 256;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) granularity: Granularity,
    pub(crate) mailbox: Mailbox,
    pub(crate) keep_inbox: bool,
    pub(crate) twice: bool,
}

/// Names the content of something that changes rarely: two systems with the same stamp have the same
/// content, and neither copies it from the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Stamp(u64);

impl Stamp {
    pub(crate) fn new() -> Stamp {
        // Only equality of stamps matters, so the order in which threads draw them has no effect.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Stamp(NEXT.fetch_add(1, Relaxed))
    }
}

impl System for MachineSystem {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    #[inline(always)]
    fn is_enabled(&self, worker: WorkerId) -> bool {
        match self.guess(worker) {
            Some(slot) => slot.listed,
            None => self.is_listed(worker),
        }
    }

    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        self.foresee_touched(worker, out);
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        self.stepped = true;
        self.rare = false;
        self.monitors.begin_step();
        if self.known_steps.is_some() {
            return self.step_noted(worker, env);
        }
        self.step_of(worker, &mut EventSink::new(env))
    }

    fn status(&self) -> Status {
        // A machine waits for nothing in particular: deferred events may be left in inboxes, as in P.
        if self.enabled.is_empty() { Status::Done } else { Status::Running }
    }

    fn acceptance(&self) -> Acceptance {
        self.monitors.acceptance()
    }

    /// A sum over the workers, of which only the changed ones are hashed again, and for control the
    /// remaining faults. Ids are left out.
    fn observe(&self, how: Observe) -> Option<u64> {
        let kind = how as u8;
        if self.observed.load(Relaxed) != kind {
            self.slots.iter().for_each(Slot::forget_observed);
            self.observed.store(kind, Relaxed);
        }
        let faults = self.faults_observed(how);
        let mailbox = self.rules.mailbox;
        let workers = self.slots.iter().map(|slot| slot.observed(how, mailbox));
        Some(workers.fold(faults, u64::wrapping_add))
    }

    #[inline]
    fn fingerprint(&self) -> Option<Fingerprint> {
        self.uncaptured.is_none().then(|| Fingerprint(self.sum()))
    }

    fn sealed(&self) -> bool {
        self.seals > 0 || self.seal_while.seal(&self.slots)
    }

    fn rare(&self) -> bool {
        self.rare
    }

    /// The types of the machines that there are now.
    fn anatomy(&self) -> Census {
        let mut anatomy = Census::default();
        for slot in self.slots.iter() {
            let cell = slot.worker.cell();
            if !anatomy.machines.contains_key(cell.name()) {
                anatomy.machines.insert(cell.name().to_owned(), cell.anatomy());
            }
        }
        anatomy
    }

    fn fields(&self, worker: WorkerId) -> Option<String> {
        let Some(Place::Machine(slot)) = self.find(worker) else { return None };
        Some(Text::Debug(self.slots[slot].worker.cell().fields()).beginning(LONGEST_FIELDS))
    }

    fn name(&self, worker: WorkerId) -> String {
        match self.find(worker) {
            Some(Place::Machine(slot)) => self.slots[slot].worker.cell().name().to_owned(),
            Some(Place::Timer(slot, timer)) => {
                let owner = &self.slots[slot].worker;
                let event =
                    owner.timers.get(timer).map_or("?", |t| owner.cell().event_name(t.event));
                format!("timer {event}")
            }
            None if worker == WorkerId::FAULTS => "faults".to_owned(),
            None => "?".to_owned(),
        }
    }

    fn monitor(&self, index: usize) -> (String, String) {
        self.monitors.describe(index)
    }
}

impl Captured for MachineSystem {
    const FORESEES: bool = true;

    fn foresee(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<Option<Fingerprint>, Cut> {
        Ok(self.look_ahead(worker, env)?.map(Fingerprint))
    }

    /// The parts, each after its length.
    fn encode(&self, out: &mut Vec<u8>) {
        self.parts(&mut |part| encoding::framed(out, |out| out.extend_from_slice(part)));
    }

    /// One part for what belongs to no worker, then one for each worker in the order of ids.
    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        let mut bytes = Vec::new();
        self.budget.encode(&mut bytes);
        self.monitors.encode(&mut bytes);
        part(&bytes);
        for (id, place) in &*self.index {
            if let Place::Machine(slot) = place {
                bytes.clear();
                bytes.extend_from_slice(&id.to_bits().to_le_bytes());
                self.slots[*slot].worker.encode(self.rules.mailbox, &mut bytes);
                part(&bytes);
            }
        }
    }

    /// The lists are this system's own. Of the one or two workers that it has changed some are not
    /// interned, or no longer.
    fn footprint(&self) -> usize {
        let lists = size_of_val(&*self.slots) + size_of_val(&*self.enabled);
        size_of::<MachineSystem>() + lists + size_of::<Worker>() + CELL_AND_INBOX
    }

    fn condense(&mut self) {
        if self.uncaptured.is_none() {
            self.slots.iter_mut().for_each(|slot| slot.intern(self.rules.mailbox, &mut self.pool));
        }
    }

    fn fork(&self) -> MachineSystem {
        let mut fork = MachineSystem::default();
        fork.restore_from(self);
        fork
    }

    fn restore_from(&mut self, saved: &MachineSystem) {
        for (own, saved_slot) in self.slots.iter_mut().zip(&saved.slots) {
            if let Some(unused) = own.restore_from(saved_slot) {
                // A saved state never steps and so has no use for a pool.
                if self.stepped {
                    self.pool.keep(unused);
                } else {
                    saved.pool.donate(unused);
                }
            }
        }
        self.restore_rest(saved);
    }
}

impl MachineSystem {
    #[inline(always)]
    pub(crate) fn step_of(
        &mut self,
        worker: WorkerId,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let slot = self.slot_of(worker);
        if self.slots.get(slot).is_some_and(|slot| slot.listed) {
            self.run(slot, env)
        } else {
            self.step_other(worker, env)
        }
    }

    #[inline]
    pub(crate) fn sum(&self) -> u64 {
        let mut sum = self.monitors_share().wrapping_add(self.budget.share());
        for slot in &self.slots {
            sum = sum.wrapping_add(slot.share(self.rules.mailbox));
        }
        sum
    }

    #[inline]
    pub(crate) fn monitors_share(&self) -> u64 {
        if self.monitors.is_empty() {
            return 0;
        }
        known_or(&self.monitors_share, || self.monitors.hash())
    }

    /// Recomputes [`System::fingerprint`], which must equal this, from scratch.
    #[doc(hidden)]
    pub fn fingerprint_from_scratch(&self) -> Option<Fingerprint> {
        if self.slots.iter().any(|slot| !slot.worker.cell().is_captured()) {
            return None;
        }
        let rest = self.monitors.hash().wrapping_add(self.budget.share());
        let workers = self.slots.iter().map(|slot| slot.share_from_scratch(self.rules.mailbox));
        Some(Fingerprint(workers.fold(rest, u64::wrapping_add)))
    }

    /// Recomputes [`System::observe`], which must equal this, from scratch.
    #[doc(hidden)]
    pub fn observe_from_scratch(&self, how: Observe) -> Option<u64> {
        let workers =
            self.slots.iter().map(|slot| slot.worker.observation(how, self.rules.mailbox));
        Some(workers.fold(self.faults_observed(how), u64::wrapping_add))
    }

    fn faults_observed(&self, how: Observe) -> u64 {
        if how == Observe::Control { self.budget.share() } else { 0 }
    }

    /// As [`Captured::restore_from`], for the start of an execution, which will change all workers:
    /// they are copied and not shared.
    pub(crate) fn start_over_from(&mut self, saved: &MachineSystem) {
        for (own, saved) in self.slots.iter_mut().zip(&saved.slots) {
            own.copy_from(saved, &mut self.pool);
        }
        self.restore_rest(saved);
    }

    /// Restores everything except the workers in the slots that both systems have.
    fn restore_rest(&mut self, saved: &MachineSystem) {
        let kept = self.slots.len().min(saved.slots.len());
        if self.slots.len() != saved.slots.len() {
            for extra in self.slots.drain(kept..) {
                self.pool.put_worker(extra.worker);
            }
            self.slots.extend(saved.slots[kept..].iter().map(Slot::fork));
        }
        self.rules = saved.rules;
        if self.index_stamp != saved.index_stamp {
            match Arc::get_mut(&mut self.index) {
                // It will add workers of its own.
                Some(own) if self.stepped => own.clone_from(&saved.index),
                _ => self.index.clone_from(&saved.index),
            }
            self.index_stamp = saved.index_stamp;
        }
        self.enabled.clone_from(&saved.enabled);
        self.budget = saved.budget;
        self.uncaptured = saved.uncaptured;
        (self.mortals, self.down) = (saved.mortals, saved.down);
        self.faults_listed = saved.faults_listed;
        (self.seals, self.rare) = (saved.seals, saved.rare);
        self.seal_while.restore_from(&saved.seal_while);
        if self.monitors_stamp != saved.monitors_stamp {
            self.monitors.restore_from(&saved.monitors);
            self.monitors_stamp = saved.monitors_stamp;
        }
        *self.monitors_share.get_mut() = saved.monitors_share.load(Relaxed);
        if *self.observed.get_mut() != saved.observed.load(Relaxed) {
            // The slots would remember different kinds of observation.
            self.slots.iter().for_each(Slot::forget_observed);
        }
    }

    /// Steps a timer or the fault injector.
    #[inline(never)]
    fn step_other(&mut self, worker: WorkerId, env: &mut EventSink<'_>) -> Result<(), Stop> {
        match self.find(worker) {
            Some(Place::Timer(slot, timer)) if self.is_listed(worker) => {
                self.fire(slot, timer, env)
            }
            None if self.is_listed(worker) => self.inject(env),
            _ => {
                let problem = Problem::Uncontrolled(Uncontrolled::NotEnabled);
                Err(Bug::new(problem).in_step_of(worker).into())
            }
        }
    }

    #[inline(never)]
    fn is_listed(&self, worker: WorkerId) -> bool {
        match self.find(worker) {
            Some(Place::Machine(slot)) => self.slots[slot].listed,
            Some(Place::Timer(slot, timer)) => {
                self.slots[slot].worker.timers.get(timer).is_some_and(|timer| timer.listed)
            }
            None => worker == WorkerId::FAULTS && self.faults_listed,
        }
    }

    #[inline]
    pub(crate) fn touch(&mut self, slot: usize) -> Result<&mut Worker, Stop> {
        self.slots[slot].unshared(&mut self.pool)
    }

    pub(crate) fn add(&mut self, worker: Arc<Worker>) {
        let slot = self.slots.len();
        let cell = worker.cell();
        if !cell.is_captured() {
            self.uncaptured.get_or_insert(cell.name());
        }
        if cell.can_crash() {
            self.mortals += 1;
        }
        self.register(worker.id, Place::Machine(slot));
        self.slots.push(Slot::new(worker));
        self.relist(slot);
        self.relist_faults();
    }

    pub(crate) fn relist(&mut self, slot: usize) {
        self.slots[slot].relist(&mut self.enabled);
    }

    /// A machine in the words of a bug, such as `` `Client(0.2)` ``.
    pub(crate) fn named(&self, worker: WorkerId) -> Named {
        #[cfg(feature = "host")]
        if let (None, Some(name)) = (self.find(worker), &self.elsewhere) {
            return Named { worker, name: name(worker).to_owned() };
        }
        Named { worker, name: self.name(worker) }
    }
}
