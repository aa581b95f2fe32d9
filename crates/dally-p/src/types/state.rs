//! States: their reactions to events, and whether the functions that they name fit.

use std::collections::BTreeMap;

use super::scope::Tables;
use crate::diagnostic::{error, warning};
use crate::program::{Action, EventId, FunId, Handler, MachineId, State, Type};
use crate::source::Span;
use crate::syntax::ast;

struct Open<'a> {
    machine: MachineId,
    decl: &'a ast::State,
    state: State,
    written: BTreeMap<&'static str, Span>,
}

impl<'a> Tables<'a> {
    /// Checks a state, and numbers the functions written in it.
    pub fn state(&mut self, machine: MachineId, decl: &'a ast::State) -> State {
        let mut open = Open {
            machine,
            decl,
            state: State {
                name: decl.name.text.as_str().into(),
                span: decl.name.span,
                heat: decl.heat,
                entry: None,
                exit: None,
                handlers: BTreeMap::new(),
            },
            written: BTreeMap::new(),
        };
        for item in &decl.items {
            self.item(&mut open, item);
        }
        open.state
    }

    fn item(&mut self, open: &mut Open<'a>, item: &'a ast::StateItem) {
        match item {
            ast::StateItem::Entry(handler) => {
                open.state.entry = self.once("entry", open, handler);
                if let Some(fun) = open.state.entry {
                    let params = &self.fun_list[fun.index()].decl.params;
                    self.one_parameter("an entry function", params);
                }
            }
            ast::StateItem::Exit(handler) => {
                open.state.exit = self.once("exit", open, handler);
                if let Some(fun) = open.state.exit
                    && let Some((param, _)) = self.fun_list[fun.index()].decl.params.first()
                {
                    self.report.push(
                        error(place_of(handler), "an exit function takes no parameter")
                            .label(format!("exit of `{}`", open.decl.name))
                            .also(param.span, "the parameter"),
                    );
                }
            }
            ast::StateItem::Defer(events) => {
                if let Some(first) = events.first()
                    && self.machines[open.machine.index()].is_spec()
                {
                    let name = &self.machines[open.machine.index()].decl.name.text;
                    self.report.push(
                        error(first.span, format!("`defer` in spec `{name}`"))
                            .label("a spec has no queue")
                            .hint("a spec handles or ignores what it observes"),
                    );
                }
                self.set(open, events, Action::Defer, "deferred");
            }
            ast::StateItem::Ignore(events) => {
                self.set(open, events, Action::Ignore, "ignored");
            }
            ast::StateItem::Do(events, handler) => {
                let what = format!("on {} in", show(events));
                if let Some(fun) = self.handler(open, handler, &what) {
                    self.one_payload(fun);
                    self.set(open, events, Action::Do(fun), "");
                }
            }
            ast::StateItem::Goto(events, target, handler) => {
                let names = &self.machines[open.machine.index()].state_names;
                let state = names.get(&target.text);
                if state.is_none() {
                    self.report.unknown(target.span, "state", &target.text, names.names());
                }
                let what = format!("on {} goto {} in", show(events), target.text);
                let with = handler.as_ref().map(|with| self.handler(open, with, &what));
                if let Some(Some(fun)) = with {
                    self.one_payload(fun);
                }
                if let Some(state) = state {
                    self.set(open, events, Action::Goto(state, with.flatten()), "");
                }
            }
        }
    }

    fn one_payload(&self, fun: FunId) {
        self.one_parameter("a handler", &self.fun_list[fun.index()].decl.params);
    }

    /// The function that is named or written here, which must belong to the machine and have a body.
    fn handler(&mut self, open: &Open<'a>, handler: &'a ast::Handler, what: &str) -> Option<FunId> {
        let name = match handler {
            ast::Handler::Here(fun) => {
                let id = self.declare_fun(fun, Some(open.machine));
                self.fun_list[id.index()].name = format!("{what} {}", open.decl.name).into();
                self.resolve_fun(id);
                return Some(id);
            }
            ast::Handler::Named(name) => name,
        };
        let machine = &self.machines[open.machine.index()];
        let Some(fun) = machine.funs.get(&name.text) else {
            if let Some(declared) = self.funs.place(&name.text) {
                self.report.push(
                    error(
                        name.span,
                        format!("`{name}` is not a function of `{}`", machine.decl.name),
                    )
                    .label("a handler belongs to the machine")
                    .also(declared, "a function of the project")
                    .hint(format!("call it from a handler: `{{ {name}(...); }}`")),
                );
            } else {
                self.unknown(name.span, "function", &name.text, machine.funs.names());
            }
            return None;
        };
        let decl = &self.fun_list[fun.index()];
        if decl.decl.body.is_none() {
            return self.report.refuse(
                error(name.span, format!("`{name}` is a foreign function"))
                    .label("cannot be a handler")
                    .also(decl.decl.name.span, "declared here, without a body")
                    .hint(format!("call it from a handler: `{{ {name}(...); }}`")),
            );
        }
        if let Some(returns) = &decl.decl.returns {
            self.report.push(
                error(name.span, format!("`{name}` returns a value"))
                    .label("nobody would take it: a handler returns nothing")
                    .also(returns.span, "its result"),
            );
        }
        Some(fun)
    }

