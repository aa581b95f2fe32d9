//! Programs of machines: how they are set up and under which rules they run.

use std::fmt;
use std::sync::OnceLock;

use dally_core::{Bug, Captured, IntoMonitor, MessageId, Program, Stop, WorkerId, panics};

use crate::addr::Addr;
use crate::faults::Faults;
use crate::inbox::{Envelope, Mailbox};
use crate::machine::{Handles, Machine};
use crate::message::Slot;

use crate::system::{MachineSystem, Place, Rules, unshared};
use crate::worker::Worker;

/// What one step of a machine is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Granularity {
    /// Handling an event is a step, and so is each send and each create of the handler: the
    /// reference semantics of P.
    #[default]
    PerSend,
    /// Handling an event and all it sends is one step: fewer schedules. With
    /// [`Mailbox::PerSender`] and [`Mailbox::Unordered`] no order in which messages can be handled
    /// is lost; with one queue per machine some are. Lost in any case is what others announce to
    /// monitors, or do in default handlers, between two effects of one handler. While machines may
    /// still crash, handlers are run per send.
    Atomic,
}

/// A program of machines: it can be started any number of times.
///
/// The setup function creates the machines and monitors that every execution starts with. It
/// runs once where all machines are captured, so it must do the same every time.
pub struct MachineProgram {
    name: String,
    setup: SetupFn,
    rules: Rules,
    faults: Faults,
    /// The state that executions start from.
    pristine: OnceLock<Result<Pristine, Bug>>,
}

struct Pristine {
    system: MachineSystem,
    /// Whether an execution can start from a copy of it.
    captured: bool,
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

    fn pristine(&self) -> Result<&Pristine, Bug> {
        let start = || {
            let system = self.set_up()?;
            Ok(Pristine { captured: system.obstacle().is_none(), system })
        };
        self.pristine.get_or_init(start).as_ref().map_err(Bug::clone)
    }

    fn set_up(&self) -> Result<MachineSystem, Bug> {
        let system =
            MachineSystem { rules: self.rules, budget: self.faults, ..MachineSystem::default() };
        let mut setup = Setup { system, machines: 0, bug: None };
        match panics::catch(|| (self.setup)(&mut setup)) {
            Ok(()) => setup.bug.map_or(Ok(setup.system), Err),
            Err(Stop::Bug(bug)) => Err(*bug),
            // The setup can call nothing that is cut.
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

    fn start(&self) -> Result<MachineSystem, Bug> {
        let pristine = self.pristine()?;
        if pristine.captured { Ok(pristine.system.fork()) } else { self.set_up() }
    }

    fn restart(&self, system: &mut MachineSystem) -> Result<(), Bug> {
        let pristine = self.pristine()?;
        if !pristine.captured {
            *system = self.set_up()?;
            return Ok(());
        }
        // Values of the ended execution are dropped here, and their destructors may panic.
        match panics::catch(|| system.restore_from(&pristine.system)) {
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
}

/// What a program starts with.
pub struct Setup {
    system: MachineSystem,
    machines: u32,
    bug: Option<Bug>,
}

impl Setup {
    /// A machine that is there from the start. It enters its start state in its first step.
    pub fn create<M: Machine>(&mut self, machine: M) -> Addr<M> {
        let id = WorkerId::root(self.machines);
        self.machines += 1;
        let worker = Worker::make(id, machine, &mut self.system.pool);
        self.system.add(worker);
        Addr::new(id)
    }

    /// An event that is in a machine's inbox from the start, as if the machine had sent it to
    /// itself.
    pub fn send<M: Handles<E>, E>(&mut self, to: Addr<M>, event: E) {
        let Some(Place::Machine(slot)) = self.system.find(to.id()) else { return };
        let message = self.system.pool.message(M::Slot::new(event));
        if let Ok(worker) = unshared(&mut self.system.slots[slot].worker) {
            let id: MessageId = worker.next_message();
            worker.inbox.push_back(Envelope { id, event: M::EVENT, timer: None, message });
        }
    }

    /// A monitor that watches every execution.
    pub fn monitor(&mut self, monitor: impl IntoMonitor) {
        match monitor.into_monitor() {
            Ok(monitor) => self.system.monitors.add(monitor),
            Err(bug) => {
                self.bug.get_or_insert(bug);
            }
        }
    }
}
