//! States: what they do with each event, and whether the functions named there fit.

use std::collections::BTreeMap;

use triomphe::Arc;

use super::report::Report;
use super::scope::Tables;
use crate::diagnostic::Diagnostic;
use crate::program::{Action, EventId, FunId, Handler, MachineId, State, Type};
use crate::source::Span;
use crate::syntax::ast;

/// The state that is being read.
struct Open<'a> {
    machine: MachineId,
    decl: &'a ast::State,
    state: State,
    /// Where entry and exit are written.
    entry_at: Option<Span>,
    exit_at: Option<Span>,
}

impl<'a> Tables<'a> {
    /// Reads a state. The functions written in it get their numbers here.
    pub fn state(
        &mut self,
        machine: MachineId,
        decl: &'a ast::State,
        report: &mut Report,
    ) -> State {
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
            entry_at: None,
            exit_at: None,
        };
        for item in &decl.items {
            self.item(&mut open, item, report);
        }
        open.state
    }

    fn item(&mut self, open: &mut Open<'a>, item: &'a ast::StateItem, report: &mut Report) {
        match item {
            ast::StateItem::Entry(handler) => {
                let at = place_of(handler);
                if let Some(first) = open.entry_at.replace(at) {
                    return twice("entry", open.decl, at, first, report);
                }
                open.state.entry = self.handler(open, handler, "entry of", report);
                if let Some(fun) = open.state.entry {
                    one_parameter(
                        "an entry function",
                        &self.fun_list[fun.index()].decl.params,
                        report,
                    );
                }
            }
            ast::StateItem::Exit(handler) => {
                let at = place_of(handler);
                if let Some(first) = open.exit_at.replace(at) {
                    return twice("exit", open.decl, at, first, report);
                }
                open.state.exit = self.handler(open, handler, "exit of", report);
                if let Some(fun) = open.state.exit
                    && let Some((param, _)) = self.fun_list[fun.index()].decl.params.first()
                {
                    report.push(
                        Diagnostic::error(at, "an exit function takes no parameter")
                            .label(format!("exit of `{}`", open.decl.name.text))
                            .also(param.span, "the parameter"),
                    );
                }
            }
            ast::StateItem::Defer(events) => {
                if let Some(first) = events.first()
                    && self.machines[open.machine.index()].is_spec()
                {
                    let name = &self.machines[open.machine.index()].decl.name.text;
                    report.push(
                        Diagnostic::error(span_of(first), format!("`defer` in spec `{name}`"))
                            .label("a spec has no queue")
                            .hint("a spec handles or ignores what it observes"),
                    );
                }
                self.set(open, events, Action::Defer, "deferred", report);
            }
            ast::StateItem::Ignore(events) => {
                self.set(open, events, Action::Ignore, "ignored", report);
            }
            ast::StateItem::Do(events, handler) => {
                let what = format!("on {} in", show(events));
                if let Some(fun) = self.handler(open, handler, &what, report) {
                    self.fits(fun, report);
                    self.set(open, events, Action::Do(fun), "", report);
                }
            }
            ast::StateItem::Goto(events, target, handler) => {
                let names = &self.machines[open.machine.index()].state_names;
                let state = names.get(&target.text);
                if state.is_none() {
                    report.unknown(target.span, "state", &target.text, names.names());
                }
                let what = format!("on {} goto {} in", show(events), target.text);
                let with = handler.as_ref().map(|with| self.handler(open, with, &what, report));
                if let Some(Some(fun)) = with {
                    self.fits(fun, report);
                }
                if let Some(state) = state {
                    self.set(open, events, Action::Goto(state, with.flatten()), "", report);
                }
            }
        }
    }

    fn fits(&self, fun: FunId, report: &mut Report) {
        one_parameter("a handler", &self.fun_list[fun.index()].decl.params, report);
    }

    /// The function that is named or written here: one of the machine, with a body.
    fn handler(
        &mut self,
        open: &Open<'a>,
        handler: &'a ast::Handler,
        what: &str,
        report: &mut Report,
    ) -> Option<FunId> {
        let name = match handler {
            ast::Handler::Here(fun) => {
                let id = self.declare_fun(fun, Some(open.machine));
                self.fun_list[id.index()].name = format!("{what} {}", open.decl.name.text).into();
                self.resolve_fun(id, report);
                return Some(id);
            }
            ast::Handler::Named(name) => name,
        };
        let machine = &self.machines[open.machine.index()];
        let Some(fun) = machine.funs.get(&name.text) else {
            if let Some(declared) = self.funs.place(&name.text) {
                report.push(
                    Diagnostic::error(
                        name.span,
                        format!(
                            "`{}` is not a function of `{}`",
                            name.text, machine.decl.name.text
                        ),
                    )
                    .label("a handler belongs to the machine")
                    .also(declared, "a function of the project")
                    .hint(format!("call it from a handler: `{{ {}(...); }}`", name.text)),
                );
            } else {
                self.unknown(name.span, "function", &name.text, machine.funs.names(), report);
            }
            return None;
        };
        let decl = &self.fun_list[fun.index()];
        if decl.decl.body.is_none() {
            report.push(
                Diagnostic::error(name.span, format!("`{}` is a foreign function", name.text))
                    .label("cannot be a handler")
                    .also(decl.decl.name.span, "declared here, without a body")
                    .hint(format!("call it from a handler: `{{ {}(...); }}`", name.text)),
            );
            return None;
        }
        if let Some(returns) = &decl.decl.returns {
            report.push(
                Diagnostic::error(name.span, format!("`{}` returns a value", name.text))
                    .label("nobody would take it: a handler returns nothing")
                    .also(returns.span, "its result"),
            );
        }
        Some(fun)
    }

    /// Notes what happens with events, each of which may be mentioned once.
    fn set(
        &mut self,
        open: &mut Open<'a>,
        events: &'a [ast::EventName],
        action: Action,
        done: &str,
        report: &mut Report,
    ) {
        for name in events {
            let found = match name {
                ast::EventName::Halt(_) => vec![EventId::HALT],
                ast::EventName::Null(span) if self.null(open, *span, done, report) => {
                    vec![EventId::NULL]
                }
                ast::EventName::Null(_) => continue,
                ast::EventName::Named(name) => self.event(name, report),
            };
            let span = span_of(name);
            for event in found {
                let first = open.state.handlers.get(&event).copied();
                if let Some(first) = first {
                    let event = self.event_list[event.index()].name;
                    report.push(
                        Diagnostic::error(
                            span,
                            format!("`{event}` is mentioned twice in state `{}`", open.state.name),
                        )
                        .label("mentioned again")
                        .also(first.span, "first mentioned here"),
                    );
                } else {
                    open.state.handlers.insert(event, Handler { action, span });
                    self.hardly_happens(open, event, span, report);
                }
            }
        }
    }

    /// Whether `null` may be mentioned here.
    fn null(&self, open: &Open<'a>, span: Span, done: &str, report: &mut Report) -> bool {
        let machine = &self.machines[open.machine.index()];
        if !done.is_empty() {
            report.push(
                Diagnostic::error(span, format!("`null` cannot be {done}"))
                    .label("not an event that is queued")
                    .hint("`null` is handled with `on null do ...` or `on null goto ...`"),
            );
        } else if machine.is_spec() {
            report.push(
                Diagnostic::error(span, format!("`on null` in spec `{}`", machine.decl.name.text))
                    .label("a spec does nothing of its own accord"),
            );
        } else {
            return true;
        }
        false
    }

    /// Warns of handlers for events that never arrive.
    fn hardly_happens(&self, open: &Open<'a>, event: EventId, span: Span, report: &mut Report) {
        let machine = &self.machines[open.machine.index()];
        let (arrive, verb) = if machine.is_spec() {
            (&machine.observes, "observe")
        } else {
            (&machine.receives, "receive")
        };
        if event == EventId::NULL || event == EventId::HALT || arrive.contains(&event) {
            return;
        }
        // What is not received can still be raised.
        if machine.is_spec() || machine.decl.receives.is_some() {
            let event = self.event_list[event.index()].name;
            let name = &machine.decl.name.text;
            report.push(
                Diagnostic::warning(span, format!("`{name}` does not {verb} `{event}`"))
                    .label("handled only if it is raised")
                    .also(machine.decl.name.span, format!("its `{verb}s` clause leaves it out")),
            );
        }
    }
}

