//! Machines, states, interfaces and specs as tables by number.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{
    Directives, Events, ExitCode, FunCode, InterfaceCode, MachineCode, NONE, Reaction, SpecCode,
    StateCode,
};
use super::inst::OPERANDS;
use super::{Lower, Lowered, UNUSED, fits, written};
use crate::program::{
    self, Action, EventId, InterfaceId, MachineId, MachineKind, State, StateId, Type,
};
use crate::source::Span;

impl Lower<'_> {
    /// Fills all tables, and queues the functions of all machines of the test.
    pub(super) fn tables(&mut self) -> Lowered<()> {
        let program = self.program;
        let here = self.test.span;
        fits(program.machines.len(), u16::MAX.into(), here, "machines")?;
        fits(program.interfaces.len(), u16::MAX.into(), here, "interfaces")?;
        fits(program.funs.len(), u16::MAX.into(), here, "functions")?;
        self.code.events = program.events.iter().map(|event| event.name.clone()).collect();
        self.code.enums = program.enums.iter().map(|one| one.elements.clone()).collect();
        self.code.directives = Directives::among(&self.code.events);
        self.code.payloads = (program.events.iter())
            .map(|event| event.payload.clone().unwrap_or(Type::Null))
            .map(|ty| (ty.clone(), written(&ty, program)))
            .collect();
        program.events.iter().flat_map(|event| &event.payload).for_each(|ty| self.shapes(ty));
        let unused = |_| FunCode {
            entry: UNUSED,
            params: 0,
            locals: 0,
            size: 0,
            defaults: Box::default(),
            name: "".into(),
        };
        self.code.funs = program.funs.iter().map(unused).collect();
        let specs = &self.test.specs;
        fits(specs.len(), 65, here, "specs and scenarios in one test")?;
        let mut used: BTreeSet<MachineId> = self.test.machines.values().copied().collect();
        used.extend(specs.iter().map(|spec| spec.0));
        for (index, machine) in program.machines.iter().enumerate() {
            let used = used.contains(&MachineId(index as u32));
            let machine = self.machine(machine, used)?;
            self.code.machines.push(machine);
        }
        self.interfaces(specs);
        self.code.main = self.test.main.0 as u16;
        for (machine, ..) in specs {
            let live = program.machines[machine.index()].kind == MachineKind::Spec;
            self.code.specs.push(SpecCode { machine: machine.0 as u16, live });
        }
        Ok(())
    }

    fn machine(&mut self, machine: &program::Machine, used: bool) -> Lowered<MachineCode> {
        fits(machine.fields.len(), OPERANDS, machine.span, "variables")?;
        fits(machine.states.len(), u16::MAX.into(), machine.span, "states")?;
        let fields = machine.fields.iter();
        let fields =
            fields.map(|field| self.constants.default_of(&field.ty, self.program)).collect();
        let states = match used {
            true => machine.states.iter().map(|state| self.state(state)).collect(),
            false => Vec::new(),
        };
        Ok(MachineCode {
            name: machine.name.clone(),
            kind: machine.kind,
            interface: machine.interface.map_or(0, |interface| interface.0 as u16),
            fields,
            field_names: machine.fields.iter().map(|field| field.name.clone()).collect(),
            states,
            start: machine.start.0,
            sends: Events::of(&machine.sends, self.program.events.len()),
            cover: 0,
            used,
        })
    }

    fn state(&mut self, state: &State) -> StateCode {
        let mut reactions = vec![Reaction::Unhandled; self.program.events.len()];
        for (event, handler) in &state.handlers {
            reactions[event.index()] = match handler.action {
                Action::Do(fun) => Reaction::Do(self.fun(fun)),
                Action::Goto(to, with) => {
                    Reaction::Goto(to.0 as u16, with.map_or(NONE, |with| self.fun(with)))
                }
                Action::Defer => Reaction::Defer,
                Action::Ignore => Reaction::Ignore,
            };
        }
        StateCode {
            name: state.name.clone(),
            span: state.span,
            heat: state.heat,
            entry: state.entry.map_or(NONE, |entry| self.fun(entry)),
            exit: state.exit.map_or(NONE, |exit| self.fun(exit)),
            reactions: reactions.into_boxed_slice(),
            exits: self.exits(state),
            cover: 0,
        }
    }

    fn exits(&self, state: &State) -> Box<[ExitCode]> {
        let mut exits: BTreeMap<StateId, ExitCode> = BTreeMap::new();
        let mut add = |to: StateId, event: Option<EventId>| {
            let blank = || ExitCode { to: to.0 as u16, on: Vec::new(), on_entry: false };
            let exit = exits.entry(to).or_insert_with(blank);
            exit.on.extend(event);
            exit.on_entry |= event.is_none();
        };
        for to in self.program.reach(state.entry).gotos {
            add(to, None);
        }
        for (event, handler) in &state.handlers {
            match handler.action {
                Action::Goto(to, _) => add(to, Some(*event)),
                Action::Do(fun) => {
                    for to in self.program.reach([fun]).gotos {
                        add(to, Some(*event));
                    }
                }
                Action::Defer | Action::Ignore => {}
            }
        }
        exits.into_values().collect()
    }

    fn interfaces(&mut self, specs: &[(MachineId, BTreeSet<InterfaceId>)]) {
        let (program, test) = (self.program, self.test);
        let events = program.events.len();
        for (index, interface) in program.interfaces.iter().enumerate() {
            let id = InterfaceId(index as u32);
            let mut observers = vec![0; events];
            for (bit, (spec, tellers)) in specs.iter().enumerate() {
                if tellers.contains(&id) {
                    for event in &program.machines[spec.index()].observes {
                        observers[event.index()] |= 1 << bit;
                    }
                }
            }
            let asked = (0..program.interfaces.len() as u32).map(InterfaceId);
            let links = asked.map(|asked| test.links.get(&(id, asked)).map(|to| to.0 as u16));
            self.code.interfaces.push(InterfaceCode {
                name: interface.name.clone(),
                receives: Events::of(&interface.receives, events),
                machine: test.machines.get(&id).map(|machine| machine.0 as u16),
                links: links.collect(),
                observers: observers.into_boxed_slice(),
            });
        }
    }

    /// Gives every block, machine, state, handler, event and spec its coverage bit.
    pub(super) fn layout_coverage(&mut self) {
        self.code.shapes = [vec![Vec::new()], std::mem::take(&mut self.constants.shapes)].concat();
        let events = self.code.events.len() as u32;
        let mut next = self.code.blocks.len() as u32;
        for machine in &mut self.code.machines {
            machine.cover = next;
            next += 1;
            for state in &mut machine.states {
                state.cover = next;
                next += 1 + 2 * events + state.exits.len() as u32;
            }
        }
        self.code.cover_events = next;
        self.code.cover_specs = next + events;
        self.code.cover_bits = next + events + self.code.specs.len() as u32;
    }

    /// A new coverage block: statements that are always reached together.
    pub(super) fn block(&mut self) -> u32 {
        self.code.blocks.push(Vec::new());
        self.code.blocks.len() as u32 - 1
    }

    pub(super) fn covers(&mut self, block: u32, span: Span) {
        self.code.blocks[block as usize].push(span);
    }
}
