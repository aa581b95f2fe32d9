//! Runs a case and says what is not as expected.

use dally_p::diagnostic::{Diagnostic, Severity};
use dally_p::source::Sources;
use dally_p::{Compiled, compile};

use crate::document::{Case, Expectation, Verdict};

/// What is wrong with a case, a line each; empty if all is as expected.
pub fn check(case: &Case) -> Vec<String> {
    let mut sources = Sources::default();
    for (name, text) in &case.files {
        sources.add(name, text);
    }
    let Compiled { program, diagnostics, sources } = compile(sources);
    let mut wrong = diagnosed(case, &sources, &diagnostics);
    let Some(program) = program else { return wrong };
    for expectation in &case.expectations {
        if let Expectation::Tests(range) = expectation
            && !range.contains(&program.tests.len())
        {
            let names: Vec<_> = program.tests.iter().map(|test| test.name.as_str()).collect();
            wrong.push(format!("tests: {}: {}", names.len(), names.join(", ")));
        }
    }
    wrong
}

/// What is wrong with the diagnostics of a case: errors and warnings are as expected, one by one.
fn diagnosed(case: &Case, sources: &Sources, diagnostics: &[Diagnostic]) -> Vec<String> {
    let of = |severity| diagnostics.iter().filter(move |one| one.severity == severity);
    let (mut errors, mut warnings) = (of(Severity::Error), of(Severity::Warning));
    let mut wrong = Vec::new();
    for expectation in &case.expectations {
        let (kind, found, place, fragment) = match expectation {
            Expectation::Error(place, fragment) => ("error", errors.next(), place, fragment),
            Expectation::Warning(fragment) => ("warning", warnings.next(), &None, fragment),
            _ => continue,
        };
        let Some(found) = found else {
            wrong.push(format!("no {kind}: {fragment}"));
            continue;
        };
        let at = found.span.map(|span| sources.location(span));
        let there = at.map(|at| (at.line, at.column));
        if !says(found, fragment) || place.is_some() && *place != there {
            let place = place.map_or(String::new(), |(line, column)| format!(" {line}:{column}"));
            wrong.push(format!("expected {kind}{place}: {fragment}"));
            wrong.push(format!("but got {}", shown(found, sources)));
        }
    }
    let more = errors.chain(warnings);
    wrong.extend(more.map(|found| format!("not expected: {}", shown(found, sources))));
    wrong
}

/// Whether a diagnostic contains a fragment, letter case aside.
fn says(diagnostic: &Diagnostic, fragment: &str) -> bool {
    let Diagnostic { message, label, hint, .. } = diagnostic;
    let hint = hint.as_deref().unwrap_or("");
    [message, label, hint].iter().any(|text| text.to_lowercase().contains(&fragment.to_lowercase()))
}

fn shown(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let Diagnostic { severity, message, label, span, .. } = diagnostic;
    let at = span.map_or(String::new(), |span| sources.location(span).to_string());
    format!("{severity:?} {at}: {message} | {label} | {}", diagnostic.hint.as_deref().unwrap_or(""))
}
