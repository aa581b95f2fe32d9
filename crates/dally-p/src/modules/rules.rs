//! When a module expression makes sense.

use std::collections::BTreeSet;

use super::expr::Module;
use crate::diagnostic::Diagnostic;
use crate::program::{EventId, InterfaceId, MachineId, Type};
use crate::source::Span;
use crate::syntax::ast::Name;
use crate::types::{Report, Tables};

/// A machine can stand behind an interface if it receives all that may be sent to that, and takes
/// what that is created with.
pub(crate) fn bind(
    tables: &Tables<'_>,
    interface: InterfaceId,
    machine: MachineId,
    at: Span,
    report: &mut Report,
) -> Option<()> {
    let (face, decl) = (&tables.interfaces[interface.index()], &tables.machines[machine.index()]);
    let (face_name, name) = (&face.name.text, &decl.decl.name.text);
    if let Some(event) = face.receives.difference(&decl.receives).next() {
        let event = tables.event_list[event.index()].name;
        report.push(
            Diagnostic::error(at, format!("`{name}` does not receive all that `{face_name}` does"))
                .label(format!("`{name}` does not receive `{event}`"))
                .also(face.name.span, "the interface")
                .also(decl.decl.name.span, "the machine"),
        );
        return None;
    }
    if let (Some(given), Some(taken)) = (&face.payload, &decl.payload)
        && !tables.assignable(taken, given)
    {
        let (given, taken) = (shown(tables, given), shown(tables, taken));
        report.push(
            Diagnostic::error(
                at,
                format!("`{face_name}` is created with {given}, but `{name}` takes {taken}"),
            )
            .label(format!("`{name}` cannot stand behind `{face_name}`"))
            .also(face.name.span, format!("created with {given}"))
            .also(decl.decl.name.span, format!("takes {taken}")),
        );
        return None;
    }
    Some(())
}

fn shown(tables: &Tables<'_>, payload: &Type) -> String {
    match payload {
        Type::Null => "nothing".into(),
        payload => format!("`{}`", tables.show(payload)),
    }
}

/// A spec observes what the module sends, and is asserted once.
pub(crate) fn assert(
    tables: &Tables<'_>,
    module: &Module,
    spec: MachineId,
    name: &Name,
    report: &mut Report,
) -> Option<()> {
    let decl = &tables.machines[spec.index()];
    if decl.decl.kind == crate::program::MachineKind::Scenario {
        report.push(
            Diagnostic::error(name.span, format!("`{}` is a scenario", name.text))
                .label("attached to every test by itself")
                .hint("leave it out"),
        );
        return None;
    }
    if module.specs.contains_key(&spec) {
        report.push(
            Diagnostic::error(name.span, format!("`{}` is asserted twice", name.text))
                .label("already asserted in this module"),
        );
        return None;
    }
    if let Some(event) = decl.observes.difference(&module.sends).next() {
        let hidden = module.private_events.contains(event);
        let event = tables.event_list[event.index()].name;
        let wrong = Diagnostic::error(
            name.span,
            format!("`{}` observes `{event}`, which the module does not send", name.text),
        )
        .also(decl.decl.name.span, "the spec");
        report.push(if hidden {
            wrong.label("hidden in the module").hint("assert the spec inside of `hidee`")
        } else {
            wrong.label("not sent by any machine of the module")
        });
        return None;
    }
    Some(())
}

/// The new interface receives the same and is created with the same; the old one belongs to the
/// module, the new one does not.
pub(crate) fn rename(
    tables: &Tables<'_>,
    module: &Module,
    (old, old_name): (InterfaceId, &Name),
    (new, new_name): (InterfaceId, &Name),
    report: &mut Report,
) -> Option<()> {
    let known = module.interfaces();
    if !known.contains(&old) {
        report.push(
            Diagnostic::error(
                old_name.span,
                format!("`{}` is not an interface of the module", old_name.text),
            )
            .label("neither bound nor created in it"),
        );
        return None;
    }
    if known.contains(&new) {
        report.push(
            Diagnostic::error(
                new_name.span,
                format!("`{}` is already an interface of the module", new_name.text),
            )
            .label("bound or created in it"),
        );
        return None;
    }
    let (old_decl, new_decl) = (&tables.interfaces[old.index()], &tables.interfaces[new.index()]);
    let different = |what: &str, label: String| {
        Diagnostic::error(
            new_name.span,
            format!("`{}` and `{}` {what}", old_name.text, new_name.text),
        )
        .label(label)
        .also(old_decl.name.span, "the old interface")
        .also(new_decl.name.span, "the new one")
    };
    if let Some(event) = old_decl.receives.symmetric_difference(&new_decl.receives).next() {
        let event = tables.event_list[event.index()].name;
        let only = format!("only one of them receives `{event}`");
        report.push(different("receive different events", only));
        return None;
    }
    if let (Some(given), Some(taken)) = (&old_decl.payload, &new_decl.payload)
        && !tables.assignable(taken, given)
    {
        let (given, taken) = (shown(tables, given), shown(tables, taken));
        let label = format!("the old one is created with {given}, the new one with {taken}");
        report.push(different("are created with different values", label));
        return None;
    }
    Some(())
}

