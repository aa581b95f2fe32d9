//! Tests and implementations: complete modules with a main machine, one for each combination of
//! parameters.

use std::collections::{BTreeMap, BTreeSet};

use super::expr::{Context, Module};
use super::values::Values;
use crate::diagnostic::{Diagnostic, Severity, error, warning};
use crate::program::{InterfaceId, MachineId, MachineKind, Test, Type};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Context<'_, 'a> {
    /// The tests of the project. Without tests, implementations are run like tests; without either,
    /// all machines together.
    pub fn tests(&self) -> Vec<Test> {
        let mut tests = Vec::new();
        let mut implementations = Vec::new();
        for &test in &self.tables.test_list {
            match test.is_implementation {
                true => implementations.extend(self.implementation(test)),
                false => tests.extend(self.test(test)),
            }
        }
        let has_tests = self.tables.test_list.iter().any(|test| !test.is_implementation);
        if self.tables.test_list.is_empty() {
            tests.extend(self.default_implementation());
        } else if !has_tests {
            tests = implementations;
        }
        self.different_names(&tests);
        tests
    }

    fn test(&self, test: &'a ast::Test) -> Vec<Test> {
        let values = self.values(test);
        if let Some(refines) = &test.refines {
            self.module(refines);
            self.tables.report.push(
                warning(refines.span, "`refines` is not checked")
                    .label("the test runs the module on the left"),
            );
        }
        let module = self.module(&test.module);
        let (Some(values), Some(module)) = (values, module) else { return Vec::new() };
        let Some(whole) = self.whole(&test.name, test.main.as_ref(), &module) else {
            return Vec::new();
        };
        let named = |values: Values| Test {
            name: self.name_with(test, &values),
            params: values,
            ..whole.clone()
        };
        values.into_iter().map(named).collect()
    }

    fn implementation(&self, decl: &ast::Test) -> Option<Test> {
        let module = self.module(&decl.module)?;
        if decl.main.is_none() && module.main.is_none() {
            // Without a main machine an implementation is a library for other programs.
            self.closed(decl.name.span, &module);
            return None;
        }
        self.whole(&decl.name, decl.main.as_ref(), &module)
    }

    /// All machines under their own names, with main `Main` and no specs.
    fn default_implementation(&self) -> Option<Test> {
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
            if self.tables.report.repaired || self.tables.report.has_errors() {
                return None;
            }
            let message = "the project has no test and no machine `Main`";
            let missing = Diagnostic::new(Severity::Warning, message);
            return self
                .tables
                .report
                .refuse(missing.hint("add `test name [main=M]: { M, ... };`"));
        };
        let name = ast::Name { text: "DefaultImpl".into(), span: main.span };
        self.whole(&name, Some(main), &module)
    }

    /// A module that can be run: all created interfaces are bound, and a main machine without payload
    /// exists.
    fn whole(&self, name: &ast::Name, main: Option<&ast::Name>, module: &Module) -> Option<Test> {
        let closed = self.closed(name.span, module);
        let main_at = main.map_or(name.span, |main| main.span);
        let main = match (main, module.main) {
            (Some(main), _) => self.main(module, main)?,
            (None, Some(main)) => main,
            (None, None) => {
                return self.tables.report.refuse(
                    error(name.span, format!("`{name}` has no main machine"))
                        .label("which machine does it start with?")
                        .hint(format!("write `{name} [main=M]: ...`")),
                );
            }
        };
        let machine = &self.tables.machines[module.machines.get(&main)?.index()];
        if let Some(payload) = &machine.payload
            && *payload != Type::Null
        {
            return self.tables.report.refuse(
                error(
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

    fn closed(&self, at: Span, module: &Module) -> Option<()> {
        let unbound = module.creates.iter().find(|made| !module.machines.contains_key(made));
        let Some(unbound) = unbound else { return Some(()) };
        let interface = &self.tables.interfaces[unbound.index()];
        let creators = module.links.iter().filter(|(_, made)| *made == unbound);
        let creator = creators.filter_map(|((creator, _), _)| module.machines.get(creator)).next();
        let name = &interface.name.text;
        let mut wrong = error(at, format!("`{name}` is created, but not in the module"))
            .label("no machine is bound to it")
            .also(interface.name.span, "declared here")
            .hint(format!("add a machine for it: `{{ ..., {name} }}`"));
        if let Some(creator) = creator {
            let creator = &self.tables.machines[creator.index()].decl.name;
            wrong = wrong.also(creator.span, format!("`{creator}` creates it"));
        }
        self.tables.report.refuse(wrong)
    }

    /// Reports tests whose name equals the generated name of a parametric test.
    fn different_names(&self, tests: &[Test]) {
        let mut seen: BTreeMap<&str, &Test> = BTreeMap::new();
        for test in tests {
            // Equal names in the source have been reported already.
            if let Some(first) = seen.insert(&test.name, test)
                && first.params.is_empty() != test.params.is_empty()
            {
                self.tables.report.push(
                    error(test.span, format!("two tests are called `{}`", test.name))
                        .label("once with its values")
                        .also(first.span, "the other one"),
                );
            }
        }
    }
}
