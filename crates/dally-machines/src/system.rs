//! One live execution of a program of machines.

use dally_core::{
    Acceptance, Bug, BugKind, Captured, Env, Fingerprint, MessageId, Monitors, Observe, Op, Status,
    Stop, System, WorkerId, fingerprint,
};
use triomphe::Arc;

use crate::digest::{self, Digest};
use crate::effect::Effect;
use crate::encoding::{self, Form};
use crate::faults::Faults;
use crate::inbox::Mailbox;
use crate::pool::Pool;
use crate::program::Granularity;
use crate::tell::Teller;
use crate::worker::{Life, Worker};

/// An execution of machines: workers shared copy-on-write with its forks, in the order of their
/// creation, and a list of those that can step, kept as they change.
#[derive(Default)]
pub struct MachineSystem {
    pub(crate) rules: Rules,
    pub(crate) slots: Vec<Slot>,
    /// Where each worker is, sorted by id.
    pub(crate) index: Vec<(WorkerId, Place)>,
    pub(crate) enabled: Vec<WorkerId>,
    /// The faults that may still happen.
    pub(crate) budget: Faults,
    /// How many machines can crash, and how many are down.
    pub(crate) mortals: u32,
    pub(crate) down: u32,
    pub(crate) faults_listed: bool,
    /// How many seals all workers hold.
    pub(crate) seals: u32,
    pub(crate) monitors: Monitors,
    pub(crate) digest: Digest,
    pub(crate) pool: Pool,
    pub(crate) candidates: Vec<(MessageId, u32)>,
    pub(crate) candidate_ids: Vec<MessageId>,
    /// Who the machines outside this system are: in production each runs in a system of its own.
    #[cfg(feature = "host")]
    pub(crate) elsewhere: Option<crate::host::Describe>,
}

/// How a program's machines are run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) granularity: Granularity,
    pub(crate) mailbox: Mailbox,
    pub(crate) keep_inbox: bool,
    pub(crate) twice: bool,
}

/// A worker, and whether it is in the list of enabled ones.
pub(crate) struct Slot {
    pub(crate) worker: Arc<Worker>,
    pub(crate) listed: bool,
}

/// What an id stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The machine in this slot.
    Machine(usize),
    /// A timer of the machine in this slot.
    Timer(usize, usize),
}

impl System for MachineSystem {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn pending(&self, worker: WorkerId) -> Op {
        match self.find(worker) {
            Some(Place::Machine(slot)) => {
                let worker = &self.slots[slot].worker;
                match worker.effects.last() {
                    Some(Effect::Send { to, .. }) => Op::Send(*to),
                    Some(Effect::Create(_)) => Op::Create,
                    Some(_) => Op::Local,
                    None if worker.life == Life::New => Op::Local,
                    None => Op::Receive,
                }
            }
            Some(Place::Timer(slot, _)) => Op::Timer(self.slots[slot].worker.id),
            None if worker == WorkerId::FAULTS => Op::Fault,
            None => Op::Unknown,
        }
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let env = &mut Teller::new(env);
        match self.find(worker) {
            Some(Place::Machine(slot)) if self.slots[slot].listed => self.run(slot, env),
            Some(Place::Timer(slot, timer))
                if self.slots[slot].worker.timers.get(timer).is_some_and(|t| t.listed) =>
            {
                self.fire(slot, timer, env)
            }
            None if worker == WorkerId::FAULTS && self.faults_listed => self.inject(env),
            _ => Err(Bug::new(
                BugKind::Uncontrolled,
                format!("worker {worker} was asked to step although it cannot"),
            )
            .into()),
        }
    }

    fn status(&self) -> Status {
        // A machine never waits for one thing in particular: what is left in inboxes is deferred,
        // and that is fine at the end, as in P.
        if self.enabled.is_empty() { Status::Done } else { Status::Running }
    }

    fn acceptance(&self) -> Acceptance {
        self.monitors.acceptance()
    }

