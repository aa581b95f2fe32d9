//! From the sources of a project to a program that can be run.

use std::collections::BTreeSet;

use crate::diagnostic::{self, Diagnostic, warning};
use crate::program::{MachineId, MachineKind, Program, Test};
use crate::source::{Sources, Span};
use crate::{modules, stubs, syntax, types};

/// The result of [`compile`].
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program, unless there are errors.
    pub program: Option<Program>,
    /// Errors and warnings, in the order of files and places.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that the diagnostics point into.
    pub sources: Sources,
}

/// Parses and checks all files together, and evaluates the tests. If a declaration is lost by a
/// syntax error, nothing is checked: its name would be reported wherever it is used.
pub fn compile(sources: Sources) -> Compiled {
    let mut files = Vec::new();
    let mut diagnostics = Vec::new();
    for (file, _) in sources.files() {
        let (tree, wrong) = syntax::parse(&sources, file);
        files.push(tree);
        diagnostics.extend(wrong);
    }
    let stubs = (sources.files().zip(files.iter_mut()))
        .filter(|((_, source), _)| source.stubs)
        .map(|(_, file)| std::mem::take(file))
        .collect();
    stubs::apply(stubs, &mut files, &mut diagnostics);
    let mut program = None;
    if !files.iter().any(|file| file.lost) {
        let repaired = diagnostics.iter().any(|diagnostic| !diagnostic.is_warning());
        let report = types::Report { repaired, ..types::Report::default() };
        let (tables, checked, creates) = types::check(&files, &sources, report);
        let tests = modules::check(&tables, &creates);
        if !repaired && !tables.report.has_errors() {
            warn_of_unasserted(&tables, &tests, &sources);
            program = Some(types::assemble(sources.clone(), &tables, checked, creates, tests));
        }
        let found = tables.report.diagnostics.into_inner();
        diagnostics.extend(not_following(found, &diagnostics, &sources));
    }
    diagnostics.extend(skipped(&files, &sources));
    diagnostic::sort(&mut diagnostics);
    Compiled { program, diagnostics, sources }
}

/// Warns of the specs of this project that its tests do not assert, if it has tests.
fn warn_of_unasserted(tables: &types::Tables<'_>, tests: &[Test], sources: &Sources) {
    if tables.test_list.is_empty() {
        return;
    }
    for (at, machine) in tables.machines.iter().enumerate() {
        let (name, id) = (&machine.decl.name, MachineId(at as u32));
        if machine.decl.kind == MachineKind::Spec
            && !sources.file(name.span.file).included
            && !tests.iter().any(|test| test.specs.iter().any(|(spec, _)| *spec == id))
        {
            tables.report.push(
                warning(name.span, format!("no test asserts `{name}`"))
                    .label("never checked")
                    .hint(format!("write `test ...: assert {name} in ...;`")),
            );
        }
    }
}

/// One warning for all that is for the P verifier.
fn skipped(files: &[syntax::ast::File], sources: &Sources) -> Option<Diagnostic> {
    let all: Vec<Span> = files.iter().flat_map(|file| &file.verifier).copied().collect();
    let first = *all.first()?;
    let more = match all.len() - 1 {
        0 => String::new(),
        1 => " with 1 more like it".to_owned(),
        more => format!(" with {more} more like it"),
    };
    let message = format!("`{}` is for the P verifier and is skipped{more}", sources.text(first));
    Some(warning(first, message).label("not checked").hint("state what should hold in a `spec`"))
}

/// Drops diagnostics on lines with a syntax error, because they probably follow from it.
fn not_following(
    found: Vec<Diagnostic>,
    syntax: &[Diagnostic],
    sources: &Sources,
) -> Vec<Diagnostic> {
    let line = |diagnostic: &Diagnostic| {
        diagnostic.span.map(|span| (span.file, sources.location(span).line))
    };
    let broken: BTreeSet<_> =
        syntax.iter().filter(|diagnostic| !diagnostic.is_warning()).map(line).collect();
    match broken.is_empty() {
        true => found,
        false => found.into_iter().filter(|it| !broken.contains(&line(it))).collect(),
    }
}
