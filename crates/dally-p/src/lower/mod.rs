//! Lowering: a checked program and one of its tests become instructions over registers, with all
//! names, defaults, links and reactions in tables by number.
//!
//! Only what the test can reach is lowered. Values in the middle of an expression are in
//! registers above the locals of a function, in the order of a stack: whatever is above the
//! highest one in use can be thrown away at any time, so an execution can be suspended anywhere,
//! and two that wait at the same place with the same values are the same.

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
use triomphe::Arc;

use self::code::{Code, FunCode};
use self::constants::Constants;
use self::function::Function;
use self::inst::Src;
use crate::diagnostic::Diagnostic;
use crate::program::{FunId, Program, Test, Type};
use crate::source::Span;
use crate::vm::Foreign;

/// Lowers a program for one of its tests.
pub(crate) fn lower(program: &Program, test: &Test, foreign: &Foreign) -> Result<Code, Diagnostic> {
    let mut lower = Lower {
        program,
        test,
        foreign,
        code: Code {
            sources: program.sources.clone(),
            dead_lists: vec![Box::default()],
            ..Code::default()
        },
        constants: Constants::new(),
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
    lower.code.consts = lower.constants.finish();
    Ok(lower.code)
}

/// A lowering under way.
pub(crate) struct Lower<'p> {
    program: &'p Program,
    test: &'p Test,
    foreign: &'p Foreign,
    code: Code,
    constants: Constants,
    /// Functions that are called and not lowered yet.
    waiting: VecDeque<FunId>,
    foreign_index: BTreeMap<FunId, u16>,
    row_index: FxHashMap<Box<[Src]>, u16>,
    /// Foreign functions that the host did not give.
    missing: Vec<(String, Span)>,
}

/// The place of functions that are waited for.
const WAITING: u32 = u32::MAX;
/// The place of functions that nobody has asked for.
const UNUSED: u32 = u32::MAX - 1;

impl Lower<'_> {
    /// The index of a function, which will be lowered.
    fn fun(&mut self, fun: FunId) -> u32 {
        let entry = &mut self.code.funs[fun.index()].entry;
        if *entry == UNUSED {
            *entry = WAITING;
            self.waiting.push_back(fun);
        }
        fun.0
    }

    fn function(&mut self, id: FunId) -> Result<(), Diagnostic> {
        let fun = &self.program.funs[id.index()];
        let entry = self.code.insts.len() as u32;
        let Some(body) = &fun.body else {
            // The checker allows no foreign function here; an empty one does no harm.
            let name = &fun.name;
            let message = format!("`{name}` is foreign and cannot be a handler");
            return Err(Diagnostic::error(fun.span, message));
        };
        let params = fun.params.min(fun.locals.len());
        let defaults = fun.locals[params..].iter();
        let defaults = defaults.map(|local| self.constants.default(&local.ty, self.program));
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

    fn foreign_fun(&mut self, id: FunId) -> Result<u16, Diagnostic> {
        if let Some(&index) = self.foreign_index.get(&id) {
            return Ok(index);
        }
        let fun = &self.program.funs[id.index()];
        let name = match fun.machine {
            Some(machine) => {
                format!("{}.{}", self.program.machines[machine.index()].name, fun.name)
            }
            None => fun.name.to_string(),
        };
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

    fn missing_functions(&self) -> Result<(), Diagnostic> {
        let Some((_, span)) = self.missing.first() else { return Ok(()) };
        let names: Vec<String> = self.missing.iter().map(|(name, _)| format!("`{name}`")).collect();
        let (what, them) = match names.len() {
            1 => ("a foreign function", "it"),
            _ => ("foreign functions", "them"),
        };
        let mut diagnostic = Diagnostic::error(
            *span,
            format!(
                "test `{}` calls {what} that nobody has given: {}",
                self.test.name,
                names.join(", ")
            ),
        )
        .label("declared here without a body")
        .hint(format!(
            "write {them} in P, or use Dally as a library and give {them} with `Foreign::fun`"
        ));
        for (name, span) in &self.missing[1..] {
            diagnostic = diagnostic.also(*span, format!("`{name}` is declared here"));
        }
        Err(diagnostic)
    }

    /// The index of a type that values are checked against.
    fn type_index(&mut self, ty: &Type, span: Span) -> Result<u16, Diagnostic> {
        let known = self.code.types.iter().position(|known| known.0 == *ty);
        let index = known.unwrap_or_else(|| {
            self.code.types.push((ty.clone(), written(ty, self.program)));
            self.code.types.len() - 1
        });
        Ok(fits(index, u16::MAX as usize, span, "types")? as u16)
    }

    /// The index of a row of operands.
    fn row(&mut self, row: Vec<Src>, span: Span) -> Result<u16, Diagnostic> {
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

    /// The index of the names of a tuple's positions.
    fn shape(&mut self, ty: &Type, span: Span) -> Result<u16, Diagnostic> {
        let shape = self.constants.shape(ty);
        Ok(fits(shape as usize, u16::MAX as usize, span, "shapes of tuples")? as u16)
    }
}

/// A number that must stay below a limit of the instructions.
fn fits(number: usize, limit: usize, span: Span, what: &str) -> Result<usize, Diagnostic> {
    if number < limit {
        return Ok(number);
    }
    let message = format!("too many {what}: there may be {}", limit - 1);
    Err(Diagnostic::error(span, message).hint("split it up"))
}

/// A type as people write it.
fn written(ty: &Type, program: &Program) -> String {
    let list = |types: &[Type]| -> String {
        let types: Vec<String> = types.iter().map(|ty| written(ty, program)).collect();
        types.join(", ")
    };
    match ty {
        Type::Null => "null".into(),
        Type::Int => "int".into(),
        Type::Float => "float".into(),
        Type::Bool => "bool".into(),
        Type::String => "string".into(),
        Type::Event => "event".into(),
        Type::Machine => "machine".into(),
        Type::Any => "any".into(),
        Type::Data => "data".into(),
        Type::Enum(id) => program.enums[id.index()].name.to_string(),
        Type::Foreign(id) => program.foreign_types[id.index()].to_string(),
        Type::Interface(id) => program.interfaces[id.index()].name.to_string(),
        Type::Permission(name, _) => name.to_string(),
        Type::Seq(of) => format!("seq[{}]", written(of, program)),
        Type::Set(of) => format!("set[{}]", written(of, program)),
        Type::Map(key, of) => format!("map[{}, {}]", written(key, program), written(of, program)),
        Type::Tuple(types) if types.len() == 1 => format!("({},)", list(types)),
        Type::Tuple(types) => format!("({})", list(types)),
        Type::NamedTuple(fields) => {
            let field = |(name, ty): &(Arc<str>, Type)| format!("{name}: {}", written(ty, program));
            let fields: Vec<String> = fields.iter().map(field).collect();
            let end = if fields.len() == 1 { "," } else { "" };
            format!("({}{end})", fields.join(", "))
        }
    }
}

/// An empty name.
fn no_name() -> Arc<str> {
    Arc::from("")
}
