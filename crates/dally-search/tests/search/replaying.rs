//! A schedule recorded on one program and replayed on another.

use std::sync::Arc;
use std::time::Duration;

use dally_core::{Bug, Choice, Schedule, Tag, WorkerId};
use dally_search::{Mode, Replayed, replay};
use insta::assert_snapshot;

use crate::programs::{Do, Scripts, only_finding, options, scripts, short};

fn replayed(program: &Arc<Scripts>, schedule: &Schedule, mode: Mode) -> Replayed {
    replay(program.clone(), schedule, mode, 1, Duration::from_secs(10))
}

/// Records the failure of one program and replays it on another, both ways: the message of the
/// exact replay, and the choices of the best effort with what came of them.
fn moved(from: &Arc<Scripts>, to: &Arc<Scripts>) -> String {
    let schedule = only_finding(from, options()).schedule;
    let exact = replayed(to, &schedule, Mode::Exact).left_at.expect("another program");
    let effort = replayed(to, &schedule, Mode::BestEffort);
    assert_eq!(effort.left_at.as_ref(), Some(&exact));
    let bug = effort.bug.map_or("no bug".into(), |bug| bug.kind().to_string());
    let choices = |schedule: &Schedule| short(&schedule.choices);
    let text = format!("{} -> {} ({bug})\n{exact}", choices(&schedule), choices(&effort.schedule));
    without_place(&text)
}

/// A text without the places of panics in the source of these tests.
fn without_place(text: &str) -> String {
    let mut parts = text.split(" at crates/");
    let mut words = parts.next().unwrap_or("").to_owned();
    for part in parts {
        words += part.trim_start_matches(|c: char| !c.is_whitespace() && c != '`');
    }
    words
}

const ADD: Do = Do::Add(0, 1);
const FAIL: Do = Do::PanicIf(0, 2);

