//! Strategies that learn, and the file that they go on from.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dally_search::{Ended, Options, Report, StrategyKind};

use crate::programs::{Do, Scripts, check, options, scripts};

/// Where a test keeps its file; nothing is there at first.
fn file(test: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("dally-{}-{test}", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

/// Three workers that add to a counter and forget it when a coin says so: the counter is seldom
/// high.
fn climbing() -> Arc<Scripts> {
    let climb: Vec<Do> =
        (0..5).flat_map(|_| [Do::Choose(2), Do::Add(0, 1), Do::Store(1, 0)]).collect();
    scripts([&climb, &climb, &[Do::Store(0, 0); 4]])
}

fn learn(program: &Arc<Scripts>, kind: &str, schedules: u64, file: Option<&Path>) -> Report {
    let strategy = kind.parse::<StrategyKind>().unwrap().build(0, 1_000);
    let learned = file.map(Path::to_owned);
    let report = check(
        program,
        Options {
            strategy,
            schedules,
            learned,
            seed: 5,
            keep_going: true,
            observe_every: 1,
            ..options()
        },
    );
    report.without_times()
}

#[test]
fn a_run_that_goes_on_from_a_file_learns_what_one_long_run_learns() {
    for kind in ["ql", "bonus-max"] {
        goes_on(kind);
    }
}

fn goes_on(kind: &str) {
    let program = climbing();
    let (halves, whole) = (file(&format!("{kind}-halves")), file(&format!("{kind}-whole")));
    assert_eq!(learn(&program, kind, 48, Some(&halves)).notes, [""; 0]);
    let second = learn(&program, kind, 80, Some(&halves));
    let long = learn(&program, kind, 128, Some(&whole));
    assert_eq!(second.schedules, 80);
    assert_eq!(fs::read(&halves).unwrap(), fs::read(&whole).unwrap());
    // The schedules are those of the long run, not the first ones over again.
    let first = learn(&program, kind, 48, None);
    assert_eq!(first.steps + second.steps, long.steps);
    let _ = (fs::remove_file(halves), fs::remove_file(whole));
}

#[test]
fn what_was_learnt_does_not_depend_on_the_threads() {
    let program = climbing();
    let bytes = |threads| {
        let path = file(&format!("threads-{threads}"));
        let strategy = "ql".parse::<StrategyKind>().unwrap().build(0, 1_000);
        let learned = Some(path.clone());
        check(&program, Options { strategy, schedules: 130, threads, learned, ..options() });
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        bytes
    };
    let one = bytes(1);
    assert_eq!(one, bytes(2));
    assert_eq!(one, bytes(5));
}

#[test]
fn learning_shows_more_than_chance() {
    let program = climbing();
    let seen = |kind| learn(&program, kind, 400, None).observations;
    let [random, ql, bonus] = ["random", "ql", "bonus-max"].map(seen);
    assert!(ql > random && bonus > random, "random {random}, ql {ql}, bonus-max {bonus}");
}

/// What a run says of a file that it does not go on from.
fn refused(kind: &str, program: &str, path: &Path) -> String {
    refused_with(kind, program, &[], path)
}

fn refused_with(kind: &str, program: &str, settings: &[(&str, &str)], path: &Path) -> String {
    let strategy = kind.parse::<StrategyKind>().unwrap().build(0, 1_000);
    let (program, learned) = (program.to_owned(), Some(path.to_owned()));
    let settings =
        settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let report = check(&climbing(), Options { strategy, program, settings, learned, ..options() });
    assert_eq!((report.ended, report.schedules), (Ended::Failed, 0));
    report.notes.join("\n").replace(&path.display().to_string(), "FILE")
}

#[test]
fn a_file_that_does_not_fit_is_refused_before_anything_is_run() {
    let path = file("refused");
    learn(&climbing(), "ql", 20, Some(&path));
    let good = fs::read(&path).unwrap();
    insta::assert_snapshot!(refused("ql", "another", &path), @r#"`FILE` was learnt of the program "test", and this is "another": name another file."#);
    insta::assert_snapshot!(refused("ql-c", "test", &path), @r#"`FILE` was learnt by the strategy "ql", and this is "ql-c": name another file."#);
    insta::assert_snapshot!(refused_with("ql", "test", &[("bug", "late")], &path), @r#"`FILE` was learnt with the settings "", and these are "bug=late": name another file."#);
    insta::assert_snapshot!(refused("random", "test", &path), @"The strategy random learns nothing that could be kept, so there is no use for the file `FILE`: leave it out, or choose a strategy that learns, such as ql.");
    let with = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        refused("ql", "test", &path)
    };
    insta::assert_snapshot!(with(b"# notes\n"), @"`FILE` is not a file of what a strategy has learnt: name another file.");
    insta::assert_snapshot!(with(&[b"dally-learned 7", &good[15..]].concat()), @"`FILE` was written by another version of Dally (format 7, this one reads 2). Delete it to start over.");
    let damaged = with(&good[..good.len() - 1]);
    insta::assert_snapshot!(damaged, @"`FILE` is damaged: bytes of it are missing or have changed. Delete it to start over.");
    for bit in 0..8 {
        for byte in (16..good.len()).step_by(997) {
            let mut changed = good.clone();
            changed[byte] ^= 1 << bit;
            assert_eq!(with(&changed), damaged, "bit {bit} of byte {byte}");
        }
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let unreadable = refused("ql", "test", &path);
    assert!(unreadable.starts_with("`FILE` could not be read: "), "{unreadable}");
    fs::remove_dir(path).unwrap();
}
