//! The evaluation of module expressions, bottom-up.

use std::collections::{BTreeMap, BTreeSet};

use super::pair::conflict;
use crate::diagnostic::error;
use crate::program::{EventId, InterfaceId, MachineId};
use crate::source::Span;
use crate::syntax::ast::{ModuleExpr, ModuleKind, Name};
use crate::types::{Creates, Tables, TypeName};

/// A module. See "Compositional programming and testing of dynamic distributed systems" (Desai et
/// al., OOPSLA 2018) for the sets and the rules about them.
#[derive(Clone, Default)]
pub(crate) struct Module {
    pub machines: BTreeMap<InterfaceId, MachineId>,
    /// (creator, interface that its code names) to the interface that is created.
    pub links: BTreeMap<(InterfaceId, InterfaceId), InterfaceId>,
    /// The events that its machines send and receive, without hidden ones.
    pub sends: BTreeSet<EventId>,
    pub receives: BTreeSet<EventId>,
    /// The interfaces that its machines create, after renaming.
    pub creates: BTreeSet<InterfaceId>,
    pub private_events: BTreeSet<EventId>,
    /// The asserted specs, with the interfaces whose machines they observe.
    pub specs: BTreeMap<MachineId, BTreeSet<InterfaceId>>,
    /// The interface of `main M in`.
    pub main: Option<InterfaceId>,
}

impl Module {
    /// The interfaces visible from outside: bound or created, but not both.
    pub fn open_interfaces(&self) -> impl Iterator<Item = InterfaceId> {
        let bound = self.machines.keys().copied();
        let unmade = bound.filter(|interface| !self.creates.contains(interface));
        let unbound = self.creates.iter().copied();
        unmade.chain(unbound.filter(|interface| !self.machines.contains_key(interface)))
    }

    fn add(&mut self, other: &Module) {
        self.machines.extend(&other.machines);
        self.links.extend(&other.links);
        self.sends.extend(&other.sends);
        self.receives.extend(&other.receives);
        self.creates.extend(&other.creates);
        self.private_events.extend(&other.private_events);
        self.specs.extend(other.specs.iter().map(|(&spec, told)| (spec, told.clone())));
        self.main = self.main.or(other.main);
    }

    pub fn interfaces(&self) -> BTreeSet<InterfaceId> {
        self.machines.keys().chain(&self.creates).copied().collect()
    }
}

pub(crate) struct Context<'t, 'a> {
    pub tables: &'t Tables<'a>,
    pub creates: &'t Creates,
    /// The named modules evaluated so far; `None` for one with an error.
    pub named: Vec<Option<Module>>,
}

impl<'t, 'a> Context<'t, 'a> {
    /// The module of an expression; `None` if it has an error, which was reported.
    pub fn module(&self, expr: &ModuleExpr) -> Option<Module> {
        match &expr.kind {
            ModuleKind::Bind(bindings) => self.bind(bindings),
            ModuleKind::Named(name) => match self.tables.modules.get(name) {
                Some(module) => self.named[module].clone(),
                None => {
                    let known = self.tables.modules.names();
                    self.tables.unknown(expr.span, "module", name, known);
                    None
                }
            },
            ModuleKind::Compose(parts) => self.join(parts, true),
            ModuleKind::Union(parts) => self.join(parts, false),
            ModuleKind::HideEvents(names, of) => {
                let (events, of) = (self.tables.events(names), self.module(of));
                let mut module = of?;
                self.check_hidden_events(&module, &events, expr.span)?;
                module.sends.retain(|event| !events.contains(event));
                module.receives.retain(|event| !events.contains(event));
                module.private_events.extend(events);
                Some(module)
            }
            ModuleKind::HideInterfaces(names, of) => {
                let of = self.module(of);
                let found: Vec<_> = names.iter().map(|name| self.tables.interface(name)).collect();
                let module = of?;
                for (name, interface) in names.iter().zip(found) {
                    self.check_hidden_interface(&module, interface?, name)?;
                }
                Some(module)
            }
            ModuleKind::Assert(names, of) => self.assert(names, of),
            ModuleKind::Rename(old, new, of) => {
                let of = self.module(of);
                let (from, to) = (self.tables.interface(old), self.tables.interface(new));
                let (module, from, to) = (of?, from?, to?);
                self.check_rename(&module, (from, old), (to, new))?;
                Some(rename(module, from, to))
            }
            ModuleKind::Main(name, of) => {
                let mut module = self.module(of)?;
                module.main = Some(self.main(&module, name)?);
                Some(module)
            }
        }
    }

