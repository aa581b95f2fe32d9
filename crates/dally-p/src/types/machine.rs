//! Machines as wholes: their start state, what they are created with, and whether what events
//! carry fits the functions that take it.

use super::report::Report;
use super::scope::Tables;
use super::state::wrong_parameter;
use crate::diagnostic::Diagnostic;
use crate::program::{Action, EventId, FunId, MachineId, StateId, Type};
use crate::source::Span;

impl Tables<'_> {
    /// Reads the states of all machines.
    pub fn resolve_states(&mut self, report: &mut Report) {
        for id in (0..self.machines.len() as u32).map(MachineId) {
            let decl = self.machines[id.index()].decl;
            let states = decl.states.iter().map(|state| self.state(id, state, report)).collect();
            self.machines[id.index()].states = states;
            self.start(id, report);
        }
        for id in (0..self.machines.len() as u32).map(MachineId) {
            self.transitions(id, report);
        }
    }

    /// Finds the one start state and what it takes.
    fn start(&mut self, id: MachineId, report: &mut Report) {
        let decl = self.machines[id.index()].decl;
        let mut starts = decl.states.iter().enumerate().filter(|(_, state)| state.start);
        let Some((start, first)) = starts.next() else {
            let mut wrong = Diagnostic::error(
                decl.name.span,
                format!("`{}` has no start state", decl.name.text),
            )
            .label("where does it begin?");
            if let Some(state) = decl.states.first() {
                wrong = wrong.hint(format!("write `start state {}`", state.name.text));
            }
            return report.push(wrong);
        };
        for (_, second) in starts {
            report.push(
                Diagnostic::error(
                    second.name.span,
                    format!("`{}` has two start states", decl.name.text),
                )
                .label("a second start state")
                .also(first.name.span, "the first"),
            );
        }
        let machine = &self.machines[id.index()];
        let entry = machine.states[start].entry;
        let payload = entry.map_or(Some(Type::Null), |fun| self.parameter(fun));
        if machine.is_spec()
            && let Some(payload) = &payload
            && !self.assignable(payload, &Type::Null)
        {
            report.push(
                Diagnostic::error(
                    first.name.span,
                    format!("the start state of spec `{}` takes a parameter", decl.name.text),
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

    /// The type of the one parameter of a handler, `Null` if it takes none.
    fn parameter(&self, fun: FunId) -> Option<Type> {
        match &*self.fun_list[fun.index()].params {
            [] => Some(Type::Null),
            [only] => only.clone(),
            [..] => None,
        }
    }

    /// Whether each handler can take what its events carry. One without a parameter can always.
    fn transitions(&self, id: MachineId, report: &mut Report) {
        let machine = &self.machines[id.index()];
        for state in &machine.states {
            for (&event, handler) in &state.handlers {
                match handler.action {
                    Action::Do(fun) => self.takes(fun, event, handler.span, report),
                    Action::Goto(target, with) => {
                        if let Some(fun) = with {
                            self.takes(fun, event, handler.span, report);
                        }
                        if let Some(fun) = machine.states[target.index()].entry {
                            self.takes(fun, event, handler.span, report);
                        }
                    }
                    Action::Defer | Action::Ignore => {}
                }
            }
        }
    }

    fn takes(&self, fun: FunId, event: EventId, at: Span, report: &mut Report) {
        let decl = &self.fun_list[fun.index()];
        // More than one parameter has been reported.
        let ([Some(want)], [(param, _)]) = (&*decl.params, &*decl.decl.params) else { return };
        if let Some(payload) = &self.event_list[event.index()].payload
            && !self.assignable(want, payload)
        {
            report.push(wrong_parameter(self, event, want, at, param.span));
        }
    }
}
