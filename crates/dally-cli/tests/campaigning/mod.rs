//! `dally campaign`: killed and gone on with, and what it prints.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use dally_campaign::Store;

use crate::command::{Scratch, command, dally, ran};
use crate::serving::Served;

/// Tests of a workspace that a campaign takes for its programs.
mod fixtures {
    use dally::tasks::sync::Mutex;
    use dally::tasks::{spawn, yield_now};

    /// In a campaign, and where it is explored by hand, an update is lost; elsewhere the test passes.
    #[dally::test(strategy = "random")]
    async fn lost_update() {
        let asked = ["DALLY_CAMPAIGN", "DALLY_EXPLORE"];
        let is_broken = asked.iter().any(|name| std::env::var_os(name).is_some());
        let count = std::sync::Arc::new(Mutex::new(0));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let count = std::sync::Arc::clone(&count);
                spawn(async move {
                    let read = *count.lock().await;
                    *count.lock().await = read + 1;
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let count = *count.lock().await;
        assert!(count == 2 || !is_broken, "an update was lost");
    }

    #[dally::test(strategy = "random", schedules = 20)]
    async fn nothing_happens() {
        yield_now().await;
    }
}

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

/// Waits until this log has grown or begun anew, for five seconds at most.
fn wait_for_writing(log: &Path) {
    let state = || std::fs::metadata(log).ok().map(|log| (log.len(), log.modified().ok()));
    let before = state();
    for _ in 0..5_000 {
        std::thread::sleep(Duration::from_millis(1));
        if state() != before {
            return;
        }
    }
}

#[test]
fn a_campaign_that_is_killed_at_any_moment_goes_on_with_nothing_lost_and_nothing_done_twice() {
    let scratch = Scratch::new("killed");
    let mut moments = 1_u64;
    let mut before = 0;
    for kill in 0..kills() {
        let mut command = command(&CAMPAIGN, &scratch.0);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Some are killed while they begin, some in the middle of a batch, some while one is written down.
        moments =
            moments.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match kill % 2 {
            0 => std::thread::sleep(Duration::from_millis(moments >> 33 & 1_023)),
            _ => {
                let log = scratch.0.join("campaign/campaign.sqlite-wal");
                (0..=moments >> 50 & 1).for_each(|_| wait_for_writing(&log));
                std::thread::sleep(Duration::from_micros(moments >> 33 & 8_191));
            }
        }
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
    let mut sqlite = Command::new("sqlite3");
    sqlite.args(["campaign/campaign.sqlite", "PRAGMA integrity_check"]).current_dir(&scratch.0);
    match sqlite.output() {
        Ok(checked) => assert_eq!(checked.stdout, b"ok\n", "{checked:?}"),
        Err(why) => println!("sqlite3 was not asked: {why}"),
    }
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
    let in_order = told(&["run", "stale-cache", "--strategies", "dfs"]);
    assert!(in_order.contains("stale-cache cannot be run under dfs: "), "{in_order}");
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

/// Cargo, as a campaign of tests calls it: the tests of this very executable.
const CARGO: &str = r#"#!/bin/sh
echo "cargo $*" >> calls
case "$1" in
metadata) echo '{"packages": [{"name": "my-bank", "dependencies": [{"name": "dally"}], "targets": []}]}' ;;
*) exec "$TESTS" campaigning::fixtures ;;
esac
"#;

#[test]
fn the_tests_of_a_workspace_are_programs_each_in_a_process_of_its_own() {
    let scratch = Scratch::new("campaign-tests");
    let cargo = scratch.0.join("cargo");
    std::fs::write(&cargo, CARGO).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dally"));
        command.args(["dally", "campaign", "run", "--tests"]).args(arguments);
        command.current_dir(&scratch.0).env("CARGO", &cargo);
        command.env("TESTS", std::env::current_exe().unwrap());
        ran(command.output().unwrap(), &scratch.0)
    };
    let time = ["--time", "500ms", "--threads", "2", "--strategies", "ql,pos"];
    let first = run(&time);
    assert_eq!(first.code, 1, "{first:?}");
    let store = Store::look(&scratch.0.join("campaign")).unwrap();
    let cells: Vec<(String, String)> = store
        .cells()
        .unwrap()
        .iter()
        .map(|cell| (cell.cell.program.clone(), cell.cell.strategy.clone()))
        .collect();
    let names = ["lost_update", "nothing_happens"]
        .map(|name| format!("cli::campaigning::fixtures::{name}"));
    let expected = names.iter().flat_map(|name| ["ql", "pos"].map(|by| (name.clone(), by.into())));
    assert_eq!(cells, expected.collect::<Vec<(String, String)>>());
    let [found] = &store.findings().unwrap()[..] else { panic!("there is one bug: {first:?}") };
    assert_eq!(found.program, names[0]);
    let text = std::fs::read_to_string(&found.schedule).unwrap();
    let schedule = dally::contract::Schedule::parse(&text).unwrap();
    assert!(schedule.switches() <= 4, "it is shrunk: {text}");
    drop(store);
    // The next run looks whether the bug is there, and goes on.
    let second = run(&[&time[..], &["--serve"]].concat());
    assert_eq!(second.code, 1, "{second:?}");
    let store = Store::look(&scratch.0.join("campaign")).unwrap();
    let history = store.findings().unwrap().remove(0).history;
    let seen: Vec<&str> = history.iter().map(|seen| &*seen.what).collect();
    assert_eq!(seen, ["first seen", "seen"]);
    let calls = std::fs::read_to_string(scratch.0.join("calls")).unwrap();
    assert!(calls.contains("cargo test --tests --no-fail-fast --quiet\n"), "{calls}");
}

#[test]
fn the_report_shows_what_machines_have_reached_and_what_never_happened() {
    let scratch = Scratch::new("campaign-covered");
    let source = "event eDone;\nmachine Main {\n  start state Open { entry { if (choose(2) == 1) { \
                  goto Shut; } } on eDone goto Lost; }\n  state Shut { }\n  state Lost { }\n}\n\
                  test t [main=Main]: { Main };\n";
    std::fs::write(scratch.0.join("m.p"), source).unwrap();
    let run = ["campaign", "run", "m.p", "--strategies", "random", "--time", "100ms"];
    assert_eq!(dally(&run, &scratch).code, 0);
    assert_eq!(dally(&["campaign", "report"], &scratch).code, 0);
    let html = std::fs::read_to_string(scratch.0.join("campaign/report.html")).unwrap();
    for told in ["m.p: states of machines entered, ways taken", ">Lost never<", "Main.Lost"] {
        assert!(html.contains(told), "{told} in {html}");
    }
    let store = Store::look(&scratch.0.join("campaign")).unwrap();
    let batches = store.batches(store.cells().unwrap()[0].id).unwrap();
    assert_eq!(batches.last().unwrap().reached, Some((2, 1)));
}

#[test]
fn a_source_that_has_changed_is_not_gone_on_with() {
    let scratch = Scratch::new("campaign-changed");
    let source = |least: u32| {
        format!(
            "machine Main {{ start state S {{ entry {{ assert choose(3) >= {least}; }} }} }}\n\
             test t [main=Main]: {{ Main }};\n"
        )
    };
    let schedules = |least: u32, code: i32| -> Vec<(bool, u64)> {
        std::fs::write(scratch.0.join("m.p"), source(least)).unwrap();
        let run = ["campaign", "run", "m.p", "--strategies", "random", "--time", "100ms"];
        let told = dally(&run, &scratch);
        assert_eq!(told.code, code, "{told:?}");
        let store = Store::look(&scratch.0.join("campaign")).unwrap();
        let cells = store.cells().unwrap();
        cells.iter().map(|cell| (cell.is_old, cell.account.schedules)).collect()
    };
    let first = schedules(1, 1);
    let second = schedules(0, 0);
    assert_eq!((first.len(), second.len()), (1, 2));
    assert_eq!(second[0], (true, first[0].1), "what there is of the older source stays as it is");
    assert!(!second[1].0 && second[1].1 > 0);
    let history = dally(&["campaign", "findings"], &scratch).out;
    assert!(history.contains("fixed in run 2"), "{history}");
    let third = schedules(1, 1);
    assert!(third[0].1 > first[0].1 && third[1] == (true, second[1].1), "the first goes on");
}

#[test]
fn a_run_shows_how_far_it_is_on_a_page() {
    let scratch = Scratch::new("campaign-live");
    let run = ["campaign", "run", "stale-cache:stale-read", "--strategies", "random", "--serve"];
    let page = Served::by(&run, &scratch);
    let host = format!("127.0.0.1:{}", page.port);
    let get =
        |path: &str| page.ask("GET", &format!("/{}/{path}", page.token), &[("Host", &host)], "");
    let shown = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        let (status, text) = get("progress");
        let shown: serde_json::Value =
            serde_json::from_str(&text).ok().filter(|_| status == 200)?;
        (shown["schedules"].as_u64() > Some(0)).then_some(shown)
    });
    let shown = shown.expect("there was a batch within ten seconds");
    assert_eq!(shown["cells"][0]["program"], "stale-cache:stale-read");
    assert_eq!(shown["cells"][0]["findings"], 1);
    assert_eq!(shown["new_findings"], 1);
    let (status, report) = get("report");
    assert!(status == 200 && report.contains("first seen in run 1"), "{report}");
    assert_eq!(get("campaign.sqlite").0, 404);
    assert_eq!(
        page.ask("POST", &format!("/{}/progress", page.token), &[("Host", &host)], "").0,
        405
    );
}