/// Reports more than one parameter where a payload is taken.
pub(crate) fn one_parameter(what: &str, params: &[(ast::Name, ast::Type)], report: &mut Report) {
    if let [_, (second, _), ..] = params {
        report.push(
            Diagnostic::error(second.span, format!("{what} takes one parameter at most"))
                .label("a payload is one value")
                .hint("take a tuple: `(payload: (a: int, b: bool))`"),
        );
    }
}

/// The parameter of a handler cannot take what an event carries.
pub(crate) fn wrong_parameter(
    tables: &Tables<'_>,
    event: EventId,
    want: &Type,
    event_at: Span,
    param_at: Span,
) -> Diagnostic {
    let decl = &tables.event_list[event.index()];
    let want = tables.show(want);
    let carries = match &decl.payload {
        Some(Type::Null) | None => "nothing".to_owned(),
        Some(payload) => format!("`{}`", tables.show(payload)),
    };
    let wrong = Diagnostic::error(
        event_at,
        format!("`{}` carries {carries}, but its handler takes `{want}`", decl.name),
    )
    .label(format!("carries {carries}"))
    .also(param_at, format!("takes `{want}`"));
    match decl.span {
        Some(declared) => wrong.also(declared, "the event"),
        None => wrong,
    }
}

fn twice(what: &str, state: &ast::State, again: Span, first: Span, report: &mut Report) {
    report.push(
        Diagnostic::error(again, format!("state `{}` has two {what} functions", state.name.text))
            .label(format!("a second {what}"))
            .also(first, "the first"),
    );
}

fn place_of(handler: &ast::Handler) -> Span {
    match handler {
        ast::Handler::Named(name) => name.span,
        ast::Handler::Here(fun) => fun.name.span,
    }
}

/// Where an event is mentioned.
pub(crate) fn span_of(event: &ast::EventName) -> Span {
    match event {
        ast::EventName::Null(span) | ast::EventName::Halt(span) => *span,
        ast::EventName::Named(name) => name.span,
    }
}

fn show(events: &[ast::EventName]) -> Arc<str> {
    let names: Vec<&str> = events
        .iter()
        .map(|event| match event {
            ast::EventName::Null(_) => "null",
            ast::EventName::Halt(_) => "halt",
            ast::EventName::Named(name) => &name.text,
        })
        .collect();
    names.join(", ").into()
}
