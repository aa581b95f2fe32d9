//! A run of a P project as JSON.

use std::path::PathBuf;

use dally::p::Project;
use dally::p::diagnostic;
use dally::report::json;
use serde::Serialize;

use super::{Row, coverage, table};

/// All tests as a document of the format `dally-p-run`.
pub fn write(paths: &[PathBuf], project: &Project, rows: &[Row]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let tests = rows.iter().map(|row| TestDocument {
        test: &row.test,
        verdict: table::verdict(row),
        coverage: coverage::json(&row.coverage),
        run: json::run_document(&row.run.checked.report),
    });
    let document = Document {
        format: "dally-p-run",
        version: 2,
        project: paths.join(" "),
        warnings: diagnostic::Report::all(&project.warnings, &project.program.sources),
        tests: tests.collect(),
    };
    // The steps of a finding are seven levels deep.
    json::write(&document, 7)
}

#[derive(Serialize)]
struct Document<Warning, Test> {
    format: &'static str,
    version: u32,
    project: String,
    warnings: Vec<Warning>,
    tests: Vec<Test>,
}

#[derive(Serialize)]
struct TestDocument<'a, Run> {
    test: &'a str,
    verdict: String,
    coverage: serde_json::Value,
    run: Run,
}
