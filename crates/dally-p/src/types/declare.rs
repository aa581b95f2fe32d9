//! Collects the declarations of all files and numbers them.

use triomphe::Arc;

use super::report::Report;
use super::scope::{
    Alias, EventDecl, EventSet, FunDecl, InterfaceDecl, MachineDecl, Names, ParamDecl, Tables,
    TypeName, ValueName,
};
use crate::diagnostic::error;
use crate::program::{
    Enum, EnumId, EventId, FieldId, ForeignTypeId, FunId, InterfaceId, MachineId, ParamId, StateId,
    Type,
};
use crate::source::Sources;
use crate::syntax::ast;

/// The names of all files, except tests of included projects. Types are not resolved yet.
pub(crate) fn declare<'a>(files: &'a [ast::File], sources: &Sources, report: Report) -> Tables<'a> {
    let mut tables = Tables { report, ..Tables::default() };
    for name in ["null", "halt"] {
        tables.event_list.push(EventDecl {
            name,
            span: None,
            written: None,
            payload: Some(Type::Null),
        });
    }
    for decl in files.iter().flat_map(|file| &file.decls) {
        let ours = |test: &ast::Test| !sources.file(test.name.span.file).included;
        if !matches!(decl, ast::Decl::Test(test) if !ours(test)) {
            tables.declare(decl);
        }
    }
    tables
}

impl<'a> Tables<'a> {
    fn declare(&mut self, decl: &'a ast::Decl) {
        match decl {
            ast::Decl::Type { name, is: Some(is) } => {
                self.types.declare(name, TypeName::Alias(self.aliases.len()), &self.report);
                self.aliases.push(Alias { name, is, ty: None });
            }
            ast::Decl::Type { name, is: None } => {
                let id = ForeignTypeId(self.foreign_types.len() as u32);
                self.types.declare(name, TypeName::Foreign(id), &self.report);
                self.foreign_types.push(name.text.as_str().into());
            }
            ast::Decl::Enum { name, elements } => self.declare_enum(name, elements),
            ast::Decl::Event { name, payload } => {
                let id = EventId(self.event_list.len() as u32);
                self.values.declare(name, ValueName::Event(id), &self.report);
                self.event_list.push(EventDecl {
                    name: &name.text,
                    span: Some(name.span),
                    written: payload.as_ref(),
                    payload: None,
                });
            }
            ast::Decl::EventSet { name, events } => {
                self.types.declare(name, TypeName::EventSet(self.event_sets.len()), &self.report);
                self.event_sets.push(EventSet { name, names: events, events: Arc::default() });
            }
            ast::Decl::Interface { name, payload, receives } => {
                let id = InterfaceId(self.interfaces.len() as u32);
                self.types.declare(name, TypeName::Interface(id), &self.report);
                self.interfaces.push(InterfaceDecl {
                    name,
                    written: payload.as_ref(),
                    payload: None,
                    names: receives,
                    receives: Default::default(),
                    machine: None,
                });
            }
            ast::Decl::Machine(machine) => self.declare_machine(machine),
            ast::Decl::Fun(fun) => {
                let id = self.declare_fun(fun, None);
                self.funs.declare(&fun.name, id, &self.report);
            }
            ast::Decl::Param(params) => {
                for name in &params.names {
                    let id = ParamId(self.param_list.len() as u32);
                    self.params.declare(name, id, &self.report);
                    self.param_list.push(ParamDecl { name, ty: None });
                }
            }
            ast::Decl::Module { name, is } => {
                self.modules.declare(name, self.module_list.len(), &self.report);
                self.module_list.push((name, is));
            }
            ast::Decl::Test(test) => {
                self.tests.declare(&test.name, self.test_list.len(), &self.report);
                self.test_list.push(test);
            }
        }
    }

    fn declare_enum(
        &mut self,
        name: &'a ast::Name,
        elements: &'a [(ast::Name, Option<ast::IntLiteral>)],
    ) {
        let id = EnumId(self.enum_list.len() as u32);
        self.types.declare(name, TypeName::Enum(id), &self.report);
        let numbered = elements.iter().find(|(_, number)| number.is_some());
        let bare = elements.iter().find(|(_, number)| number.is_none());
        if let (Some((numbered, _)), Some((bare, _))) = (numbered, bare) {
            self.report.push(
                error(bare.span, format!("`{bare}` has no number, but other elements have"))
                    .label("no number")
                    .also(numbered.span, "this one has a number")
                    .hint("number all elements of an enum or none"),
            );
        }
        let mut numbers = std::collections::BTreeMap::new();
        let mut list = Vec::new();
        for (at, (element, number)) in elements.iter().enumerate() {
            let value = number.map_or(at as i64, |number| number.value);
            self.values.declare(element, ValueName::Element(id, value), &self.report);
            if let Some(number) = number
                && let Some(first) = numbers.insert(value, number.span)
            {
                self.report.push(
                    error(number.span, format!("two elements of `{name}` have the number {value}"))
                        .label("used again")
                        .also(first, "first used here"),
                );
            }
            list.push((element.text.as_str().into(), value));
        }
        if elements.is_empty() {
            self.report.push(
                error(name.span, format!("enum `{name}` has no element"))
                    .hint("an enum has at least one element: its default is the least one"),
            );
        }
        self.enum_list.push(Enum { name: name.text.as_str().into(), elements: list });
    }

    /// Numbers a function; the caller declares its name.
    pub fn declare_fun(&mut self, decl: &'a ast::Fun, machine: Option<MachineId>) -> FunId {
        let name = decl.name.text.as_str().into();
        self.fun_list.push(FunDecl { decl, name, machine, params: Vec::new(), returns: None });
        FunId(self.fun_list.len() as u32 - 1)
    }

    fn declare_machine(&mut self, decl: &'a ast::Machine) {
        let id = MachineId(self.machines.len() as u32);
        let interface = match decl.kind {
            ast::MachineKind::Machine => {
                let interface = InterfaceId(self.interfaces.len() as u32);
                self.types.declare(&decl.name, TypeName::Interface(interface), &self.report);
                self.interfaces.push(InterfaceDecl {
                    name: &decl.name,
                    written: None,
                    payload: None,
                    names: &[],
                    receives: Default::default(),
                    machine: Some(id),
                });
                Some(interface)
            }
            ast::MachineKind::Spec | ast::MachineKind::Scenario => {
                self.types.declare(&decl.name, TypeName::Spec(id), &self.report);
                None
            }
        };
        let mut fields = Names::default();
        let mut field_list = Vec::new();
        for name in decl.vars.iter().flat_map(|var| &var.names) {
            fields.declare(name, FieldId(field_list.len() as u32), &self.report);
            field_list.push(ParamDecl { name, ty: None });
        }
        let mut funs = Names::default();
        for fun in &decl.funs {
            let fun_id = self.declare_fun(fun, Some(id));
            funs.declare(&fun.name, fun_id, &self.report);
        }
        let mut state_names = Names::default();
        for (at, state) in decl.states.iter().enumerate() {
            state_names.declare(&state.name, StateId(at as u32), &self.report);
        }
        self.machines.push(MachineDecl {
            decl,
            interface,
            receives: Default::default(),
            sends: Default::default(),
            observes: Default::default(),
            fields,
            field_list,
            funs,
            state_names,
            states: Vec::new(),
            start: StateId(0),
            payload: None,
        });
    }
}
