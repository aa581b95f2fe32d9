//! The words for each event of a trace, and the source that is quoted.

use dally_core::{
    Bug, Choice, Discard, Event, Finding, Location, MessageId, Report, Tag, Text, Transition,
    WorkerId,
};
use dally_report::{About, text};

use crate::findings::Play;

/// The lines of the table of steps, up to the bug.
fn table(finding: &Finding) -> String {
    let text = text::finding(finding, &Report::new("test", ""), &About::new("test"));
    let table = text.split(":\n\n").nth(1).unwrap();
    table.lines().take_while(|line| !line.starts_with(" BUG")).collect::<Vec<_>>().join("\n")
}

fn bug() -> Bug {
    Bug::panic("boom")
}

#[test]
fn pushed_states_are_told_with_those_below() {
    let machine = WorkerId::root(0);
    let mut play = Play::cast([(machine, "Door")]);
    let change = |how, to| Event::Changed { how, to: Text::Str(to) };
    play.step(machine).tell(change(Transition::Start, "Closed"));
    play.tell(change(Transition::Push, "Locking"));
    play.tell(change(Transition::Goto, "Locked"));
    play.tell(Event::Raised { payload: Text::Str("Unlock") });
    play.tell(change(Transition::Pop, "Closed"));
    play.tell(change(Transition::Push, "Opening"));
    let finding = play.ends("test", bug());
    insta::assert_snapshot!(table(&finding), @"
    1  Door 0  starts in Closed
               pushes Locking on top of Closed
               Locking -> Locked
               raises Unlock
               pops Locked back to Closed
               pushes Opening on top of Closed
    ");
    assert!(
        text::finding(&finding, &Report::new("test", ""), &About::new("test"))
            .contains(" Door 0  in Closed > Opening\n")
    );
}

#[test]
fn a_wake_up_is_told_unless_another_event_implies_it() {
    let [a, b] = [0, 1].map(WorkerId::root);
    let mut play = Play::cast([(a, "notifier"), (b, "waiter")]);
    play.step(b).tell(Event::Blocked { on: Text::Str("be notified") });
    play.step(a).sends(b, "Ping");
    play.step(a).tell(Event::Enabled { worker: b });
    play.tell(Event::Enabled { worker: a });
    play.step(b).tell(Event::Halted { worker: b });
    insta::assert_snapshot!(table(&play.ends("test", bug())), @"
    ... 1 step without a consequence left out
      1  waiter 1    waits to be notified
      3  notifier 0  wakes waiter 1
      4  waiter 1    halts
    ");
}

#[test]
fn faults_stand_out_and_no_fault_is_no_news() {
    let [a, b] = [0, 1].map(WorkerId::root);
    let mut play = Play::cast([(a, "A"), (b, "B")]);
    let first = play.step(a).chooses(0, 2, Tag::Fault).sends(b, "M(1)");
    let copy = play.duplicated(first);
    play.step(a).chooses(1, 4, Tag::Fault);
    play.step(b).receives(copy);
    play.step(b).tell(Event::Discarded { message: first, why: Discard::Lost });
    play.step(a).tell(Event::Halted { worker: b });
    let last = play.sends(b, "M(2)");
    play.tell(Event::Discarded { message: last, why: Discard::Gone });
    insta::assert_snapshot!(table(&play.ends("test", bug())), @"
    1  A 0  sends M(1) to B 1 (lost, step 4)
            FAULT: this message is duplicated (-> step 3)
    2       FAULT: chooses 1 from 0..4
    3  B 1  receives M(1) from A 0 (the double, step 1)
    4       FAULT: M(1) to B 1 is lost
    5  A 0  halts B 1
            sends M(2) to B 1 (dropped: the receiver is gone)
    ");
}

#[test]
fn timers_fire_and_are_cancelled() {
    let machine = WorkerId::root(0);
    let (first, second) = (machine.timer(0), machine.timer(1));
    let mut play = Play::cast([(machine, "Node"), (first, "Heartbeat")]);
    play.step(machine).tell(Event::TimerSet { timer: first, payload: Text::Str("Heartbeat") });
    play.tell(Event::TimerSet { timer: second, payload: Text::Str("Election") });
    play.step(first);
    let tick = play.sends(machine, "Heartbeat");
    play.step(machine).tell(Event::TimerCancelled { timer: first });
    play.tell(Event::Discarded { message: tick, why: Discard::Cancelled });
    play.step(second);
    let tick = play.sends(machine, "Election");
    play.step(machine).receives(tick);
    insta::assert_snapshot!(table(&play.ends("test", bug())), @"
    1  Node 0          sets timer 0.t0: Heartbeat
                       sets timer 0.t1: Election
    2  Heartbeat 0.t0  fires Heartbeat to Node 0 (dropped: the timer was cancelled, step 3)
    3  Node 0          cancels timer 0.t0: Heartbeat
                       Heartbeat is dropped: its timer was cancelled
    4  timer 0.t1      fires Election to Node 0 (-> step 5)
    5  Node 0          receives Election from its timer 0.t1 (step 4)
    ");
}

/// What front ends need not tell: the sends of a program's first events, the starts of states.
#[test]
fn a_story_with_gaps_is_still_told() {
    let machine = WorkerId::root(0);
    let unknown = MessageId { sender: WorkerId::root(7), number: 0 };
    let mut play = Play::cast([]);
    play.step(machine).tell(Event::Received { message: unknown, payload: Text::Str("Go") });
    play.tell(Event::Changed { how: Transition::Goto, to: Text::Str("Busy") });
    play.tell(Event::Changed { how: Transition::Pop, to: Text::Str("Idle") });
    play.tell(Event::Discarded { message: unknown, why: Discard::Ignored });
    play.tell(Event::Duplicated { message: unknown, copy: unknown });
    play.tell(Event::TimerCancelled { timer: machine.timer(3) });
    play.step(machine);
    insta::assert_snapshot!(table(&play.ends("test", bug())), @"
    1  0  receives Go
          -> Busy
          pops Busy back to Idle
          message 7#0 is ignored by its receiver
          FAULT: message 7#0 is duplicated (ignored)
          cancels timer 0.t3
    2     runs
    ");
}

#[test]
fn a_delivery_is_told_by_the_receive_that_follows_it() {
    let [a, b] = [0, 1].map(WorkerId::root);
    let mut play = Play::cast([(a, "A"), (b, "B")]);
    let message = play.step(a).sends(b, "M");
    play.step(b).receives(message);
    let mut finding = play.ends("test", bug());
    let before = table(&finding);
    let delivery = dally_core::Item::Choice(Choice::Delivery(message));
    finding.trace.steps[1].items.insert(0, delivery.clone());
    assert_eq!(table(&finding), before);
    finding.trace.steps[1].items = vec![delivery];
    assert!(table(&finding).ends_with("   2  B 1  is handed 0#0"));
}

#[test]
fn an_endless_step_does_not_fill_the_screen() {
    let machine = WorkerId::root(0);
    let mut play = Play::cast([(machine, "Spinner")]);
    play.step(machine).starts("Spinning");
    for _ in 0..10_000 {
        play.tell(Event::Raised { payload: Text::Str("Again") });
    }
    let table = table(&play.ends("test", bug()));
    assert_eq!(table.lines().count(), 41);
    assert!(table.contains("... 9,961 more events of this step\n"), "{table}");
}

fn quoted(file: &str, line: u32, column: u32) -> String {
    let place = Location { file: file.into(), line, column };
    let finding = Play::default().ends("test", bug().at(Some(place)));
    let about = About { source_root: Some("tests/report".into()), ..About::new("test") };
    text::finding(&finding, &Report::new("test", ""), &about)
}

#[test]
fn a_place_that_cannot_be_quoted_is_only_named() {
    let nowhere = "bug[panic]: boom\n --> FILE\n  = program: test\n";
    for (file, line, column) in [
        ("no/such/file.rs", 1, 1),
        ("two_phase_commit.rs.txt", 0, 1),
        ("/dev/null", 1, 1),
        ("", 5, 5),
    ] {
        let expected = nowhere.replace("FILE", &format!("{file}:{line}:{column}"));
        assert_eq!(quoted(file, line, column), expected);
    }
    assert!(!quoted("two_phase_commit.rs.txt", 9999, 1).contains('|'));
    let beyond = quoted("two_phase_commit.rs.txt", 2, 9999);
    assert!(beyond.contains("2 | impl Atomicity {\n") && !beyond.contains('^'));
}

/// The compiler names the files of a workspace's members from the workspace's root.
#[test]
fn a_source_is_found_from_inside_a_package_of_a_workspace() {
    let quoted = quoted("crates/dally-report/tests/report/two_phase_commit.rs.txt", 2, 6);
    assert!(quoted.contains("2 | impl Atomicity {\n  |      ^\n"), "{quoted}");
}
