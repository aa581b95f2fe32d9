//! The `dally` command as people use it: output, exit codes, files.

#[cfg(unix)]
mod campaigning;
#[cfg(unix)]
mod cargo;
mod command;
mod comparing;
mod exploring;
mod formats;
#[cfg(unix)]
mod regressions;
mod replays;
mod schema;
mod serving;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use insta::assert_snapshot;

use crate::command::{Scratch, command, dally, ran, without_time, without_times};
use crate::schema::document;

impl Scratch {
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

#[test]
fn help_teaches() {
    let scratch = Scratch::new("help");
    assert_snapshot!("help", dally(&["--help"], &scratch).out);
    assert_snapshot!("help_check", dally(&["check", "--help"], &scratch).out);
    assert_snapshot!("help_replay", dally(&["replay", "--help"], &scratch).out);
}

#[test]
fn the_list_has_every_protocol_and_its_bugs() {
    let scratch = Scratch::new("list");
    assert_snapshot!("list", dally(&["list"], &scratch).out);
    let json: serde_json::Value =
        serde_json::from_str(&dally(&["list", "--format", "json"], &scratch).out).unwrap();
    let names: Vec<_> = json["protocols"].as_array().unwrap().iter().map(|p| &p["name"]).collect();
    assert_eq!(names.len(), dally_protocols::all().len());
    assert_eq!(json["protocols"][0]["bugs"][0]["name"], "vote-before-persist");
}

#[test]
fn a_clean_run_says_what_was_covered_and_exits_with_0() {
    let scratch = Scratch::new("clean");
    let ran = dally(&["check", "stale-cache", "--schedules", "300"], &scratch);
    assert_eq!(ran.code, 0);
    assert_snapshot!(without_time(&ran.out));
    assert_eq!(ran.err, "");
    assert!(scratch.schedules().is_empty());
}

#[test]
fn a_bug_is_told_saved_and_replayed_and_exits_with_1() {
    let scratch = Scratch::new("bug");
    let found =
        dally(&["check", "stale-cache", "--bug", "stale-read", "--strategy", "random"], &scratch);
    assert_eq!(found.code, 1);
    assert_snapshot!("bug", without_time(&found.out));
    let saved =
        std::fs::read_dir(scratch.0.join(".dally")).unwrap().next().unwrap().unwrap().path();
    let saved = saved.with_extension("schedule").display().to_string();
    let file = dally(&["replay", &saved], &scratch);
    assert_eq!(file.code, 1);
    assert_snapshot!("bug_replayed", file.out);

    let schedule =
        dally::contract::Schedule::parse(&std::fs::read_to_string(&saved).unwrap()).unwrap();
    let token = dally(&["replay", &schedule.to_token()], &scratch);
    assert_eq!(token.code, 1);
    let story = |text: &str| text.split("Replay it with").next().unwrap().to_owned();
    assert_eq!(story(&token.out), story(&file.out));
}

#[test]
fn the_same_command_prints_the_same_with_any_number_of_threads() {
    let scratch = Scratch::new("threads");
    let run = |threads: &str| {
        let arguments =
            ["check", "two-phase-commit", "--bug", "counts-duplicate-votes", "--keep-going"];
        let more = ["--schedules", "2000", "--threads", threads];
        without_time(&dally(&[&arguments[..], &more].concat(), &scratch).out)
    };
    let one = run("1");
    assert_eq!(one, run("1"));
    assert_eq!(one, run("2"));
}

#[test]
fn json_holds_the_run() {
    let scratch = Scratch::new("json");
    let arguments = ["check", "connection-pool", "--bug", "deadlock", "--format", "json"];
    let ran = dally(&[&arguments[..], &["--out", "."]].concat(), &scratch);
    assert_eq!(ran.code, 1);
    let json = document(&ran.out);
    assert_eq!(json["format"], "dally-run");
    assert_eq!(json["findings"][0]["bug"]["kind"], "deadlock");
    let saved = scratch.schedules().remove(0).with_extension("json");
    let trace = document(&std::fs::read_to_string(saved).unwrap());
    assert_eq!(trace["format"], "dally-trace");
    assert_eq!(trace["steps"], json["findings"][0]["steps"]);
    let clean = ["check", "connection-pool", "--schedules", "100", "--format", "json"];
    assert_eq!(document(&dally(&clean, &scratch).out)["ended"], "schedules");
}

#[test]
fn what_the_schema_does_not_say_is_refused() {
    let run = |more: &str| {
        let text = format!(
            r#"{{"format": "dally-run", "version": 3, "coverage": "", "stopped": "", "program": "",
                "strategy": "", "seed": 0, "granularity": "", "threads": 1, "schedules": 0,
                "steps": 0, "longest": 0, "cut": 0, "max_steps": 0, "observations": 0,
                "ended": "bug"{more}}}"#
        );
        std::panic::catch_unwind(|| document(&text)).is_ok()
    };
    assert!(run(r#", "elapsed": 0.5"#));
    assert!(!run(""), "a field is missing");
    assert!(!run(r#", "elapsed": "0.5""#), "a text is no number");
    assert!(!run(r#", "elapsed": 0.5, "lapsed": 1"#), "a field that is not known");
    assert!(!run(r#", "elapsed": 0.5, "findings": [{}]"#), "an empty finding");
}

#[test]
fn bad_usage_and_bad_input_exit_with_2() {
    let scratch = Scratch::new("bad");
    let foreign = scratch.file("foreign.schedule", "[package]\nname = \"x\"\n");
    let empty = scratch.file("empty.schedule", "");
    let mut text = String::new();
    for arguments in [
        &["check", "raft-v9"][..],
        &["check", "paxos", "--bug", "biggest-proposal"],
        &["check", "calculator", "--bug", "any"],
        &["check", "paxos", "--strategy", "ptc"],
        &["check", "paxos", "--schedules", "many"],
        &["check", "paxos", "--time", "soon"],
        &["check", "paxos", "--sed", "7"],
        &["check", "paxos", "--schedules", "0"],
        &["check", "paxos", "--time", "0s"],
        &["check", "paxos", "--max-steps", "0"],
        &["check", "paxos", "--threads", "0"],
        &["replay", "no-such-file"],
        &["replay", "dally1-AAAA"],
        &["replay", ""],
        &["replay", &foreign],
        &["replay", &empty],
    ] {
        let ran = dally(arguments, &scratch);
        assert_eq!(ran.code, 2, "{arguments:?}\n{}{}", ran.out, ran.err);
        assert_eq!(ran.out, "", "{arguments:?}");
        let given = arguments.join(" ").replace(&scratch.0.display().to_string(), "DIR");
        text += &format!("$ dally {given}\n{}\n", ran.err);
    }
    assert_snapshot!(text);
}

#[test]
fn a_cut_or_edited_schedule_is_told_from_a_good_one() {
    let scratch = Scratch::new("edited");
    let check = ["check", "connection-pool", "--bug", "deadlock", "--strategy", "random"];
    dally(&[&check[..], &["--out", "."]].concat(), &scratch);
    let good = std::fs::read_to_string(&scratch.schedules()[0]).unwrap();
    let cut: String = good.lines().take(11).map(|line| format!("{line}\n")).collect();
    let edited = good.replacen("\n0.1", "\n0.0", 1);
    let other = good.replace("program: connection-pool", "program: somebody::elses::test");
    let other = {
        let mut schedule = dally::contract::Schedule::parse(&good).unwrap();
        assert_ne!(other, good);
        schedule.program = "somebody::elses::test".into();
        schedule.to_text()
    };
    let mut text = String::new();
    for (name, content) in [("cut", cut), ("edited", edited), ("other", other)] {
        let file = scratch.file(&format!("{name}.txt"), &content);
        let ran = dally(&["replay", &file], &scratch);
        assert_eq!(ran.code, 2, "{name}: {}", ran.out);
        text += &format!("{name}: {}\n", ran.err);
    }
    assert_snapshot!(text);
}

#[test]
fn a_schedule_that_no_longer_fits_stops_at_the_difference_or_goes_on_if_asked() {
    let scratch = Scratch::new("stale");
    let check = ["check", "connection-pool", "--bug", "deadlock", "--strategy", "random"];
    dally(&[&check[..], &["--out", "."]].concat(), &scratch);
    let good = std::fs::read_to_string(&scratch.schedules()[0]).unwrap();
    // The program has changed: it is the correct version now.
    let mut schedule = dally::contract::Schedule::parse(&good).unwrap();
    schedule.settings.clear();
    let stale = scratch.file("stale.txt", &schedule.to_text());
    let exact = dally(&["replay", &stale], &scratch);
    assert_eq!(exact.code, 2);
    let best_effort = dally(&["replay", "--best-effort", &stale], &scratch);
    assert_eq!(best_effort.code, 0);
    assert_snapshot!(format!("{}\n{}", exact.err, best_effort.err));
}

#[test]
#[cfg(unix)]
fn a_reader_that_goes_away_or_a_full_disk_is_no_panic() {
    let scratch = Scratch::new("pipe");
    let shell = |line: &str| {
        let line = line.replace("dally", env!("CARGO_BIN_EXE_dally"));
        let output = Command::new("bash").args(["-c", &line]).current_dir(&scratch.0).output();
        String::from_utf8(output.unwrap().stderr).unwrap()
    };
    assert_eq!(shell("dally list | true"), "");
    if Path::new("/dev/full").exists() {
        let told = shell("dally list > /dev/full");
        assert!(told.starts_with("error: the output cannot be written: "), "{told}");
    }
}

#[test]
fn a_time_limit_ends_the_run_and_says_so() {
    let scratch = Scratch::new("time");
    let arguments = ["check", "raft-v1", "--schedules", "1000000000", "--time", "200ms"];
    let ran = dally(&arguments, &scratch);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("until the time was up"), "{}", ran.out);
}

/// Starts an endless search for all bugs and waits until the first is on disk.
#[cfg(unix)]
fn search_that_has_found_something(scratch: &Scratch) -> std::process::Child {
    let arguments = ["check", "two-phase-commit", "--bug", "commits-after-timeout", "--keep-going"];
    let more = ["--schedules", "1000000000", "--out", "."];
    let mut child = command(&[&arguments[..], &more].concat(), &scratch.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for _ in 0..600 {
        if !scratch.schedules().is_empty() {
            return child;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().and_then(|()| child.wait()).unwrap();
    panic!("nothing was found");
}

#[cfg(unix)]
fn signal(child: &std::process::Child, name: &str) {
    let killed = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
}

#[test]
#[cfg(unix)]
fn ctrl_c_prints_what_is_known_and_keeps_findings() {
    let scratch = Scratch::new("interrupt");
    let child = search_that_has_found_something(&scratch);
    signal(&child, "-INT");
    let ran = ran(child.wait_with_output().unwrap(), &scratch.0);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("until it was interrupted"), "{}", ran.out);
    assert!(!scratch.schedules().is_empty());
}

#[test]
#[cfg(unix)]
fn a_killed_run_loses_no_finding() {
    let scratch = Scratch::new("kill");
    let mut child = search_that_has_found_something(&scratch);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let saved = scratch.schedules();
    let replayed = dally(&["replay", &saved[0].display().to_string()], &scratch);
    assert_eq!(replayed.code, 1, "{}", replayed.err);
}

#[test]
fn a_search_says_what_each_stratum_covered_and_that_it_is_exhausted() {
    let scratch = Scratch::new("exhausted");
    let arguments = ["check", "tree-identification", "--search", "ses", "--explorer", "rr"];
    let ran = dally(&arguments, &scratch);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_snapshot!(without_times(&ran.out));
    // With one thread it is the same byte for byte, with more it is the same set of states.
    assert_eq!(without_times(&dally(&arguments, &scratch).out), without_times(&ran.out));
    let covered = |text: &str| text.lines().nth(1).unwrap().to_owned();
    let threads = dally(&[&arguments[..], &["--threads", "3"]].concat(), &scratch);
    assert_eq!(covered(&threads.out), covered(&ran.out));
}

#[test]
fn a_finding_of_a_search_is_told_in_delays_and_replayed() {
    let scratch = Scratch::new("delays");
    let arguments = ["check", "lann", "--bug", "late-candidate", "--search", "ses"];
    let found = dally(&[&arguments[..], &["--explorer", "rr"]].concat(), &scratch);
    assert_eq!(found.code, 1);
    assert_snapshot!(without_times(&found.out));
    let saved = std::fs::read_dir(scratch.0.join(".dally")).unwrap().next().unwrap().unwrap();
    let saved = saved.path().with_extension("schedule").display().to_string();
    assert_eq!(dally(&["replay", &saved], &scratch).code, 1);
    let json = dally(&[&arguments[..], &["--format", "json"]].concat(), &scratch);
    let json = document(&json.out);
    assert!(json["states"]["states"].as_u64().unwrap() > 0);
    assert!(json["findings"][0]["delays"]["count"].as_u64().is_some());
}

#[test]
fn every_search_finds_the_bug_and_says_how() {
    let scratch = Scratch::new("searches");
    for search in ["ses", "ss", "hybrid", "pb", "depth", "dfs", "bfs"] {
        let arguments = ["check", "lann", "--bug", "late-candidate", "--search", search];
        let found = dally(&arguments, &scratch);
        assert_eq!(found.code, 1, "{search}: {}", found.err);
        assert!(found.out.contains(&format!("(search {search}(")), "{search}: {}", found.out);
    }
}

#[test]
fn memory_and_time_that_run_out_are_told_and_are_no_bug() {
    let scratch = Scratch::new("limits");
    for (limit, words) in [
        (["--memory", "200k"], "until the memory was full"),
        (["--time", "100ms"], "until the time was up"),
    ] {
        let arguments = ["check", "two-phase-commit", "--search", "ses"];
        let ran = dally(&[&arguments[..], &limit].concat(), &scratch);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains(words), "{}", ran.out);
    }
}

#[test]
fn bad_options_of_a_search_exit_with_2() {
    let scratch = Scratch::new("bad-search");
    let mut text = String::new();
    for arguments in [
        ["--search", "sse"],
        ["--explorer", "rrr"],
        ["--cache", "some"],
        ["--memory", "much"],
        ["--delays", "3"],
        ["--memory", "0"],
    ] {
        let ran = dally(&[&["check", "lcr"][..], &arguments].concat(), &scratch);
        assert_eq!(ran.code, 2);
        text += &format!("$ dally check lcr {}\n{}\n", arguments.join(" "), ran.err);
    }
    assert_snapshot!(text);
}

#[test]
fn options_that_would_have_no_effect_are_refused() {
    let scratch = Scratch::new("no-effect");
    let mut text = String::new();
    for arguments in [
        &["check", "lcr", "--search", "ses", "--strategy", "random"][..],
        &["check", "lcr", "--search", "ses", "--schedules", "100"],
        &["check", "Model.p", "--exhaustive", "--strategy", "random"],
        &["check", "lcr", "--isolate", "process"],
    ] {
        let ran = dally(arguments, &scratch);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}");
        text += &format!("$ dally {}\n{}\n", arguments.join(" "), ran.err);
    }
    assert_snapshot!(text);
    // Samples are schedules.
    let ran = dally(&["check", "lcr", "--search", "ss", "--schedules", "100"], &scratch);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn variables_are_read_and_flags_win_over_them() {
    let scratch = Scratch::new("precedence");
    let seed = |more: &[&str]| {
        let arguments = ["check", "stale-cache", "--schedules", "10", "--format", "json"];
        let mut command = command(&[&arguments[..], more].concat(), &scratch.0);
        command.env("DALLY_SEED", "21");
        let ran = ran(command.output().unwrap(), &scratch.0);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        ran.out.lines().find(|line| line.contains("\"seed\"")).unwrap().trim().to_owned()
    };
    assert_eq!(seed(&[]), "\"seed\": 21,");
    assert_eq!(seed(&["--seed", "22"]), "\"seed\": 22,");
}

#[test]
fn a_variable_that_nobody_reads_is_told() {
    let scratch = Scratch::new("variable");
    let mut command = command(&["check", "stale-cache", "--schedules", "10"], &scratch.0);
    command.env("DALLY_SCHEDULE", "5");
    let ran = ran(command.output().unwrap(), &scratch.0);
    assert_eq!(ran.code, 0);
    let first = ran.err.lines().next().unwrap();
    assert_snapshot!(first, @"warning: the environment variable DALLY_SCHEDULE has no effect: did you mean DALLY_SCHEDULES?");
}

#[test]
fn a_strategy_goes_on_from_a_file_and_a_file_of_another_program_is_refused() {
    let scratch = Scratch::new("learned");
    let learn = |protocol: &str, more: &[&str]| {
        let arguments = ["check", protocol, "--schedules", "40", "--learned", "what.learned"];
        dally(&[&arguments[..], more].concat(), &scratch)
    };
    let first = learn("stale-cache", &["--strategy", "ql"]);
    assert_eq!((first.code, first.err.as_str()), (0, ""));
    let second = learn("stale-cache", &["--strategy", "ql"]);
    assert_eq!((second.code, second.err.as_str()), (0, ""));
    let refused = [
        learn("chord", &["--strategy", "ql"]),
        learn("stale-cache", &["--bug", "stale-read", "--strategy", "ql"]),
        learn("stale-cache", &["--strategy", "ql-i"]),
        learn("stale-cache", &["--strategy", "random"]),
        learn("stale-cache", &["--search", "ses"]),
    ];
    assert!(refused.iter().all(|refused| refused.code == 2));
    assert_snapshot!(refused.map(|refused| refused.err).join("\n"));
}
