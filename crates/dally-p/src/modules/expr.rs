//! Module expressions: what a module consists of, computed bottom-up. Well-formedness is in
//! [`super::rules`].

use std::collections::{BTreeMap, BTreeSet};

use super::{pair::Pair, rules};
use crate::diagnostic::Diagnostic;
use crate::program::{EventId, InterfaceId, MachineId};
use crate::source::Span;
use crate::syntax::ast::{ModuleExpr, ModuleKind, Name};
use crate::types::{Creates, Report, Tables, TypeName};

/// A module. See "Compositional programming and testing of dynamic distributed systems" (Desai et
/// al., OOPSLA 2018) for the sets and the rules about them.
#[derive(Clone, Default)]
pub(crate) struct Module {
    /// Which machine stands behind each interface.
    pub machines: BTreeMap<InterfaceId, MachineId>,
    /// (creator, created by its code) to what is created.
    pub links: BTreeMap<(InterfaceId, InterfaceId), InterfaceId>,
    /// What its machines send and receive, without what is hidden.
    pub sends: BTreeSet<EventId>,
    pub receives: BTreeSet<EventId>,
    /// What its machines create, after renaming.
    pub creates: BTreeSet<InterfaceId>,
    /// The events that are hidden.
    pub private_events: BTreeSet<EventId>,
    /// The specs that are asserted, with the interfaces whose machines tell them.
    pub specs: BTreeMap<MachineId, BTreeSet<InterfaceId>>,
    /// The interface of `main M in`.
    pub main: Option<InterfaceId>,
}

impl Module {
    /// The interfaces that others can see: bound or created, but not both.
    pub fn open_interfaces(&self) -> impl Iterator<Item = InterfaceId> {
        let bound = self.machines.keys().copied();
        let unmade = bound.filter(|interface| !self.creates.contains(interface));
        let unbound = self.creates.iter().copied();
        unmade.chain(unbound.filter(|interface| !self.machines.contains_key(interface)))
    }

    /// Puts another module into this one.
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

    /// The interfaces that it binds or creates.
    pub fn interfaces(&self) -> BTreeSet<InterfaceId> {
        self.machines.keys().chain(&self.creates).copied().collect()
    }
}

/// What module expressions are evaluated against.
pub(crate) struct Context<'t, 'a> {
    pub tables: &'t Tables<'a>,
    pub creates: &'t Creates,
    /// The named modules that are known so far; `None` if one is wrong.
    pub named: Vec<Option<Module>>,
}

impl<'t, 'a> Context<'t, 'a> {
    /// The module of an expression; `None` if it is wrong, which was reported.
    pub fn module(&self, expr: &ModuleExpr, report: &mut Report) -> Option<Module> {
        match &expr.kind {
            ModuleKind::Bind(bindings) => self.bind(bindings, report),
            ModuleKind::Named(name) => match self.tables.modules.get(name) {
                Some(module) => self.named[module].clone(),
                None => {
                    let known = self.tables.modules.names();
                    self.tables.unknown(expr.span, "module", name, known, report);
                    None
                }
            },
            ModuleKind::Compose(parts) => self.join(parts, true, report),
            ModuleKind::Union(parts) => self.join(parts, false, report),
            ModuleKind::HideEvents(names, of) => {
                let (events, of) = (self.tables.events(names, report), self.module(of, report));
                let mut module = of?;
                rules::hide_events(self.tables, &module, &events, expr.span, report)?;
                module.sends.retain(|event| !events.contains(event));
                module.receives.retain(|event| !events.contains(event));
                module.private_events.extend(events);
                Some(module)
            }
            ModuleKind::HideInterfaces(names, of) => {
                let of = self.module(of, report);
                let found: Vec<_> =
                    names.iter().map(|name| self.tables.interface(name, report)).collect();
                let module = of?;
                for (name, interface) in names.iter().zip(found) {
                    rules::hide_interface(&module, interface?, name, report)?;
                }
                Some(module)
            }
            ModuleKind::Assert(names, of) => self.assert(names, of, report),
            ModuleKind::Rename(old, new, of) => {
                let of = self.module(of, report);
                let (from, to) =
                    (self.tables.interface(old, report), self.tables.interface(new, report));
                let (module, from, to) = (of?, from?, to?);
                rules::rename(self.tables, &module, (from, old), (to, new), report)?;
                Some(rename(module, from, to))
            }
            ModuleKind::Main(name, of) => {
                let mut module = self.module(of, report)?;
                module.main = Some(rules::main(self.tables, &module, name, report)?);
                Some(module)
            }
        }
    }

