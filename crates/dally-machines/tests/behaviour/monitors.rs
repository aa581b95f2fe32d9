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
    assert_eq!((bug.kind(), bug.culprit.as_deref()), (BugKind::Monitor, Some("Answers")));
    assert!(dally_report::text::bug(&bug).contains("an answer to another question"));
    assert!(bug.location.unwrap().file.ends_with("monitors.rs"));
}

#[test]
fn an_event_that_a_monitor_knows_but_does_not_expect_is_a_bug() {
    let bug = first(&script(&[(false, 1)])).bug.unwrap();
    assert_eq!(bug.kind(), BugKind::UnhandledEvent);
    insta::assert_snapshot!(dally_report::text::bug(&bug), @"monitor `Answers` in state `Idle` has no handler for `Answered`: add `#[on(Idle, Answered)]` or `#[ignore(Idle, Answered)]`");
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

mod temperature {
    use std::sync::Arc;

    use dally_search::{Options, Report, StrategyKind, run};

    use super::*;

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Overdue;
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Unclear;

    /// Never says that all is well: after the first word it is hot or makes no claim.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Wary;

    #[monitor(states(cold Well, hot Waits, Unsure))]
    impl Wary {
        #[goto(Well | Waits | Unsure, Overdue => Waits)]
        #[goto(Well | Waits | Unsure, Unclear => Unsure)]
        const RULES: () = ();
    }

    /// Beats for ever, one step each, and is in no state twice. The lists say at which of ten
    /// beats it announces something.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Heart {
        beats: u32,
        overdue_at: &'static [u32],
        unclear_at: &'static [u32],
    }

    #[machine(states(Beating))]
    impl Heart {
        #[default(Beating)]
        fn beat(&mut self, cx: &mut Cx<Self>) {
            let beat = self.beats % 10;
            if self.unclear_at.contains(&beat) {
                cx.announce(Unclear);
            }
            if self.overdue_at.contains(&beat) {
                cx.announce(Overdue);
            }
            self.beats += 1;
        }
    }

    fn beats(overdue_at: &'static [u32], unclear_at: &'static [u32], temperature: usize) -> Report {
        let program = MachineProgram::new("heart", move |setup: &mut Setup| {
            setup.create(Heart { beats: 0, overdue_at, unclear_at });
            setup.monitor(Wary);
            setup.begin();
        });
        let (schedules, max_steps) = (1, 1_000);
        // A fair strategy.
        let options = Options {
            strategy: "random".parse::<StrategyKind>().unwrap().build(0, max_steps),
            schedules,
            max_steps,
            temperature: Some(temperature),
            ..Options::default()
        };
        run(Arc::new(program), options, Arc::new(()))
    }

    /// How many steps it took to find the monitor too hot, if it was.
    fn found(report: &Report) -> Option<usize> {
        let [finding] = &report.findings[..] else { return None };
        assert_eq!(finding.bug.kind(), BugKind::Temperature);
        Some(finding.schedule.steps())
    }

    #[test]
    fn rises_while_a_monitor_is_hot() {
        assert_eq!(found(&beats(&[0], &[], 100)), Some(101));
    }

    #[test]
    fn falls_to_zero_in_a_state_that_is_neither_hot_nor_cold() {
        // Hot from beat 0 to beat 7, that is eight times in a row, and never cold.
        assert_eq!(found(&beats(&[0], &[8], 8)), None);
        assert_eq!(found(&beats(&[0], &[8], 7)), Some(8));
    }

    #[test]
    fn falls_to_zero_if_the_monitor_makes_no_claim_for_a_moment_within_a_step() {
        // Unclear and overdue again in one step: nine steps after it are hot all the time.
        assert_eq!(found(&beats(&[0], &[0], 9)), None);
        assert_eq!(found(&beats(&[0], &[0], 8)), Some(10));
    }
}
