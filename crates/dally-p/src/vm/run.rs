//! What a machine does with an event: functions, transitions, and what follows them.

use dally_core::bug::{Origin, Unhandled, Violation};
use dally_core::{Access, Bug, Event, EventSink, Heat, Problem, Resource, Stop, Text, Transition};
use triomphe::Arc;

use super::coverage::Coverage;
use super::execute::{Exit, execute};
use super::machine::{Machine, Phase, Then, exists};
use super::print::{Carried, Shown, name_of};
use super::value::Value;
use super::workshop;
use crate::lower::code::{Code, MachineCode, Reaction, StateCode};
use crate::program::{EventId, MachineKind};
use crate::source::Span;

/// What running code can touch besides its own machine.
pub(crate) struct Cx<'a, 'e> {
    pub(crate) code: &'a Code,
    pub(crate) coverage: &'a Coverage,
    pub(crate) env: &'a mut EventSink<'e>,
    /// `None` where a spec runs.
    pub(crate) specs: Option<Specs<'a>>,
    /// Whether the spec that runs has been in a state that is not hot.
    pub(crate) relieved: bool,
}

/// The specs of an execution.
pub(crate) struct Specs<'a> {
    pub(crate) all: &'a mut [Arc<Machine>],
    /// Those in a hot state, by bit.
    pub(crate) hot: &'a mut u64,
    /// Those that came to a state that is not hot in this step.
    pub(crate) relieved: &'a mut u64,
}

/// Whether there is code to execute, or the handler is over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Execute,
    Over,
}

impl Cx<'_, '_> {
    /// A machine enters its start state.
    pub(crate) fn start(&mut self, machine: &mut Machine, payload: Value) -> Result<(), Stop> {
        machine.phase = Phase::Running;
        machine.payload.put(payload);
        self.coverage.reach(self.of(machine).cover);
        let start = machine.state as u16;
        let flow = self.enter(machine, start, Transition::Start)?;
        self.follow(machine, flow)
    }

    /// A machine handles an event.
    pub(crate) fn handle(
        &mut self,
        machine: &mut Machine,
        event: EventId,
        payload: Value,
        raised: bool,
    ) -> Result<(), Stop> {
        machine.phase = Phase::Running;
        let flow = self.react(machine, event, payload, raised)?;
        self.follow(machine, flow)
    }

    /// A machine goes on where it waited.
    #[inline]
    pub(crate) fn resume(&mut self, machine: &mut Machine) -> Result<(), Stop> {
        machine.phase = Phase::Running;
        machine.widen(self.code);
        self.follow(machine, Flow::Execute)
    }

    /// Runs until the machine waits or the handler is over. Then the phase is still `Running`.
    fn follow(&mut self, machine: &mut Machine, mut flow: Flow) -> Result<(), Stop> {
        while flow == Flow::Execute {
            flow = match execute(self, machine)? {
                Exit::Waits => return Ok(()),
                Exit::Returned => self.after(machine)?,
                Exit::Raised(event, payload) => {
                    machine.unwind(self.code);
                    self.react(machine, event, payload, true)?
                }
                Exit::Goto(to, payload) => {
                    machine.unwind(self.code);
                    machine.payload.put(payload);
                    self.leave(machine, crate::lower::code::NONE, to)?
                }
            };
        }
        machine.unwind(self.code);
        Ok(())
    }

    fn react(
        &mut self,
        machine: &mut Machine,
        event: EventId,
        payload: Value,
        raised: bool,
    ) -> Result<Flow, Stop> {
        let code = self.code;
        let state = state_of(code, machine);
        match state.reactions[event.index()] {
            Reaction::Do(fun) => {
                self.coverage.reach(state.cover + 1 + event.0);
                machine.then = Then::Finish;
                machine.begin(code, fun, payload);
                Ok(Flow::Execute)
            }
            Reaction::Goto(to, with) => {
                self.coverage.reach(state.cover + 1 + event.0);
                machine.payload.put(payload);
                self.leave(machine, with, to)
            }
            // Such events are not dequeued; what is raised is lost.
            Reaction::Ignore | Reaction::Defer => Ok(Flow::Over),
            Reaction::Unhandled => {
                let then = match event {
                    EventId::HALT if self.specs.is_some() => Then::Halt,
                    event => Then::Fail(event, raised),
                };
                machine.then = then;
                // A machine leaves the state before it fails; a spec just fails.
                match exists(state.exit).filter(|_| self.specs.is_some()) {
                    Some(exit) => {
                        machine.begin(code, exit, Value::Null);
                        Ok(Flow::Execute)
                    }
                    None => self.after(machine),
                }
            }
        }
    }

