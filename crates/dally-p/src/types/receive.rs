//! `receive { case e: (x: T) { ... } }`

use std::collections::BTreeMap;

use super::body::{Body, Effect};
use crate::diagnostic::{error, warning};
use crate::program::{Case, EventId, StmtKind};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    /// The cases share the variables of the function and have their own.
    pub fn receive(&mut self, cases: &'a [(Vec<ast::Name>, ast::Fun)], span: Span) -> StmtKind {
        self.does(Effect::Receive, span);
        let mut seen: BTreeMap<EventId, Span> = BTreeMap::new();
        let mut checked = Vec::new();
        for (names, fun) in cases {
            let named = names.iter().flat_map(|name| self.case_events(name, &mut seen));
            let events: Vec<_> = named.collect();
            checked.push(self.case(&events, fun));
        }
        StmtKind::Receive(checked)
    }

    fn case_events(
        &self,
        name: &ast::Name,
        seen: &mut BTreeMap<EventId, Span>,
    ) -> Vec<(EventId, Span)> {
        let span = name.span;
        let refused = match &*name.text {
            "null" => {
                self.report.push(
                    warning(span, "`null` cannot be received")
                        .label("this `receive` fails when it is reached")
                        .hint("`null` is handled by a state: `on null do ...`"),
                );
                return vec![(EventId::NULL, span)];
            }
            "halt" => error(span, "`halt` cannot be a case of `receive`")
                .label("always ends the wait: it is raised again")
                .hint("handle it in the state: `on halt do ...`"),
            _ => {
                let events = self.tables.event(name);
                for event in &events {
                    if let Some(first) = seen.insert(*event, span) {
                        let event = self.tables.event_list[event.index()].name;
                        self.report.push(
                            error(span, format!("`{event}` has two cases"))
                                .label("received again")
                                .also(first, "first received here"),
                        );
                    }
                }
                return events.into_iter().map(|event| (event, span)).collect();
            }
        };
        self.report.push(refused);
        Vec::new()
    }

    fn case(&mut self, events: &[(EventId, Span)], fun: &'a ast::Fun) -> Case {
        let outside = std::mem::replace(&mut self.loops_outside, self.loops);
        self.tables.one_parameter("a case", &fun.params);
        let case = self.scoped(|body| {
            let payload = fun.params.first().map(|(name, ty)| {
                let ty = body.tables.resolve(ty);
                if let (Some(ty), 1) = (&ty, fun.params.len()) {
                    for (event, span) in events.iter().filter(|(event, _)| *event != EventId::NULL)
                    {
                        body.tables.takes(*event, ty, *span, name.span);
                    }
                }
                let local = body.declare(name, ty);
                body.local(&name.text);
                local
            });
            let written = fun.body.as_ref();
            let locals = written.map_or(Vec::new(), |written| body.declare_vars(&written.vars));
            Case {
                events: events.iter().map(|(event, _)| *event).collect(),
                payload,
                locals,
                body: written.map_or(Vec::new(), |it| body.statements(&it.statements)),
            }
        });
        self.loops_outside = outside;
        case
    }
}
