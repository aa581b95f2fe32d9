//! One live execution of a P test.

use std::fmt;

use dally_core::bug::{Place, PlaceOf, Uncontrolled};
use dally_core::report::Census;
use dally_core::{
    Acceptance, Access, Bug, Captured, Cut, Env, EventSink, Fingerprint, Footprint, LONGEST_FIELDS,
    MessageId, Observe, Problem, Resource, Status, Stop, System, Text, Wait, Waiting, WorkerId,
};
use triomphe::Arc;

use super::coverage::{self, Coverage};
use super::machine::{Machine, Phase};
use super::pool::{self, Pooled};
use super::print::{Held, name_of};
use super::run::{state_of, unshared};
use super::transition_cache::{KnownSteps, Sums};
use super::value::with_length;
use crate::lower::code::Code;
use crate::program::EventId;

/// An execution of a P test.
pub struct PSystem {
    pub(super) shared: Arc<Shared>,
    pub(super) machines: Machines,
    /// The transition cache, made when a search first looks ahead.
    pub(super) known_steps: Option<Box<KnownSteps>>,
}

/// All machines and specs of an execution, shared copy-on-write with its forks.
#[derive(Clone, Default)]
pub(super) struct Machines {
    /// The specs, then the machines in the order of their ids.
    pub(super) slots: Vec<Arc<Machine>>,
    pub(super) ids: Arc<Vec<WorkerId>>,
    pub(super) enabled: Arc<Vec<WorkerId>>,
    pub(super) specs: usize,
    /// The specs in hot states, as bits.
    pub(super) hot: u64,
    /// The specs that were in a state that is not hot during the last step, as bits.
    pub(super) relieved: u64,
    /// Whether the last step did what its machine calls rare.
    pub(super) rare: bool,
    /// What [`Machines::sums`] answers, if nothing has changed since it was asked.
    pub(super) known_sums: Option<Sums>,
}

pub(crate) struct Shared {
    pub(crate) code: Code,
    pub(crate) coverage: Coverage,
    /// Whether handlers run without scheduling points at sends and creates.
    pub(crate) atomic: bool,
}

impl System for PSystem {
    fn enabled(&self) -> &[WorkerId] {
        &self.machines.enabled
    }

    /// A machine that can step is changed by nobody else, but for its queue, which grows at its end.
    fn pending_lasts(&self) -> bool {
        true
    }

