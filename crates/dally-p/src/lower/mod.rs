//! Lowering: a checked program and one of its tests become instructions over registers, with all
//! names, defaults, links and reactions in tables by number.
//!
//! Only what the test can reach is lowered. Temporaries are in registers above the locals of a
//! function, in the order of a stack. Everything above the highest one in use can be dropped at any
//! time, so an execution can be suspended anywhere, and two that wait at the same place with the
//! same values are equal.

mod behaviour;
pub(crate) mod code;
mod condition;
mod constants;
mod dead;
mod expression;
mod function;
pub(crate) mod inst;
mod statement;
mod tables;

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use self::behaviour::Behaviour;
use self::code::{Code, FunCode};
use self::constants::Constants;
use self::function::Function;
use self::inst::Src;
use crate::diagnostic::{Diagnostic, error};
use crate::program::{FunId, Program, Test, Type};
use crate::source::Span;
use crate::vm::Foreign;

/// The error is a limit that the program exceeds.
type Lowered<T> = Result<T, Diagnostic>;

pub(crate) fn lower(program: &Program, test: &Test, foreign: &Foreign) -> Lowered<Code> {
    let mut lower = Lower {
        program,
        test,
        foreign,
        code: Code {
            sources: program.sources.clone(),
            dead_lists: vec![Box::default()],
            ..Code::default()
        },
        constants: Constants::default(),
        behaviour: Behaviour::of(program),
        waiting: VecDeque::new(),
        foreign_index: BTreeMap::new(),
        row_index: FxHashMap::default(),
        missing: Vec::new(),
    };
    lower.tables()?;
    while let Some(fun) = lower.waiting.pop_front() {
        lower.function(fun)?;
    }
    lower.missing_functions()?;
    lower.layout_coverage();
    lower.code.consts = lower.constants.all;
    Ok(lower.code)
}

pub(crate) struct Lower<'p> {
    program: &'p Program,
    test: &'p Test,
    foreign: &'p Foreign,
    code: Code,
    constants: Constants,
    behaviour: Behaviour,
    waiting: VecDeque<FunId>,
    foreign_index: BTreeMap<FunId, u16>,
    row_index: FxHashMap<Box<[Src]>, u16>,
    /// Foreign functions that the user has not supplied.
    missing: Vec<(String, Span)>,
}

/// The entry of functions in `waiting`.
const WAITING: u32 = u32::MAX;
/// The entry of functions that nothing calls.
const UNUSED: u32 = u32::MAX - 1;

impl Lower<'_> {
    /// The index of a function, which is queued for lowering.
    fn fun(&mut self, fun: FunId) -> u32 {
        let entry = &mut self.code.funs[fun.index()].entry;
        if *entry == UNUSED {
            *entry = WAITING;
            self.waiting.push_back(fun);
        }
        fun.0
    }

    fn function(&mut self, id: FunId) -> Lowered<()> {
        let fun = &self.program.funs[id.index()];
        let entry = self.code.insts.len() as u32;
        let Some(body) = &fun.body else {
            // The checker rejects this.
            let name = &fun.name;
            let message = format!("`{name}` is foreign and cannot be a handler");
            return Err(error(fun.span, message));
        };
        let params = fun.params.min(fun.locals.len());
        let defaults = fun.locals[params..].iter();
        let defaults = defaults.map(|local| self.constants.default_of(&local.ty, self.program));
        let defaults = defaults.collect();
        let size = Function::lower(self, fun, body)?;
        dead::note(&mut self.code, entry as usize, fun.locals.len());
        self.code.funs[id.index()] = FunCode {
            entry,
            params: params as u16,
            locals: fun.locals.len() as u16,
            size: size as u16,
            defaults,
            name: fun.name.clone(),
        };
        Ok(())
    }

    fn foreign_fun(&mut self, id: FunId) -> Lowered<u16> {
        if let Some(&index) = self.foreign_index.get(&id) {
            return Ok(index);
        }
        let fun = &self.program.funs[id.index()];
        let name = self.program.name_of(id);
        let index =
            fits(self.code.foreign.len(), u16::MAX as usize, fun.span, "foreign functions")?;
        let given = self.foreign.get(&name).cloned();
        if given.is_none() {
            self.missing.push((name.clone(), fun.span));
        }
        let fun = code::ForeignCode {
            name,
            params: fun.params as u16,
            fun: given.unwrap_or_else(|| std::sync::Arc::new(|_| Ok(crate::vm::Value::Null))),
            returns: fun.returns.clone(),
        };
        self.code.foreign.push(fun);
        self.foreign_index.insert(id, index as u16);
        Ok(index as u16)
    }

    fn missing_functions(&self) -> Lowered<()> {
        let Some((_, span)) = self.missing.first() else { return Ok(()) };
        let names: Vec<String> = self.missing.iter().map(|(name, _)| format!("`{name}`")).collect();
        let (what, them, they) = match names.len() {
            1 => ("a foreign function", "it", "it"),
            _ => ("foreign functions", "them", "they"),
        };
        let mut diagnostic = error(
            *span,
            format!(
                "test `{}` calls {what} that nobody has given: {}",
                self.test.name,
                names.join(", ")
            ),
        )
        .label("declared here without a body")
        .hint(format!(
            "sources in C# are not run; give {them} a body in a file of P stubs (`--foreign \
             stubs.p`), have {them} return what {they} may (`--stub-foreign`), or write {them} in \
             Rust (`dally p new-foreign`)"
        ));
        for (name, span) in &self.missing[1..] {
            diagnostic = diagnostic.also(*span, format!("`{name}` is declared here"));
        }
        Err(diagnostic)
    }

    fn type_index(&mut self, ty: &Type, span: Span) -> Lowered<u16> {
        self.shapes(ty);
        let index = intern(&mut self.code.types, (ty.clone(), written(ty, self.program)));
        Ok(fits(index, u16::MAX as usize, span, "types")? as u16)
    }

    fn row(&mut self, row: Vec<Src>, span: Span) -> Lowered<u16> {
        if let Some(&index) = self.row_index.get(&row[..]) {
            return Ok(index);
        }
        let what = "tuples that are made of different variables";
        let index = fits(self.code.rows.len(), u16::MAX as usize, span, what)? as u16;
        let row: Box<[Src]> = row.into();
        self.code.rows.push(row.clone());
        self.row_index.insert(row, index);
        Ok(index)
    }

    /// Makes the shapes of a type and its parts known, for values that are brought into them.
    fn shapes(&mut self, ty: &Type) {
        self.constants.shape(ty);
        ty.parts().into_iter().for_each(|part| self.shapes(part));
    }

    fn shape(&mut self, ty: &Type, span: Span) -> Lowered<u16> {
        let shape = self.constants.shape(ty);
        Ok(fits(shape as usize, u16::MAX as usize, span, "shapes of tuples")? as u16)
    }
}

/// The index of an item in a list without duplicates.
fn intern<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

/// Checks a number against a limit of the instruction format.
fn fits(number: usize, limit: usize, span: Span, what: &str) -> Lowered<usize> {
    if number < limit {
        return Ok(number);
    }
    let message = format!("too many {what}: there may be {}", limit - 1);
    Err(error(span, message).hint("split it up"))
}

/// A type in P syntax.
pub(crate) fn written(ty: &Type, program: &Program) -> String {
    let mut text = String::new();
    ty.write(&mut text, usize::MAX, &|ty| match ty {
        Type::Enum(id) => &program.enums[id.index()].name,
        Type::Foreign(id) => &program.foreign_types[id.index()],
        Type::Interface(id) => &program.interfaces[id.index()].name,
        _ => "",
    });
    text
}
