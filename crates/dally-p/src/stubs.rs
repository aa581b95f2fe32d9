//! Bodies for foreign functions: from files of stubs, or made up from what the functions return.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, error, warning};
use crate::open::Project;
use crate::program::{Arm, Expr, ExprKind, FunId, MachineKind, Program, Stmt, StmtKind, Type};
use crate::source::Span;
use crate::syntax::ast::{Decl, File, Fun, Machine, Name, Type as Written};

/// Moves bodies of stubs into the foreign functions of the other files, and types into foreign types.
/// The signatures of the project hold; names of parameters are those of the stub. Other declarations
/// of the stubs are added as they are.
pub(crate) fn apply(stubs: Vec<File>, files: &mut Vec<File>, diagnostics: &mut Vec<Diagnostic>) {
    for mut stub in stubs {
        let mut rest = Vec::new();
        for decl in stub.decls {
            rest.extend(match decl {
                Decl::Fun(fun) if fun.body.is_some() => match foreign_fun(files, &fun.name) {
                    Some(declared) => {
                        fill(declared, fun, diagnostics);
                        None
                    }
                    None => Some(Decl::Fun(fun)),
                },
                Decl::Type { name, is: Some(is) } => match foreign_type(files, &name) {
                    Some(declared) => {
                        *declared = Some(is);
                        None
                    }
                    None => Some(Decl::Type { name, is: Some(is) }),
                },
                Decl::Machine(machine) if machine.states.is_empty() => {
                    of_machine(files, machine, diagnostics);
                    None
                }
                other => Some(other),
            });
        }
        stub.decls = rest;
        files.push(stub);
    }
}

fn foreign_fun<'f>(files: &'f mut [File], name: &Name) -> Option<&'f mut Fun> {
    let mut decls = files.iter_mut().flat_map(|file| &mut file.decls);
    decls.find_map(|decl| match decl {
        Decl::Fun(fun) if fun.body.is_none() && fun.name.text == name.text => Some(fun),
        _ => None,
    })
}

fn foreign_type<'f>(files: &'f mut [File], name: &Name) -> Option<&'f mut Option<Written>> {
    let mut decls = files.iter_mut().flat_map(|file| &mut file.decls);
    decls.find_map(|decl| match decl {
        Decl::Type { name: declared, is: is @ None } if declared.text == name.text => Some(is),
        _ => None,
    })
}

fn of_machine(files: &mut [File], stub: Machine, diagnostics: &mut Vec<Diagnostic>) {
    let mut decls = files.iter_mut().flat_map(|file| &mut file.decls);
    let machine = decls.find_map(|decl| match decl {
        Decl::Machine(machine) if machine.name.text == stub.name.text => Some(machine),
        _ => None,
    });
    let Some(machine) = machine else {
        let message = format!("there is no machine or spec `{}` to give stubs to", stub.name);
        diagnostics.push(error(stub.name.span, message));
        return;
    };
    for fun in stub.funs {
        let declared = machine
            .funs
            .iter_mut()
            .find(|declared| declared.body.is_none() && declared.name.text == fun.name.text);
        match declared {
            Some(declared) => fill(declared, fun, diagnostics),
            None => machine.funs.push(fun),
        }
    }
    machine.vars.extend(stub.vars);
}

fn fill(declared: &mut Fun, stub: Fun, diagnostics: &mut Vec<Diagnostic>) {
    let (takes, gives) = (stub.params.len(), declared.params.len());
    if takes != gives {
        let parameters = |n| if n == 1 { "1 parameter".into() } else { format!("{n} parameters") };
        diagnostics.push(
            error(
                stub.name.span,
                format!(
                    "the stub of `{}` has {}, and the function has {}",
                    stub.name,
                    parameters(takes),
                    parameters(gives)
                ),
            )
            .also(declared.name.span, "declared here"),
        );
    }
    for (declared, (name, _)) in declared.params.iter_mut().zip(stub.params) {
        declared.0 = name;
    }
    declared.body = stub.body;
}

/// How many values a choice may be made among, so that it is worth exploring.
const MOST: usize = 64;

