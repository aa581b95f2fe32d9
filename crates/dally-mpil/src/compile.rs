//! From trees to code: names, labels, sizes.

mod expressions;

use std::collections::BTreeMap;

use dally_concolic::Place;
use dally_concolic::int::Arithmetic;

use crate::code::{Body, Code, Expr, Family, Slot, Statement, Variable};
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{self, ExprKind, Kind, Name, Source, Span, Target};

/// More processes, or values of one process, than this are refused.
const MOST_PROCESSES: usize = 256;
const MOST_VALUES: usize = 65_536;

pub(crate) fn compile(
    path: &str,
    text: &str,
    source: &Source,
    parameters: &[(String, i64)],
) -> Result<Code, Vec<Diagnostic>> {
    let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let mut compiler = Compiler { text, lines: lines.collect(), ..Compiler::default() };
    compiler.constants(source, parameters);
    let shared = compiler.variables(source.setup.as_ref().unwrap_or(&ast::Block::default()), None);
    let mut processes = Vec::new();
    for process in &source.processes {
        compiler.family(process, &mut processes);
    }
    if !compiler.errors.is_empty() {
        return Err(compiler.errors);
    }
    for (number, process) in source.processes.iter().enumerate() {
        let own = compiler.layouts[number].clone();
        let scope = Scope { own: &own, shared: Some(&shared), role: Role::Process };
        let body = compiler.body(&process.body, &scope);
        compiler.families[number].body = body;
    }
    let setup = match &source.setup {
        Some(block) => {
            let scope = Scope { own: &shared, shared: None, role: Role::Setup };
            compiler.body(block, &scope)
        }
        None => Body::default(),
    };
    let finally = source.finally.as_ref().map(|block| {
        let own = compiler.variables(block, None);
        let scope = Scope { own: &own, shared: Some(&shared), role: Role::Finally };
        compiler.body(block, &scope)
    });
    if source.processes.is_empty() {
        let message = "there is no process";
        compiler.errors.push(Diagnostic::new(0..0, message).hint("add `process p { ... }`"));
    }
    if !compiler.errors.is_empty() {
        return Err(compiler.errors);
    }
    let stem = std::path::Path::new(path).file_stem().map(|stem| stem.to_string_lossy());
    Ok(Code {
        name: stem.map_or_else(|| "program".to_owned(), |stem| stem.into_owned()),
        path: path.to_owned(),
        parameters: compiler.parameters,
        fifo: source.fifo,
        families: compiler.families,
        processes,
        names: Vec::new(),
        workers: Vec::new(),
        setup,
        finally,
    }
    .with_workers())
}

#[derive(Default)]
struct Compiler<'t> {
    text: &'t str,
    /// Where lines begin.
    lines: Vec<usize>,
    errors: Vec<Diagnostic>,
    constants: BTreeMap<String, i64>,
    parameters: Vec<(String, i64)>,
    families: Vec<Family>,
    layouts: Vec<Layout>,
}

#[derive(Clone, Debug, Default)]
struct Layout {
    variables: Vec<Variable>,
    size: usize,
    /// The index of the process, which cannot be changed.
    index: Option<String>,
}

impl Layout {
    fn find(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Setup,
    Process,
    Finally,
}

struct Scope<'s> {
    own: &'s Layout,
    shared: Option<&'s Layout>,
    role: Role,
}

