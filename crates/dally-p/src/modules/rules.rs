//! The rules for well-formed module expressions.

use std::collections::BTreeSet;

use super::expr::{Context, Module};
use crate::diagnostic::error;
use crate::program::{EventId, InterfaceId, MachineId, Type};
use crate::source::Span;
use crate::syntax::ast::Name;
use crate::types::Tables;

impl Context<'_, '_> {
    /// A machine can be bound to an interface if it receives all events of the interface and takes its
    /// payload.
    pub(super) fn check_bind(
        &self,
        interface: InterfaceId,
        machine: MachineId,
        at: Span,
    ) -> Option<()> {
        let (face, decl) =
            (&self.tables.interfaces[interface.index()], &self.tables.machines[machine.index()]);
        let (face_name, name) = (&face.name.text, &decl.decl.name.text);
        if let Some(event) = face.receives.difference(&decl.receives).next() {
            let event = self.tables.event_list[event.index()].name;
            return self.tables.report.refuse(
                error(at, format!("`{name}` does not receive all that `{face_name}` does"))
                    .label(format!("`{name}` does not receive `{event}`"))
                    .also(face.name.span, "the interface")
                    .also(decl.decl.name.span, "the machine"),
            );
        }
        if let (Some(given), Some(taken)) = (&face.payload, &decl.payload)
            && !self.tables.assignable(taken, given)
        {
            let (given, taken) = (shown(self.tables, given), shown(self.tables, taken));
            return self.tables.report.refuse(
                error(
                    at,
                    format!("`{face_name}` is created with {given}, but `{name}` takes {taken}"),
                )
                .label(format!("`{name}` cannot stand behind `{face_name}`"))
                .also(face.name.span, format!("created with {given}"))
                .also(decl.decl.name.span, format!("takes {taken}")),
            );
        }
        Some(())
    }

    /// A spec is asserted once, and the module sends what it observes.
    pub(super) fn check_assert(&self, module: &Module, spec: MachineId, name: &Name) -> Option<()> {
        let decl = &self.tables.machines[spec.index()];
        if decl.decl.kind == crate::program::MachineKind::Scenario {
            return self.tables.report.refuse(
                error(name.span, format!("`{name}` is a scenario"))
                    .label("attached to every test by itself")
                    .hint("leave it out"),
            );
        }
        if module.specs.contains_key(&spec) {
            return self.tables.report.refuse(
                error(name.span, format!("`{name}` is asserted twice"))
                    .label("already asserted in this module"),
            );
        }
        if let Some(event) = decl.observes.difference(&module.sends).next() {
            let hidden = module.private_events.contains(event);
            let event = self.tables.event_list[event.index()].name;
            let wrong = error(
                name.span,
                format!("`{name}` observes `{event}`, which the module does not send"),
            )
            .also(decl.decl.name.span, "the spec");
            return self.tables.report.refuse(if hidden {
                wrong.label("hidden in the module").hint("assert the spec inside of `hidee`")
            } else {
                wrong.label("not sent by any machine of the module")
            });
        }
        Some(())
    }

    /// The new interface has the same events and payload; the old one belongs to the module, the new
    /// one does not.
    pub(super) fn check_rename(
        &self,
        module: &Module,
        (old, old_name): (InterfaceId, &Name),
        (new, new_name): (InterfaceId, &Name),
    ) -> Option<()> {
        let known = module.interfaces();
        if !known.contains(&old) {
            return self.tables.report.refuse(
                error(old_name.span, format!("`{old_name}` is not an interface of the module"))
                    .label("neither bound nor created in it"),
            );
        }
        if known.contains(&new) {
            return self.tables.report.refuse(
                error(new_name.span, format!("`{new_name}` is already an interface of the module"))
                    .label("bound or created in it"),
            );
        }
        let (old_decl, new_decl) =
            (&self.tables.interfaces[old.index()], &self.tables.interfaces[new.index()]);
        let different = |what: &str, label: String| {
            error(new_name.span, format!("`{old_name}` and `{new_name}` {what}"))
                .label(label)
                .also(old_decl.name.span, "the old interface")
                .also(new_decl.name.span, "the new one")
        };
        if let Some(event) = old_decl.receives.symmetric_difference(&new_decl.receives).next() {
            let event = self.tables.event_list[event.index()].name;
            let only = format!("only one of them receives `{event}`");
            return self.tables.report.refuse(different("receive different events", only));
        }
        if let (Some(given), Some(taken)) = (&old_decl.payload, &new_decl.payload)
            && !self.tables.assignable(taken, given)
        {
            let (given, taken) = (shown(self.tables, given), shown(self.tables, taken));
            let label = format!("the old one is created with {given}, the new one with {taken}");
            return self
                .tables
                .report
                .refuse(different("are created with different values", label));
        }
        Some(())
    }

