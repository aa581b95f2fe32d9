//! Machines and tasks that ask for numbers from outside.

use std::sync::Arc;
use std::time::Duration;

use dally::Input;
use dally::contract::Schedule;
use dally::machine;
use dally::machines::{Cx, MachineProgram, Setup};
use dally::report::About;
use dally::search::strata::{ExplorerKind, Plan, SearchKind, explore};
use dally::search::{Ended, Mode, Options, Report, replay, run};
use dally::tasks::{TaskProgram, input, input_in, spawn};

/// Opens a port.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Opener {
    port: i64,
}

#[machine(states(Opening))]
impl Opener {
    #[entry(Opening)]
    fn open(&mut self, cx: &mut Cx<Self>) {
        self.port = cx.input_in("port", 1..=65_535);
        let backlog = cx.input(Input::named("backlog").within(0..=128).by_default(16));
        assert!(self.port != 65_535 || backlog == 0, "the last port takes no backlog");
    }
}

fn machines() -> MachineProgram {
    MachineProgram::new("opener", |setup: &mut Setup| {
        setup.create(Opener::default());
    })
    .run_twice(true)
}

fn tasks() -> TaskProgram {
    TaskProgram::new("transfer", || async {
        let amount = input("amount");
        let fee = spawn(async { input_in("fee", 0..=9) }).await.unwrap();
        assert!(amount.checked_add(fee).is_some(), "the sum does not fit");
    })
}

fn options() -> Options {
    Options { schedules: 1_000, ..Options::default() }
}

/// The story of the only finding, which is also what its token leads to.
fn story<P: dally::contract::Program + 'static>(program: impl Fn() -> P) -> String {
    let report = run(Arc::new(program()), options(), Arc::new(()));
    assert_eq!(report.findings.len(), 1, "{report:#?}");
    let finding = &report.findings[0];
    let schedule = Schedule::parse(&finding.schedule.to_token()).unwrap();
    let again = replay(Arc::new(program()), &schedule, Mode::Exact, 1, Duration::from_secs(10));
    assert_eq!((again.left_at, again.bug.as_ref()), (None, Some(&finding.bug)));
    let text = dally::report::text::finding(finding, &report, &About::new("test"));
    let lines = text.lines().filter(|line| line.contains("input "));
    lines.map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_inputs_of_a_finding_are_in_its_story_by_name() {
    let machines = story(machines);
    // Shrunk to the least backlog that fails.
    assert!(machines.contains("input port = 65535"), "{machines}");
    assert!(machines.contains("input backlog = 1"), "{machines}");
    let tasks = story(tasks);
    assert!(tasks.contains("input amount = 922337203685477580"), "{tasks}");
    assert!(tasks.contains("input fee = "), "{tasks}");
}

#[test]
fn searches_of_states_use_the_given_inputs_and_say_so() {
    let plan = || Plan { search: SearchKind::Ses, ..Plan::default() };
    let explorer = || ExplorerKind::default().build(0);
    let captured = explore(Arc::new(machines()), explorer(), plan(), options(), Arc::new(()));
    let replayed = explore(Arc::new(tasks()), explorer(), plan(), options(), Arc::new(()));
    let said = |report: &Report| {
        assert_eq!((report.ended, report.findings.len()), (Ended::Exhausted, 0));
        assert!(!report.is_exhausted());
        dally::report::text::coverage(report)
    };
    for said in [said(&captured), said(&replayed)] {
        assert!(said.starts_with("exhausted: "), "{said}");
        assert!(said.ends_with(", with the given inputs only"), "{said}");
    }
}

#[test]
fn a_search_finds_what_the_given_inputs_show_and_it_can_be_repeated() {
    let program = || {
        TaskProgram::new("given", || async {
            let tasks =
                [1, 2].map(|n| spawn(async move { input(Input::named("id").by_default(n)) }));
            for task in tasks {
                assert!(task.await.unwrap() != 2, "2 is taken");
            }
        })
    };
    let explorer = ExplorerKind::default().build(0);
    let report = explore(Arc::new(program()), explorer, Plan::default(), options(), Arc::new(()));
    assert_eq!(report.findings.len(), 1);
    let schedule = &report.findings[0].schedule;
    let again = replay(Arc::new(program()), schedule, Mode::Exact, 1, Duration::from_secs(10));
    assert_eq!((again.left_at, again.bug.as_ref()), (None, Some(&report.findings[0].bug)));
}
