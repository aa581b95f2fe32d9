//! The rules for combining two modules.

use std::collections::BTreeSet;

use super::expr::Module;
use super::rules::permissions;
use crate::diagnostic::{Diagnostic, error};
use crate::program::{EventId, InterfaceId};
use crate::source::Span;
use crate::types::Tables;

pub(crate) struct Conflict {
    message: String,
    /// Whether `union` accepts the two modules.
    only_composed: bool,
}

/// Why two modules do not fit: they bind the same interface, assert the same spec, or one knows what
/// the other hides. For `compose` they also must not send or create the same.
pub(crate) fn conflict(
    tables: &Tables<'_>,
    left: &Module,
    right: &Module,
    compose: bool,
) -> Option<Conflict> {
    if let Some(both) = right.machines.keys().find(|it| left.machines.contains_key(it)) {
        let name = tables.interfaces[both.index()].name;
        return never(format!("`{name}` is bound in both modules"));
    }
    if let Some(both) = right.specs.keys().find(|it| left.specs.contains_key(it)) {
        let name = &tables.machines[both.index()].decl.name;
        return never(format!("`{name}` is asserted in both modules"));
    }
    let hidden = hidden(tables, left, right).or_else(|| hidden(tables, right, left));
    if hidden.is_some() || !compose {
        return hidden;
    }
    let only_composed = |message| Some(Conflict { message, only_composed: true });
    if let Some(both) = right.sends.intersection(&left.sends).next() {
        let name = tables.event_list[both.index()].name;
        return only_composed(format!("`{name}` is sent by both modules"));
    }
    let both = right.creates.intersection(&left.creates).next()?;
    let name = tables.interfaces[both.index()].name;
    only_composed(format!("`{name}` is created by both modules"))
}

fn hidden(tables: &Tables<'_>, hiding: &Module, other: &Module) -> Option<Conflict> {
    let private = &hiding.private_events;
    if private.is_empty() {
        return None;
    }
    let name = |event: &EventId| tables.event_list[event.index()].name;
    let public: BTreeSet<EventId> = other.sends.union(&other.receives).copied().collect();
    if let Some(event) = private.intersection(&public).next() {
        let event = name(event);
        return never(format!("`{event}` is hidden in one module and used by the other"));
    }
    for public in public {
        let carried = permissions(tables, &tables.event_list[public.index()].payload);
        if let Some(event) = private.intersection(&carried).next() {
            return never(format!(
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
            return never(format!(
                "`{}` is hidden in one module, and `{}` of the other makes it known",
                name(event),
                interface.name
            ));
        }
    }
    None
}

fn never(message: String) -> Option<Conflict> {
    Some(Conflict { message, only_composed: false })
}

impl Conflict {
    pub fn in_words(self, left: Span, right: Span) -> Diagnostic {
        let wrong = error(right, self.message).label("this module").also(left, "and this one");
        match self.only_composed {
            true => wrong.hint(
                "`union` allows this; `compose` wants modules that send and create different \
                 things",
            ),
            false => wrong,
        }
    }
}
