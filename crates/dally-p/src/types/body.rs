//! The check of one function's body: its variables and its effects.

use std::collections::BTreeMap;

use super::report::Report;
use super::scope::{MachineDecl, Names, Tables, TypeName};
use super::{flow, mismatch};
use crate::diagnostic::warning;
use crate::program::{Expr, FunId, InterfaceId, LocalId, MachineId, Stmt, Type, Variable};
use crate::source::Span;
use crate::syntax::ast;

/// What specs, exit functions or transition functions may not do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Effect {
    Send,
    Announce,
    New,
    Receive,
    Choose,
    This,
    Raise,
    Goto,
}

#[derive(Default)]
pub(crate) struct Checked {
    pub locals: Vec<Variable>,
    pub body: Option<Vec<Stmt>>,
    /// The function's own effects, with their places.
    pub effects: BTreeMap<Effect, Vec<Span>>,
    /// The called functions, with the first place of each call.
    pub calls: BTreeMap<FunId, Span>,
    /// The interfaces that the function itself creates.
    pub creates: BTreeMap<InterfaceId, Span>,
}

pub(crate) struct Body<'t, 'a> {
    pub tables: &'t Tables<'a>,
    pub report: &'t Report,
    pub machine: Option<MachineId>,
    /// The type of the result; `Null` for none, `None` if it could not be resolved.
    pub returns: Option<Type>,
    /// The variables in scope: those of the function, then those of the enclosing `receive` cases.
    scopes: Vec<Names<'a, LocalId>>,
    /// The types of all locals; `None` if a type could not be resolved.
    types: Vec<Option<Type>>,
    used: Vec<bool>,
    /// How many loops enclose the statement, and how many enclose the innermost `receive`.
    pub loops: usize,
    pub loops_outside: usize,
    pub checked: Checked,
}

pub(crate) fn check(tables: &Tables<'_>, fun: FunId) -> Checked {
    let decl = &tables.fun_list[fun.index()];
    let mut body = Body::new(tables, decl.machine, decl.returns.clone());
    for ((name, _), ty) in decl.decl.params.iter().zip(&decl.params) {
        let local = body.declare(name, ty.clone());
        body.used[local.0 as usize] = true;
    }
    let Some(written) = &decl.decl.body else {
        for name in &decl.decl.creates {
            if let Some(TypeName::Interface(interface)) = tables.types.get(&name.text) {
                body.checked.creates.insert(interface, name.span);
                body.does(Effect::New, name.span);
            }
        }
        return body.checked;
    };
    let before = body.report.len();
    body.declare_vars(&written.vars);
    let statements = body.statements(&written.statements);
    // A statement with an error may have been the missing `return` or use.
    if !body.report.repaired && !body.report.has_errors_since(before) {
        body.warn_of_unused();
        if decl.returns.as_ref().is_some_and(|ty| *ty != Type::Null) {
            flow::all_paths_return(&statements, decl, tables);
        }
    }
    body.checked.body = Some(statements);
    body.checked
}

impl<'t, 'a> Body<'t, 'a> {
    /// The checker of a function without variables.
    pub fn new(tables: &'t Tables<'a>, machine: Option<MachineId>, returns: Option<Type>) -> Self {
        Body {
            tables,
            report: &tables.report,
            machine,
            returns,
            scopes: vec![Names::default()],
            types: Vec::new(),
            used: Vec::new(),
            loops: 0,
            loops_outside: 0,
            checked: Checked::default(),
        }
    }

    pub fn machine(&self) -> Option<&'t MachineDecl<'a>> {
        self.machine.map(|machine| &self.tables.machines[machine.index()])
    }

    pub fn does(&mut self, effect: Effect, span: Span) {
        self.checked.effects.entry(effect).or_default().push(span);
    }

    /// Declares a variable in the innermost scope.
    pub fn declare(&mut self, name: &'a ast::Name, ty: Option<Type>) -> LocalId {
        let local = LocalId(self.checked.locals.len() as u32);
        if let Some(scope) = self.scopes.last_mut() {
            scope.declare(name, local, self.report);
        }
        self.checked.locals.push(Variable {
            name: name.text.as_str().into(),
            ty: ty.clone().unwrap_or(Type::Null),
            span: name.span,
        });
        self.types.push(ty);
        self.used.push(false);
        local
    }

    pub fn declare_vars(&mut self, vars: &'a [ast::Var]) -> Vec<LocalId> {
        let mut declared = Vec::new();
        for var in vars {
            let ty = self.tables.resolve(&var.ty);
            declared.extend(var.names.iter().map(|name| self.declare(name, ty.clone())));
        }
        declared
    }

    /// Runs `inside` with a new innermost scope.
    pub fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Names::default());
        let result = inside(self);
        self.scopes.pop();
        result
    }

    pub fn local(&mut self, name: &str) -> Option<(LocalId, Option<Type>)> {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name))?;
        self.used[local.index()] = true;
        Some((local, self.types[local.index()].clone()))
    }

    /// The names of all variables in scope.
    pub fn variable_names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut names: Vec<&'a str> = self.scopes.iter().flat_map(Names::names).collect();
        names.extend(self.machine().into_iter().flat_map(|machine| machine.fields.names()));
        names.into_iter()
    }

    /// Reports a value of the wrong type.
    pub fn expect(&mut self, want: &Type, found: &Expr) -> Option<()> {
        self.expect_for(want, found, None)
    }

    /// [`Body::expect`] with the place that determines the type, and a note on it.
    pub fn expect_for(
        &mut self,
        want: &Type,
        found: &Expr,
        why: Option<(Span, String)>,
    ) -> Option<()> {
        if self.tables.assignable(want, &found.ty) {
            return Some(());
        }
        let mut wrong = mismatch::wrong_value(self.tables, want, found);
        wrong.related.extend(why);
        self.report.refuse(wrong)
    }

    fn warn_of_unused(&mut self) {
        for (local, used) in self.checked.locals.iter().zip(&self.used) {
            if !used && !local.name.starts_with('_') {
                self.report.push(
                    warning(local.span, format!("`{}` is never used", local.name))
                        .label("unused variable"),
                );
            }
        }
    }
}
