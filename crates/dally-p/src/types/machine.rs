//! Machines as wholes: their start state, their payload at creation, and whether the payloads of
//! events fit the functions that take them.

use super::scope::Tables;
use crate::diagnostic::{error, warning};
use crate::program::{Action, EventId, FunId, MachineId, MachineKind, StateId, Type};
use crate::source::Span;
use crate::syntax::ast::{self, Heat};

impl Tables<'_> {
    pub fn resolve_states(&mut self) {
        for id in (0..self.machines.len() as u32).map(MachineId) {
            let decl = self.machines[id.index()].decl;
            let states = decl.states.iter().map(|state| self.state(id, state)).collect();
            self.machines[id.index()].states = states;
            self.start(id);
        }
        for id in (0..self.machines.len() as u32).map(MachineId) {
            self.transitions(id);
        }
    }

    /// Finds the one start state and the type of its payload.
    fn start(&mut self, id: MachineId) {
        let decl = self.machines[id.index()].decl;
        let mut starts = decl.states.iter().enumerate().filter(|(_, state)| state.start);
        let Some((start, first)) = starts.next() else {
            let mut wrong = error(decl.name.span, format!("`{}` has no start state", decl.name))
                .label("where does it begin?");
            if let Some(state) = decl.states.first() {
                wrong = wrong.hint(format!("write `start state {}`", state.name));
            }
            return self.report.push(wrong);
        };
        for (_, second) in starts {
            self.report.push(
                error(second.name.span, format!("`{}` has two start states", decl.name))
                    .label("a second start state")
                    .also(first.name.span, "the first"),
            );
        }
        if decl.kind == MachineKind::Scenario {
            self.scenario(decl, first);
        }
        let machine = &self.machines[id.index()];
        let entry = machine.states[start].entry;
        let payload = entry.map_or(Some(Type::Null), |fun| self.parameter(fun));
        if machine.is_spec()
            && let Some(payload) = &payload
            && !self.assignable(payload, &Type::Null)
        {
            self.report.push(
                error(
                    first.name.span,
                    format!("the start state of spec `{}` takes a parameter", decl.name),
                )
                .label(format!("nobody gives it `{}`", self.show(payload))),
            );
        }
        let machine = &mut self.machines[id.index()];
        machine.start = StateId(start as u32);
        machine.payload = payload.clone();
        if let Some(interface) = machine.interface {
            self.interfaces[interface.index()].payload = payload;
        }
    }

    /// Warns of scenarios whose coverage says nothing.
    fn scenario(&self, decl: &ast::Machine, start: &ast::State) {
        if !decl.states.iter().any(|state| state.heat == Heat::Cold) {
            self.report.push(
                warning(decl.name.span, format!("scenario `{}` has no cold state", decl.name))
                    .label("it can never be covered")
                    .hint("mark the state where it has happened: `cold state ...`"),
            );
        } else if start.heat == Heat::Cold {
            self.report.push(
                warning(
                    start.name.span,
                    format!("the start state of scenario `{}` is cold", decl.name),
                )
                .label("to start here does not count as covered")
                .hint("begin in another state, and go to a cold one when it has happened"),
            );
        }
    }

    /// The type of a handler's parameter, `Null` if it has none.
    fn parameter(&self, fun: FunId) -> Option<Type> {
        match &*self.fun_list[fun.index()].params {
            [] => Some(Type::Null),
            [only] => only.clone(),
            [..] => None,
        }
    }

    /// Checks that each handler can take the payloads of its events. One without a parameter always
    /// can.
    fn transitions(&self, id: MachineId) {
        let machine = &self.machines[id.index()];
        for state in &machine.states {
            for (&event, handler) in &state.handlers {
                match handler.action {
                    Action::Do(fun) => self.fits(fun, event, handler.span),
                    Action::Goto(target, with) => {
                        if let Some(fun) = with {
                            self.fits(fun, event, handler.span);
                        }
                        if let Some(fun) = machine.states[target.index()].entry {
                            self.fits(fun, event, handler.span);
                        }
                    }
                    Action::Defer | Action::Ignore => {}
                }
            }
        }
    }

    fn fits(&self, fun: FunId, event: EventId, at: Span) {
        let decl = &self.fun_list[fun.index()];
        // More than one parameter has been reported.
        if let ([Some(want)], [(param, _)]) = (&*decl.params, &*decl.decl.params) {
            self.takes(event, want, at, param.span);
        }
    }
}