    fn bind(&self, bindings: &[(Name, Option<Name>)]) -> Option<Module> {
        let mut module = Module::default();
        let mut places: BTreeMap<InterfaceId, Span> = BTreeMap::new();
        let mut fine = Some(());
        for (name, as_interface) in bindings {
            let machine = self.machine(name);
            let interface = match as_interface {
                Some(interface) => self.tables.interface(interface),
                None => machine.and_then(|it| self.tables.machines[it.index()].interface),
            };
            let (Some(machine), Some(interface)) = (machine, interface) else {
                fine = None;
                continue;
            };
            let at = as_interface.as_ref().unwrap_or(name);
            if let Some(first) = places.insert(interface, at.span) {
                self.tables.report.push(
                    error(at.span, format!("`{at}` is bound twice"))
                        .label("bound again")
                        .also(first, "first bound here"),
                );
                fine = None;
                continue;
            }
            fine = fine.and(self.check_bind(interface, machine, at.span));
            let decl = &self.tables.machines[machine.index()];
            module.machines.insert(interface, machine);
            module.sends.extend(&decl.sends);
            module.receives.extend(&decl.receives);
            for &created in &self.creates[machine.index()] {
                module.links.insert((interface, created), created);
                module.creates.insert(created);
            }
        }
        fine.map(|()| module)
    }

    pub fn machine(&self, name: &Name) -> Option<MachineId> {
        let interface = self.tables.interface(name)?;
        let machine = self.tables.interfaces[interface.index()].machine;
        if machine.is_none() {
            self.tables.report.push(
                error(name.span, format!("`{name}` is an interface"))
                    .label("a machine is needed here")
                    .hint("bind a machine to it: `Machine -> Interface`"),
            );
        }
        machine
    }

    fn assert(&self, names: &[Name], of: &ModuleExpr) -> Option<Module> {
        let of = self.module(of);
        let mut specs = Vec::new();
        for name in names {
            match self.tables.types.get(&name.text) {
                Some(TypeName::Spec(spec)) => specs.push((name, spec)),
                Some(_) => self.tables.report.push(
                    error(name.span, format!("`{name}` is not a spec"))
                        .label("only specs can be asserted"),
                ),
                None => {
                    let known = self.tables.types.names_of(|it| matches!(it, TypeName::Spec(_)));
                    self.tables.unknown(name.span, "spec", &name.text, known);
                }
            }
        }
        let mut module = of?;
        let told: BTreeSet<InterfaceId> = module.machines.keys().copied().collect();
        let mut fine = (specs.len() == names.len()).then_some(());
        for (name, spec) in specs {
            fine = fine.and(self.check_assert(&module, spec, name));
            module.specs.insert(spec, told.clone());
        }
        fine.map(|()| module)
    }

    fn join(&self, parts: &[ModuleExpr], compose: bool) -> Option<Module> {
        let modules: Vec<_> = parts.iter().map(|part| self.module(part)).collect();
        let modules: Vec<Module> = modules.into_iter().collect::<Option<_>>()?;
        let hides = modules.iter().any(|module| !module.private_events.is_empty());
        let mut joined = Module::default();
        let mut fine = Some(());
        for (at, (part, module)) in parts.iter().zip(&modules).enumerate() {
            // The rules are about pairs. If no module hides events, a module fits all before it
            // exactly if it fits their union.
            if hides || conflict(self.tables, &joined, module, compose).is_some() {
                for (other, before) in parts.iter().zip(&modules).take(at) {
                    if let Some(found) = conflict(self.tables, before, module, compose) {
                        self.tables.report.push(found.in_words(other.span, part.span));
                        fine = None;
                        break;
                    }
                }
            }
            joined.add(module);
        }
        fine.map(|()| joined)
    }
}

fn rename(module: Module, from: InterfaceId, to: InterfaceId) -> Module {
    let renamed = |interface: InterfaceId| if interface == from { to } else { interface };
    Module {
        machines: module.machines.into_iter().map(|(name, it)| (renamed(name), it)).collect(),
        // The interface that the code of a machine names stays; the one that it leads to is renamed.
        links: module
            .links
            .into_iter()
            .map(|((creator, named), made)| ((renamed(creator), named), renamed(made)))
            .collect(),
        creates: module.creates.into_iter().map(renamed).collect(),
        specs: module
            .specs
            .into_iter()
            .map(|(spec, told)| (spec, told.into_iter().map(renamed).collect()))
            .collect(),
        main: module.main.map(renamed),
        ..module
    }
}
