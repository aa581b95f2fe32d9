//! Collects what all files declare and gives everything its number.

use triomphe::Arc;

use super::report::Report;
use super::scope::{
    Alias, EventDecl, EventSet, FunDecl, InterfaceDecl, MachineDecl, Names, ParamDecl, Tables,
    TestDecl, TypeName, ValueName,
};
use crate::diagnostic::Diagnostic;
use crate::program::{
    Enum, EnumId, EventId, FieldId, ForeignTypeId, FunId, InterfaceId, MachineId, ParamId, StateId,
    Type,
};
use crate::source::Sources;
use crate::syntax::ast;

/// The names of all files, but for tests of projects that are included. Types are not resolved
/// yet.
pub(crate) fn declare<'a>(
    files: &'a [ast::File],
    sources: &Sources,
    report: &mut Report,
) -> Tables<'a> {
    let mut tables = Tables::default();
    for name in ["null", "halt"] {
        tables.event_list.push(EventDecl {
            name,
            span: None,
            written: None,
            payload: Some(Type::Null),
        });
    }
    for decl in files.iter().flat_map(|file| &file.decls) {
        let test = match decl {
            ast::Decl::Test(test) => Some(&test.name),
            ast::Decl::Implementation { name, .. } => Some(name),
            _ => None,
        };
        if test.is_some_and(|name| sources.file(name.span.file).included) {
            continue;
        }
        tables.declare(decl, report);
    }
    tables
}

impl<'a> Tables<'a> {
    fn declare(&mut self, decl: &'a ast::Decl, report: &mut Report) {
        match decl {
            ast::Decl::Type { name, is: Some(is) } => {
                self.types.declare(name, TypeName::Alias(self.aliases.len()), report);
                self.aliases.push(Alias { name, is, ty: None });
            }
            ast::Decl::Type { name, is: None } => {
                let id = ForeignTypeId(self.foreign_types.len() as u32);
                self.types.declare(name, TypeName::Foreign(id), report);
                self.foreign_types.push(name.text.as_str().into());
            }
            ast::Decl::Enum { name, elements } => self.declare_enum(name, elements, report),
            ast::Decl::Event { name, payload } => {
                let id = EventId(self.event_list.len() as u32);
                self.values.declare(name, ValueName::Event(id), report);
                self.event_list.push(EventDecl {
                    name: &name.text,
                    span: Some(name.span),
                    written: payload.as_ref(),
                    payload: None,
                });
            }
            ast::Decl::EventSet { name, events } => {
                self.types.declare(name, TypeName::EventSet(self.event_sets.len()), report);
                self.event_sets.push(EventSet { name, names: events, events: Arc::default() });
            }
            ast::Decl::Interface { name, payload, receives } => {
                let id = InterfaceId(self.interfaces.len() as u32);
                self.types.declare(name, TypeName::Interface(id), report);
                self.interfaces.push(InterfaceDecl {
                    name,
                    written: payload.as_ref(),
                    payload: None,
                    names: receives,
                    receives: Default::default(),
                    machine: None,
                });
            }
            ast::Decl::Machine(machine) => self.declare_machine(machine, report),
            ast::Decl::Fun(fun) => {
                let id = self.declare_fun(fun, None);
                self.funs.declare(&fun.name, id, report);
            }
            ast::Decl::Param { names, ty: _ } => {
                for name in names {
                    let id = ParamId(self.param_list.len() as u32);
                    self.params.declare(name, id, report);
                    self.param_list.push(ParamDecl { name, ty: None });
                }
            }
            ast::Decl::Module { name, is } => {
                self.modules.declare(name, self.module_list.len(), report);
                self.module_list.push((name, is));
            }
            ast::Decl::Test(test) => {
                self.tests.declare(&test.name, self.test_list.len(), report);
                self.test_list.push(TestDecl::Test(test));
            }
            ast::Decl::Implementation { name, main, module } => {
                self.tests.declare(name, self.test_list.len(), report);
                let main = main.as_ref();
                self.test_list.push(TestDecl::Implementation { name, main, module });
            }
        }
    }

    fn declare_enum(
        &mut self,
        name: &'a ast::Name,
        elements: &'a [(ast::Name, Option<ast::IntLiteral>)],
        report: &mut Report,
    ) {
        let id = EnumId(self.enum_list.len() as u32);
        self.types.declare(name, TypeName::Enum(id), report);
        let numbered = elements.iter().find(|(_, number)| number.is_some());
        let bare = elements.iter().find(|(_, number)| number.is_none());
        if let (Some((numbered, _)), Some((bare, _))) = (numbered, bare) {
            report.push(
                Diagnostic::error(
                    bare.span,
                    format!("`{}` has no number, but other elements have", bare.text),
                )
                .label("no number")
                .also(numbered.span, "this one has a number")
                .hint("number all elements of an enum or none"),
            );
        }
        let mut numbers = std::collections::BTreeMap::new();
        let mut list = Vec::new();
        for (at, (element, number)) in elements.iter().enumerate() {
            let value = number.map_or(at as i64, |number| number.value);
            self.values.declare(element, ValueName::Element(id, value), report);
            if let Some(number) = number
                && let Some(first) = numbers.insert(value, number.span)
            {
                report.push(
                    Diagnostic::error(
                        number.span,
                        format!("two elements of `{}` have the number {value}", name.text),
                    )
                    .label("used again")
                    .also(first, "first used here"),
                );
            }
            list.push((element.text.as_str().into(), value));
        }
        if elements.is_empty() {
            report.push(
                Diagnostic::error(name.span, format!("enum `{}` has no element", name.text))
                    .hint("an enum has at least one element: its default is the least one"),
            );
        }
        self.enum_list.push(Enum { name: name.text.as_str().into(), elements: list });
    }

    /// Gives a function a number; its name is declared by whoever owns it.
    pub fn declare_fun(&mut self, decl: &'a ast::Fun, machine: Option<MachineId>) -> FunId {
        let name = decl.name.text.as_str().into();
        self.fun_list.push(FunDecl { decl, name, machine, params: Vec::new(), returns: None });
        FunId(self.fun_list.len() as u32 - 1)
    }

    fn declare_machine(&mut self, decl: &'a ast::Machine, report: &mut Report) {
        let id = MachineId(self.machines.len() as u32);
        let interface = match decl.kind {
            ast::MachineKind::Machine => {
                let interface = InterfaceId(self.interfaces.len() as u32);
                self.types.declare(&decl.name, TypeName::Interface(interface), report);
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
                self.types.declare(&decl.name, TypeName::Spec(id), report);
                None
            }
        };
        let mut fields = Names::default();
        let mut field_list = Vec::new();
        for name in decl.vars.iter().flat_map(|var| &var.names) {
            fields.declare(name, FieldId(field_list.len() as u32), report);
            field_list.push(ParamDecl { name, ty: None });
        }
        let mut funs = Names::default();
        for fun in &decl.funs {
            let fun_id = self.declare_fun(fun, Some(id));
            funs.declare(&fun.name, fun_id, report);
        }
        let mut state_names = Names::default();
        for (at, state) in decl.states.iter().enumerate() {
            state_names.declare(&state.name, StateId(at as u32), report);
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