    fn bind(&self, bindings: &[(Name, Option<Name>)], report: &mut Report) -> Option<Module> {
        let mut module = Module::default();
        let mut places: BTreeMap<InterfaceId, Span> = BTreeMap::new();
        let mut fine = Some(());
        for (name, as_interface) in bindings {
            let machine = self.machine(name, report);
            let interface = match as_interface {
                Some(interface) => self.tables.interface(interface, report),
                None => machine.and_then(|it| self.tables.machines[it.index()].interface),
            };
            let (Some(machine), Some(interface)) = (machine, interface) else {
                fine = None;
                continue;
            };
            let at = as_interface.as_ref().unwrap_or(name);
            if let Some(first) = places.insert(interface, at.span) {
                report.push(
                    Diagnostic::error(at.span, format!("`{}` is bound twice", at.text))
                        .label("bound again")
                        .also(first, "first bound here"),
                );
                fine = None;
                continue;
            }
            fine = fine.and(rules::bind(self.tables, interface, machine, at.span, report));
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

    /// The machine of this name.
    pub fn machine(&self, name: &Name, report: &mut Report) -> Option<MachineId> {
        let interface = self.tables.interface(name, report)?;
        let machine = self.tables.interfaces[interface.index()].machine;
        if machine.is_none() {
            report.push(
                Diagnostic::error(name.span, format!("`{}` is an interface", name.text))
                    .label("a machine is needed here")
                    .hint("bind a machine to it: `Machine -> Interface`"),
            );
        }
        machine
    }

    fn assert(&self, names: &[Name], of: &ModuleExpr, report: &mut Report) -> Option<Module> {
        let of = self.module(of, report);
        let mut specs = Vec::new();
        for name in names {
            match self.tables.types.get(&name.text) {
                Some(TypeName::Spec(spec)) => specs.push((name, spec)),
                Some(_) => report.push(
                    Diagnostic::error(name.span, format!("`{}` is not a spec", name.text))
                        .label("only specs can be asserted"),
                ),
                None => {
                    let known = self.tables.types.names_of(|it| matches!(it, TypeName::Spec(_)));
                    self.tables.unknown(name.span, "spec", &name.text, known, report);
                }
            }
        }
        let mut module = of?;
        let told: BTreeSet<InterfaceId> = module.machines.keys().copied().collect();
        let mut fine = (specs.len() == names.len()).then_some(());
        for (name, spec) in specs {
            fine = fine.and(rules::assert(self.tables, &module, spec, name, report));
            module.specs.insert(spec, told.clone());
        }
        fine.map(|()| module)
    }

    fn join(&self, parts: &[ModuleExpr], compose: bool, report: &mut Report) -> Option<Module> {
        let modules: Vec<_> = parts.iter().map(|part| self.module(part, report)).collect();
        let modules: Vec<Module> = modules.into_iter().collect::<Option<_>>()?;
        let hides = modules.iter().any(|module| !module.private_events.is_empty());
        let mut joined = Module::default();
        let mut fine = Some(());
        for (at, (part, module)) in parts.iter().zip(&modules).enumerate() {
            // All rules are about pairs. Those that do not speak of hidden events hold of all
            // pairs if they hold of each module and all before it together.
            let all = self.pair((&joined, part.span), (module, part.span)).conflict(compose);
            if hides || all.is_some() {
                for (other, before) in parts.iter().zip(&modules).take(at) {
                    let pair = self.pair((before, other.span), (module, part.span));
                    if let Some(conflict) = pair.conflict(compose) {
                        report.push(pair.refuse(conflict));
                        fine = None;
                        break;
                    }
                }
            }
            joined.add(module);
        }
        fine.map(|()| joined)
    }

    fn pair<'m>(
        &self,
        (left, left_at): (&'m Module, Span),
        (right, right_at): (&'m Module, Span),
    ) -> Pair<'m, 'a>
    where
        't: 'm,
    {
        Pair { tables: self.tables, left, right, left_at, right_at }
    }
}

/// Puts one interface in the place of another.
fn rename(module: Module, from: InterfaceId, to: InterfaceId) -> Module {
    let renamed = |interface: InterfaceId| if interface == from { to } else { interface };
    Module {
        machines: module.machines.into_iter().map(|(name, it)| (renamed(name), it)).collect(),
        // What the code of a machine names stays as it is; what it leads to is renamed.
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
