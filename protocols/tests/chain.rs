//! Chain replication: which strategy finds which bug, in how many schedules, and that the correct
//! version gets somewhere.

mod running;

use dally::contract::{Bug as Caught, BugKind};
use dally::machines::{MachineProgram, MonitorCx};
use dally::monitor;
use dally::search::Report;
use dally_protocols::chain_replication::{
    Answered, Applied, Bug, Config, Failed, PROTOCOL, deploy, program,
};

fn run(program: MachineProgram, strategy: &str, schedules: u64, seed: u64) -> Report {
    running::run(&PROTOCOL, program, strategy, schedules, seed)
}

/// The bug that PCT finds with each seed from 0, and the number of the schedule in which it does.
fn hunts(bug: Bug) -> (Caught, [u64; 3]) {
    let findings = [0, 1, 2].map(|seed| {
        let report = run(program(Config::BUNDLED, Some(bug)), "pct:3", 10_000, seed);
        let finding = report.findings.into_iter().next();
        finding.unwrap_or_else(|| panic!("seed {seed} finds nothing"))
    });
    let caught = findings[0].bug.clone();
    (caught, findings.map(|finding| finding.found_at))
}

#[track_caller]
fn assert_monitored(caught: &Caught, monitor: &str) {
    assert_eq!(caught.kind(), BugKind::Monitor);
    assert_eq!(caught.culprit.as_deref(), Some(monitor));
}

#[test]
fn loses_an_update_between_two_failed_neighbours_if_what_was_resent_counts_as_delivered() {
    let (caught, found_at) = hunts(Bug::TwoNeighbours);
    assert_monitored(&caught, "Propagation");
    assert_eq!(found_at, [1999, 71, 1583]);
}

#[test]
fn two_failed_neighbours_are_beyond_random() {
    let buggy = program(Config::BUNDLED, Some(Bug::TwoNeighbours));
    assert_eq!(run(buggy, "random", 10_000, 0).findings, []);
}

#[test]
fn leaves_a_gap_if_nothing_is_resent() {
    let (caught, found_at) = hunts(Bug::ForgetsToResend);
    assert_monitored(&caught, "Propagation");
    assert_eq!(found_at, [146, 71, 10]);
}

#[test]
fn applies_an_update_twice_if_places_are_not_compared() {
    let (caught, found_at) = hunts(Bug::AppliesTwice);
    assert_monitored(&caught, "Propagation");
    assert_eq!(found_at, [933, 3119, 1025]);
}

#[test]
fn loses_an_acknowledged_update_if_the_middle_acknowledges() {
    let (caught, found_at) = hunts(Bug::AcknowledgesEarly);
    assert_monitored(&caught, "NothingLost");
    assert_eq!(found_at, [146, 66, 780]);
}

#[test]
fn asks_a_server_that_does_not_know_it_is_the_tail_if_clients_are_told_first() {
    let (caught, found_at) = hunts(Bug::RoutesFirst);
    assert_eq!(caught.kind(), BugKind::UnhandledEvent);
    assert_eq!(caught.culprit.as_deref(), Some("Server"));
    assert_eq!(found_at, [99, 82, 53]);
}

#[test]
fn applies_an_update_twice_if_a_new_head_trusts_retries() {
    let (caught, found_at) = hunts(Bug::TrustsRetries);
    assert_monitored(&caught, "Propagation");
    assert_eq!(found_at, [14, 217, 38]);
}

#[test]
fn loses_nothing_if_correct_whatever_its_size() {
    let long = Config { servers: 5, rounds: 4, ..Config::BUNDLED };
    let busy = Config { servers: 3, updates: 2, ..Config::BUNDLED };
    for config in [Config::BUNDLED, long, busy] {
        for strategy in ["random", "pct:3", "pct:10", "round-robin"] {
            let report = run(program(config, None), strategy, 500, 0);
            assert_eq!(report.findings, [], "{config:?} {strategy}");
            assert_eq!((report.schedules, report.cut), (500, 0), "{config:?} {strategy}");
        }
    }
}

/// Sees a client get the answer to its last query after this many servers have failed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Survived {
    failures: u32,
    failed: u32,
    applied: bool,
}

#[monitor(states(Watching))]
impl Survived {
    #[on(Watching, Failed)]
    fn failed(&mut self) {
        self.failed += u32::from(self.applied);
    }

    #[on(Watching, Applied)]
    fn applied(&mut self) {
        self.applied = true;
    }

    #[on(Watching, Answered)]
    fn answered(&mut self, _: &mut MonitorCx<Self>, _: Answered) {
        assert!(self.failed < self.failures, "answered after {} failures", self.failed);
    }
}

#[test]
fn answers_clients_after_three_servers_failed_in_the_middle_of_an_update() {
    let program = MachineProgram::new(PROTOCOL.name, |setup| {
        deploy(setup, Config::BUNDLED, None);
        setup.monitor(Survived { failures: 3, failed: 0, applied: false });
    });
    let report = run(program, "pct:3", 10_000, 0);
    let culprits: Vec<_> = report.findings.iter().map(|found| &found.bug.culprit).collect();
    assert_eq!(culprits, [&Some("Survived".to_owned())]);
}