    /// The first operation of a step is known; what its code does up to the next point is not.
    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        out.begin_unknown(worker);
        let Some(at) = self.machines.find(worker) else { return };
        let machine = self.machines.get(at);
        match machine.phase {
            Phase::New | Phase::Quiet => out.add(Access::read(Resource::Life(worker))),
            Phase::Sending => {
                let message = MessageId { sender: worker, number: machine.sent };
                out.sends(message, machine.to);
            }
            Phase::Creating(..) => {
                out.add(Access::write(Resource::Life(worker.child(machine.children))));
            }
            Phase::Ready(place) | Phase::Receiving(_, place) => {
                if let Some(first) = machine.inbox.get(place as usize) {
                    out.takes(first.id);
                }
            }
            Phase::Looking => out.add(Access::read(Resource::Inbox(worker))),
            Phase::Running | Phase::Idle | Phase::Waiting(_) | Phase::Halted => {}
        }
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let machines = &mut self.machines;
        match machines.find(worker).filter(|&at| machines.get(at).is_enabled()) {
            Some(at) => match self.known_steps.take() {
                None => machines.step(&self.shared, at, &mut EventSink::new(env)),
                Some(mut known) => {
                    let stepped = self.step_noted(at, &mut known, env);
                    self.known_steps = Some(known);
                    stepped
                }
            },
            None => {
                let problem = Problem::Uncontrolled(Uncontrolled::NotEnabled);
                Err(Bug::new(problem).in_step_of(worker).into())
            }
        }
    }

    fn status(&self) -> Status {
        if !self.machines.enabled.is_empty() {
            return Status::Running;
        }
        let waiting: Vec<Waiting> =
            self.machines.all().iter().filter_map(|machine| self.waits(machine)).collect();
        if waiting.is_empty() { Status::Done } else { Status::Stuck(waiting) }
    }

    fn acceptance(&self) -> Acceptance {
        let Machines { hot, relieved, .. } = self.machines;
        Acceptance { hot, relieved, visits: 0 }
    }

    /// A sum over the machines of what is observed of each. Ids are left out, as in the tool of Mukherjee,
    /// Deligiannis, Biswas and Lal, "Learning-Based Controlled Concurrency Testing".
    fn observe(&self, how: Observe) -> Option<u64> {
        let machines = self.machines.all().iter().map(|machine| machine.observation(how));
        Some(machines.fold(0, u64::wrapping_add))
    }

    #[inline]
    fn fingerprint(&self) -> Option<Fingerprint> {
        let known = self.machines.known_sums.map(|sums| sums.all);
        Some(Fingerprint(known.unwrap_or_else(|| self.machines.sum())))
    }

    /// Deferred events at the front of a queue wait for nobody.
    fn backlog(&self) -> usize {
        let waiting = |machine: &Arc<Machine>| match machine.phase {
            Phase::Ready(first) | Phase::Receiving(_, first) => {
                machine.inbox.len() - first as usize
            }
            _ if machine.is_enabled() => machine.inbox.len(),
            _ => 0,
        };
        let messages: usize = self.machines.all().iter().map(waiting).sum();
        self.machines.enabled.len().saturating_mul(1 + messages)
    }

    fn sealed(&self) -> bool {
        self.shared.code.directives.seal != EventId::NULL
            && self.machines.all().iter().any(|machine| machine.seals > 0)
    }

    fn rare(&self) -> bool {
        self.machines.rare
    }

    fn name(&self, worker: WorkerId) -> String {
        let kind = self.machines.find(worker).map(|at| usize::from(self.machines.get(at).kind));
        kind.map_or("?".into(), |kind| self.shared.code.machines[kind].name.to_string())
    }

    /// The machines and specs of the test, and the events that somebody handles.
    fn anatomy(&self) -> Census {
        coverage::anatomy(&self.shared.code)
    }

    /// The variables of a machine by their names.
    fn fields(&self, worker: WorkerId) -> Option<String> {
        let machine = self.machines.get(self.machines.find(worker)?);
        let code = &self.shared.code;
        let fields = || Text::Display(&Fields(code, machine)).beginning(LONGEST_FIELDS);
        (machine.phase != Phase::Halted).then(fields)
    }

    fn monitor(&self, index: usize) -> (String, String) {
        let code = &self.shared.code;
        let spec = &self.machines.slots[index];
        let name = &code.machines[usize::from(spec.kind)].name;
        (name.to_string(), state_of(code, spec).name.to_string())
    }
}

/// The variables of a machine with their values.
struct Fields<'a>(&'a Code, &'a Machine);

impl fmt::Display for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fields(code, machine) = *self;
        let kind = &code.machines[usize::from(machine.kind)];
        write!(f, "{} {{ ", kind.name)?;
        for (position, (name, value)) in kind.field_names.iter().zip(&machine.regs).enumerate() {
            let between = if position > 0 { ", " } else { "" };
            write!(f, "{between}{name}: {}", Held(code, value))?;
        }
        f.write_str(" }")
    }
}

impl Captured for PSystem {
    const FORESEES: bool = true;

    fn foresee(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<Option<Fingerprint>, Cut> {
        self.machines.find(worker).map_or(Ok(None), |at| self.look_ahead(at, env))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        for slot in &self.machines.slots {
            with_length(out, |out| slot.encode(out));
        }
    }

    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        let mut bytes = Vec::new();
        for slot in &self.machines.slots {
            bytes.clear();
            slot.encode(&mut bytes);
            part(&bytes);
        }
    }

    fn fork(&self) -> PSystem {
        let (shared, machines) = (self.shared.clone(), self.machines.clone());
        PSystem { shared, machines, known_steps: None }
    }

    /// The list of machines is this system's own; nearly all machines are shared with other states.
    fn footprint(&self) -> usize {
        size_of::<PSystem>() + size_of_val(&*self.machines.slots)
    }

    fn condense(&mut self) {
        let Machines { slots, enabled, .. } = &mut self.machines;
        slots.iter_mut().filter(|slot| Arc::is_unique(slot)).for_each(pool::intern);
        if Arc::is_unique(enabled) {
            pool::intern(enabled);
        }
    }

    fn restore_from(&mut self, saved: &PSystem) {
        self.machines.restore_from(&saved.machines);
    }
}

impl PSystem {
    /// Recomputes [`System::fingerprint`], which must equal this, from scratch.
    #[doc(hidden)]
    pub fn fingerprint_from_scratch(&self) -> Option<Fingerprint> {
        let shares = self.machines.slots.iter().map(|slot| slot.share_from_scratch());
        Some(Fingerprint(shares.fold(0, u64::wrapping_add)))
    }