    /// Sets the reaction to events, each of which may be mentioned once.
    fn set(&mut self, open: &mut Open<'a>, events: &[ast::Name], action: Action, done: &str) {
        for name in events {
            let span = name.span;
            let found = match &*name.text {
                "null" if self.null(open, span, done) => vec![EventId::NULL],
                "null" => continue,
                _ => self.event(name),
            };
            for event in found {
                let first = open.state.handlers.get(&event).copied();
                if let Some(first) = first {
                    let event = self.event_list[event.index()].name;
                    self.report.push(
                        error(
                            span,
                            format!("`{event}` is mentioned twice in state `{}`", open.state.name),
                        )
                        .label("mentioned again")
                        .also(first.span, "first mentioned here"),
                    );
                } else {
                    open.state.handlers.insert(event, Handler { action, span });
                    self.hardly_happens(open, event, span);
                }
            }
        }
    }

    /// Whether `null` may be mentioned here.
    fn null(&self, open: &Open<'a>, span: Span, done: &str) -> bool {
        let machine = &self.machines[open.machine.index()];
        if !done.is_empty() {
            self.report.push(
                error(span, format!("`null` cannot be {done}"))
                    .label("not an event that is queued")
                    .hint("`null` is handled with `on null do ...` or `on null goto ...`"),
            );
        } else if machine.is_spec() {
            self.report.push(
                error(span, format!("`on null` in spec `{}`", machine.decl.name))
                    .label("a spec does nothing of its own accord"),
            );
        } else {
            return true;
        }
        false
    }

    /// Reports more than one parameter of a function that takes a payload.
    pub fn one_parameter(&self, what: &str, params: &[(ast::Name, ast::Type)]) {
        if let [_, (second, _), ..] = params {
            self.report.push(
                error(second.span, format!("{what} takes one parameter at most"))
                    .label("a payload is one value")
                    .hint("take a tuple: `(payload: (a: int, b: bool))`"),
            );
        }
    }

    /// The entry or exit function; a second one is reported.
    fn once(
        &mut self,
        what: &'static str,
        open: &mut Open<'a>,
        handler: &'a ast::Handler,
    ) -> Option<FunId> {
        let at = place_of(handler);
        if let Some(first) = open.written.insert(what, at) {
            self.report.push(
                error(at, format!("state `{}` has two {what} functions", open.decl.name))
                    .label(format!("a second {what}"))
                    .also(first, "the first"),
            );
        }
        self.handler(open, handler, &format!("{what} of"))
    }

    /// Reports a parameter whose type does not fit the payload of an event.
    pub fn takes(&self, event: EventId, want: &Type, event_at: Span, param_at: Span) {
        let decl = &self.event_list[event.index()];
        let Some(payload) = &decl.payload else { return };
        if self.assignable(want, payload) {
            return;
        }
        let want = self.show(want);
        let carries = match payload {
            Type::Null => "nothing".to_owned(),
            payload => format!("`{}`", self.show(payload)),
        };
        let mut wrong = error(
            event_at,
            format!("`{}` carries {carries}, but its handler takes `{want}`", decl.name),
        )
        .label(format!("carries {carries}"))
        .also(param_at, format!("takes `{want}`"));
        wrong.related.extend(decl.span.map(|declared| (declared, "the event".to_owned())));
        self.report.push(wrong);
    }

    /// Warns of handlers for events that never arrive.
    fn hardly_happens(&self, open: &Open<'a>, event: EventId, span: Span) {
        let machine = &self.machines[open.machine.index()];
        let (arrive, verb) = if machine.is_spec() {
            (&machine.observes, "observe")
        } else {
            (&machine.receives, "receive")
        };
        if event == EventId::NULL || event == EventId::HALT || arrive.contains(&event) {
            return;
        }
        // An event that is not received can still be raised.
        if machine.is_spec() || machine.decl.receives.is_some() {
            let event = self.event_list[event.index()].name;
            let name = &machine.decl.name.text;
            self.report.push(
                warning(span, format!("`{name}` does not {verb} `{event}`"))
                    .label("handled only if it is raised")
                    .also(machine.decl.name.span, format!("its `{verb}s` clause leaves it out")),
            );
        }
    }
}

fn place_of(handler: &ast::Handler) -> Span {
    match handler {
        ast::Handler::Named(name) => name.span,
        ast::Handler::Here(fun) => fun.name.span,
    }
}

fn show(events: &[ast::Name]) -> String {
    events.iter().map(|event| &*event.text).collect::<Vec<_>>().join(", ")
}
