//! The resolution of types: aliases unfolded, names looked up.

use std::collections::BTreeSet;

use triomphe::Arc;

use super::order::order;
use super::scope::{Tables, TypeName};
use crate::diagnostic::error;
use crate::program::{EventId, FunId, MachineId, Type};
use crate::syntax::ast;

/// The greatest size of a type with all aliases unfolded. Aliases that name others twice would
/// otherwise describe types of exponential size.
const LARGEST: usize = 10_000;

/// The greatest depth of a type, so that no recursion over one overflows the stack.
const DEEPEST: usize = 200;

impl<'a> Tables<'a> {
    /// Resolves the types of all declarations; states and bodies come later.
    pub fn resolve_declarations(&mut self, files: &'a [ast::File]) {
        self.resolve_event_sets();
        self.resolve_aliases();
        for at in 0..self.event_list.len() {
            self.event_list[at].payload = self.maybe(self.event_list[at].written);
        }
        for at in 0..self.interfaces.len() {
            if self.interfaces[at].machine.is_none() {
                let names = self.interfaces[at].names;
                self.interfaces[at].receives = self.events(names);
                self.interfaces[at].payload = self.maybe(self.interfaces[at].written);
            }
        }
        for at in 0..self.machines.len() {
            self.resolve_machine(MachineId(at as u32));
        }
        for at in 0..self.fun_list.len() {
            self.resolve_fun(FunId(at as u32));
        }
        let mut at = 0;
        for decl in files.iter().flat_map(|file| &file.decls) {
            if let ast::Decl::Param(params) = decl {
                let ty = self.resolve(&params.ty);
                for _ in &params.names {
                    self.param_list[at].ty = ty.clone();
                    at += 1;
                }
            }
        }
    }

    /// The type of an optional annotation; without one that of `null`.
    fn maybe(&self, written: Option<&ast::Type>) -> Option<Type> {
        written.map_or(Some(Type::Null), |written| self.resolve(written))
    }

    pub fn resolve_fun(&mut self, fun: FunId) {
        let decl = self.fun_list[fun.index()].decl;
        let params = decl.params.iter().map(|(_, ty)| self.resolve(ty)).collect();
        let returns = self.maybe(decl.returns.as_ref());
        for interface in &decl.creates {
            self.interface(interface);
        }
        let entry = &mut self.fun_list[fun.index()];
        entry.params = params;
        entry.returns = returns;
    }

    fn resolve_machine(&mut self, id: MachineId) {
        let decl = self.machines[id.index()].decl;
        let all = || self.all_events();
        let clause = |names: &Option<Vec<ast::Name>>| match names {
            Some(names) => self.events(names),
            None => all(),
        };
        let (receives, sends, observes) = match decl.kind {
            ast::MachineKind::Machine => {
                (clause(&decl.receives), clause(&decl.sends), BTreeSet::new())
            }
            ast::MachineKind::Spec | ast::MachineKind::Scenario => {
                (BTreeSet::new(), BTreeSet::new(), self.events(&decl.observes))
            }
        };
        let mut types = Vec::new();
        for var in &decl.vars {
            let ty = self.resolve(&var.ty);
            types.extend(var.names.iter().map(|_| ty.clone()));
        }
        let machine = &mut self.machines[id.index()];
        for (field, ty) in machine.field_list.iter_mut().zip(types) {
            field.ty = ty;
        }
        if let Some(interface) = machine.interface {
            self.interfaces[interface.index()].receives = receives.clone();
        }
        (machine.receives, machine.sends, machine.observes) = (receives, sends, observes);
    }

    fn resolve_event_sets(&mut self) {
        let found = order(self.event_sets.len(), |at| {
            let names = self.event_sets[at].names.iter();
            names.filter_map(|name| self.set_named(name)).collect()
        });
        for cycle in &found.cycles {
            let names: Vec<_> = cycle.iter().map(|&at| self.event_sets[at].name).collect();
            self.circular(&names, "event set");
        }
        for at in found.sorted {
            let events: BTreeSet<EventId> = self.events(self.event_sets[at].names);
            self.event_sets[at].events = Arc::new(events);
        }
    }

    /// Reports a declaration that refers to itself through the others.
    pub fn circular(&self, names: &[&ast::Name], what: &str) {
        /// The greatest length of a cycle in a message.
        const SHOWN: usize = 5;
        let [first, rest @ ..] = names else { return };
        let message = format!("{what} `{first}` is defined by itself");
        let found = error(first.span, message).label("needs itself");
        self.report.push(
            rest.iter()
                .take(SHOWN)
                .fold(found, |found, name| found.also(name.span, format!("by way of `{name}`"))),
        );
    }

    /// The event set of this name, unless an event has the name too.
    fn set_named(&self, name: &ast::Name) -> Option<usize> {
        match (self.values.get(&name.text), self.types.get(&name.text)) {
            (None, Some(TypeName::EventSet(set))) => Some(set),
            _ => None,
        }
    }

