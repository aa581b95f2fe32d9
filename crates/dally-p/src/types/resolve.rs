//! From types as they are written to types: aliases unfolded, names looked up.

use std::collections::BTreeSet;

use triomphe::Arc;

use super::order::order;
use super::report::Report;
use super::scope::{Tables, TypeName};
use crate::diagnostic::Diagnostic;
use crate::program::{EventId, FunId, MachineId, Type};
use crate::syntax::ast;

/// How large a type may be when all its aliases are unfolded. Aliases that name others twice
/// would otherwise describe types of exponential size.
const LARGEST: usize = 10_000;

/// How deep it may be, so that no walk over a type overflows the stack.
const DEEPEST: usize = 200;

impl<'a> Tables<'a> {
    /// Resolves the types of all declarations; states and bodies come later.
    pub fn resolve_declarations(&mut self, files: &'a [ast::File], report: &mut Report) {
        self.resolve_event_sets(report);
        self.resolve_aliases(report);
        for at in 0..self.event_list.len() {
            self.event_list[at].payload = self.maybe(self.event_list[at].written, report);
        }
        for at in 0..self.interfaces.len() {
            if self.interfaces[at].machine.is_none() {
                let names = self.interfaces[at].names;
                self.interfaces[at].receives = self.events(names, report);
                self.interfaces[at].payload = self.maybe(self.interfaces[at].written, report);
            }
        }
        for at in 0..self.machines.len() {
            self.resolve_machine(MachineId(at as u32), report);
        }
        for at in 0..self.fun_list.len() {
            self.resolve_fun(FunId(at as u32), report);
        }
        let mut at = 0;
        for decl in files.iter().flat_map(|file| &file.decls) {
            if let ast::Decl::Param { names, ty } = decl {
                let ty = self.resolve(ty, report);
                for _ in names {
                    self.param_list[at].ty = ty.clone();
                    at += 1;
                }
            }
        }
    }

    /// The type of what may be left out: nothing is the type of `null`.
    fn maybe(&self, written: Option<&ast::Type>, report: &mut Report) -> Option<Type> {
        written.map_or(Some(Type::Null), |written| self.resolve(written, report))
    }

    /// The parameters and the result of a function.
    pub fn resolve_fun(&mut self, fun: FunId, report: &mut Report) {
        let decl = self.fun_list[fun.index()].decl;
        let params = decl.params.iter().map(|(_, ty)| self.resolve(ty, report)).collect();
        let returns = self.maybe(decl.returns.as_ref(), report);
        for interface in &decl.creates {
            self.interface(interface, report);
        }
        let entry = &mut self.fun_list[fun.index()];
        entry.params = params;
        entry.returns = returns;
    }

