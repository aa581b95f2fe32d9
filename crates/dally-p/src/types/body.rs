//! The body of one function: its variables, and what it does that not every function may do.

use std::collections::BTreeMap;

use super::report::Report;
use super::scope::{MachineDecl, Names, Tables, TypeName};
use super::{flow, mismatch};
use crate::diagnostic::Diagnostic;
use crate::program::{Expr, FunId, InterfaceId, LocalId, MachineId, Stmt, Type, Variable};
use crate::source::Span;
use crate::syntax::ast;

/// What the rules about specs, exit and transition functions speak of.
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

/// A function whose body was checked.
pub(crate) struct Checked {
    pub locals: Vec<Variable>,
    pub body: Option<Vec<Stmt>>,
    /// What it does itself, with the places of each.
    pub effects: BTreeMap<Effect, Vec<Span>>,
    /// What it calls, with the first place of each.
    pub calls: BTreeMap<FunId, Span>,
    /// What it creates itself.
    pub creates: BTreeMap<InterfaceId, Span>,
}

/// The checker of one function.
pub(crate) struct Body<'t, 'a> {
    pub tables: &'t Tables<'a>,
    pub report: &'t mut Report,
    pub machine: Option<MachineId>,
    /// What the function returns; `Null` for nothing, `None` if that could not be resolved.
    pub returns: Option<Type>,
    /// The variables in scope: those of the function, then those of the cases of `receive` that
    /// are open.
    scopes: Vec<Names<'a, LocalId>>,
    /// The types of all locals; `None` if one could not be resolved.
    types: Vec<Option<Type>>,
    locals: Vec<Variable>,
    used: Vec<bool>,
    /// How many loops are open, and how many of them were when the innermost `receive` began.
    pub loops: usize,
    pub loops_outside: usize,
    pub effects: BTreeMap<Effect, Vec<Span>>,
    pub calls: BTreeMap<FunId, Span>,
    pub creates: BTreeMap<InterfaceId, Span>,
}

/// Checks a function.
pub(crate) fn check(tables: &Tables<'_>, fun: FunId, report: &mut Report) -> Checked {
    let decl = &tables.fun_list[fun.index()];
    let mut body = Body::new(tables, report, decl.machine, decl.returns.clone());
    for ((name, _), ty) in decl.decl.params.iter().zip(&decl.params) {
        let local = body.declare(name, ty.clone());
        body.used[local.0 as usize] = true;
    }
    let statements = match &decl.decl.body {
        Some(written) => {
            let before = body.report.diagnostics.len();
            body.declare_vars(&written.vars);
            let statements = body.statements(&written.statements);
            // What could not be checked may have been the `return` or the use that is missing.
            let clean = !body.report.repaired
                && body.report.diagnostics[before..].iter().all(Diagnostic::is_warning);
            if clean {
                body.warn_of_unused();
                if decl.returns.as_ref().is_some_and(|ty| *ty != Type::Null) {
                    flow::all_paths_return(&statements, decl, tables, body.report);
                }
            }
            Some(statements)
        }
        None => {
            for name in &decl.decl.creates {
                if let Some(TypeName::Interface(interface)) = tables.types.get(&name.text) {
                    body.creates.insert(interface, name.span);
                    body.does(Effect::New, name.span);
                }
            }
            None
        }
    };
    Checked {
        locals: body.locals,
        body: statements,
        effects: body.effects,
        calls: body.calls,
        creates: body.creates,
    }
}

impl<'t, 'a> Body<'t, 'a> {
    /// The checker of a function that has no variables yet.
    pub fn new(
        tables: &'t Tables<'a>,
        report: &'t mut Report,
        machine: Option<MachineId>,
        returns: Option<Type>,
    ) -> Self {
        Body {
            tables,
            report,
            machine,
            returns,
            scopes: vec![Names::default()],
            types: Vec::new(),
            locals: Vec::new(),
            used: Vec::new(),
            loops: 0,
            loops_outside: 0,
            effects: BTreeMap::new(),
            calls: BTreeMap::new(),
            creates: BTreeMap::new(),
        }
    }

    /// The machine whose function this is.
    pub fn machine(&self) -> Option<&'t MachineDecl<'a>> {
        self.machine.map(|machine| &self.tables.machines[machine.index()])
    }

    /// Notes that the function does this.
    pub fn does(&mut self, effect: Effect, span: Span) {
        self.effects.entry(effect).or_default().push(span);
    }

    /// Declares a variable in the innermost scope.
    pub fn declare(&mut self, name: &'a ast::Name, ty: Option<Type>) -> LocalId {
        let local = LocalId(self.locals.len() as u32);
        if let Some(scope) = self.scopes.last_mut() {
            scope.declare(name, local, self.report);
        }
        self.locals.push(Variable {
            name: name.text.as_str().into(),
            ty: ty.clone().unwrap_or(Type::Null),
            span: name.span,
        });
        self.types.push(ty);
        self.used.push(false);
        local
    }

    /// Declares variables in the innermost scope.
    pub fn declare_vars(&mut self, vars: &'a [ast::Var]) -> Vec<LocalId> {
        let mut declared = Vec::new();
        for var in vars {
            let ty = self.tables.resolve(&var.ty, self.report);
            declared.extend(var.names.iter().map(|name| self.declare(name, ty.clone())));
        }
        declared
    }

    /// Checks with a scope of its own, in which what is outside is visible.
    pub fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Names::default());
        let result = inside(self);
        self.scopes.pop();
        result
    }

    /// The local variable of this name, with its type.
    pub fn local(&mut self, name: &str) -> Option<(LocalId, Option<Type>)> {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name))?;
        self.used[local.index()] = true;
        Some((local, self.types[local.index()].clone()))
    }

    /// A local variable.
    pub fn local_variable(&self, local: LocalId) -> &Variable {
        &self.locals[local.index()]
    }

    /// The names of all variables of the function and its machine.
    pub fn variable_names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut names: Vec<&'a str> = self.scopes.iter().flat_map(Names::names).collect();
        names.extend(self.machine().into_iter().flat_map(|machine| machine.fields.names()));
        names.into_iter()
    }

    /// Reports a value of the wrong type, unless it is right.
    pub fn expect(&mut self, want: &Type, found: &Expr) -> Option<()> {
        self.expect_for(want, found, None)
    }

    /// The same, with the place that says what is wanted and a word about it.
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
        self.report.push(wrong);
        None
    }

    fn warn_of_unused(&mut self) {
        for (local, used) in self.locals.iter().zip(&self.used) {
            if !used && !local.name.starts_with('_') {
                self.report.push(
                    Diagnostic::warning(local.span, format!("`{}` is never used", local.name))
                        .label("unused variable"),
                );
            }
        }
    }
}
