//! Searches for loops on the command line.

mod command;
mod schema;

use insta::assert_snapshot;

use crate::command::{Scratch, dally, without_times};
use crate::schema::document;

/// The second line of a report: what was covered.
fn covered(text: &str) -> &str {
    let line = text.lines().find(|line| line.trim_start().starts_with("covered"));
    line.unwrap_or_else(|| panic!("{text}")).trim_start()
}

#[test]
fn a_livelock_is_told_with_its_loop_and_exits_with_1() {
    let scratch = Scratch::new("livelock");
    let arguments = ["check", "philosophers", "--bug", "backs-off", "--search", "map"];
    let ran = dally(&arguments, &scratch);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    assert_snapshot!(without_times(&ran.out));
}

#[test]
fn json_holds_the_loop_and_what_was_stored_to_find_it() {
    let scratch = Scratch::new("livelock-json");
    let arguments = ["check", "philosophers", "--bug", "backs-off", "--search", "map"];
    let ran = dally(&[&arguments[..], &["--format", "json"]].concat(), &scratch);
    assert_eq!(ran.code, 1);
    let json = document(&ran.out);
    assert_eq!(json["findings"][0]["bug"]["kind"], "livelock");
    let lasso = &json["findings"][0]["lasso"];
    let states = lasso["states"].as_array().unwrap();
    assert_eq!((states.len(), &states[0]), (31, &"Waiting".into()));
    let rest = ["stem", "monitor", "rounds", "whole"].map(|field| lasso[field].clone());
    assert_eq!(serde_json::json!(rest).to_string(), r#"[6,"Dinner",2,true]"#);
    let cycles = &json["states"]["cycles"];
    let sizes = ["fairness", "edges", "edge_bytes"].map(|field| cycles[field].clone());
    assert_eq!(serde_json::json!(sizes).to_string(), r#"["weak",7420,8]"#);
    assert!(cycles["calculating"].is_number() && cycles["refining"].is_number());
}

#[test]
fn without_fairness_a_correct_protocol_shows_an_unfair_loop_that_replays() {
    let scratch = Scratch::new("unfair");
    let check = ["check", "extent-manager", "--search", "map", "--out", "."];
    let found = dally(&[&check[..], &["--fairness", "none"]].concat(), &scratch);
    assert_eq!((found.code, found.err.as_str()), (1, ""));
    assert_snapshot!("unfair", without_times(&found.out));
    let saved = scratch.schedules().remove(0).display().to_string();
    let replayed = dally(&["replay", &saved, "--rounds", "3"], &scratch);
    assert_eq!(replayed.code, 1);
    assert_snapshot!("unfair_replayed", format!("{}{}", replayed.out, replayed.err));
}

#[test]
fn a_search_for_loops_comes_to_its_end_whole_or_by_fingerprint_on_any_number_of_threads() {
    let scratch = Scratch::new("no-loops");
    let arguments = ["check", "tree-identification", "--search", "map"];
    for more in [&[][..], &["--exact"], &["--threads", "2"], &["--fairness", "none"]] {
        let ran = dally(&[&arguments[..], more].concat(), &scratch);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{more:?}");
        let exhausted = "covered   exhausted: 980 states, 2,652 transitions";
        assert_eq!(covered(&ran.out), exhausted, "{more:?}");
    }
}

#[test]
fn exact_storage_and_two_threads_find_the_loop_too() {
    let scratch = Scratch::new("two-threads");
    for more in [&["--exact"][..], &["--threads", "2"]] {
        let arguments = ["check", "philosophers", "--bug", "backs-off", "--search", "map"];
        let ran = dally(&[&arguments[..], more].concat(), &scratch);
        assert_eq!(ran.code, 1, "{more:?}");
        let bug = "bug[livelock]: monitor Dinner waits in vain in state Waiting: ";
        assert!(ran.out.starts_with(bug), "{more:?}: {}", ran.out);
    }
}

#[test]
fn a_search_for_loops_whose_memory_is_too_small_says_so_and_claims_nothing() {
    let scratch = Scratch::new("small-memory");
    let ran =
        dally(&["check", "tree-identification", "--search", "map", "--memory", "100k"], &scratch);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_snapshot!(
        covered(&ran.out),
        @"covered   visited 248 states, 262 transitions, delay bound 1 completed, until the memory was full"
    );
}

#[test]
fn what_a_search_for_loops_cannot_do_exits_with_2() {
    let scratch = Scratch::new("no-search");
    let mut text = String::new();
    for arguments in [
        &["check", "stale-cache", "--search", "map"][..],
        &["check", "messaging", "--search", "ndfs"],
        &["check", "lcr", "--search", "map", "--cache", "none"],
        &["check", "lcr", "--search", "map", "--with-explorer"],
        &["check", "lcr", "--search", "map", "--fairness", "fair"],
    ] {
        let ran = dally(arguments, &scratch);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}");
        text += &format!("$ dally {}\n{}\n", arguments.join(" "), ran.err);
    }
    assert_snapshot!(text);
}