#[test]
fn a_worker_that_cannot_step_any_more_is_named() {
    let from = scripts([&[ADD, Do::Lock(1), ADD, FAIL], &[Do::Lock(2)]]);
    let to = scripts([&[ADD, Do::Receive, ADD, FAIL], &[Do::Lock(2)]]);
    assert_snapshot!(moved(&from, &to), @r#"
        0 0 0 0 -> 0 (no bug)
        step 2: the recording goes on with worker 0; could step then and cannot now: 0
    "#);
}

#[test]
fn a_worker_that_is_new_is_named() {
    let from = scripts([&[ADD, ADD, FAIL]]);
    let to = scripts([&[ADD, ADD, FAIL], &[ADD]]);
    assert_snapshot!(moved(&from, &to), @r#"
        0 0 0 -> 0 0 0 (panic)
        step 1: the recording goes on with worker 0; can step now and could not then: Script (1)
    "#);
}

#[test]
fn a_worker_that_is_gone_is_named_by_its_id() {
    let from = scripts([&[ADD], &[ADD, FAIL]]);
    let to = scripts([&[ADD]]);
    assert_snapshot!(moved(&from, &to), @r#"
        0 1 1 -> 0 (no bug)
        step 1: the recording goes on with worker 0; could step then and cannot now: 1
    "#);
}

#[test]
fn other_values_are_named() {
    let from = scripts([&[ADD, ADD, Do::Choose(3), FAIL]]);
    let to = scripts([&[ADD, ADD, Do::Choose(2), FAIL]]);
    assert_snapshot!(moved(&from, &to), @r#"
        0 0 0 =0 0 -> 0 0 0 =0 0 (panic)
        step 3: the step of Script (0) asks for one of 2 values, in the recording for one of 3 values
    "#);
    let more = scripts([&[ADD, Do::Choose(2), ADD, FAIL]]);
    assert_snapshot!(moved(&from, &more), @r#"
        0 0 0 =0 0 -> 0 0 =0 0 0 (panic)
        step 2: the step of Script (0) asks for one of 2 values, and the recording goes on with the next step
    "#);
    let fewer = scripts([&[ADD, ADD, ADD, FAIL, ADD]]);
    assert_snapshot!(moved(&from, &fewer), @r#"
        0 0 0 =0 0 -> 0 0 0 0 (no bug)
        step 3: the recording makes 1 further choice inside the step of Script (0), the program none
    "#);
    let fault = scripts([&[ADD, ADD, Do::Fault(1), FAIL]]);
    assert_snapshot!(moved(&from, &fault), @r#"
        0 0 0 =0 0 -> 0 0 0 =0 0 (panic)
        step 3: the step of Script (0) asks for one of 2 values (a fault), in the recording for one of 3 values
    "#);
}

#[test]
fn those_who_can_step_are_all_named_unless_they_are_many() {
    let stranger = vec![Choice::Worker(WorkerId::root(99))];
    let schedule =
        Schedule { choices: stranger, bug: Some(Bug::panic("x").record()), ..Schedule::default() };
    let told = |workers: usize| {
        let program = Arc::new(Scripts(vec![vec![ADD]; workers]));
        replayed(&program, &schedule, Mode::Exact).left_at.unwrap().to_string()
    };
    assert_snapshot!(told(6), @"step 1: worker 99 steps in the recording and cannot step now: only Script (0), Script (1), Script (2), Script (3), Script (4), Script (5) can");
    assert_snapshot!(told(10), @"step 1: worker 99 steps in the recording and cannot step now: only Script (0), Script (1), Script (2), Script (3), Script (4), 5 more can");
}

#[test]
fn a_message_that_is_not_there_is_named() {
    let receive = [Do::Receive, Do::Receive, Do::PanicIfRegister(1)];
    let from = scripts([&receive, &[Do::Send(0, 1)], &[Do::Send(0, 2)]]);
    let mut schedule = only_finding(&from, options()).schedule;
    let worker = |n| Choice::Worker(WorkerId::root(n));
    let delivery = dally_core::MessageId { sender: WorkerId::root(2), number: 7 };
    schedule.choices =
        vec![worker(1), worker(2), worker(0), Choice::Delivery(delivery), worker(0), worker(0)];
    schedule.enabled.clear();
    let exact = replayed(&from, &schedule, Mode::Exact);
    assert_snapshot!(exact.left_at.unwrap(), @"step 3: message 2#7 is delivered in the step of Script (0) in the recording and is not there now");
    let effort = replayed(&from, &schedule, Mode::BestEffort);
    assert_eq!(short(&effort.schedule.choices), "1 2 0 <1#0 0 0");
}

#[test]
fn a_program_that_ends_before_the_recording_and_one_that_goes_on_are_told_apart() {
    let from = scripts([&[ADD, ADD, FAIL]]);
    assert_snapshot!(moved(&from, &scripts([&[ADD, ADD]])), @r#"
        0 0 0 -> 0 0 (no bug)
        step 2: the program ends before the recording, which goes on for 1 step: it ends without a bug
    "#);
    assert_snapshot!(moved(&from, &scripts([&[ADD, ADD, ADD, ADD]])), @r#"
        0 0 0 -> 0 0 0 (no bug)
        step 3: the recording ends here with `panic: counter 0 is 2`, and the program goes on without it
    "#);
    assert_snapshot!(moved(&from, &scripts([&[ADD, ADD, ADD]])), @r#"
        0 0 0 -> 0 0 0 (no bug)
        step 3: the recording ended in `panic: counter 0 is 2`, now it ends without a bug
    "#);
    assert_snapshot!(moved(&from, &scripts([&[Do::Add(0, 2), FAIL]])), @r#"
        0 0 0 -> 0 0 (panic)
        step 2: the program ends before the recording, which goes on for 1 step: it ends in panic: counter 0 is 2
    "#);
}

#[test]
fn a_schedule_without_enabled_sets_is_followed_by_its_choices_alone() {
    let from = scripts([&[ADD, ADD, FAIL]]);
    let mut schedule = only_finding(&from, options()).schedule;
    schedule.enabled.clear();
    let to = scripts([&[ADD, ADD, FAIL], &[ADD]]);
    let again = replayed(&to, &schedule, Mode::Exact);
    assert_eq!((again.left_at, again.bug.is_some()), (None, true));
}

#[test]
fn nonsense_is_answered_with_a_difference() {
    let program = scripts([&[ADD, ADD]]);
    let value = Choice::Value { index: 5, of: 2, tag: Tag::Program };
    let stranger = Choice::Worker(WorkerId::root(9).child(3));
    for choices in [vec![value], vec![stranger], vec![value, stranger, value], vec![]] {
        let schedule =
            Schedule { choices, bug: Some(Bug::panic("x").record()), ..Schedule::default() };
        for mode in [Mode::Exact, Mode::BestEffort] {
            let again = replayed(&program, &schedule, mode);
            assert!(again.left_at.is_some() && again.bug.is_none());
        }
    }
    let empty = replayed(&program, &Schedule::default(), Mode::Exact);
    assert_eq!((empty.left_at, empty.trace.steps.len()), (None, 0));
}
