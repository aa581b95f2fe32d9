//! Schedule files after they were written: edited, replaced and replayed with options.

use insta::assert_snapshot;

use crate::command::{Scratch, dally};

/// The schedule of a deadlock: 11 steps of a pool of connections.
fn deadlock(scratch: &Scratch) -> String {
    let check = ["check", "connection-pool", "--bug", "deadlock", "--strategy", "random"];
    assert_eq!(dally(&[&check[..], &["--out", "."]].concat(), scratch).code, 1);
    std::fs::read_to_string(&scratch.schedules()[0]).unwrap()
}

/// Replays a schedule with its checksum switched off; the exit code, and what is said.
fn replayed(schedule: &str, scratch: &Scratch) -> (i32, String) {
    let checksum = schedule.lines().find(|line| line.starts_with("checksum: ")).unwrap();
    let file = scratch.0.join("edited.txt");
    std::fs::write(&file, schedule.replace(checksum, "checksum: none")).unwrap();
    let ran = dally(&["replay", &file.display().to_string()], scratch);
    (ran.code, ran.err)
}

#[test]
fn a_recording_that_was_cut_off_by_hand_is_incomplete_unless_its_header_says_so_too() {
    let scratch = Scratch::new("cut-by-hand");
    let good = deadlock(&scratch);
    let cut: String = good.lines().take(11).map(|line| format!("{line}\n")).collect();
    let (code, said) = replayed(&cut, &scratch);
    assert_eq!(code, 2);
    assert_snapshot!(said, @"error: `DIR/edited.txt`, line 11: the file ends here, after 2 of the 11 choices that its header promises, so the recording is incomplete; the file was edited or cut off: use it as Dally wrote it, or find the bug again (to replay what is left, write `choices: 2`)");
    let (code, said) = replayed(&cut.replace("choices: 11", "choices: 2"), &scratch);
    assert_eq!(code, 0);
    assert_snapshot!(said, @"The bug does not show: the schedule was edited, or the bug is fixed. It was recorded as: deadlock: 3 waiting workers");
}

#[test]
fn a_value_that_is_out_of_range_is_told_with_the_range() {
    let scratch = Scratch::new("out-of-range");
    let good = deadlock(&scratch);
    let (code, said) =
        replayed(&good.replacen("\n0 of 0\n", "\n0 of 0\n  value 7 of 2\n", 1), &scratch);
    assert_eq!(code, 2);
    assert_snapshot!(said, @"error: `DIR/edited.txt`, line 11: `value 7 of 2`: 7 is out of range, values are 0 to 1; the file was edited or cut off: use it as Dally wrote it, or find the bug again");
}

#[test]
fn an_edited_schedule_that_does_not_fit_is_not_blamed_on_the_program() {
    let scratch = Scratch::new("does-not-fit");
    let good = deadlock(&scratch);
    let (code, said) = replayed(&good.replacen("\n0.1", "\n0.7", 1), &scratch);
    assert_eq!(code, 2);
    assert_snapshot!(said, @"The schedule was edited or the program has changed. The replay ended at step 2: worker 0.7 steps in the recording and cannot step now: only task:47 (0.0), task:47 (0.1) can. With --best-effort it goes on as far as it can.");
}

#[test]
fn rounds_are_for_loops() {
    let scratch = Scratch::new("rounds");
    deadlock(&scratch);
    let file = scratch.schedules()[0].display().to_string();
    let ran = dally(&["replay", &file, "--rounds", "3"], &scratch);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert_snapshot!(ran.err, @"
    error: --rounds is for the schedule of a livelock, which leads into a loop, and this one is of another outcome: leave it out
      the schedule was recorded with: deadlock: 3 waiting workers
    ");
}

#[test]
fn a_schedule_of_an_earlier_run_is_replaced_by_another_of_the_same_bug_and_that_is_told() {
    let scratch = Scratch::new("replaced");
    let check = ["check", "connection-pool", "--bug", "deadlock", "--out", "."];
    let found = |seed: &str| {
        let ran =
            dally(&[&check[..], &["--strategy", "random", "--seed", seed]].concat(), &scratch);
        assert_eq!(ran.code, 1);
        (ran.err, std::fs::read_to_string(&scratch.schedules()[0]).unwrap())
    };
    let (said, first) = found("0");
    assert_eq!(said, "");
    // The same schedule again: nothing is lost.
    assert_eq!(found("0"), (String::new(), first.clone()));
    let (said, second) = found("1");
    assert_ne!(first, second);
    assert_eq!(scratch.schedules().len(), 1);
    assert_snapshot!(said, @"note: ./connection-pool-deadlock-5f86e45d.schedule held another schedule of the same bug, from an earlier run, which was replaced; to keep a schedule, copy it elsewhere");
}