impl Project {
    /// The project with a body for each foreign function: it returns any value of a finite and small
    /// type, by choice, and the default of another. Functions that specs use do not choose, as specs are
    /// deterministic. A warning names them all.
    #[must_use]
    pub fn with_stubs(mut self) -> Project {
        let mut program = Program::clone(&self.program);
        let specs = program.machines.iter().filter(|machine| machine.kind != MachineKind::Machine);
        let states = specs.flat_map(|spec| &spec.states);
        let handlers = states.flat_map(|state| {
            let actions = state.handlers.values().flat_map(|handler| handler.action.fun());
            state.entry.into_iter().chain(state.exit).chain(actions)
        });
        let of_specs = program.reach(handlers.collect::<Vec<_>>()).funs;
        let mut made = Vec::new();
        for at in 0..program.funs.len() {
            let fun = &program.funs[at];
            if fun.body.is_some() {
                continue;
            }
            let (span, returns) = (fun.span, fun.returns.clone());
            let values = match &returns {
                Some(ty) if !of_specs.contains(&FunId(at as u32)) => values(&program, ty, span),
                _ => None,
            };
            let default = |ty| Expr { kind: ExprKind::Default, ty, span };
            let (body, what) = match (values, returns) {
                (Some(values), _) => {
                    let what = format!("one of {} values", values.len());
                    (vec![any(&values, span)], what)
                }
                (None, Some(ty)) => {
                    let kind = StmtKind::Return(Some(default(ty)));
                    (vec![Stmt { kind, span }], "a default value".into())
                }
                (None, None) => (Vec::new(), "nothing".into()),
            };
            made.push((program.name_of(FunId(at as u32)), span, what));
            program.funs[at].body = Some(body);
        }
        self.warnings.extend(warning_of(&made));
        self.program = Arc::new(program);
        self
    }
}

fn warning_of(made: &[(String, Span, String)]) -> Option<Diagnostic> {
    let (_, span, _) = made.first()?;
    let mut returned: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, _, what) in made {
        returned.entry(what).or_default().push(format!("`{name}`"));
    }
    let each = returned.into_iter().map(|(what, names)| {
        let verb = if names.len() == 1 { "returns" } else { "return" };
        format!("{} {verb} {what}", names.join(", "))
    });
    let message = format!("foreign functions are stubbed: {}", each.collect::<Vec<_>>().join("; "));
    Some(
        warning(*span, message)
            .label("declared here without a body")
            .hint("a bug may need other values, or none of these: write stubs for what matters"),
    )
}

/// A statement that returns one of these values by choice: a balanced tree of `$`.
fn any(values: &[Expr], span: Span) -> Stmt {
    let kind = match values {
        [one] => StmtKind::Return(Some(one.clone())),
        _ => {
            let (left, right) = values.split_at(values.len() / 2);
            let condition = Expr { kind: ExprKind::Nondet, ty: Type::Bool, span };
            let arm = Arm { condition, then: any(right, span), span };
            StmtKind::If(vec![arm], Some(Box::new(any(left, span))))
        }
    };
    Stmt { kind, span }
}

/// All values of a type, if it is finite and they are few.
fn values(program: &Program, ty: &Type, span: Span) -> Option<Vec<Expr>> {
    let of = |kind| Expr { kind, ty: ty.clone(), span };
    let all = match ty {
        Type::Null => vec![of(ExprKind::Null)],
        Type::Bool => [false, true].map(|value| of(ExprKind::Bool(value))).to_vec(),
        Type::Enum(id) => {
            let elements = program.enums[id.index()].elements.iter();
            elements.map(|(_, number)| of(ExprKind::Int(*number))).collect()
        }
        Type::Tuple(_) | Type::NamedTuple(_) => {
            let mut rows = vec![Vec::new()];
            for part in ty.parts() {
                let values = values(program, part, span)?;
                if rows.len() * values.len() > MOST {
                    return None;
                }
                let longer = |row: &Vec<Expr>| {
                    let row = row.clone();
                    values
                        .iter()
                        .map(move |value| [&row[..], std::slice::from_ref(value)].concat())
                        .collect()
                };
                rows = rows.iter().flat_map::<Vec<_>, _>(longer).collect();
            }
            rows.into_iter().map(|row| of(ExprKind::Tuple(row))).collect()
        }
        _ => return None,
    };
    (all.len() <= MOST).then_some(all)
}
