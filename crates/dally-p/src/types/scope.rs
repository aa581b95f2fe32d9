//! The names of a project: one global scope over all files, in which order does not matter.

use std::collections::{BTreeMap, BTreeSet};

use triomphe::Arc;

use super::report::Report;
use crate::diagnostic::error;
use crate::program::{
    Enum, EnumId, EventId, FieldId, ForeignTypeId, FunId, InterfaceId, MachineId, ParamId, State,
    StateId, Type,
};
use crate::source::Span;
use crate::syntax::ast;

pub(crate) struct Names<'a, T> {
    table: BTreeMap<&'a str, (T, Span)>,
}

impl<T> Default for Names<'_, T> {
    fn default() -> Self {
        Names { table: BTreeMap::new() }
    }
}

impl<'a, T: Copy> Names<'a, T> {
    /// Declares a name; a second declaration is reported and ignored.
    pub fn declare(&mut self, name: &'a ast::Name, what: T, report: &Report) {
        if let Some(&(_, first)) = self.table.get(name.text.as_str()) {
            report.push(
                error(name.span, format!("`{name}` is declared twice"))
                    .label("declared again")
                    .also(first, "first declared here"),
            );
        } else {
            self.table.insert(&name.text, (what, name.span));
        }
    }

    pub fn get(&self, name: &str) -> Option<T> {
        self.table.get(name).map(|&(what, _)| what)
    }

    pub fn place(&self, name: &str) -> Option<Span> {
        self.table.get(name).map(|&(_, span)| span)
    }

    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.table.keys().copied()
    }

    /// The names whose meaning passes a test.
    pub fn names_of(&self, wanted: impl Fn(T) -> bool) -> impl Iterator<Item = &'a str> {
        self.table.iter().filter(move |(_, (what, _))| wanted(*what)).map(|(name, _)| *name)
    }
}

/// The meaning of a name in the place of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeName {
    /// An index into [`Tables::aliases`].
    Alias(usize),
    Foreign(ForeignTypeId),
    Enum(EnumId),
    /// Also a machine, under its own name.
    Interface(InterfaceId),
    /// A spec or scenario, which is no type.
    Spec(MachineId),
    /// An index into [`Tables::event_sets`].
    EventSet(usize),
}

/// The meaning of a name in the place of a value, apart from variables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueName {
    Event(EventId),
    Element(EnumId, i64),
}

/// All declarations of a project. A type that could not be resolved is `None`: uses of it are
/// accepted without a further report. An absent payload or result is the type of `null`, as in the
/// reference implementation.
#[derive(Default)]
pub(crate) struct Tables<'a> {
    pub report: Report,
    /// Types, enums, interfaces, machines, specs and event sets.
    pub types: Names<'a, TypeName>,
    /// Events and elements of enums.
    pub values: Names<'a, ValueName>,
    pub params: Names<'a, ParamId>,
    pub funs: Names<'a, FunId>,
    pub modules: Names<'a, usize>,
    pub tests: Names<'a, usize>,

    pub aliases: Vec<Alias<'a>>,
    pub event_sets: Vec<EventSet<'a>>,
    pub event_list: Vec<EventDecl<'a>>,
    pub enum_list: Vec<Enum>,
    pub foreign_types: Vec<Arc<str>>,
    pub interfaces: Vec<InterfaceDecl<'a>>,
    pub machines: Vec<MachineDecl<'a>>,
    pub fun_list: Vec<FunDecl<'a>>,
    pub param_list: Vec<ParamDecl<'a>>,
    pub module_list: Vec<(&'a ast::Name, &'a ast::ModuleExpr)>,
    pub test_list: Vec<&'a ast::Test>,
}

pub(crate) struct Alias<'a> {
    pub name: &'a ast::Name,
    pub is: &'a ast::Type,
    pub ty: Option<Type>,
}

pub(crate) struct EventSet<'a> {
    pub name: &'a ast::Name,
    pub names: &'a [ast::Name],
    /// All events in the set and in the sets that it names.
    pub events: Arc<BTreeSet<EventId>>,
}

/// An event; the first two are `null` and `halt`, which have no declaration.
pub(crate) struct EventDecl<'a> {
    pub name: &'a str,
    pub span: Option<Span>,
    pub written: Option<&'a ast::Type>,
    pub payload: Option<Type>,
}

pub(crate) struct InterfaceDecl<'a> {
    pub name: &'a ast::Name,
    pub written: Option<&'a ast::Type>,
    pub payload: Option<Type>,
    pub names: &'a [ast::Name],
    pub receives: BTreeSet<EventId>,
    /// The machine whose own interface it is.
    pub machine: Option<MachineId>,
}

