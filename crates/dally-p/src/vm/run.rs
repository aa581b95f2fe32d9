//! Reactions of a machine to an event: functions, and the transitions that follow them.

use dally_core::bug::{Origin, Unhandled, Violation};
use dally_core::{
    Access, Bug, Event, EventSink, Heat, Problem, Resource, Stop, Text, Transition, WorkerId,
};
use triomphe::Arc;

use super::coverage::Coverage;
use super::execute::{Exit, execute};
use super::machine::{Machine, Phase, Then, exists};
use super::past::Past;
use super::pool;
use super::print::{Carried, Shown, name_of};
use super::value::Value;
use crate::lower::code::{Code, MachineCode, Reaction, StateCode};
use crate::program::{EventId, MachineKind};
use crate::source::Span;

pub(super) type Stepped<T = ()> = Result<T, Stop>;

/// What running code can access besides its own machine.
pub(crate) struct Cx<'a, 'e> {
    pub(crate) code: &'a Code,
    pub(crate) coverage: &'a Coverage,
    pub(crate) env: &'a mut EventSink<'e>,
    /// `None` where a spec runs.
    pub(crate) specs: Option<Specs<'a>>,
    /// Whether the running spec has been in a state that is not hot.
    pub(crate) relieved: bool,
    /// Whether the running machine has called its step rare.
    pub(crate) rare: bool,
    pub(crate) past: Past,
}

pub(crate) struct Specs<'a> {
    pub(crate) all: &'a mut [Arc<Machine>],
    pub(crate) hot: &'a mut u64,
    pub(crate) relieved: &'a mut u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Execute,
    Over,
}

impl Cx<'_, '_> {
    pub(crate) fn start(&mut self, machine: &mut Machine, payload: Value) -> Stepped {
        machine.phase = Phase::Running;
        machine.payload.put(payload);
        self.coverage.reach(self.of(machine).cover);
        let start = machine.state as u16;
        let flow = self.enter(machine, start, Transition::Start)?;
        self.follow(machine, flow)
    }

    pub(crate) fn handle(
        &mut self,
        machine: &mut Machine,
        event: EventId,
        payload: Value,
        raised: bool,
    ) -> Stepped {
        machine.phase = Phase::Running;
        let flow = self.react(machine, event, payload, raised)?;
        self.follow(machine, flow)
    }

    #[inline]
    pub(crate) fn resume(&mut self, machine: &mut Machine) -> Stepped {
        machine.phase = Phase::Running;
        machine.widen(self.code);
        self.follow(machine, Flow::Execute)
    }

    /// Runs until the machine waits or the handler is over; in the latter case the phase is `Running`.
    fn follow(&mut self, machine: &mut Machine, mut flow: Flow) -> Stepped {
        while flow == Flow::Execute {
            flow = match execute(self, machine)? {
                Exit::Waits => return Ok(()),
                Exit::Returned => self.after(machine)?,
                Exit::Raised(event, payload) => {
                    machine.unwind(self.code);
                    self.turn(machine)?;
                    self.react(machine, event, payload, true)?
                }
                Exit::Goto(to, payload) => {
                    machine.unwind(self.code);
                    machine.payload.put(payload);
                    self.turn(machine)?;
                    self.leave(machine, crate::lower::code::NONE, to)?
                }
            };
        }
        machine.unwind(self.code);
        Ok(())
    }

    fn turn(&mut self, machine: &Machine) -> Stepped {
        if self.env.turn()? { self.look_back(machine, 0) } else { Ok(()) }
    }

