//! What the parser makes of texts, and what it says of those it does not understand.

mod accepted;
mod rejected;
mod trees;

use dally_p::source::Sources;
use dally_p::syntax::{self, ast};

/// The tree of a text that is right.
fn parse(source: &str) -> ast::File {
    let mut sources = Sources::default();
    let file = sources.add("a.p", source);
    let (tree, diagnostics) = syntax::parse(&sources, file);
    assert!(diagnostics.is_empty(), "{source}\n{diagnostics:#?}");
    assert!(!tree.lost);
    tree
}

/// What is said of a text, each complaint in one line: `line:column message (label) -> hint`.
fn complaints(source: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("a.p", source);
    let (_, diagnostics) = syntax::parse(&sources, file);
    let lines = diagnostics.iter().map(|diagnostic| {
        let place = sources.location(diagnostic.span.expect("a place"));
        let label = match diagnostic.label.as_str() {
            "" => String::new(),
            label => format!(" ({label})"),
        };
        let also = diagnostic.related.iter().map(|(span, label)| {
            let place = sources.location(*span);
            format!(" [{}:{} {label}]", place.line, place.column)
        });
        let hint = diagnostic.hint.iter().map(|hint| format!(" -> {hint}"));
        let more: String = also.chain(hint).collect();
        format!("{}:{} {}{label}{more}", place.line, place.column, diagnostic.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What is said of statements in the entry of a state, whose line is 1.
fn complaints_of(statements: &str) -> String {
    complaints(&format!("{BEFORE}{statements}{AFTER}"))
        .lines()
        .map(|line| format!("{line}\n"))
        .collect()
}

const BEFORE: &str = "machine M { start state S { entry {\n";
const AFTER: &str = "\n} } }";
