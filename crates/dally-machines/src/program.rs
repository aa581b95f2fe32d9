//! Programs of machines: how they are set up and under which rules they run.

use std::fmt;
use std::sync::{Arc, OnceLock};

use dally_core::{
    Answer, Bug, Captured, IntoMonitor, MessageId, PlayedStep, Player, Program, StateVisitor, Stop,
    System, WorkerId, panics,
};

use crate::addr::Addr;
use crate::faults::Faults;
use crate::inbox::Mailbox;
use crate::machine::{Handles, Machine};
use crate::place::Place;
use crate::sealing::{self, Predicate, Predicates};
use crate::system::{MachineSystem, Rules, Stamp};
use crate::worker::{Life, Worker};

/// What one step of a machine is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Granularity {
    /// Handling an event is a step, and so is each send and each create of the handler: the
    /// reference semantics of P.
    #[default]
    PerSend,
    /// Handling an event and all it sends is one step: fewer schedules. With
    /// [`Mailbox::PerSender`] and [`Mailbox::Unordered`] no order in which messages can be handled
    /// is lost; with one queue per machine some are. Where none is, a timer's firing and the
    /// handling of its event are one step too. Lost in any case is what others announce to
    /// monitors, or do in default handlers, between two effects of one handler. While machines may
    /// still crash, handlers are run per send.
    Atomic,
}

/// A program of machines. The setup function creates the machines and monitors that every execution
/// starts with. Where all machines are captured it runs once, so it must do the same every time.
pub struct MachineProgram {
    name: String,
    setup: SetupFn,
    rules: Rules,
    faults: Faults,
    /// The state that executions start from.
    pristine: OnceLock<Result<MachineSystem, Bug>>,
}

type SetupFn = Box<dyn Fn(&mut Setup) + Send + Sync>;

impl MachineProgram {
    /// A program with this name, set up by this function.
    pub fn new(
        name: impl Into<String>,
        setup: impl Fn(&mut Setup) + Send + Sync + 'static,
    ) -> MachineProgram {
        let rules = Rules { twice: cfg!(debug_assertions), ..Rules::default() };
        MachineProgram {
            name: name.into(),
            setup: Box::new(setup),
            rules,
            faults: Faults::NONE,
            pristine: OnceLock::new(),
        }
    }

    /// The name of the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same program with steps of this size.
    #[must_use]
    pub fn granularity(mut self, granularity: Granularity) -> MachineProgram {
        self.rules.granularity = granularity;
        self.changed()
    }

    /// The same program with messages delivered in this order.
    #[must_use]
    pub fn mailbox(mut self, mailbox: Mailbox) -> MachineProgram {
        self.rules.mailbox = mailbox;
        self.changed()
    }

    /// The same program in a world with faults.
    #[must_use]
    pub fn faults(mut self, faults: Faults) -> MachineProgram {
        self.faults = faults;
        self.changed()
    }

    /// Whether the messages in the inbox of a machine survive its crash; by default they do not.
    #[must_use]
    pub fn keep_inbox(mut self, keep: bool) -> MachineProgram {
        self.rules.keep_inbox = keep;
        self.changed()
    }

    /// Whether every handler runs twice and the results are compared, which finds handlers that
    /// depend on anything but the machine's state, the event and the values chosen. By default
    /// in debug builds only.
    #[must_use]
    pub fn run_twice(mut self, twice: bool) -> MachineProgram {
        self.rules.twice = twice;
        self.changed()
    }

    fn changed(mut self) -> MachineProgram {
        self.pristine = OnceLock::new();
        self
    }

    fn pristine(&self) -> Result<&MachineSystem, Bug> {
        self.pristine.get_or_init(|| self.set_up()).as_ref().map_err(Bug::clone)
    }