    /// As in the learning paper's tool: per machine its type, its stack of states, whether it is
    /// over, the events in its inbox by name and the kind of its next operation; machines are
    /// combined commutatively and their ids left out. The combination is a sum of mixed words.
    fn observe(&self, how: Observe) -> u64 {
        self.slots.iter().fold(0, |sum: u64, slot| {
            let worker = &slot.worker;
            let mut hash = worker.kind;
            for envelope in &worker.inbox {
                hash = fingerprint::mix(hash, u64::from(envelope.event) + 1);
            }
            if how == Observe::Control {
                let op = match worker.effects.last() {
                    Some(Effect::Send { .. }) => 1,
                    Some(Effect::Create(_)) => 2,
                    Some(_) => 3,
                    None => 0,
                };
                let control = worker.cell.control().wrapping_add(op << 8 | worker.life as u64);
                hash = fingerprint::mix(hash, control);
            }
            sum.wrapping_add(hash)
        })
    }

    fn sealed(&self) -> bool {
        self.seals > 0
    }

    fn name(&self, worker: WorkerId) -> String {
        match self.find(worker) {
            Some(Place::Machine(slot)) => self.slots[slot].worker.cell.name().to_owned(),
            Some(Place::Timer(slot, timer)) => {
                let owner = &self.slots[slot].worker;
                let event = owner.timers.get(timer).map_or("?", |t| owner.cell.event_name(t.event));
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
    fn obstacle(&self) -> Option<String> {
        let worker = &self.slots.iter().find(|slot| !slot.worker.cell.is_captured())?.worker;
        let name = worker.cell.name();
        Some(format!(
            "machine `{name}` is declared `uncaptured`: its state cannot be copied and compared. \
             Derive `Clone, PartialEq, Eq, Hash` for it and its events, and drop `uncaptured`"
        ))
    }

    fn fingerprint(&self) -> Fingerprint {
        let mut scratch = Vec::new();
        let sum = self.digest.sum(
            |slot| worker_share(&self.slots[slot].worker, self.rules.mailbox),
            || self.monitors.hash(&mut scratch),
        );
        Fingerprint(sum.0.wrapping_add(self.budget.share()))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.budget.encode(out);
        out.extend_from_slice(&(self.slots.len() as u32).to_le_bytes());
        for (id, place) in &self.index {
            if let Place::Machine(slot) = place {
                out.extend_from_slice(&id.to_bits().to_le_bytes());
                let worker = &self.slots[*slot].worker;
                encoding::framed(out, |out| worker.encode(Form::Exact, self.rules.mailbox, out));
            }
        }
        self.monitors.encode(out);
    }

    /// One part for what belongs to no worker, then one for each worker in the order of ids.
    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        let mut bytes = Vec::new();
        self.budget.encode(&mut bytes);
        self.monitors.encode(&mut bytes);
        part(&bytes);
        for (id, place) in &self.index {
            if let Place::Machine(slot) = place {
                bytes.clear();
                bytes.extend_from_slice(&id.to_bits().to_le_bytes());
                self.slots[*slot].worker.encode(Form::Exact, self.rules.mailbox, &mut bytes);
                part(&bytes);
            }
        }
    }

    fn fork(&self) -> MachineSystem {
        let mut fork = MachineSystem::default();
        fork.restore_from(self);
        fork
    }

    fn restore_from(&mut self, saved: &MachineSystem) {
        let MachineSystem { slots, pool, .. } = self;
        for extra in slots.drain(saved.slots.len().min(slots.len())..) {
            pool.put_worker(extra.worker);
        }
        let kept = slots.len();
        for (own, saved) in slots.iter_mut().zip(&saved.slots) {
            own.listed = saved.listed;
            if Arc::ptr_eq(&own.worker, &saved.worker) {
                continue;
            }
            let copied = Arc::get_mut(&mut own.worker)
                .is_some_and(|worker| worker.copy_from(&saved.worker, pool));
            if !copied {
                pool.put_worker(std::mem::replace(&mut own.worker, saved.worker.clone()));
            }
        }
        let added = saved.slots[kept..].iter();
        slots.extend(added.map(|s| Slot { worker: s.worker.clone(), listed: s.listed }));
        self.rules = saved.rules;
        self.index.clone_from(&saved.index);
        self.enabled.clone_from(&saved.enabled);
        self.budget = saved.budget;
        (self.mortals, self.down) = (saved.mortals, saved.down);
        self.faults_listed = saved.faults_listed;
        self.seals = saved.seals;
        self.monitors.restore_from(&saved.monitors);
        self.digest.copy_from(&saved.digest);
    }
}

impl MachineSystem {
    /// The fingerprint computed anew from the whole state: what [`Captured::fingerprint`] must
    /// always equal.
    #[doc(hidden)]
    pub fn fingerprint_from_scratch(&self) -> Fingerprint {
        let workers = self.slots.iter().fold(0u64, |sum, slot| {
            sum.wrapping_add(worker_share(&slot.worker, self.rules.mailbox))
        });
        let monitors = self.monitors.hash(&mut Vec::new());
        Fingerprint(workers.wrapping_add(monitors).wrapping_add(self.budget.share()))
    }

    #[inline]
    pub(crate) fn find(&self, worker: WorkerId) -> Option<Place> {
        // A short list is faster scanned than halved.
        if self.index.len() <= 8 {
            return self.index.iter().find(|entry| entry.0 == worker).map(|entry| entry.1);
        }
        let at = self.index.binary_search_by_key(&worker, |entry| entry.0).ok()?;
        Some(self.index[at].1)
    }

    /// The worker in a slot, to be changed: unshared if need be, and out of date in the digest.
    #[inline]
    pub(crate) fn touch(&mut self, slot: usize) -> Result<&mut Worker, Stop> {
        self.digest.touch(slot);
        unshared(&mut self.slots[slot].worker)
    }

    /// Adds a machine that has come to life.
    pub(crate) fn add(&mut self, worker: Arc<Worker>) {
        let slot = self.slots.len();
        if worker.cell.can_crash() {
            self.mortals += 1;
        }
        self.register(worker.id, Place::Machine(slot));
        self.slots.push(Slot { worker, listed: false });
        self.digest.add(slot);
        self.relist(slot);
        self.relist_faults();
    }

    pub(crate) fn register(&mut self, id: WorkerId, place: Place) {
        if let Err(at) = self.index.binary_search_by_key(&id, |entry| entry.0) {
            self.index.insert(at, (id, place));
        }
    }

    /// Puts the machine in a slot into the list of enabled workers or takes it out.
    pub(crate) fn relist(&mut self, slot: usize) {
        let Slot { worker, listed } = &mut self.slots[slot];
        relist(worker, listed, &mut self.enabled);
    }

    /// A machine in the words of a bug, such as `` `Client(0.2)` ``.
    pub(crate) fn describe(&self, worker: WorkerId) -> String {
        #[cfg(feature = "host")]
        if let (None, Some(describe)) = (self.find(worker), &self.elsewhere) {
            return describe(worker);
        }
        format!("`{}({worker})`", self.name(worker))
    }
}

/// Puts a machine into the list of enabled workers or takes it out.
#[inline(always)]
pub(crate) fn relist(worker: &Worker, listed: &mut bool, enabled: &mut Vec<WorkerId>) {
    let now = worker.is_enabled();
    if now != *listed {
        *listed = now;
        list(enabled, worker.id, now);
    }
}

/// Keeps the list sorted.
pub(crate) fn list(enabled: &mut Vec<WorkerId>, worker: WorkerId, on: bool) {
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

/// The worker behind a pointer, copied first if the pointer is shared.
#[inline]
pub(crate) fn unshared(shared: &mut Arc<Worker>) -> Result<&mut Worker, Stop> {
    if !Arc::is_unique(shared) {
        unshare(shared)?;
    }
    match Arc::get_mut(shared) {
        Some(worker) => Ok(worker),
        None => unreachable!("the pointer is unique, or was just made so"),
    }
}

#[cold]
fn unshare(shared: &mut Arc<Worker>) -> Result<(), Stop> {
    let Some(copy) = shared.duplicate() else {
        let message = format!(
            "`{}` is declared `uncaptured` and was stepped in a fork; forks need captured machines",
            shared.cell.name()
        );
        return Err(Bug::new(BugKind::Uncontrolled, message).into());
    };
    *shared = Arc::new(copy);
    Ok(())
}

fn worker_share(worker: &Worker, mailbox: Mailbox) -> u64 {
    let mut scratch = Vec::with_capacity(128);
    worker.encode(Form::Hashed, mailbox, &mut scratch);
    digest::share(worker.id.to_bits(), &scratch)
}