    /// Recomputes [`System::observe`], which must equal this, from scratch.
    #[doc(hidden)]
    pub fn observe_from_scratch(&self, how: Observe) -> Option<u64> {
        let machines = self.machines.all().iter();
        let shares = machines.map(|machine| machine.observation_from_scratch(how));
        Some(shares.fold(0, u64::wrapping_add))
    }

    fn waits(&self, machine: &Machine) -> Option<Waiting> {
        let Phase::Waiting(receive) = machine.phase else { return None };
        let code = &self.shared.code;
        let receive = &code.receives[usize::from(receive)];
        let events = receive.events.iter().map(|&event| name_of(code, event).to_owned());
        let location = code.sources.location(receive.span);
        let wait = Wait {
            operation: "receive".to_owned(),
            payload: events.collect(),
            object: None,
            place: Some(Place { of: PlaceOf::Operation, location }),
        };
        Some(Waiting {
            worker: machine.id,
            name: code.machines[usize::from(machine.kind)].name.to_string(),
            on: vec![wait],
            woken_outside: false,
        })
    }
}

impl Machines {
    #[inline]
    pub(super) fn step(
        &mut self,
        shared: &Shared,
        at: usize,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        // Every step changes the phase of its machine.
        self.unshared(at);
        (self.relieved, self.rare, self.known_sums) = (0, false, None);
        self.run(shared, at, env)
    }

    fn all(&self) -> &[Arc<Machine>] {
        &self.slots[self.specs..]
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> &Machine {
        &self.slots[self.specs + at]
    }

    /// The machine for writing.
    #[inline]
    pub(super) fn unshared(&mut self, at: usize) -> &mut Machine {
        unshared(&mut self.slots[self.specs + at])
    }

    #[inline]
    pub(super) fn find(&self, worker: WorkerId) -> Option<usize> {
        worker.place_in(&self.ids).ok()
    }

    pub(super) fn relist(&mut self, at: usize) {
        let machine = self.get(at);
        let (worker, now) = (machine.id, machine.is_enabled());
        match (worker.place_in(&self.enabled), now) {
            (Err(place), true) => pool::own(&mut self.enabled).insert(place, worker),
            (Ok(place), false) => {
                pool::own(&mut self.enabled).remove(place);
            }
            _ => {}
        }
    }

    /// Adds a new machine; answers its index.
    pub(super) fn add(&mut self, machine: Arc<Machine>) -> usize {
        let id = machine.id;
        let (Ok(place) | Err(place)) = id.place_in(&self.ids);
        pool::own(&mut self.ids).insert(place, id);
        self.slots.insert(self.specs + place, machine);
        self.relist(place);
        place
    }

    fn restore_from(&mut self, saved: &Machines) {
        for (own, saved) in self.slots.iter_mut().zip(&saved.slots) {
            if !Arc::ptr_eq(own, saved) {
                pool::keep(std::mem::replace(own, saved.clone()));
            }
        }
        if self.slots.len() > saved.slots.len() {
            self.slots.drain(saved.slots.len()..).for_each(pool::keep);
        }
        self.slots.extend_from_slice(&saved.slots[self.slots.len()..]);
        if !Arc::ptr_eq(&self.ids, &saved.ids) {
            self.ids = saved.ids.clone();
        }
        if !Arc::ptr_eq(&self.enabled, &saved.enabled) {
            pool::keep(std::mem::replace(&mut self.enabled, saved.enabled.clone()));
        }
        self.copy_facts(saved);
    }

    fn copy_facts(&mut self, saved: &Machines) {
        (self.specs, self.hot, self.relieved) = (saved.specs, saved.hot, saved.relieved);
        self.known_sums = saved.known_sums;
    }

    /// Goes back to the start of an execution. All machines will be changed soon, so they are copied
    /// into recycled memory and not shared.
    pub(super) fn start_over_from(&mut self, saved: &Machines) {
        self.slots.drain(..).for_each(pool::keep);
        let copy = |slot: &Arc<Machine>| pool::make(|own: &mut Machine| own.copy_from(slot));
        self.slots.extend(saved.slots.iter().map(copy));
        pool::own(&mut self.ids).clone_from(&saved.ids);
        pool::own(&mut self.enabled).clone_from(&saved.enabled);
        self.copy_facts(saved);
    }
}