    fn resolve_machine(&mut self, id: MachineId, report: &mut Report) {
        let decl = self.machines[id.index()].decl;
        let all = || self.all_events();
        let clause = |names: &Option<Vec<ast::Name>>, report: &mut Report| match names {
            Some(names) => self.events(names, report),
            None => all(),
        };
        let (receives, sends, observes) = match decl.kind {
            ast::MachineKind::Machine => {
                (clause(&decl.receives, report), clause(&decl.sends, report), BTreeSet::new())
            }
            ast::MachineKind::Spec | ast::MachineKind::Scenario => {
                (BTreeSet::new(), BTreeSet::new(), self.events(&decl.observes, report))
            }
        };
        let mut types = Vec::new();
        for var in &decl.vars {
            let ty = self.resolve(&var.ty, report);
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

    fn resolve_event_sets(&mut self, report: &mut Report) {
        let found = order(self.event_sets.len(), |at| {
            let names = self.event_sets[at].names.iter();
            names.filter_map(|name| self.set_named(name)).collect()
        });
        for cycle in &found.cycles {
            let names: Vec<_> = cycle.iter().map(|&at| self.event_sets[at].name).collect();
            circular(&names, "event set", report);
        }
        for at in found.sorted {
            let events: BTreeSet<EventId> = self.events(self.event_sets[at].names, report);
            self.event_sets[at].events = Arc::new(events);
        }
    }

    /// The event set of this name; an event of this name comes first.
    fn set_named(&self, name: &ast::Name) -> Option<usize> {
        match (self.values.get(&name.text), self.types.get(&name.text)) {
            (None, Some(TypeName::EventSet(set))) => Some(set),
            _ => None,
        }
    }

    fn resolve_aliases(&mut self, report: &mut Report) {
        let found = order(self.aliases.len(), |at| {
            let mut needed = Vec::new();
            self.aliases_in(self.aliases[at].is, &mut needed);
            needed
        });
        let mut circular_ones = BTreeSet::new();
        for cycle in &found.cycles {
            let names: Vec<_> = cycle.iter().map(|&at| self.aliases[at].name).collect();
            circular(&names, "type", report);
            circular_ones.extend(cycle.iter().copied());
        }
        for at in found.sorted {
            if !circular_ones.contains(&at) {
                self.aliases[at].ty = self.resolve(self.aliases[at].is, report);
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
            ast::TypeKind::Int
            | ast::TypeKind::Float
            | ast::TypeKind::Bool
            | ast::TypeKind::String
            | ast::TypeKind::Event
            | ast::TypeKind::Machine
            | ast::TypeKind::Any
            | ast::TypeKind::Data => {}
        }
    }

    /// The type that is written here; `None` if that was reported.
    pub fn resolve(&self, ty: &ast::Type, report: &mut Report) -> Option<Type> {
        let resolved = self.unfold(ty, report)?;
        let (size, depth) = extent(&resolved);
        if size > LARGEST || depth > DEEPEST {
            report.push(
                Diagnostic::error(ty.span, "this type is too large")
                    .label(format!("{size} parts, nested {depth} deep"))
                    .hint("use a `map` or `seq` instead of large tuples of tuples"),
            );
            return None;
        }
        Some(resolved)
    }

    fn unfold(&self, ty: &ast::Type, report: &mut Report) -> Option<Type> {
        Some(match &ty.kind {
            ast::TypeKind::Int => Type::Int,
            ast::TypeKind::Float => Type::Float,
            ast::TypeKind::Bool => Type::Bool,
            ast::TypeKind::String => Type::String,
            ast::TypeKind::Event => Type::Event,
            ast::TypeKind::Machine => Type::Machine,
            ast::TypeKind::Any => Type::Any,
            ast::TypeKind::Data => Type::Data,
            ast::TypeKind::Seq(of) => Type::Seq(Arc::new(self.unfold(of, report)?)),
            ast::TypeKind::Set(of) => Type::Set(Arc::new(self.unfold(of, report)?)),
            ast::TypeKind::Map(key, value) => {
                let (key, value) = (self.unfold(key, report), self.unfold(value, report));
                Type::Map(Arc::new(key?), Arc::new(value?))
            }
            ast::TypeKind::Tuple(of) => {
                let of: Vec<_> = of.iter().map(|ty| self.unfold(ty, report)).collect();
                Type::Tuple(of.into_iter().collect::<Option<Vec<_>>>()?.into())
            }
            ast::TypeKind::NamedTuple(of) => {
                let mut seen = super::scope::Names::default();
                let fields: Vec<_> = of
                    .iter()
                    .map(|(name, ty)| {
                        seen.declare(name, (), report);
                        Some((name.text.as_str().into(), self.unfold(ty, report)?))
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
                    report.push(
                        Diagnostic::error(ty.span, format!("`{name}` is a spec, not a type"))
                            .label("no variable can hold a spec"),
                    );
                    return None;
                }
                None => {
                    self.unknown(ty.span, "type", name, self.types.names(), report);
                    return None;
                }
            },
        })
    }
}

/// Reports what is defined by itself, by way of the others.
pub(crate) fn circular(names: &[&ast::Name], what: &str, report: &mut Report) {
    /// Nobody follows a longer way.
    const SHOWN: usize = 5;
    let [first, rest @ ..] = names else { return };
    let message = format!("{what} `{}` is defined by itself", first.text);
    let found = Diagnostic::error(first.span, message).label("needs itself");
    report.push(
        rest.iter()
            .take(SHOWN)
            .fold(found, |found, name| found.also(name.span, format!("by way of `{}`", name.text))),
    );
}

/// How many parts a type has and how deep it is; stops counting beyond the limits, so that this
/// takes time in proportion to them and not to the unfolded type.
fn extent(ty: &Type) -> (usize, usize) {
    let mut open = vec![(ty, 1)];
    let (mut size, mut depth) = (0, 0);
    while let Some((ty, at)) = open.pop() {
        size += 1;
        depth = depth.max(at);
        if size > LARGEST || depth > DEEPEST {
            break;
        }
        match ty {
            Type::Seq(of) | Type::Set(of) => open.push((of, at + 1)),
            Type::Map(key, value) => open.extend([(&**key, at + 1), (&**value, at + 1)]),
            Type::Tuple(of) => open.extend(of.iter().map(|ty| (ty, at + 1))),
            Type::NamedTuple(of) => open.extend(of.iter().map(|(_, ty)| (ty, at + 1))),
            _ => {}
        }
    }
    (size, depth)
}
