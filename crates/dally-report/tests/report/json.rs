//! The JSON documents are what `docs/json.md` shows.

use dally_core::Schedule;
use dally_report::json;
use serde_json::Value;

use crate::findings;

const DOCS: &str = include_str!("../../../../docs/json.md");

/// The example under a heading of the documentation.
fn example(heading: &str) -> &'static str {
    let section = DOCS.split(&format!("\n## {heading}")).nth(1).expect(heading);
    section.split("```json\n").nth(1).and_then(|block| block.split("```").next()).expect(heading)
}

#[test]
fn the_documented_trace_is_the_real_one() {
    let (finding, run, _) = findings::hot_at_end();
    assert_eq!(json::finding(&finding, &run), example("A finding: `dally-trace`"));
}

#[test]
fn the_documented_run_is_the_real_one() {
    let (_, run, _) = findings::hot_at_end();
    assert_eq!(json::run(&run), example("A run: `dally-run`"));
}

#[test]
fn a_run_and_a_finding_of_it_say_the_same() {
    let (finding, mut run, _) = findings::two_phase_commit();
    let alone: Value = serde_json::from_str(&json::finding(&finding, &run)).unwrap();
    run.findings.push(finding);
    let all: Value = serde_json::from_str(&json::run(&run)).unwrap();
    for (name, value) in all["findings"][0].as_object().unwrap() {
        assert_eq!(alone[name], *value, "{name}");
    }
    for (name, value) in alone["run"].as_object().unwrap() {
        assert_eq!(all[name], *value, "{name}");
    }
}

#[test]
fn the_token_in_a_document_is_its_schedule() {
    let (finding, run, _) = findings::two_phase_commit();
    let document: Value = serde_json::from_str(&json::finding(&finding, &run)).unwrap();
    let token = document["schedule"]["token"].as_str().unwrap();
    assert_eq!(Schedule::parse(token), Ok(finding.schedule));
}
