//! Name resolution and type checking over all files of a project.
//!
//! Names are declared first ([`declare`]), then types, event sets and signatures are resolved
//! ([`resolve`]), then states ([`state`], [`machine`]), then bodies ([`body`], [`stmt`], [`expr`]),
//! and at last the rules that need all bodies ([`purity`]).

mod body;
mod call;
mod declare;
mod expr;
mod flow;
mod format;
mod machine;
mod mismatch;
mod operator;
mod order;
mod place;
mod purity;
mod receive;
mod relation;
mod report;
mod resolve;
mod scope;
mod state;
mod stmt;

use std::collections::BTreeSet;

pub(crate) use body::Body;
pub(crate) use order::order;
pub(crate) use report::Report;
pub(crate) use scope::{Names, Tables, TypeName};

use crate::program::{
    Event, Fun, FunId, Interface, InterfaceId, Machine, MachineId, Program, Test, Type, Variable,
};
use crate::source::Sources;
use crate::syntax::ast;

pub(crate) type Creates = Vec<BTreeSet<InterfaceId>>;

/// Checks a project except its modules. The tables are complete even if there are errors.
pub(crate) fn check<'a>(
    files: &'a [ast::File],
    sources: &Sources,
    report: Report,
) -> (Tables<'a>, Vec<body::Checked>, Creates) {
    let mut tables = declare::declare(files, sources, report);
    tables.resolve_declarations(files);
    tables.resolve_states();
    let funs = (0..tables.fun_list.len() as u32).map(FunId);
    let checked: Vec<_> = funs.map(|fun| body::check(&tables, fun)).collect();
    let purity = purity::Purity::new(&tables, &checked);
    purity.check();
    let machines = (0..tables.machines.len() as u32).map(MachineId);
    let creates = machines.map(|machine| purity.creates(machine)).collect();
    (tables, checked, creates)
}

pub(crate) fn assemble(
    sources: Sources,
    tables: &Tables<'_>,
    checked: Vec<body::Checked>,
    creates: Creates,
    tests: Vec<Test>,
) -> Program {
    let funs = tables.fun_list.iter().zip(checked).map(|(decl, checked)| Fun {
        name: decl.name.clone(),
        span: decl.decl.name.span,
        machine: decl.machine,
        params: decl.params.len(),
        locals: checked.locals,
        returns: something(&decl.returns),
        body: checked.body,
    });
    let events = tables.event_list.iter();
    let interfaces = tables.interfaces.iter();
    Program {
        sources,
        events: events
            .map(|event| Event { name: event.name.into(), payload: something(&event.payload) })
            .collect(),
        enums: tables.enum_list.clone(),
        foreign_types: tables.foreign_types.clone(),
        interfaces: interfaces
            .map(|interface| Interface {
                name: interface.name.text.as_str().into(),
                payload: something(&interface.payload),
                receives: interface.receives.clone(),
            })
            .collect(),
        machines: tables.machines.iter().zip(creates).map(machine).collect(),
        funs: funs.collect(),
        params: tables.param_list.iter().map(variable).collect(),
        tests,
    }
}

fn machine((machine, creates): (&scope::MachineDecl<'_>, BTreeSet<InterfaceId>)) -> Machine {
    Machine {
        kind: machine.decl.kind,
        name: machine.decl.name.text.as_str().into(),
        span: machine.decl.name.span,
        interface: machine.interface,
        payload: something(&machine.payload),
        receives: machine.receives.clone(),
        sends: machine.sends.clone(),
        creates,
        observes: machine.observes.clone(),
        fields: machine.field_list.iter().map(variable).collect(),
        states: machine.states.clone(),
        start: machine.start,
    }
}

fn variable(decl: &scope::ParamDecl<'_>) -> Variable {
    Variable {
        name: decl.name.text.as_str().into(),
        ty: decl.ty.clone().unwrap_or(Type::Null),
        span: decl.name.span,
    }
}

/// The checker writes an absent type as that of `null`, a program as `None`.
fn something(ty: &Option<Type>) -> Option<Type> {
    ty.clone().filter(|ty| *ty != Type::Null)
}