/// An interface can be hidden if the module both creates and implements it.
pub(crate) fn hide_interface(
    module: &Module,
    interface: InterfaceId,
    name: &Name,
    report: &mut Report,
) -> Option<()> {
    let missing =
        match (module.machines.contains_key(&interface), module.creates.contains(&interface)) {
            (true, true) => return Some(()),
            (false, _) => "not bound in the module",
            (true, false) => "not created in the module",
        };
    report.push(
        Diagnostic::error(name.span, format!("`{}` cannot be hidden", name.text))
            .label(missing)
            .hint("only what a module both binds and creates can be hidden"),
    );
    None
}

/// Events can be hidden if the module sends and receives them, and nobody outside can come to
/// send them.
pub(crate) fn hide_events(
    tables: &Tables<'_>,
    module: &Module,
    events: &BTreeSet<EventId>,
    at: Span,
    report: &mut Report,
) -> Option<()> {
    let mut refuse = |event: &EventId, why: String| {
        let event = tables.event_list[event.index()].name;
        report.push(Diagnostic::error(at, format!("`{event}` cannot be hidden")).label(why));
        None
    };
    for event in events {
        if !module.sends.contains(event) {
            return refuse(event, "the module does not send it".into());
        }
        if !module.receives.contains(event) {
            return refuse(event, "the module does not receive it".into());
        }
    }
    for interface in module.open_interfaces() {
        let interface = &tables.interfaces[interface.index()];
        if let Some(event) = events.intersection(&interface.receives).next() {
            let name = &interface.name.text;
            return refuse(
                event,
                format!("`{name}` receives it, and is not both bound and created here"),
            );
        }
    }
    for public in module.sends.union(&module.receives).filter(|event| !events.contains(event)) {
        let carried = permissions(tables, &tables.event_list[public.index()].payload);
        if let Some(event) = events.intersection(&carried).next() {
            let public = tables.event_list[public.index()].name;
            return refuse(event, format!("`{public}` carries machines that receive it"));
        }
    }
    for interface in module.interfaces() {
        let interface = &tables.interfaces[interface.index()];
        let carried = permissions(tables, &interface.payload);
        if let Some(event) = events.intersection(&carried).next() {
            let name = &interface.name.text;
            return refuse(event, format!("`{name}` is created with machines that receive it"));
        }
    }
    Some(())
}

/// The events that machines in a payload may be sent.
pub(crate) fn permissions(tables: &Tables<'_>, payload: &Option<Type>) -> BTreeSet<EventId> {
    payload.as_ref().map_or(BTreeSet::new(), |payload| tables.permissions(payload))
}

/// The interface behind which the machine of this name stands; its own, if that is bound.
pub(crate) fn main(
    tables: &Tables<'_>,
    module: &Module,
    name: &Name,
    report: &mut Report,
) -> Option<InterfaceId> {
    let own = tables.interface(name, report)?;
    let machine = tables.interfaces[own.index()].machine;
    let bound = |(_, behind): &(&InterfaceId, &MachineId)| Some(**behind) == machine;
    let found = match module.machines.get(&own) {
        Some(&behind) if machine.is_none_or(|machine| machine == behind) => Some(own),
        _ => module.machines.iter().find(bound).map(|(&interface, _)| interface),
    };
    if found.is_none() {
        report.push(
            Diagnostic::error(name.span, format!("`{}` is not in the module", name.text))
                .label("the main machine must be bound")
                .hint(format!("add it: `(union module, {{ {} }})`", name.text)),
        );
    }
    found
}
