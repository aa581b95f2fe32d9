//! `dally campaign`: killed and gone on with, and what it prints.

use std::process::Stdio;
use std::time::Duration;

use dally_campaign::Store;

use crate::command::{Scratch, command, dally};

/// How often a campaign is killed: `DALLY_KILLS=200` for a long run.
fn kills() -> u64 {
    std::env::var("DALLY_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8)
}

const CAMPAIGN: [&str; 8] = [
    "campaign",
    "run",
    "stale-cache:stale-read",
    "calculator",
    "--strategies",
    "random,pos",
    "--threads",
    "2",
];

#[test]
fn a_campaign_that_is_killed_at_any_moment_goes_on_with_nothing_lost_and_nothing_done_twice() {
    let scratch = Scratch::new("killed");
    let mut moments = 1_u64;
    let mut before = 0;
    for kill in 0..kills() {
        let mut command = command(&CAMPAIGN, &scratch.0);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Some are killed while they begin, some between batches, some later.
        moments =
            moments.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(moments >> 33 & 1_023));
        child.kill().unwrap();
        child.wait().unwrap();
        let Ok(store) = Store::look(&scratch.0.join("campaign")) else {
            assert_eq!(before, 0, "kill {kill}: the database is gone");
            continue;
        };
        let cells = store.cells().unwrap();
        let schedules = cells.iter().map(|cell| cell.account.schedules).sum();
        assert!(schedules >= before, "kill {kill}: schedules are lost");
        before = schedules;
    }
    let last = dally(&[&CAMPAIGN[..], &["--time", "1s"]].concat(), &scratch);
    assert_eq!(last.code, 1, "{last:?}");
    let store = Store::look(&scratch.0.join("campaign")).unwrap();
    for figures in store.cells().unwrap() {
        let report = figures.report.unwrap();
        let part = report.part.unwrap();
        assert_eq!(
            (part.batch.first, part.batch.count),
            (0, report.schedules),
            "no gap, no overlap"
        );
        let batches = store.batches(figures.id).unwrap();
        assert_eq!(batches.last().unwrap().schedules, report.schedules);
        let (bug, strategy) = (figures.cell.program.split_once(':'), &figures.cell.strategy);
        // What one run of the same schedules says.
        let count = report.schedules.to_string();
        let program = bug.map_or(&*figures.cell.program, |named| named.0);
        let mut arguments = vec!["check", program, "--strategy", strategy, "--schedules", &count];
        arguments.extend(["--keep-going", "--shrink=false", "--format", "json", "--out", "once"]);
        arguments.extend(bug.iter().flat_map(|named| ["--bug", named.1]));
        let once = dally(&arguments, &scratch);
        let once: serde_json::Value = serde_json::from_str(&once.out).unwrap();
        assert_eq!(once["schedules"], report.schedules);
        assert_eq!(once["steps"], report.steps);
        let times = |findings: &serde_json::Value| -> Vec<u64> {
            let findings = findings.as_array().map_or(&[][..], Vec::as_slice);
            findings.iter().map(|finding| finding["occurrences"].as_u64().unwrap()).collect()
        };
        let kept: Vec<u64> = report.findings.iter().map(|finding| finding.occurrences).collect();
        assert_eq!(times(&once["findings"]), kept, "{:?}", figures.cell);
    }
    let findings = store.findings().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        let replayed = dally(&["replay", finding.schedule.to_str().unwrap()], &scratch);
        assert_eq!(replayed.code, 1, "{finding:?}");
        let seen = finding.history.iter().filter(|seen| seen.what == "first seen").count();
        assert_eq!(seen, 1, "{finding:?}");
    }
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_written() {
    let scratch = Scratch::new("campaign-refused");
    let told = |arguments: &[&str]| {
        let ran = dally(&[&["campaign"], arguments].concat(), &scratch);
        assert_eq!((ran.code, &*ran.out), (2, ""));
        ran.err
    };
    assert!(told(&["show"]).contains("there is no campaign in `campaign`"));
    let learning = told(&["run", "stale-cache", "--strategies", "ql"]);
    assert!(learning.contains("stale-cache cannot be run under ql: "), "{learning}");
    assert!(told(&["run", "stale-cache", "stale-cache"]).contains("names `stale-cache` twice"));
    std::fs::write(scratch.0.join("plan.toml"), "time = \"1s\"\nprogramm = []\n").unwrap();
    assert!(told(&["run", "plan.toml"]).contains("unknown field `programm`"));
    std::fs::write(scratch.0.join("plan.toml"), "time = \"soon\"\n[[program]]\nname = \"paxos\"\n")
        .unwrap();
    assert!(told(&["run", "plan.toml"]).contains("in the plan, time is `soon`: "));
    assert!(!scratch.0.join("campaign").exists());
}

#[test]
fn a_plan_is_run_shown_reported_and_replayed() {
    let scratch = Scratch::new("campaign-plan");
    let plan = "time = \"300ms\"\nstrategies = [\"random\"]\n[[program]]\nname = \"stale-cache\"\nbug = \"stale-read\"\n";
    std::fs::write(scratch.0.join("plan.toml"), plan).unwrap();
    let ran = dally(&["campaign", "run", "plan.toml", "--dir", "night"], &scratch);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out.contains("1 new finding") && ran.out.contains("stale-cache:stale-read  random"),
        "{}",
        ran.out
    );
    let findings = dally(&["campaign", "findings", "--dir", "night"], &scratch).out;
    assert!(findings.contains("first seen in run 1"), "{findings}");
    let replayed = dally(&["campaign", "replay", "--dir", "night"], &scratch);
    assert_eq!(replayed.code, 1);
    assert!(replayed.out.contains(" shows: "), "{}", replayed.out);
    let page = dally(&["campaign", "report", "--dir", "night"], &scratch);
    assert_eq!(page.out, "night/report.html\n");
    let html = std::fs::read_to_string(scratch.0.join("night/report.html")).unwrap();
    assert!(html.contains("<svg") && html.contains("first seen in run 1"));
}
