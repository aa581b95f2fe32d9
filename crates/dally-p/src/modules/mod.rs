//! The module system: module expressions, their rules, and the tests that come of them.

mod assume;
mod expr;
mod pair;
mod params;
mod rules;
mod tests;
mod values;

use crate::program::Test;
use crate::syntax::ast::{ModuleExpr, ModuleKind};
use crate::types::{Creates, Tables, order};
use expr::Context;

pub(crate) fn check(tables: &Tables<'_>, creates: &Creates) -> Vec<Test> {
    let list = &tables.module_list;
    let found = order(list.len(), |at| {
        let mut needed = Vec::new();
        modules_in(tables, list[at].1, &mut needed);
        needed
    });
    for cycle in &found.cycles {
        let names: Vec<_> = cycle.iter().map(|&at| list[at].0).collect();
        tables.circular(&names, "module");
    }
    let mut context = Context { tables, creates, named: vec![None; list.len()] };
    for at in found.sorted {
        let module = context.module(list[at].1);
        context.named[at] = module;
    }
    context.tests()
}

fn modules_in(tables: &Tables<'_>, expr: &ModuleExpr, found: &mut Vec<usize>) {
    match &expr.kind {
        ModuleKind::Bind(_) => {}
        ModuleKind::Named(name) => found.extend(tables.modules.get(name)),
        ModuleKind::Compose(parts) | ModuleKind::Union(parts) => {
            parts.iter().for_each(|part| modules_in(tables, part, found));
        }
        ModuleKind::HideEvents(_, of)
        | ModuleKind::HideInterfaces(_, of)
        | ModuleKind::Assert(_, of)
        | ModuleKind::Rename(_, _, of)
        | ModuleKind::Main(_, of) => modules_in(tables, of, found),
    }
}