pub(crate) struct MachineDecl<'a> {
    pub decl: &'a ast::Machine,
    pub interface: Option<InterfaceId>,
    pub receives: BTreeSet<EventId>,
    pub sends: BTreeSet<EventId>,
    pub observes: BTreeSet<EventId>,
    pub fields: Names<'a, FieldId>,
    pub field_list: Vec<ParamDecl<'a>>,
    pub funs: Names<'a, FunId>,
    pub state_names: Names<'a, StateId>,
    pub states: Vec<State>,
    pub start: StateId,
    pub payload: Option<Type>,
}

impl MachineDecl<'_> {
    /// Whether it is a spec or scenario.
    pub fn is_spec(&self) -> bool {
        self.decl.kind != ast::MachineKind::Machine
    }
}

pub(crate) struct FunDecl<'a> {
    pub decl: &'a ast::Fun,
    /// The name in messages.
    pub name: Arc<str>,
    pub machine: Option<MachineId>,
    pub params: Vec<Option<Type>>,
    pub returns: Option<Type>,
}

pub(crate) struct ParamDecl<'a> {
    pub name: &'a ast::Name,
    pub ty: Option<Type>,
}

impl<'a> Tables<'a> {
    /// All events except `null`.
    pub fn all_events(&self) -> BTreeSet<EventId> {
        (EventId::HALT.0..self.event_list.len() as u32).map(EventId).collect()
    }

    /// The named events and those of named sets. `halt` is a keyword that some places allow.
    pub fn events(&self, names: &[ast::Name]) -> BTreeSet<EventId> {
        names.iter().flat_map(|name| self.event(name)).collect()
    }

    /// The event of this name, or the events of the set of this name.
    pub fn event(&self, name: &ast::Name) -> Vec<EventId> {
        if name.text == "halt" {
            return vec![EventId::HALT];
        }
        if let Some(ValueName::Event(event)) = self.values.get(&name.text) {
            return vec![event];
        }
        if let Some(TypeName::EventSet(set)) = self.types.get(&name.text) {
            return self.event_sets[set].events.iter().copied().collect();
        }
        self.unknown(name.span, "event", &name.text, self.event_names());
        Vec::new()
    }

    pub fn event_names(&self) -> impl Iterator<Item = &'a str> {
        self.values.names_of(|value| matches!(value, ValueName::Event(_)))
    }

    /// The interface of this name, for `new` and the module system.
    pub fn interface(&self, name: &ast::Name) -> Option<InterfaceId> {
        match self.types.get(&name.text) {
            Some(TypeName::Interface(interface)) => Some(interface),
            Some(TypeName::Spec(_)) => self.report.refuse(
                error(name.span, format!("`{name}` is a spec, not a machine or interface"))
                    .label("specs are not created or bound")
                    .hint("attach a spec to a module with `assert S in module`"),
            ),
            _ => {
                let known = self.types.names_of(|it| matches!(it, TypeName::Interface(_)));
                self.unknown(name.span, "machine or interface", &name.text, known);
                None
            }
        }
    }

    /// Reports a name that is not declared as `what`, with what it is declared as or else the nearest
    /// name.
    pub fn unknown<'n>(
        &self,
        span: Span,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) {
        self.report.unknown(span, what, name, known);
        if let Some((is, declared)) = self.declared_as(name)
            && let Some(found) = self.report.diagnostics.borrow_mut().last_mut()
        {
            found.label = format!("this is {is}");
            found.related.push((declared, "declared here".into()));
            found.hint = match (what, is) {
                ("function", "a machine or interface") => {
                    Some(format!("`new {name}(...)` creates a machine"))
                }
                ("variable, event or enum element", "a function") => {
                    Some(format!("call it: `{name}(...)`"))
                }
                ("module", "a machine or interface") => {
                    Some(format!("a module of one machine is written `{{ {name} }}`"))
                }
                _ => None,
            };
        }
    }

    fn declared_as(&self, name: &str) -> Option<(&'static str, Span)> {
        let value = self.values.get(name).map(|value| match value {
            ValueName::Event(_) => "an event",
            ValueName::Element(..) => "an element of an enum",
        });
        let ty = self.types.get(name).map(|ty| match ty {
            TypeName::Alias(_) | TypeName::Foreign(_) => "a type",
            TypeName::Enum(_) => "an enum",
            TypeName::Interface(_) => "a machine or interface",
            TypeName::Spec(_) => "a spec",
            TypeName::EventSet(_) => "a set of events",
        });
        let found = [
            (value, self.values.place(name)),
            (ty, self.types.place(name)),
            (Some("a function"), self.funs.place(name)),
            (Some("a parameter of the project"), self.params.place(name)),
            (Some("a module"), self.modules.place(name)),
        ];
        found.into_iter().find_map(|(is, place)| Some((is?, place?)))
    }
}