    /// An interface can be hidden if the module both creates and implements it.
    pub(super) fn check_hidden_interface(
        &self,
        module: &Module,
        interface: InterfaceId,
        name: &Name,
    ) -> Option<()> {
        let missing =
            match (module.machines.contains_key(&interface), module.creates.contains(&interface)) {
                (true, true) => return Some(()),
                (false, _) => "not bound in the module",
                (true, false) => "not created in the module",
            };
        self.tables.report.refuse(
            error(name.span, format!("`{name}` cannot be hidden"))
                .label(missing)
                .hint("only what a module both binds and creates can be hidden"),
        )
    }

    /// Events can be hidden if the module sends and receives them, and no machine outside can get the
    /// permission to send them.
    pub(super) fn check_hidden_events(
        &self,
        module: &Module,
        events: &BTreeSet<EventId>,
        at: Span,
    ) -> Option<()> {
        let refuse = |event: &EventId, why: String| {
            let event = self.tables.event_list[event.index()].name;
            self.tables.report.refuse(error(at, format!("`{event}` cannot be hidden")).label(why))
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
            let interface = &self.tables.interfaces[interface.index()];
            if let Some(event) = events.intersection(&interface.receives).next() {
                let name = &interface.name.text;
                return refuse(
                    event,
                    format!("`{name}` receives it, and is not both bound and created here"),
                );
            }
        }
        for public in module.sends.union(&module.receives).filter(|event| !events.contains(event)) {
            let carried = permissions(self.tables, &self.tables.event_list[public.index()].payload);
            if let Some(event) = events.intersection(&carried).next() {
                let public = self.tables.event_list[public.index()].name;
                return refuse(event, format!("`{public}` carries machines that receive it"));
            }
        }
        for interface in module.interfaces() {
            let interface = &self.tables.interfaces[interface.index()];
            let carried = permissions(self.tables, &interface.payload);
            if let Some(event) = events.intersection(&carried).next() {
                let name = &interface.name.text;
                return refuse(event, format!("`{name}` is created with machines that receive it"));
            }
        }
        Some(())
    }

    /// The interface that the machine of this name is bound to; preferably its own.
    pub(super) fn main(&self, module: &Module, name: &Name) -> Option<InterfaceId> {
        let own = self.tables.interface(name)?;
        let machine = self.tables.interfaces[own.index()].machine;
        let bound = |(_, behind): &(&InterfaceId, &MachineId)| Some(**behind) == machine;
        let found = match module.machines.get(&own) {
            Some(&behind) if machine.is_none_or(|machine| machine == behind) => Some(own),
            _ => module.machines.iter().find(bound).map(|(&interface, _)| interface),
        };
        if found.is_none() {
            self.tables.report.push(
                error(name.span, format!("`{name}` is not in the module"))
                    .label("the main machine must be bound")
                    .hint(format!("add it: `(union module, {{ {name} }})`")),
            );
        }
        found
    }
}

fn shown(tables: &Tables<'_>, payload: &Type) -> String {
    match payload {
        Type::Null => "nothing".into(),
        payload => format!("`{}`", tables.show(payload)),
    }
}

pub(crate) fn permissions(tables: &Tables<'_>, payload: &Option<Type>) -> BTreeSet<EventId> {
    payload.as_ref().map_or(BTreeSet::new(), |payload| tables.permissions(payload))
}