    fn set_up(&self) -> Result<MachineSystem, Bug> {
        let system =
            MachineSystem { rules: self.rules, budget: self.faults, ..MachineSystem::default() };
        let mut setup = Setup { system, machines: 0, seal_while: Vec::new(), bug: None };
        match panics::catch(|| (self.setup)(&mut setup)) {
            Ok(()) => setup.finish(),
            Err(Stop::Bug(bug)) => Err(*bug),
            // No call of a setup function can be cut.
            Err(Stop::Cut) => Ok(setup.system),
        }
    }
}

impl fmt::Debug for MachineProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineProgram")
            .field("name", &self.name)
            .field("rules", &self.rules)
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

impl Program for MachineProgram {
    type System = MachineSystem;

    fn name(&self) -> &str {
        &self.name
    }

    fn start(&self) -> Result<MachineSystem, Bug> {
        let pristine = self.pristine()?;
        if pristine.uncaptured.is_none() { Ok(pristine.fork()) } else { self.set_up() }
    }

    fn restart(&self, system: &mut MachineSystem) -> Result<(), Bug> {
        let pristine = self.pristine()?;
        if pristine.uncaptured.is_some() {
            *system = self.set_up()?;
            return Ok(());
        }
        // Values of the ended execution are dropped here, and their destructors may panic.
        match panics::catch(|| system.start_over_from(pristine)) {
            Err(Stop::Bug(bug)) => Err(*bug),
            _ => Ok(()),
        }
    }

    fn granularity(&self) -> &'static str {
        match self.rules.granularity {
            Granularity::PerSend => "per-send",
            Granularity::Atomic => "atomic",
        }
    }

    /// States are copied unless a machine of the set-up is not captured. A program that does not start
    /// has no states.
    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        match self.pristine().ok().and_then(|pristine| pristine.uncaptured) {
            None => visitor.copied(self),
            Some(machine) => {
                let why = format!(
                    "machine `{machine}` is declared `uncaptured`: its state cannot be copied and \
                     compared. Derive `Clone, PartialEq, Eq, Hash` for it and its events, and drop \
                     `uncaptured`"
                );
                visitor.replayed(self, Some(why))
            }
        }
    }
}

/// What a program starts with.
pub struct Setup {
    system: MachineSystem,
    machines: u32,
    seal_while: Vec<Predicate>,
    bug: Option<Bug>,
}

impl Setup {
    /// A machine that is there from the start. It enters its start state in its first step.
    pub fn create<M: Machine>(&mut self, machine: M) -> Addr<M> {
        let place = self.reserve();
        self.fill(place, machine);
        place
    }

    /// The address of a machine that [`Setup::fill`] makes later: for machines that know each other,
    /// as in a ring.
    pub fn reserve<M: Machine>(&mut self) -> Addr<M> {
        let id = WorkerId::root(self.machines);
        self.machines += 1;
        Addr::new(id)
    }

    /// The machine at a reserved address, there from the start.
    ///
    /// # Panics
    /// If there is one already.
    #[track_caller]
    pub fn fill<M: Machine>(&mut self, place: Addr<M>, machine: M) {
        let id = place.id();
        assert!(self.system.find(id).is_none(), "the set-up fills the place of {place} twice");
        let worker = Worker::make(id, machine, &mut self.system.pool);
        self.system.add(worker);
    }

    /// An event that is in a machine's inbox from the start, as if the machine had sent it to itself.
    pub fn send<M: Handles<E>, E>(&mut self, to: Addr<M>, event: E) {
        let Some(Place::Machine(slot)) = self.system.find(to.id()) else { return };
        let MachineSystem { slots, pool, .. } = &mut self.system;
        let message = pool.message::<M::Slot, E>(event);
        if let Ok(worker) = slots[slot].unshared(pool) {
            let id: MessageId = worker.next_message();
            worker.inbox.push(id, M::EVENT, None, message);
        }
    }

