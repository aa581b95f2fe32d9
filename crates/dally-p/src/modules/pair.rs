//! When two modules can be put together.

use std::collections::BTreeSet;

use super::expr::Module;
use super::rules::permissions;
use crate::diagnostic::Diagnostic;
use crate::program::EventId;
use crate::source::Span;
use crate::types::{Report, Tables};

/// Two modules that are put together.
pub(crate) struct Pair<'m, 'a> {
    pub tables: &'m Tables<'a>,
    pub left: &'m Module,
    pub right: &'m Module,
    pub left_at: Span,
    pub right_at: Span,
}

impl Pair<'_, '_> {
    /// Whether they fit: no interface bound twice, no spec twice, and what one hides the other
    /// does not know. `compose` also wants that they send and create different things.
    pub fn check(&self, compose: bool, report: &mut Report) -> Option<()> {
        let (left, right) = (self.left, self.right);
        if let Some(both) = left.machines.keys().find(|it| right.machines.contains_key(it)) {
            let name = &self.tables.interfaces[both.index()].name.text;
            return self.refuse(format!("`{name}` is bound in both modules"), report);
        }
        if let Some(both) = left.specs.keys().find(|it| right.specs.contains_key(it)) {
            let name = &self.tables.machines[both.index()].decl.name.text;
            return self.refuse(format!("`{name}` is asserted in both modules"), report);
        }
        self.hidden(left, right, report)?;
        self.hidden(right, left, report)?;
        if !compose {
            return Some(());
        }
        if let Some(both) = left.sends.intersection(&right.sends).next() {
            let name = self.tables.event_list[both.index()].name;
            return self.disjoint(format!("`{name}` is sent by both modules"), report);
        }
        if let Some(both) = left.creates.intersection(&right.creates).next() {
            let name = &self.tables.interfaces[both.index()].name.text;
            return self.disjoint(format!("`{name}` is created by both modules"), report);
        }
        Some(())
    }

    /// Whether what one module hides is unknown to the other.
    fn hidden(&self, hiding: &Module, other: &Module, report: &mut Report) -> Option<()> {
        let private = &hiding.private_events;
        if private.is_empty() {
            return Some(());
        }
        let tables = self.tables;
        let public: BTreeSet<EventId> = other.sends.union(&other.receives).copied().collect();
        if let Some(event) = private.intersection(&public).next() {
            let event = tables.event_list[event.index()].name;
            return self.refuse(
                format!("`{event}` is hidden in one module and used by the other"),
                report,
            );
        }
        for public in public {
            let carried = permissions(tables, &tables.event_list[public.index()].payload);
            if let Some(event) = private.intersection(&carried).next() {
                let (event, public) = (
                    tables.event_list[event.index()].name,
                    tables.event_list[public.index()].name,
                );
                return self.refuse(
                    format!("`{event}` is hidden in one module, but `{public}` of the other carries machines that receive it"),
                    report,
                );
            }
        }
        for id in other.interfaces() {
            let interface = &tables.interfaces[id.index()];
            let open = other.open_interfaces().any(|it| it == id);
            let carried = permissions(tables, &interface.payload);
            let known = if open { carried.union(&interface.receives).copied().collect() } else { carried };
            if let Some(event) = private.intersection(&known).next() {
                let event = tables.event_list[event.index()].name;
                return self.refuse(
                    format!(
                        "`{event}` is hidden in one module, but `{}` of the other makes it known",
                        interface.name.text
                    ),
                    report,
                );
            }
        }
        Some(())
    }

    fn refuse(&self, message: String, report: &mut Report) -> Option<()> {
        report.push(self.wrong(message));
        None
    }

    fn disjoint(&self, message: String, report: &mut Report) -> Option<()> {
        report.push(self.wrong(message).hint(
            "`union` allows this; `compose` wants modules that send and create different things",
        ));
        None
    }

    fn wrong(&self, message: String) -> Diagnostic {
        Diagnostic::error(self.right_at, message)
            .label("this module")
            .also(self.left_at, "and this one")
    }
}