    fn resolve_aliases(&mut self) {
        let found = order(self.aliases.len(), |at| {
            let mut needed = Vec::new();
            self.aliases_in(self.aliases[at].is, &mut needed);
            needed
        });
        let mut circular_ones = BTreeSet::new();
        for cycle in &found.cycles {
            let names: Vec<_> = cycle.iter().map(|&at| self.aliases[at].name).collect();
            self.circular(&names, "type");
            circular_ones.extend(cycle.iter().copied());
        }
        for at in found.sorted {
            if !circular_ones.contains(&at) {
                self.aliases[at].ty = self.resolve(self.aliases[at].is);
            }
        }
    }

    fn aliases_in(&self, ty: &ast::Type, found: &mut Vec<usize>) {
        match &ty.kind {
            ast::TypeKind::Named(name) => {
                if let Some(TypeName::Alias(alias)) = self.types.get(name) {
                    found.push(alias);
                }
            }
            ast::TypeKind::Seq(of) | ast::TypeKind::Set(of) => self.aliases_in(of, found),
            ast::TypeKind::Map(key, value) => {
                self.aliases_in(key, found);
                self.aliases_in(value, found);
            }
            ast::TypeKind::Tuple(of) => of.iter().for_each(|ty| self.aliases_in(ty, found)),
            ast::TypeKind::NamedTuple(of) => {
                of.iter().for_each(|(_, ty)| self.aliases_in(ty, found));
            }
            ast::TypeKind::Plain(_) => {}
        }
    }

    /// The resolved type; `None` after a reported error.
    pub fn resolve(&self, ty: &ast::Type) -> Option<Type> {
        let resolved = self.unfold(ty)?;
        let (size, depth) = extent(&resolved);
        if size > LARGEST || depth > DEEPEST {
            return self.report.refuse(
                error(ty.span, "this type is too large")
                    .label(format!("{size} parts, nested {depth} deep"))
                    .hint("use a `map` or `seq` instead of large tuples of tuples"),
            );
        }
        Some(resolved)
    }

    fn unfold(&self, ty: &ast::Type) -> Option<Type> {
        Some(match &ty.kind {
            ast::TypeKind::Plain(plain) => plain.clone(),
            ast::TypeKind::Seq(of) => Type::Seq(Arc::new(self.unfold(of)?)),
            ast::TypeKind::Set(of) => Type::Set(Arc::new(self.unfold(of)?)),
            ast::TypeKind::Map(key, value) => {
                let (key, value) = (self.unfold(key), self.unfold(value));
                Type::Map(Arc::new(key?), Arc::new(value?))
            }
            ast::TypeKind::Tuple(of) => {
                let of: Vec<_> = of.iter().map(|ty| self.unfold(ty)).collect();
                Type::Tuple(of.into_iter().collect::<Option<Vec<_>>>()?.into())
            }
            ast::TypeKind::NamedTuple(of) => {
                let mut seen = super::scope::Names::default();
                let fields: Vec<_> = of
                    .iter()
                    .map(|(name, ty)| {
                        seen.declare(name, (), &self.report);
                        Some((name.text.as_str().into(), self.unfold(ty)?))
                    })
                    .collect();
                Type::NamedTuple(fields.into_iter().collect::<Option<Vec<_>>>()?.into())
            }
            ast::TypeKind::Named(name) => match self.types.get(name) {
                Some(TypeName::Alias(alias)) => self.aliases[alias].ty.clone()?,
                Some(TypeName::Foreign(foreign)) => Type::Foreign(foreign),
                Some(TypeName::Enum(id)) => Type::Enum(id),
                Some(TypeName::Interface(interface)) => Type::Interface(interface),
                Some(TypeName::EventSet(set)) => {
                    Type::Permission(name.as_str().into(), self.event_sets[set].events.clone())
                }
                Some(TypeName::Spec(_)) => {
                    return self.report.refuse(
                        error(ty.span, format!("`{name}` is a spec, not a type"))
                            .label("no variable can hold a spec"),
                    );
                }
                None => {
                    self.unknown(ty.span, "type", name, self.types.names());
                    return None;
                }
            },
        })
    }
}

/// The size and depth of a type. Counting stops at the limits, so the time is in proportion to them
/// and not to the unfolded type.
fn extent(ty: &Type) -> (usize, usize) {
    let mut open = vec![(ty, 1)];
    let (mut size, mut depth) = (0, 0);
    while let Some((ty, at)) = open.pop() {
        size += 1;
        depth = depth.max(at);
        if size > LARGEST || depth > DEEPEST {
            break;
        }
        open.extend(ty.parts().into_iter().map(|part| (part, at + 1)));
    }
    (size, depth)
}