impl Compiler<'_> {
    fn error(&mut self, span: &Span, message: impl Into<String>) -> &mut Diagnostic {
        self.errors.push(Diagnostic::new(span.clone(), message));
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    fn place(&self, span: &Span) -> Place {
        let line = self.lines.partition_point(|&start| start <= span.start);
        let start = self.lines[line.saturating_sub(1)];
        let column = self.text.get(start..span.start).map_or(0, |before| before.chars().count());
        Place { file: None, line: line as u32, column: column as u32 + 1 }
    }

    fn constants(&mut self, source: &Source, given: &[(String, i64)]) {
        for (name, value, is_parameter) in &source.constants {
            let replaced = given.iter().rev().find(|(given, _)| *given == name.text);
            let value = match (replaced, is_parameter) {
                (Some((_, value)), true) => Some(*value),
                _ => self.constant(value),
            };
            if self.constants.insert(name.text.clone(), value.unwrap_or(1)).is_some() {
                self.error(&name.span, format!("`{}` is declared twice", name.text));
            }
            if *is_parameter {
                self.parameters.push((name.text.clone(), value.unwrap_or(1)));
            }
        }
        for (name, _) in given {
            if !self.parameters.iter().any(|(known, _)| known == name) {
                let known: Vec<&str> =
                    self.parameters.iter().map(|(known, _)| known.as_str()).collect();
                let hint = match &known[..] {
                    [] => "the program has no parameters".to_owned(),
                    known => format!("the program has {}", known.join(", ")),
                };
                self.error(&(0..0), format!("there is no parameter `{name}`")).hint = Some(hint);
            }
        }
    }

    /// The value of an expression over constants.
    fn constant(&mut self, expr: &ast::Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Number(number) => Some(*number),
            ExprKind::Variable(Target { name, index: None }) => {
                let known = self.constants.get(&name.text).copied();
                if known.is_none() {
                    self.error(&name.span, format!("`{}` is no constant", name.text)).hint =
                        Some("declare it before with `const` or `param`".to_owned());
                }
                known
            }
            ExprKind::Variable(_) | ExprKind::Of(..) => {
                self.error(&expr.span, "a constant is expected here");
                None
            }
            ExprKind::Negated(inner) => {
                self.checked(expr, |this| this.constant(inner), i64::checked_neg)
            }
            ExprKind::Arithmetic(how, left, right) => {
                let (left, right) = (self.constant(left)?, self.constant(right)?);
                let apply = match how {
                    Arithmetic::Add => i64::checked_add,
                    Arithmetic::Subtract => i64::checked_sub,
                    Arithmetic::Multiply => i64::checked_mul,
                    Arithmetic::Divide => i64::checked_div,
                    Arithmetic::Remainder => i64::checked_rem,
                };
                self.checked(expr, |_| Some(left), |left| apply(left, right))
            }
        }
    }

    fn checked(
        &mut self,
        expr: &ast::Expr,
        operand: impl FnOnce(&mut Self) -> Option<i64>,
        apply: impl FnOnce(i64) -> Option<i64>,
    ) -> Option<i64> {
        let result = apply(operand(self)?);
        if result.is_none() {
            self.error(&expr.span, "this constant has no value of 64 bits");
        }
        result
    }

    fn size(&mut self, expr: &ast::Expr) -> usize {
        let Some(value) = self.constant(expr) else { return 1 };
        match usize::try_from(value) {
            Ok(size) if (1..=MOST_VALUES).contains(&size) => size,
            _ => {
                let message = format!("an array has from 1 to {MOST_VALUES} values, not {value}");
                self.error(&expr.span, message);
                1
            }
        }
    }

    fn variables(&mut self, block: &ast::Block, index: Option<&Name>) -> Layout {
        let mut layout = Layout::default();
        if let Some(index) = index {
            layout.index = Some(index.text.clone());
            layout.variables.push(Variable { name: index.text.clone(), at: 0, length: None });
            layout.size = 1;
        }
        for variable in &block.variables {
            let length = variable.length.as_ref().map(|length| self.size(length));
            let name = &variable.name;
            if layout.find(&name.text).is_some() || self.constants.contains_key(&name.text) {
                self.error(&name.span, format!("`{}` is declared twice", name.text));
            }
            let at = layout.size;
            layout.size += length.unwrap_or(1);
            if layout.size > MOST_VALUES {
                let message = format!("more than {MOST_VALUES} values in one process");
                self.error(&name.span, message);
                layout.size = at;
                continue;
            }
            layout.variables.push(Variable { name: name.text.clone(), at, length });
        }
        layout
    }

    fn family(&mut self, process: &ast::Process, processes: &mut Vec<(usize, i64)>) {
        let number = self.families.len();
        let name = &process.name;
        if self.families.iter().any(|family| family.name == name.text) {
            self.error(&name.span, format!("there is another process `{}`", name.text));
        }
        let (lowest, count) = match &process.family {
            None => (0, 1),
            Some((_, from, to)) => {
                let span = from.span.start..to.span.end;
                let (from, to) = (self.constant(from).unwrap_or(0), self.constant(to).unwrap_or(1));
                let count = to.checked_sub(from).and_then(|count| usize::try_from(count).ok());
                match count {
                    Some(count) if count + processes.len() <= MOST_PROCESSES => (from, count),
                    _ => {
                        let message = format!(
                            "{from}..{to} is no range of at most {MOST_PROCESSES} processes"
                        );
                        self.error(&span, message);
                        (0, 1)
                    }
                }
            }
        };
        let index = process.family.as_ref().map(|(index, ..)| index);
        let layout = self.variables(&process.body, index);
        let first = processes.len();
        processes.extend((0..count as i64).map(|place| (number, lowest + place)));
        self.layouts.push(layout);
        self.families.push(Family {
            name: name.text.clone(),
            indexed: index.is_some(),
            lowest,
            first,
            count,
            body: Body::default(),
        });
    }

    fn body(&mut self, block: &ast::Block, scope: &Scope<'_>) -> Body {
        let mut body = Body { size: scope.own.size, ..Body::default() };
        for variable in &block.variables {
            let (Some(value), Some(known)) = (&variable.value, scope.own.find(&variable.name.text))
            else {
                continue;
            };
            let span = variable.name.span.start..value.span.end;
            if known.length.is_some() {
                self.error(&span, "an array is filled by assignments, one by one");
                continue;
            }
            let slot = Slot { at: known.at, index: None, name: known.name.clone() };
            let value = self.expr(value, scope);
            body.places.push(self.place(&span));
            body.statements.push(Statement::Assign(slot, value));
        }
        let start = body.statements.len();
        let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
        let mut position = start;
        for statement in &block.statements {
            for label in &statement.labels {
                if labels.insert(&label.text, position).is_some() {
                    self.error(&label.span, format!("there is another label `{}`", label.text));
                }
            }
            position += usize::from(!matches!(statement.kind, Kind::Nothing));
        }
        for statement in &block.statements {
            let place = self.place(&statement.span);
            if let Some(compiled) = self.statement(statement, scope, &labels) {
                body.statements.push(compiled);
                body.places.push(place);
            }
        }
        body
    }

    fn statement(
        &mut self,
        statement: &ast::Statement,
        scope: &Scope<'_>,
        labels: &BTreeMap<&str, usize>,
    ) -> Option<Statement> {
        let span = &statement.span;
        if scope.role != Role::Process && matches!(statement.kind, Kind::Receive(..)) {
            self.error(span, "only processes receive").hint =
                Some("`setup` and `finally` run alone, before and after all processes".to_owned());
        }
        if scope.role == Role::Finally && matches!(statement.kind, Kind::Send(..) | Kind::Input(..))
        {
            self.error(span, "nothing is sent and no input is read at the end");
        }
        Some(match &statement.kind {
            Kind::Assign(target, value) => {
                Statement::Assign(self.target(target, scope), self.expr(value, scope))
            }
            Kind::Input(target, range) => {
                let range = range
                    .as_ref()
                    .map(|(least, most)| (self.expr(least, scope), self.expr(most, scope)));
                Statement::Input(self.target(target, scope), target.name.text.clone(), range)
            }
            Kind::Send(to, index, values) => {
                let (family, index) = self.process(to, index.as_ref(), scope);
                let values = values.iter().map(|value| self.expr(value, scope)).collect();
                Statement::Send(family, index, values)
            }
            Kind::Receive(targets, or_end) => {
                let targets = targets.iter().map(|target| self.target(target, scope)).collect();
                Statement::Receive(targets, *or_end)
            }
            Kind::If(condition, label) => {
                Statement::If(self.condition(condition, scope), self.label(label, labels))
            }
            Kind::Goto(label) => Statement::Goto(self.label(label, labels)),
            Kind::Assert(condition) => {
                let text = self.text.get(condition.span.clone()).unwrap_or_default();
                let words: Vec<&str> = text.split_whitespace().collect();
                Statement::Assert(self.condition(condition, scope), words.join(" "))
            }
            Kind::Assume(condition) => Statement::Assume(self.condition(condition, scope)),
            Kind::Error(text) => Statement::Error(text.clone().unwrap_or_else(|| "error".into())),
            Kind::Halt => Statement::Halt,
            Kind::Nothing => return None,
        })
    }

    fn label(&mut self, label: &Name, labels: &BTreeMap<&str, usize>) -> usize {
        if let Some(&position) = labels.get(label.text.as_str()) {
            return position;
        }
        let known: Vec<&str> = labels.keys().copied().collect();
        let hint = match &known[..] {
            [] => "there are no labels here; one is written as `name:`".to_owned(),
            known => format!("the labels here are {}", known.join(", ")),
        };
        self.error(&label.span, format!("there is no label `{}`", label.text)).hint = Some(hint);
        0
    }

    fn process(
        &mut self,
        name: &Name,
        index: Option<&ast::Expr>,
        scope: &Scope<'_>,
    ) -> (usize, Option<Expr>) {
        let found = self.families.iter().position(|family| family.name == name.text);
        let Some(family) = found else {
            let known: Vec<&str> =
                self.families.iter().map(|family| family.name.as_str()).collect();
            let hint = format!("the processes are {}", known.join(", "));
            self.error(&name.span, format!("there is no process `{}`", name.text)).hint =
                Some(hint);
            return (0, None);
        };
        match (self.families[family].indexed, index) {
            (true, None) => {
                let message = format!("`{}` is a family of processes", name.text);
                self.error(&name.span, message).hint =
                    Some(format!("name one of them, as in `{}[0]`", name.text));
            }
            (false, Some(index)) => {
                let message = format!("`{}` is one process and has no index", name.text);
                self.error(&index.span, message);
            }
            _ => {}
        }
        (family, index.map(|index| self.expr(index, scope)))
    }
}
