//! One live execution of a P test.

use dally_core::{
    Acceptance, Bug, BugKind, Captured, Env, Fingerprint, Observe, Op, Status, Stop, System,
    Waiting, WorkerId, fingerprint,
};
use triomphe::Arc;

use super::coverage::Coverage;
use super::digest::Digest;
use super::machine::{Machine, Phase};
use super::print::name_of;
use super::run::{state_of, unshared};
use super::tell::Teller;
use crate::lower::code::Code;

/// An execution: machines shared copy-on-write with its forks.
pub struct PSystem {
    pub(super) shared: Arc<Shared>,
    /// The specs, then the machines in the order of their ids.
    pub(super) slots: Vec<Arc<Machine>>,
    /// The ids of the machines; it changes only when one is created.
    pub(super) ids: Arc<Vec<WorkerId>>,
    pub(super) enabled: Vec<WorkerId>,
    /// The specs in hot states, by bit.
    pub(super) hot: u64,
    /// Those that came to a state that is not hot in the last step.
    pub(super) relieved: u64,
    /// Machines that nobody needs, for their memory.
    pub(super) spares: Vec<Arc<Machine>>,
}

/// What all executions of a test share.
pub(crate) struct Shared {
    pub(crate) code: Code,
    pub(crate) coverage: Coverage,
    /// Whether handlers run without scheduling points at sends and creates.
    pub(crate) atomic: bool,
}

/// How many machines are kept for their memory.
const SPARES: usize = 256;

impl System for PSystem {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn pending(&self, worker: WorkerId) -> Op {
        let Some(at) = self.find(worker) else { return Op::Unknown };
        let machine = self.machine(at);
        match machine.phase {
            Phase::New | Phase::Quiet => Op::Local,
            Phase::Sending => Op::Send(machine.to),
            Phase::Creating(..) => Op::Create,
            Phase::Ready(_) | Phase::Looking | Phase::Receiving(..) => Op::Receive,
            Phase::Running | Phase::Idle | Phase::Waiting(_) | Phase::Halted => Op::Unknown,
        }
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        match self.find(worker).filter(|&at| self.machine(at).is_enabled()) {
            Some(at) => {
                // What a machine was about to do changes it in any case.
                self.unshared(at);
                self.relieved = 0;
                self.run(at, &mut Teller::new(env))
            }
            None => Err(Bug::new(
                BugKind::Uncontrolled,
                format!("worker {worker} was asked to step although it cannot"),
            )
            .into()),
        }
    }

    fn status(&self) -> Status {
        if !self.enabled.is_empty() {
            return Status::Running;
        }
        let waiting: Vec<Waiting> = self.machines().iter().filter_map(|m| self.waits(m)).collect();
        if waiting.is_empty() { Status::Done } else { Status::Stuck(waiting) }
    }

    fn acceptance(&self) -> Acceptance {
        Acceptance { hot: self.hot, relieved: self.relieved, visits: 0 }
    }

    /// Per machine its declaration and the events in its queue; for control also its state and
    /// where in its code it is. Machines are combined commutatively and their ids left out, as
    /// in the learning paper's tool.
    fn observe(&self, how: Observe) -> u64 {
        self.machines().iter().fold(0, |sum: u64, machine| {
            let mut digest = Digest::new(u64::from(machine.kind));
            for envelope in machine.inbox.iter() {
                digest.word(u64::from(envelope.event.0) + 1);
            }
            if how == Observe::Control {
                let op = match machine.phase {
                    Phase::Sending => 1,
                    Phase::Creating(..) => 2,
                    Phase::Receiving(..) | Phase::Waiting(_) => 3,
                    Phase::Halted => 4,
                    Phase::New => 5,
                    _ => 0,
                };
                digest.word(u64::from(machine.state) << 8 | op);
            }
            sum.wrapping_add(digest.value())
        })
    }

    fn whole(&self) -> Option<Fingerprint> {
        Some(self.fingerprint())
    }

    fn name(&self, worker: WorkerId) -> String {
        let kind = self.find(worker).map(|at| usize::from(self.machine(at).kind));
        kind.map_or("?".into(), |kind| self.shared.code.machines[kind].name.to_string())
    }

    fn monitor(&self, index: usize) -> (String, String) {
        let code = &self.shared.code;
        let spec = &self.slots[index];
        let name = &code.machines[usize::from(spec.kind)].name;
        (name.to_string(), state_of(code, spec).name.to_string())
    }
}

impl Captured for PSystem {
    fn obstacle(&self) -> Option<String> {
        None
    }

