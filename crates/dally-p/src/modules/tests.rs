//! Tests and implementations: modules that are complete, with a machine to start, once for each
//! combination of parameters.

use std::collections::{BTreeMap, BTreeSet};

use super::expr::{Context, Module};
use super::rules;
use super::values::Values;
use crate::diagnostic::{Diagnostic, Severity};
use crate::program::{InterfaceId, MachineId, MachineKind, Test, Type};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{Report, TestDecl};

impl<'a> Context<'_, 'a> {
    /// The tests of the project. Implementations are run like tests if there are no others; if
    /// there are neither, all machines together are.
    pub fn tests(&self, report: &mut Report) -> Vec<Test> {
        let mut tests = Vec::new();
        let mut implementations = Vec::new();
        for decl in &self.tables.test_list {
            match *decl {
                TestDecl::Test(test) => tests.extend(self.test(test, report)),
                TestDecl::Implementation { name, main, module } => {
                    implementations.extend(self.implementation(name, main, module, report));
                }
            }
        }
        let has_tests = self.tables.test_list.iter().any(|decl| matches!(decl, TestDecl::Test(_)));
        if self.tables.test_list.is_empty() {
            tests.extend(self.default_implementation(report));
        } else if !has_tests {
            tests = implementations;
        }
        different_names(&tests, report);
        tests
    }

    fn test(&self, test: &'a ast::Test, report: &mut Report) -> Vec<Test> {
        let values = self.values(test, report);
        if let Some(refines) = &test.refines {
            self.module(refines, report);
            report.push(
                Diagnostic::warning(refines.span, "`refines` is not checked")
                    .label("the test runs the module on the left"),
            );
        }
        let module = self.module(&test.module, report);
        let (Some(values), Some(module)) = (values, module) else { return Vec::new() };
        let Some(whole) = self.whole(&test.name, test.main.as_ref(), &module, report) else {
            return Vec::new();
        };
        let named = |values: Values| Test {
            name: self.name_with(test, &values),
            params: values,
            ..whole.clone()
        };
        values.into_iter().map(named).collect()
    }

    fn implementation(
        &self,
        name: &ast::Name,
        main: Option<&ast::Name>,
        module: &ast::ModuleExpr,
        report: &mut Report,
    ) -> Option<Test> {
        let module = self.module(module, report)?;
        if main.is_none() && module.main.is_none() {
            // Without a main machine it is a library for other programs.
            self.closed(name.span, &module, report);
            return None;
        }
        self.whole(name, main, &module, report)
    }

    /// All machines behind their own names, with main `Main` and no specs.
    fn default_implementation(&self, report: &mut Report) -> Option<Test> {
        let mut module = Module::default();
        let mut main = None;
        for (at, machine) in self.tables.machines.iter().enumerate() {
            let Some(interface) = machine.interface else { continue };
            module.machines.insert(interface, MachineId(at as u32));
            for &created in &self.creates[at] {
                module.links.insert((interface, created), created);
                module.creates.insert(created);
            }
            if machine.decl.name.text == "Main" {
                main = Some(&machine.decl.name);
            }
        }
        let Some(main) = main else {
            if report.has_errors() {
                return None;
            }
            report.push(Diagnostic {
                severity: Severity::Warning,
                message: "the project has no test and no machine `Main`".into(),
                span: None,
                label: String::new(),
                related: Vec::new(),
                hint: Some("add `test name [main=M]: { M, ... };`".into()),
            });
            return None;
        };
        let name = ast::Name { text: "DefaultImpl".into(), span: main.span };
        self.whole(&name, Some(main), &module, report)
    }

    /// A module that can be run: everything that is created is bound, and the main machine, which
    /// takes nothing, is there.
    fn whole(
        &self,
        name: &ast::Name,
        main: Option<&ast::Name>,
        module: &Module,
        report: &mut Report,
    ) -> Option<Test> {
        let closed = self.closed(name.span, module, report);
        let main_at = main.map_or(name.span, |main| main.span);
        let main = match (main, module.main) {
            (Some(main), _) => rules::main(self.tables, module, main, report)?,
            (None, Some(main)) => main,
            (None, None) => {
                report.push(
                    Diagnostic::error(name.span, format!("`{}` has no main machine", name.text))
                        .label("which machine does it start with?")
                        .hint(format!("write `{} [main=M]: ...`", name.text)),
                );
                return None;
            }
        };
        let machine = &self.tables.machines[module.machines.get(&main)?.index()];
        if let Some(payload) = &machine.payload
            && *payload != Type::Null
        {
            report.push(
                Diagnostic::error(
                    main_at,
                    format!(
                        "main machine `{}` is created with `{}`",
                        machine.decl.name.text,
                        self.tables.show(payload)
                    ),
                )
                .label("nobody creates the main machine with a value")
                .also(machine.decl.name.span, "its start state takes a parameter"),
            );
            return None;
        }
        closed?;
        Some(Test {
            name: name.text.clone(),
            span: name.span,
            params: BTreeMap::new(),
            main,
            machines: module.machines.clone(),
            links: module.links.clone(),
            specs: self.specs(module),
        })
    }

    fn specs(&self, module: &Module) -> Vec<(MachineId, BTreeSet<InterfaceId>)> {
        let asserted = module.specs.iter().map(|(&spec, told)| (spec, told.clone()));
        let machines = self.tables.machines.iter().enumerate();
        let scenarios = machines
            .filter(|(_, machine)| machine.decl.kind == MachineKind::Scenario)
            .map(|(at, _)| (MachineId(at as u32), module.machines.keys().copied().collect()));
        asserted.chain(scenarios).collect()
    }

    /// Whether everything that is created is bound.
    fn closed(&self, at: Span, module: &Module, report: &mut Report) -> Option<()> {
        let unbound = module.creates.iter().find(|made| !module.machines.contains_key(made));
        let Some(unbound) = unbound else { return Some(()) };
        let interface = &self.tables.interfaces[unbound.index()];
        let creators = module.links.iter().filter(|(_, made)| *made == unbound);
        let creator = creators.filter_map(|((creator, _), _)| module.machines.get(creator)).next();
        let name = &interface.name.text;
        let mut wrong =
            Diagnostic::error(at, format!("`{name}` is created, but not in the module"))
                .label("no machine is bound to it")
                .also(interface.name.span, "declared here")
                .hint(format!("add a machine for it: `{{ ..., {name} }}`"));
        if let Some(creator) = creator {
            let creator = &self.tables.machines[creator.index()].decl.name;
            wrong = wrong.also(creator.span, format!("`{}` creates it", creator.text));
        }
        report.push(wrong);
        None
    }
}

/// Names of parametric tests are made up, and could be those of others.
fn different_names(tests: &[Test], report: &mut Report) {
    let mut seen: BTreeMap<&str, &Test> = BTreeMap::new();
    for test in tests {
        // Two that are written with one name have been reported.
        if let Some(first) = seen.insert(&test.name, test)
            && first.params.is_empty() != test.params.is_empty()
        {
            report.push(
                Diagnostic::error(test.span, format!("two tests are called `{}`", test.name))
                    .label("once with its values")
                    .also(first.span, "the other one"),
            );
        }
    }
}
