//! The conformance suite: every case of every document in `conformance/`, which says how they are
//! written. A failure names the document, the rule and its line.

#[path = "conformance/document.rs"]
mod document;
#[path = "conformance/run.rs"]
mod run;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One test for each document.
macro_rules! documents {
    ($($test:ident: $name:literal,)*) => {
        const DOCUMENTS: &[&str] = &[$($name),*];

        $(#[test]
        fn $test() {
            holds($name);
        })*
    };
}

documents! {
    words_literals_and_comments: "lexical",
    declarations_and_scopes: "declarations",
    types: "types",
    expressions: "expressions",
    statements: "statements",
    functions: "functions",
    states_and_handlers: "states",
    specs: "specs",
    modules: "modules",
    tests_and_their_parameters: "tests-and-params",
    queues: "queues",
    raise_goto_and_halt: "raise-goto-halt",
    receive: "receive",
    what_schedules_are_possible: "scheduling",
    values: "values",
    sequences_sets_and_maps: "collections",
    choices: "choose",
    how_values_are_printed: "printing",
    hot_and_cold_states: "liveness",
    what_may_be_sent_to_whom: "permissions",
    what_events_carry: "payloads",
    foreign_types_and_functions: "foreign",
    the_vocabulary_of_the_verifier: "verifier-words",
    what_traces_show: "traces",
    what_p1_had: "p1",
    scenarios: "scenario",
    what_the_reference_gets_wrong: "reference-defects",
    what_differs_on_purpose: "differences",
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// Runs all cases of a document and reports all that do not hold.
fn holds(document: &str) {
    let cases = document::read(&folder(), document);
    let mut report = String::new();
    for case in &cases {
        let wrong = run::check(case);
        if !wrong.is_empty() {
            report += &format!("\n{case}\n");
            report.extend(wrong.iter().map(|line| format!("    {line}\n")));
        }
    }
    assert!(report.is_empty(), "{report}");
}

#[test]
fn every_document_is_run_and_there_are_three_hundred_cases_at_least() {
    let files = std::fs::read_dir(folder()).expect("the suite is there");
    let paths = files.map(|file| file.expect("a file of the suite").path());
    let documents = paths.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let names = documents.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let found: BTreeSet<String> = names.filter(|name| name != "README").collect();
    let run: BTreeSet<String> = DOCUMENTS.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(found, run);
    let cases: usize = run.iter().map(|name| document::read(&folder(), name).len()).sum();
    assert!(cases >= 300, "{cases} cases");
}
