//! Monitors: told in order, judged at once, part of the state.

use dally_core::{Acceptance, BugKind, Captured, Event, Heat, Program, System};
use dally_machines::{Cx, MachineProgram, MonitorCx, Setup};
use dally_macros::{machine, monitor};

use crate::driver::{Quiet, first};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Asked(u8);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Answered(u8);

/// Every question is answered, and the answer is about the question.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Answers(u8);

#[monitor(states(cold Idle, hot Waiting))]
impl Answers {
    #[on(Idle, Asked)]
    fn asked(&mut self, cx: &mut MonitorCx<Self>, Asked(number): &Asked) {
        self.0 = *number;
        cx.goto(Waiting);
    }
    #[on(Waiting, Answered)]
    fn answered(&mut self, cx: &mut MonitorCx<Self>, answer: Answered) {
        assert_eq!(answer.0, self.0, "an answer to another question");
        cx.goto(Idle);
    }
}

/// Announces what it is told to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Script(Vec<(bool, u8)>);

#[machine(states(Start))]
impl Script {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        for &(asks, number) in &self.0 {
            if asks { cx.announce(Asked(number)) } else { cx.announce(Answered(number)) }
        }
    }
}

fn script(lines: &'static [(bool, u8)]) -> MachineProgram {
    MachineProgram::new("script", |setup: &mut Setup| {
        setup.create(Script(lines.to_vec()));
        setup.monitor(Answers::default());
    })
}

#[test]
fn a_monitor_follows_announcements_and_says_whether_it_is_hot() {
    for (program, hot) in [(script(&[(true, 1), (false, 1)]), 0), (script(&[(true, 1)]), 1)] {
        let mut system = program.start().unwrap();
        assert_eq!(system.acceptance(), Acceptance::default());
        system.step(system.enabled()[0], &mut Quiet).unwrap();
        let Acceptance { hot: now, visits, .. } = system.acceptance();
        assert_eq!((now, visits), (hot, 0));
    }
    let run = first(&script(&[(true, 1)]));
    assert!(run.has(|event| {
        matches!(event, Event::MonitorChanged { to, heat: Heat::Hot, .. } if to == "Waiting")
    }));
}

#[test]
fn a_monitor_that_was_relieved_within_a_step_has_not_waited_all_through_it() {
    let lines: &[(bool, u8)] = &[(true, 1), (false, 1), (true, 2)];
    let mut system = script(lines).start().unwrap();
    system.step(system.enabled()[0], &mut Quiet).unwrap();
    assert_eq!(system.acceptance(), Acceptance { hot: 1, relieved: 1, visits: 0 });
    assert_eq!(system.acceptance().waiting(), 0);
}

#[test]
fn an_assertion_of_a_monitor_is_a_bug_of_the_monitor_at_its_line() {
    let bug = first(&script(&[(true, 1), (false, 2)])).bug.unwrap();
    assert_eq!((bug.kind, bug.culprit.as_deref()), (BugKind::Monitor, Some("Answers")));
    assert!(bug.message.contains("an answer to another question"));
    assert!(bug.location.unwrap().file.ends_with("monitors.rs"));
}

#[test]
fn an_event_that_a_monitor_knows_but_does_not_expect_is_a_bug() {
    let bug = first(&script(&[(false, 1)])).bug.unwrap();
    assert_eq!(bug.kind, BugKind::UnhandledEvent);
    insta::assert_snapshot!(bug.message, @"monitor `Answers` in state `Idle` has no handler for `Answered`: add `#[on(Idle, Answered)]` or `#[ignore(Idle, Answered)]`");
}

#[test]
fn the_state_of_a_monitor_is_part_of_the_fingerprint() {
    let after = |lines: &'static [(bool, u8)]| {
        // The machine forgets its script, so the monitor alone remembers.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        struct Forgetful(Vec<(bool, u8)>);

        #[machine(states(Start))]
        impl Forgetful {
            #[entry(Start)]
            fn start(&mut self, cx: &mut Cx<Self>) {
                for (asks, number) in std::mem::take(&mut self.0) {
                    if asks { cx.announce(Asked(number)) } else { cx.announce(Answered(number)) }
                }
            }
        }
        let program = MachineProgram::new("forgetful", |setup: &mut Setup| {
            setup.create(Forgetful(lines.to_vec()));
            setup.monitor(Answers::default());
        });
        let mut system = program.start().unwrap();
        system.step(system.enabled()[0], &mut Quiet).unwrap();
        let mut bytes = Vec::new();
        system.encode(&mut bytes);
        (system.fingerprint(), bytes)
    };
    assert_ne!(after(&[(true, 1)]), after(&[(true, 2)]));
    assert_eq!(
        after(&[(true, 1), (false, 1)]),
        after(&[(true, 2), (false, 2), (true, 1), (false, 1)])
    );
}
