//! When two modules can be put together.

use std::collections::BTreeSet;

use super::expr::Module;
use super::rules::permissions;
use crate::diagnostic::Diagnostic;
use crate::program::{EventId, InterfaceId};
use crate::source::Span;
use crate::types::Tables;

/// Two modules that are put together.
pub(crate) struct Pair<'m, 'a> {
    pub tables: &'m Tables<'a>,
    pub left: &'m Module,
    pub right: &'m Module,
    pub left_at: Span,
    pub right_at: Span,
}

/// Why two modules do not fit.
pub(crate) struct Conflict {
    message: String,
    /// Whether `union` would take them.
    only_composed: bool,
}

impl Pair<'_, '_> {
    /// Whether they fit: no interface bound twice, no spec twice, and what one hides the other
    /// does not know. `compose` also wants that they send and create different things.
    pub fn conflict(&self, compose: bool) -> Option<Conflict> {
        let (left, right) = (self.left, self.right);
        if let Some(both) = right.machines.keys().find(|it| left.machines.contains_key(it)) {
            let name = &self.tables.interfaces[both.index()].name.text;
            return conflict(format!("`{name}` is bound in both modules"));
        }
        if let Some(both) = right.specs.keys().find(|it| left.specs.contains_key(it)) {
            let name = &self.tables.machines[both.index()].decl.name.text;
            return conflict(format!("`{name}` is asserted in both modules"));
        }
        let hidden = self.hidden(left, right).or_else(|| self.hidden(right, left));
        if hidden.is_some() || !compose {
            return hidden;
        }
        if let Some(both) = right.sends.iter().find(|it| left.sends.contains(it)) {
            let name = self.tables.event_list[both.index()].name;
            let message = format!("`{name}` is sent by both modules");
            return Some(Conflict { message, only_composed: true });
        }
        if let Some(both) = right.creates.iter().find(|it| left.creates.contains(it)) {
            let name = &self.tables.interfaces[both.index()].name.text;
            let message = format!("`{name}` is created by both modules");
            return Some(Conflict { message, only_composed: true });
        }
        None
    }

    /// What one module hides and the other knows.
    fn hidden(&self, hiding: &Module, other: &Module) -> Option<Conflict> {
        let private = &hiding.private_events;
        if private.is_empty() {
            return None;
        }
        let tables = self.tables;
        let name = |event: &EventId| tables.event_list[event.index()].name;
        let public: BTreeSet<EventId> = other.sends.union(&other.receives).copied().collect();
        if let Some(event) = private.intersection(&public).next() {
            let event = name(event);
            return conflict(format!("`{event}` is hidden in one module and used by the other"));
        }
        for public in public {
            let carried = permissions(tables, &tables.event_list[public.index()].payload);
            if let Some(event) = private.intersection(&carried).next() {
                return conflict(format!(
                    "`{}` is hidden in one module, and `{}` of the other carries machines that \
                     receive it",
                    name(event),
                    name(&public)
                ));
            }
        }
        let open: BTreeSet<InterfaceId> = other.open_interfaces().collect();
        for id in other.interfaces() {
            let interface = &tables.interfaces[id.index()];
            let carried = permissions(tables, &interface.payload);
            let received = open.contains(&id).then_some(&interface.receives);
            let mut known = carried.iter().chain(received.into_iter().flatten());
            if let Some(event) = known.find(|event| private.contains(event)) {
                return conflict(format!(
                    "`{}` is hidden in one module, and `{}` of the other makes it known",
                    name(event),
                    interface.name.text
                ));
            }
        }
        None
    }

    /// What to say about a conflict.
    pub fn refuse(&self, conflict: Conflict) -> Diagnostic {
        let wrong = Diagnostic::error(self.right_at, conflict.message)
            .label("this module")
            .also(self.left_at, "and this one");
        if conflict.only_composed {
            wrong.hint(
                "`union` allows this; `compose` wants modules that send and create different \
                 things",
            )
        } else {
            wrong
        }
    }
}

fn conflict(message: String) -> Option<Conflict> {
    Some(Conflict { message, only_composed: false })
}
