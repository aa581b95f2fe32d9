//! From the sources of a project to a program that can be run.

use std::collections::BTreeSet;

use crate::diagnostic::{self, Diagnostic};
use crate::program::Program;
use crate::source::Sources;
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
            program = Some(types::assemble(sources.clone(), &tables, checked, creates, tests));
        }
        let found = tables.report.diagnostics.into_inner();
        diagnostics.extend(not_following(found, &diagnostics, &sources));
    }
    diagnostic::sort(&mut diagnostics);
    Compiled { program, diagnostics, sources }
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