    fn react(
        &mut self,
        machine: &mut Machine,
        event: EventId,
        payload: Value,
        raised: bool,
    ) -> Stepped<Flow> {
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
            // Such events are not dequeued, so the event was raised, and it is dropped.
            Reaction::Ignore | Reaction::Defer => Ok(Flow::Over),
            Reaction::Unhandled => {
                let then = match event {
                    EventId::HALT if self.specs.is_some() => Then::Halt,
                    event => Then::Fail(event, raised),
                };
                machine.then = then;
                // A machine runs its exit function before it fails; a spec fails at once.
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

    fn after(&mut self, machine: &mut Machine) -> Stepped<Flow> {
        match machine.then {
            Then::Finish => Ok(Flow::Over),
            Then::Left(with, to) => self.left(machine, with, to),
            Then::Enter(to) => self.enter(machine, to, Transition::Goto),
            Then::Fail(event, raised) => Err(self.unhandled(machine, event, raised).into()),
            Then::Halt => {
                (machine.phase, machine.seals) = (Phase::Halted, 0);
                Ok(Flow::Over)
            }
        }
    }

    fn leave(&mut self, machine: &mut Machine, with: u32, to: u16) -> Stepped<Flow> {
        match exists(state_of(self.code, machine).exit) {
            Some(exit) => {
                machine.then = Then::Left(with, to);
                machine.begin(self.code, exit, Value::Null);
                Ok(Flow::Execute)
            }
            None => self.left(machine, with, to),
        }
    }

    fn left(&mut self, machine: &mut Machine, with: u32, to: u16) -> Stepped<Flow> {
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

    fn enter(&mut self, machine: &mut Machine, to: u16, how: Transition) -> Stepped<Flow> {
        let code = self.code;
        if how == Transition::Goto {
            let left = state_of(code, machine);
            if let Some(exit) = left.exits.iter().position(|exit| exit.to == to) {
                let exits = 1 + 2 * code.events.len() as u32;
                self.coverage.reach(left.cover + exits + exit as u32);
            }
        }
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
            // A scenario is covered by what it sees, not by where it starts.
            if heat == Heat::Cold && how != Transition::Start && !code.specs[index as usize].live {
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

    /// Passes an event to the specs that observe sends of this machine; `sent_to` is the receiver, unless the event is announced.
    #[inline]
    pub(crate) fn tell_specs(
        &mut self,
        machine: &Machine,
        event: EventId,
        payload: &Value,
        sent_to: Option<WorkerId>,
    ) -> Stepped {
        let code = self.code;
        let sent = 1 + code.events.len() as u32 + event.0;
        self.coverage.reach(state_of(code, machine).cover + sent);
        let interface = &code.interfaces[usize::from(machine.interface)];
        let observers = interface.observers[event.index()];
        if observers == 0 { Ok(()) } else { self.tell_some(observers, event, payload, sent_to) }
    }

    fn tell_some(
        &mut self,
        mut observers: u64,
        event: EventId,
        payload: &Value,
        sent_to: Option<WorkerId>,
    ) -> Stepped {
        if let Some(to) = sent_to {
            let carried = Carried(self.code, event, payload);
            self.env.tell(|| Event::Sending { to, payload: Text::Data(&carried) })?;
        }
        let access = Access::update(Resource::Monitors);
        self.env.tell(|| Event::Accessed { access, what: Text::Str("") })?;
        while observers != 0 {
            let index = observers.trailing_zeros() as usize;
            observers &= observers - 1;
            let Some(specs) = &mut self.specs else { return Ok(()) };
            let spec = unshared(&mut specs.all[index]);
            let (code, coverage) = (self.code, self.coverage);
            self.env.tell(|| Event::Observed {
                monitor: Text::Str(&code.machines[usize::from(spec.kind)].name),
                what: Text::Str(name_of(code, event)),
                state: Text::Str(&state_of(code, spec).name),
            })?;
            let env = &mut *self.env;
            let mut cx = Cx {
                code,
                coverage,
                env,
                specs: None,
                relieved: false,
                rare: false,
                past: Past::default(),
            };
            cx.handle(spec, event, payload.clone(), false)?;
            *specs.relieved |= u64::from(cx.relieved) << index;
            let heat = state_of(self.code, spec).heat;
            self.judge(index, heat);
        }
        Ok(())
    }

    /// Updates the sets of hot and relieved specs.
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

    #[cold]
    pub(crate) fn bug(&self, machine: &Machine, at: Span, message: impl Into<String>) -> Bug {
        let declared = self.of(machine);
        let message = message.into();
        let problem = match declared.kind {
            MachineKind::Machine => Problem::Assertion { message },
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

    /// `halt` was dequeued by a `receive` in an exit or transition function, which may not raise it.
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

    pub(crate) fn tell_raised(&mut self, event: EventId, payload: &Value) -> Stepped {
        self.coverage.reach(self.code.cover_events + event.0);
        let carried = Carried(self.code, event, payload);
        self.env.tell(|| Event::Raised { payload: Text::Data(&carried) })?;
        Ok(())
    }
}

#[inline]
pub(crate) fn state_of<'c>(code: &'c Code, machine: &Machine) -> &'c StateCode {
    &code.machines[usize::from(machine.kind)].states[machine.state as usize]
}

#[inline]
pub(crate) fn this(code: &Code, machine: &Machine) -> Value {
    let interface = code.machines[usize::from(machine.kind)].interface;
    Value::Machine(machine.kind, interface, machine.id)
}

/// The machine for writing: copied first if it is shared.
#[inline]
pub(crate) fn unshared(shared: &mut Arc<Machine>) -> &mut Machine {
    let machine = pool::own(shared);
    machine.changes();
    machine
}

/// [`unshared`], for a change of the queue and the phase alone.
#[inline]
pub(crate) fn unshared_for_mail(shared: &mut Arc<Machine>) -> &mut Machine {
    let machine = pool::own(shared);
    machine.gets_mail();
    machine
}