    fn fingerprint(&self) -> Fingerprint {
        let sum = self.slots.iter().fold(0u64, |sum, slot| sum.wrapping_add(slot.share()));
        Fingerprint(sum)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        for slot in &self.slots {
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            slot.encode(out);
            let length = (out.len() - start - 4) as u32;
            out[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
    }

    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        let mut bytes = Vec::new();
        for slot in &self.slots {
            bytes.clear();
            slot.encode(&mut bytes);
            part(&bytes);
        }
    }

    fn fork(&self) -> PSystem {
        PSystem {
            shared: self.shared.clone(),
            slots: self.slots.clone(),
            ids: self.ids.clone(),
            enabled: self.enabled.clone(),
            hot: self.hot,
            relieved: self.relieved,
            spares: Vec::new(),
        }
    }

    fn footprint(&self) -> usize {
        // One or two machines have changed since the last state.
        size_of::<PSystem>()
            + size_of_val(&*self.slots)
            + size_of_val(&*self.enabled)
            + 2 * size_of::<Machine>()
    }

    fn restore_from(&mut self, saved: &PSystem) {
        let both = self.slots.len().min(saved.slots.len());
        for at in 0..both {
            if !Arc::ptr_eq(&self.slots[at], &saved.slots[at]) {
                let old = std::mem::replace(&mut self.slots[at], saved.slots[at].clone());
                self.keep(old);
            }
        }
        while self.slots.len() > saved.slots.len()
            && let Some(extra) = self.slots.pop()
        {
            self.keep(extra);
        }
        self.slots.extend_from_slice(&saved.slots[self.slots.len()..]);
        if !Arc::ptr_eq(&self.ids, &saved.ids) {
            self.ids = saved.ids.clone();
        }
        self.enabled.clone_from(&saved.enabled);
        (self.hot, self.relieved) = (saved.hot, saved.relieved);
    }
}

impl PSystem {
    /// The fingerprint computed anew from the whole state: what [`Captured::fingerprint`] must
    /// always equal.
    #[doc(hidden)]
    pub fn fingerprint_from_scratch(&self) -> Fingerprint {
        let shares = self.slots.iter().map(|slot| slot.share_from_scratch());
        Fingerprint(shares.fold(0, u64::wrapping_add))
    }

    fn machines(&self) -> &[Arc<Machine>] {
        &self.slots[self.shared.code.specs.len()..]
    }

    #[inline]
    pub(super) fn machine(&self, at: usize) -> &Machine {
        &self.slots[self.shared.code.specs.len() + at]
    }

    /// A machine to be changed.
    #[inline]
    pub(super) fn unshared(&mut self, at: usize) -> &mut Machine {
        unshared(&mut self.slots[self.shared.code.specs.len() + at])
    }

    #[inline]
    pub(super) fn find(&self, worker: WorkerId) -> Option<usize> {
        worker.place_in(&self.ids).ok()
    }

    /// Puts a machine into the list of enabled workers or takes it out.
    pub(super) fn relist(&mut self, at: usize) {
        let machine = self.machine(at);
        let (worker, now) = (machine.id, machine.is_enabled());
        match (worker.place_in(&self.enabled), now) {
            (Err(place), true) => self.enabled.insert(place, worker),
            (Ok(place), false) => {
                self.enabled.remove(place);
            }
            _ => {}
        }
    }

    /// Adds a machine that is new; answers its place.
    pub(super) fn add(&mut self, machine: Arc<Machine>) -> usize {
        let id = machine.id;
        let (Ok(place) | Err(place)) = id.place_in(&self.ids);
        Arc::make_mut(&mut self.ids).insert(place, id);
        self.slots.insert(self.shared.code.specs.len() + place, machine);
        self.relist(place);
        place
    }

    /// A machine that is nobody's, in any condition.
    pub(super) fn spare(&mut self) -> Arc<Machine> {
        self.spares.pop().unwrap_or_else(|| Arc::new(Machine::blank()))
    }

    /// Keeps a machine for its memory, unless somebody else has it.
    fn keep(&mut self, machine: Arc<Machine>) {
        if self.spares.len() < SPARES && Arc::is_unique(&machine) {
            self.spares.push(machine);
        }
    }

    /// Goes back to the start of an execution with machines of its own, in the same memory.
    pub(super) fn start_over_from(&mut self, saved: &PSystem) {
        while let Some(old) = self.slots.pop() {
            self.keep(old);
        }
        for slot in &saved.slots {
            let mut own = self.spare();
            if let Some(machine) = Arc::get_mut(&mut own) {
                machine.copy_from(slot);
            }
            self.slots.push(own);
        }
        if let Some(ids) = Arc::get_mut(&mut self.ids) {
            ids.clone_from(&saved.ids);
        } else {
            self.ids = Arc::new(saved.ids.to_vec());
        }
        self.enabled.clone_from(&saved.enabled);
        (self.hot, self.relieved) = (saved.hot, saved.relieved);
    }

    fn waits(&self, machine: &Machine) -> Option<Waiting> {
        let Phase::Waiting(receive) = machine.phase else { return None };
        let code = &self.shared.code;
        let receive = &code.receives[usize::from(receive)];
        let names: Vec<String> =
            receive.events.iter().map(|&event| format!("`{}`", name_of(code, event))).collect();
        let place = code.sources.location(receive.span);
        Some(Waiting {
            worker: machine.id,
            name: code.machines[usize::from(machine.kind)].name.to_string(),
            on: format!("receive {} at {place}", names.join(" or ")),
        })
    }

    /// A hash of the names of things that must not differ between executions, for tests.
    #[doc(hidden)]
    pub fn encoding_hash(&self) -> u64 {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        fingerprint::of_bytes(&bytes)
    }
}
