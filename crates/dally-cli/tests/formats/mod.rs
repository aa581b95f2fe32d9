//! `dally check --format`: nothing but the document stands on standard output.

use serde_json::Value;

use crate::command::{Scratch, dally};

const BUG: [&str; 6] =
    ["check", "two-phase-commit", "--bug", "vote-before-persist", "--schedules", "2000"];

#[test]
fn junit_sarif_and_github_hold_the_finding() {
    let scratch = Scratch::new("formats");
    let in_form = |form: &str| {
        let ran = dally(&[&BUG[..], &["--format", form]].concat(), &scratch);
        assert_eq!(ran.code, 1, "{}", ran.err);
        ran.out
    };
    let junit = in_form("junit");
    assert!(junit.starts_with("<?xml") && junit.ends_with("</testsuites>\n"), "{junit}");
    assert!(junit.contains("name=\"two-phase-commit-vote-before-persist\""), "{junit}");
    assert!(junit.contains("failures=\"1\"") && junit.contains("<failure type=\"panic\""));
    let sarif: Value = serde_json::from_str(&in_form("sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "panic");
    let github = in_form("github");
    assert!(github.starts_with("::error file=") && github.lines().count() == 1, "{github}");
}

#[test]
fn a_clean_run_passes_in_every_form_and_a_variable_chooses_it_too() {
    let scratch = Scratch::new("formats-clean");
    let clean = ["check", "two-phase-commit", "--schedules", "20", "--format"];
    let ran = dally(&[&clean[..], &["junit"]].concat(), &scratch);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{}", ran.out);
    let ran = dally(&[&clean[..], &["github"]].concat(), &scratch);
    assert!(
        ran.out.starts_with("::notice title=two-phase-commit::no bug found; covered: sampled 20")
    );
    let ran = dally(&[&clean[..], &["xml"]].concat(), &scratch);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("junit"), "{}", ran.err);
}

#[test]
fn a_p_project_has_a_case_for_each_test_and_its_finding_can_be_seen_by_peasy() {
    let scratch = Scratch::new("formats-p");
    let project = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocols/p/TwoPhaseCommit");
    let check = ["check", project, "-t", "tcSilentOnTimeout", "--schedules", "500", "--format"];
    let ran = dally(&[&check[..], &["junit"]].concat(), &scratch);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("<testcase classname=\"dally\" name=\"tcSilentOnTimeout\""));
    let files = std::fs::read_dir(scratch.0.join(".dally")).unwrap();
    let mut saved = files.map(|file| file.unwrap().path());
    let schedule = saved.find(|file| file.extension().unwrap() == "schedule").unwrap();
    let ran = dally(&["export", schedule.to_str().unwrap(), "--as", "p"], &scratch);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let log: Value = serde_json::from_str(&ran.out).unwrap();
    let kinds = |entry: &Value| entry["type"].as_str().unwrap().to_owned();
    let kinds: Vec<String> = log.as_array().unwrap().iter().map(kinds).collect();
    assert_eq!(kinds.last().map(String::as_str), Some("AssertionFailure"));
    assert!(kinds.iter().any(|kind| kind == "SendEvent"), "{kinds:?}");
}
