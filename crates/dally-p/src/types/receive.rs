//! `receive { case e: (x: T) { ... } }`

use std::collections::BTreeMap;

use super::body::{Body, Effect};
use super::state::{one_parameter, wrong_parameter};
use crate::diagnostic::Diagnostic;
use crate::program::{Case, EventId, StmtKind, Type};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    /// `receive`: the cases share the variables of the function and have their own.
    pub fn receive(
        &mut self,
        cases: &'a [(Vec<ast::EventName>, ast::Fun)],
        span: Span,
    ) -> Option<StmtKind> {
        self.does(Effect::Receive, span);
        let mut seen: BTreeMap<EventId, Span> = BTreeMap::new();
        let mut checked = Vec::new();
        for (events, fun) in cases {
            let events = self.case_events(events, &mut seen);
            checked.push(self.case(&events, fun));
        }
        Some(StmtKind::Receive(checked))
    }

    fn case_events(
        &mut self,
        names: &'a [ast::EventName],
        seen: &mut BTreeMap<EventId, Span>,
    ) -> Vec<(EventId, Span)> {
        let mut events = Vec::new();
        for name in names {
            let name = match name {
                ast::EventName::Named(name) => name,
                ast::EventName::Null(span) => {
                    self.report.push(
                        Diagnostic::error(*span, "`null` cannot be received")
                            .label("no event")
                            .hint("`null` is handled by a state: `on null do ...`"),
                    );
                    continue;
                }
                ast::EventName::Halt(span) => {
                    self.report.push(
                        Diagnostic::error(*span, "`halt` cannot be a case of `receive`")
                            .label("always ends the wait: it is raised again")
                            .hint("handle it in the state: `on halt do ...`"),
                    );
                    continue;
                }
            };
            for event in self.tables.event(name, self.report) {
                if let Some(first) = seen.insert(event, name.span) {
                    self.report.push(
                        Diagnostic::error(
                            name.span,
                            format!(
                                "`{}` has two cases",
                                self.tables.event_list[event.index()].name
                            ),
                        )
                        .label("received again")
                        .also(first, "first received here"),
                    );
                }
                events.push((event, name.span));
            }
        }
        events
    }

    fn case(&mut self, events: &[(EventId, Span)], fun: &'a ast::Fun) -> Case {
        let outside = std::mem::replace(&mut self.loops_outside, self.loops);
        one_parameter("a case", &fun.params, self.report);
        let case = self.scoped(|body| {
            let param = fun.params.first().map(|(name, ty)| {
                let ty = body.tables.resolve(ty, body.report);
                let local = body.declare(name, ty.clone());
                body.local(&name.text);
                (local, ty)
            });
            let fits = if fun.params.len() > 1 { &[] } else { events };
            for (event, span) in fits {
                let want = param.as_ref().map_or(Some(&Type::Null), |(_, ty)| ty.as_ref());
                let at = fun.params.first().map_or(*span, |(name, _)| name.span);
                body.event_fits(*event, want, *span, at);
            }
            let written = fun.body.as_ref();
            let locals = written.map_or(Vec::new(), |written| body.declare_vars(&written.vars));
            Case {
                events: events.iter().map(|(event, _)| *event).collect(),
                payload: param.map(|(local, _)| local),
                locals,
                body: written.map_or(Vec::new(), |it| body.statements(&it.statements)),
            }
        });
        self.loops_outside = outside;
        case
    }

    /// Whether a case can take what an event carries.
    fn event_fits(&mut self, event: EventId, want: Option<&Type>, event_at: Span, param_at: Span) {
        let decl = &self.tables.event_list[event.index()];
        let (Some(want), Some(payload)) = (want, &decl.payload) else { return };
        if self.tables.assignable(want, payload) || *want == Type::Null {
            return;
        }
        let wrong = wrong_parameter(self.tables, event, want, event_at, param_at);
        self.report.push(wrong);
    }
}
