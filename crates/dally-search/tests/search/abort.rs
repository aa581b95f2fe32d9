//! A program that panics while it unwinds takes the process with it, but not the finding.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use dally_core::Finding;
use dally_search::{Sink, run};

use crate::programs::{Do, options, scripts, short};

const FILE: &str = "DALLY_TEST_ABORT_FILE";

/// Writes each finding to a file.
struct Writer(PathBuf);

impl Sink for Writer {
    fn found(&self, finding: &Finding) {
        let Finding { bug, schedule, found_at, notes, .. } = finding;
        let text = format!(
            "{} in schedule {found_at}\n{}\n{}\n{}\n",
            bug.kind(),
            dally_report::text::bug(bug),
            short(&schedule.choices),
            notes.join("\n"),
        );
        fs::write(&self.0, text).expect("a file that can be written");
    }
}

/// Does nothing unless the test below starts it in a process of its own.
#[test]
#[ignore = "aborts the process: run by the test below"]
fn child() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let program = scripts([&[Do::Add(0, 1), Do::Add(0, 1), Do::PanicTwice]]);
    run(program, options(), Arc::new(Writer(file.into())));
}

#[test]
fn a_finding_is_saved_before_the_process_aborts() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("aborted.txt");
    let _ = fs::remove_file(&file);
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "abort::child", "--ignored"])
        .env(FILE, &file)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(!status.success());
    let saved = fs::read_to_string(&file).expect("the finding was saved");
    let lines: Vec<&str> = saved.lines().collect();
    assert_eq!(lines[..2], ["panic in schedule 1", "first"]);
    assert!(lines[2].starts_with("and then, in a destructor at "), "{saved}");
    assert!(lines[2].ends_with(": second"), "{saved}");
    assert_eq!(lines[3], "0 0 0");
    assert!(lines[4].contains("Rust then aborts the process"));
}