    /// Lets the machines created so far enter their start states now, one after the other. Without it
    /// each enters in a first step of its own, and all orders of those steps are explored. An entry
    /// action that fails is a bug of the set-up, and so is one that chooses a value.
    pub fn begin(&mut self) {
        let mut slot = 0;
        while let Some(worker) = self.system.slots.get(slot).map(|slot| &slot.worker) {
            if worker.life != Life::New && !worker.is_busy() {
                slot += 1;
                continue;
            }
            let (id, name) = (worker.id, worker.cell().name());
            // The events of this step go nowhere, and an entry action that asks for a value gets none.
            let mut nothing = Player::new([].as_slice());
            let bug = match self.system.step(id, &mut PlayedStep::<Answer, _>::new(&mut nothing)) {
                Ok(()) => continue,
                Err(Stop::Bug(bug)) => *bug,
                Err(Stop::Cut) => {
                    let message = format!(
                        "`{name}` chooses a value on entering its start state, which is part of \
                         the set-up here: there is nobody to choose"
                    );
                    Bug::panic(message).by(name)
                }
            };
            self.bug.get_or_insert(bug);
            return;
        }
    }

    /// Seals the state while this holds for any machine of type `M`, given its data and its
    /// present state, as [`Cx::seal`](crate::Cx::seal) does for a region of code. A machine counts
    /// from its creation, and not while it is crashed or after it has halted. The answer must depend
    /// on nothing but the arguments: it is remembered until the machine changes.
    ///
    /// ```
    /// # extern crate self as dally;
    /// # pub mod machines { pub use ::dally_machines::*; }
    /// # pub mod __private { pub use ::dally_core as contract; pub use crate::machines; }
    /// # use dally_core::{Cut, Env, Event, MessageId, Program, System, Tag, Text};
    /// # use dally_macros::machine;
    /// # struct First;
    /// # impl Env for First {
    /// #     fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> { Ok(0) }
    /// #     fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> { Ok(0) }
    /// #     fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> { Ok(()) }
    /// # }
    /// use dally::machines::{Cx, MachineProgram};
    ///
    /// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    /// struct Joined;
    /// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    /// struct Cluster { missing: u32 }
    ///
    /// #[machine(states(Forming, Serving))]
    /// impl Cluster {
    ///     #[on(Forming, Joined)]
    ///     fn joined(&mut self, cx: &mut Cx<Self>) {
    ///         self.missing -= 1;
    ///         if self.missing == 0 {
    ///             cx.goto(Serving);
    ///         }
    ///     }
    /// }
    ///
    /// # fn main() {
    /// let program = MachineProgram::new("how it serves, not how it forms", |setup| {
    ///     let cluster = setup.create(Cluster { missing: 2 });
    ///     setup.send(cluster, Joined);
    ///     setup.send(cluster, Joined);
    ///     setup.seal_while(|_: &Cluster, state| state == ClusterState::Forming);
    /// });
    ///
    /// let mut system = program.start().unwrap();
    /// let mut sealed = vec![system.sealed()];
    /// while let [cluster] = *system.enabled() {
    ///     system.step(cluster, &mut First).unwrap();
    ///     sealed.push(system.sealed());
    /// }
    /// assert_eq!(sealed, [true, true, true, false]);
    /// # }
    /// ```
    pub fn seal_while<M: Machine>(
        &mut self,
        holds: impl Fn(&M, M::State) -> bool + Send + Sync + 'static,
    ) {
        self.seal_while.push(sealing::about(holds));
    }

    fn finish(mut self) -> Result<MachineSystem, Bug> {
        if let Some(bug) = self.bug {
            return Err(bug);
        }
        self.system.seal_while = Predicates::new(self.seal_while);
        let mut places = (0..self.machines).map(WorkerId::root);
        match places.find(|&place| self.system.find(place).is_none()) {
            None => Ok(self.system),
            Some(empty) => {
                let message = format!("the set-up reserves {empty} for a machine and makes none");
                Err(Bug::panic(message))
            }
        }
    }

    /// A monitor that watches every execution.
    pub fn monitor(&mut self, monitor: impl IntoMonitor) {
        match monitor.into_monitor() {
            Ok(monitor) => {
                self.system.monitors.add(monitor);
                self.system.monitors_stamp = Stamp::new();
            }
            Err(bug) => {
                self.bug.get_or_insert(bug);
            }
        }
    }
}
