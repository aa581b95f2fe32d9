//! Findings on disk: there when they are needed, whole, and under names that any system takes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use dally_core::{Bug, Problem, Schedule};
use dally_report::Store;

use crate::findings;

/// A directory of this test's own that does not exist yet.
fn fresh(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    directory
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_finding_is_saved_as_a_schedule_and_a_trace() {
    let directory = fresh("saved").join("deep").join("down");
    let (finding, run, about) = findings::two_phase_commit();
    let path = Store::new(&directory).save(&about.program, &finding, &run).unwrap();
    let cause = finding.bug.cause();
    assert_eq!(path, directory.join(format!("two-phase-commit-{cause}.schedule")));
    let names = ["json", "schedule"].map(|kind| format!("two-phase-commit-{cause}.{kind}"));
    assert_eq!(files(&directory), names);
    let read = fs::read_to_string(&path).unwrap();
    assert_eq!(Schedule::parse(&read).as_ref(), Ok(&finding.schedule));
    let json = fs::read_to_string(path.with_extension("json")).unwrap();
    assert_eq!(json, dally_report::json::finding(&finding, &run));
}

#[test]
fn the_shrunk_finding_takes_the_place_of_the_raw_one() {
    let directory = fresh("shrunk");
    let store = Store::new(&directory);
    let (raw, run, about) = findings::two_phase_commit();
    let first = store.save(&about.program, &raw, &run).unwrap();
    let mut shrunk = raw.clone();
    shrunk.schedule.choices.truncate(5);
    let second = store.save(&about.program, &shrunk, &run).unwrap();
    assert_eq!(first, second);
    assert_eq!(files(&directory).len(), 2);
    let read = fs::read_to_string(second).unwrap();
    assert_eq!(Schedule::parse(&read), Ok(shrunk.schedule));
}

#[test]
fn another_cause_has_files_of_its_own() {
    let directory = fresh("causes");
    let store = Store::new(&directory);
    let (finding, run, about) = findings::two_phase_commit();
    store.save(&about.program, &finding, &run).unwrap();
    let mut other = finding;
    other.bug = Bug::new(Problem::Deadlock { waiting: Vec::new() });
    store.save(&about.program, &other, &run).unwrap();
    assert_eq!(files(&directory).len(), 4);
}

#[test]
fn any_program_has_a_file_name_and_no_two_share_one() {
    let store = Store::new("findings");
    let bug = Bug::new(Problem::Deadlock { waiting: Vec::new() });
    let long = "x".repeat(10_000);
    let longer = "x".repeat(10_001);
    let programs = [
        "raft-v1",
        "a::b",
        "a.b",
        "a/b",
        "a\\b",
        "a b",
        "",
        ".",
        "..",
        "../../etc/passwd",
        "-rf",
        "C:",
        "nul",
        "é",
        "漢字",
        "a\nb",
        "a\0b",
        &long,
        &longer,
    ];
    let mut seen = BTreeSet::new();
    for program in programs {
        let path = store.path(program, &bug);
        assert_eq!(path.parent(), Some(Path::new("findings")), "{program:?}");
        let name = path.file_name().unwrap().to_str().unwrap();
        let plain = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
        assert!(name.chars().all(plain) && !name.starts_with(['.', '-']), "{program:?}: {name}");
        assert!(name.len() < 160, "{program:?}: {name}");
        assert!(seen.insert(name.to_owned()), "{program:?}: {name}");
    }
}

#[test]
fn threads_that_save_at_once_leave_whole_files() {
    let directory = fresh("threads");
    let store = Store::new(&directory);
    let (finding, run, about) = findings::long();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let path = store.save(&about.program, &finding, &run).unwrap();
                    let read = fs::read_to_string(path).unwrap();
                    assert_eq!(Schedule::parse(&read).as_ref(), Ok(&finding.schedule));
                }
            });
        }
    });
    assert_eq!(files(&directory).len(), 2);
}

#[test]
fn a_directory_that_cannot_be_had_is_named_with_the_reason() {
    let directory = fresh("not-a-directory");
    fs::write(&directory, "a file").unwrap();
    let (finding, run, about) = findings::two_phase_commit();
    let error = Store::new(&directory).save(&about.program, &finding, &run).unwrap_err();
    let text = error.to_string().replace(&directory.display().to_string(), "DIR");
    insta::assert_snapshot!(text, @"cannot save the finding in the directory `DIR`: it is a file; make it a directory that can be written to, or name another one");
    fs::remove_file(directory).unwrap();
}

#[test]
fn a_failed_save_leaves_no_drafts() {
    let directory = fresh("drafts");
    let store = Store::new(&directory);
    let (finding, run, about) = findings::two_phase_commit();
    let path = store.path(&about.program, &finding.bug);
    fs::create_dir_all(path.join("in the way")).unwrap();
    let error = store.save(&about.program, &finding, &run).unwrap_err();
    assert!(error.to_string().starts_with("cannot save the finding in the directory `"));
    assert_eq!(files(&directory).len(), 1);
}

const FULL: &str = "DALLY_TEST_FULL_DISK";

/// Does nothing unless the test below starts it with a bound on the size of files.
#[test]
#[ignore = "needs a bound on the size of files: run by the test below"]
fn child_that_saves_a_shrunk_finding() {
    let Some(directory) = std::env::var_os(FULL) else { return };
    let (mut finding, run, about) = findings::two_phase_commit();
    finding.schedule.choices.truncate(5);
    let saved = Store::new(directory).save(&about.program, &finding, &run);
    assert!(saved.unwrap_err().to_string().contains("cannot save the finding"));
}

/// A disk that is full takes the schedule, which is small, and not the trace.
#[cfg(unix)]
#[test]
fn a_full_disk_never_leaves_a_schedule_and_a_trace_that_do_not_belong_together() {
    let directory = fresh("full-disk");
    let (finding, run, about) = findings::two_phase_commit();
    let path = Store::new(&directory).save(&about.program, &finding, &run).unwrap();
    let both = || [path.clone(), path.with_extension("json")].map(|path| fs::read(path).unwrap());
    let before = both();
    // Files of at most 4 blocks of 512 bytes.
    let [schedule, trace] = &before;
    assert!(schedule.len() < 2_048 && trace.len() > 2_048, "{} {}", schedule.len(), trace.len());
    let child = "store::child_that_saves_a_shrunk_finding";
    let script = format!("trap '' XFSZ; ulimit -f 4; exec \"$0\" --exact {child} --ignored");
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env(FULL, &directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(both(), before, "the files of the earlier finding are as they were");
    assert_eq!(files(&directory).len(), 2);
}