    /// What follows the function that has returned.
    fn after(&mut self, machine: &mut Machine) -> Result<Flow, Stop> {
        match machine.then {
            Then::Finish => Ok(Flow::Over),
            Then::Left(with, to) => self.left(machine, with, to),
            Then::Enter(to) => self.enter(machine, to, Transition::Goto),
            Then::Fail(event, raised) => Err(self.unhandled(machine, event, raised).into()),
            Then::Halt => {
                machine.phase = Phase::Halted;
                Ok(Flow::Over)
            }
        }
    }

    fn leave(&mut self, machine: &mut Machine, with: u32, to: u16) -> Result<Flow, Stop> {
        match exists(state_of(self.code, machine).exit) {
            Some(exit) => {
                machine.then = Then::Left(with, to);
                machine.begin(self.code, exit, Value::Null);
                Ok(Flow::Execute)
            }
            None => self.left(machine, with, to),
        }
    }

    fn left(&mut self, machine: &mut Machine, with: u32, to: u16) -> Result<Flow, Stop> {
        match exists(with) {
            Some(with) => {
                machine.then = Then::Enter(to);
                let payload = machine.payload.clone();
                machine.begin(self.code, with, payload);
                Ok(Flow::Execute)
            }
            None => self.enter(machine, to, Transition::Goto),
        }
    }

    fn enter(&mut self, machine: &mut Machine, to: u16, how: Transition) -> Result<Flow, Stop> {
        let code = self.code;
        machine.state = u32::from(to);
        let state = state_of(code, machine);
        self.coverage.reach(state.cover);
        if self.specs.is_some() {
            self.env.tell(|| Event::Changed { how, to: Text::Str(&state.name) })?;
        } else {
            let monitor = Text::Str(&code.machines[usize::from(machine.kind)].name);
            let (to, heat) = (Text::Str(&state.name), state.heat);
            self.relieved |= heat != Heat::Hot;
            let index = !machine.id.to_bits();
            if heat == Heat::Cold && !code.specs[index as usize].live {
                self.coverage.reach(code.cover_specs + index as u32);
            }
            self.env.tell(|| Event::MonitorChanged { monitor, to, heat })?;
        }
        let payload = std::mem::take(&mut machine.payload);
        match exists(state.entry) {
            Some(entry) => {
                machine.then = Then::Finish;
                machine.begin(code, entry, payload);
                Ok(Flow::Execute)
            }
            None => Ok(Flow::Over),
        }
    }

    /// Tells an event to the specs that observe what a machine behind this interface sends.
    #[inline]
    pub(crate) fn tell_specs(
        &mut self,
        interface: u16,
        event: EventId,
        payload: &Value,
    ) -> Result<(), Stop> {
        self.coverage.reach(self.code.cover_events + event.0);
        let observers = self.code.interfaces[usize::from(interface)].observers[event.index()];
        if observers == 0 { Ok(()) } else { self.tell_some(observers, event, payload) }
    }

    fn tell_some(
        &mut self,
        mut observers: u64,
        event: EventId,
        payload: &Value,
    ) -> Result<(), Stop> {
        let access = Access::update(Resource::Monitors);
        self.env.tell(|| Event::Accessed { access, what: Text::Str("") })?;
        while observers != 0 {
            let index = observers.trailing_zeros() as usize;
            observers &= observers - 1;
            let Some(specs) = &mut self.specs else { return Ok(()) };
            let spec = unshared(&mut specs.all[index]);
            let (code, coverage) = (self.code, self.coverage);
            let mut cx = Cx { code, coverage, env: &mut *self.env, specs: None, relieved: false };
            cx.handle(spec, event, payload.clone(), false)?;
            *specs.relieved |= u64::from(cx.relieved) << index;
            let heat = state_of(self.code, spec).heat;
            self.judge(index, heat);
        }
        Ok(())
    }

