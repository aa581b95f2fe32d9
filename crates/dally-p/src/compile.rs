//! From the sources of a project to a program that can be run.

use std::collections::BTreeSet;

use crate::diagnostic::{self, Diagnostic};
use crate::program::Program;
use crate::source::Sources;
use crate::{modules, syntax, types};

/// What came of a project.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program, unless there are errors.
    pub program: Option<Program>,
    /// What is wrong or doubtful, in the order of files and places.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that the diagnostics point into.
    pub sources: Sources,
}

/// Parses and checks all files together, and evaluates the tests. If a declaration is lost by a
/// syntax error, nothing is checked: its name would be reported wherever it is used.
pub fn compile(sources: Sources) -> Compiled {
    let mut report = types::Report::default();
    let mut files = Vec::new();
    for (file, _) in sources.files() {
        let (tree, wrong) = syntax::parse(&sources, file);
        files.push(tree);
        wrong.into_iter().for_each(|diagnostic| report.push(diagnostic));
    }
    report.repaired = report.has_errors();
    let parsed = report.diagnostics.len();
    let lost = files.iter().any(|file| file.lost);
    let program = if lost { None } else { check(&files, &sources, &mut report) };
    let mut diagnostics = report.diagnostics;
    let found = diagnostics.split_off(parsed);
    diagnostics.extend(not_following(found, &diagnostics, &sources));
    diagnostic::sort(&mut diagnostics);
    Compiled { program, diagnostics, sources }
}

/// What does not follow from a syntax error: what the parser could not read on the same line is
/// hardly what was meant.
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

fn check(
    files: &[syntax::ast::File],
    sources: &Sources,
    report: &mut types::Report,
) -> Option<Program> {
    let (tables, checked, creates) = types::check(files, sources, report);
    let tests = modules::check(&tables, &creates, report);
    if report.has_errors() {
        return None;
    }
    let mut program = types::assemble(sources.clone(), &tables, checked, creates);
    program.tests = tests;
    Some(program)
}