    /// Takes note of how hot a spec is.
    pub(crate) fn judge(&mut self, index: usize, heat: Heat) {
        let Some(specs) = &mut self.specs else { return };
        let spec = &self.code.specs[index];
        if spec.live && heat == Heat::Hot {
            *specs.hot |= 1 << index;
        } else {
            *specs.hot &= !(1 << index);
        }
    }

    pub(crate) fn of(&self, machine: &Machine) -> &MachineCode {
        &self.code.machines[usize::from(machine.kind)]
    }

    /// A bug in the code of a machine.
    #[cold]
    pub(crate) fn bug(&self, machine: &Machine, at: Span, message: impl Into<String>) -> Bug {
        let declared = self.of(machine);
        let message = message.into();
        let problem = match declared.kind {
            MachineKind::Machine => Problem::panic(message),
            MachineKind::Spec | MachineKind::Scenario => {
                Problem::Monitor(Violation::Assertion { message })
            }
        };
        let bug = Bug::new(problem).at(Some(self.code.sources.location(at)));
        bug.by(&*declared.name).in_state(&*state_of(self.code, machine).name)
    }

    #[cold]
    fn unhandled(&self, machine: &Machine, event: EventId, raised: bool) -> Bug {
        let (declared, state) = (self.of(machine), state_of(self.code, machine));
        let unhandled = |origin| Unhandled {
            event: name_of(self.code, event).to_owned(),
            origin,
            declared: Some(self.code.sources.location(state.span)),
        };
        let bug = match declared.kind {
            MachineKind::Machine => {
                let origin = if raised { Origin::Raised } else { Origin::Unknown };
                Bug::new(Problem::UnhandledEvent(unhandled(origin))).in_step_of(machine.id)
            }
            _ => {
                let origin = if raised { Origin::Raised } else { Origin::Announced };
                Bug::new(Problem::Monitor(Violation::UnhandledEvent(unhandled(origin))))
            }
        };
        bug.by(&*declared.name).in_state(&*state.name)
    }

    /// `halt` came to a `receive` in an exit or transition function, which may not raise it.
    #[cold]
    pub(crate) fn halted_between_states(&self, machine: &Machine, receive: Span) -> Bug {
        let who = Shown(self.code, &this(self.code, machine)).to_string();
        let message = format!(
            "`{who}` receives `halt` while it leaves state `{}`: it would be raised there, which \
             exit and transition functions may not do",
            state_of(self.code, machine).name
        );
        self.bug(machine, receive, message)
    }

    pub(crate) fn tell_raised(&mut self, event: EventId, payload: &Value) -> Result<(), Stop> {
        self.coverage.reach(self.code.cover_events + event.0);
        let carried = Carried(self.code, event, payload);
        self.env.tell(|| Event::Raised { payload: Text::Display(&carried) })?;
        Ok(())
    }
}

#[inline]
pub(crate) fn state_of<'c>(code: &'c Code, machine: &Machine) -> &'c StateCode {
    &code.machines[usize::from(machine.kind)].states[machine.state as usize]
}

/// The value of `this`.
#[inline]
pub(crate) fn this(code: &Code, machine: &Machine) -> Value {
    let interface = code.machines[usize::from(machine.kind)].interface;
    Value::Machine(machine.kind, interface, machine.id)
}

/// A machine to be changed: copied first if it is shared.
#[inline]
pub(crate) fn unshared(shared: &mut Arc<Machine>) -> &mut Machine {
    let machine = own(shared);
    machine.changes();
    machine
}

/// The same for a machine whose queue is to be changed and nothing else but its phase.
#[inline]
pub(crate) fn unshared_for_mail(shared: &mut Arc<Machine>) -> &mut Machine {
    let machine = own(shared);
    machine.gets_mail();
    machine
}

#[inline]
fn own(shared: &mut Arc<Machine>) -> &mut Machine {
    if !Arc::is_unique(shared) {
        unshare(shared);
    }
    match Arc::get_mut(shared) {
        Some(machine) => machine,
        None => unreachable!("the pointer is unique, or was just made so"),
    }
}

#[inline(never)]
fn unshare(shared: &mut Arc<Machine>) {
    let mut copy = workshop::spare();
    if let Some(machine) = Arc::get_mut(&mut copy) {
        machine.copy_from(shared);
    }
    *shared = copy;
}
