//! The programs of `protocols/p`: every test of every project comes out as the comment above it
//! says, and what is found is found again by its schedule.

#[path = "p/expectation.rs"]
mod expectation;
#[path = "p/project.rs"]
mod project;

use std::collections::BTreeSet;

use crate::expectation::Expectation;
use crate::project::{Outcome, Project, folders};

/// Runs all tests of a project. What went otherwise than expected is listed, and so is everything
/// else, to compare with.
#[track_caller]
fn assert_as_expected(name: &str) {
    let outcomes = Project::load(name).run();
    assert!(outcomes.iter().all(Outcome::is_as_expected), "{}", table(name, &outcomes));
}

fn table(name: &str, outcomes: &[Outcome]) -> String {
    let lines: Vec<String> = outcomes.iter().map(Outcome::to_string).collect();
    format!("some tests of {name} are not as expected:\n{}", lines.join("\n"))
}

macro_rules! projects {
    ($($test:ident $name:literal,)*) => {
        const PROJECTS: &[&str] = &[$($name),*];

        mod every_test_is_as_expected_in {
            $(
                #[test]
                fn $test() {
                    super::assert_as_expected($name);
                }
            )*
        }
    };
}

projects! {
    bank "Bank",
    bounded_buffer "BoundedBuffer",
    chain_replication "ChainReplication",
    elevator "Elevator",
    espresso "Espresso",
    failure_detector "FailureDetector",
    german "German",
    leader_election "LeaderElection",
    lock_server "LockServer",
    msmie "Msmie",
    multi_paxos "MultiPaxos",
    osr_driver "OsrDriver",
    paxos "Paxos",
    raft "Raft",
    raft_store "RaftStore",
    time_sync "TimeSync",
    token_ring "TokenRing",
    transactions "Transactions",
    truck_lift "TruckLift",
    two_phase_commit "TwoPhaseCommit",
    usb_hub "UsbHub",
}

/// Every machine has a step for each of its creations, sends and dequeues: a change of that, or of
/// what a state is, shows here.
#[test]
fn the_states_of_a_program_are_as_many_as_ever() {
    let outcomes = Project::load("LockServer").run();
    let states: Vec<_> = outcomes.iter().filter_map(Outcome::exhausted).collect();
    assert_eq!(states, [("tcThreeWorkers", 762), ("tcTwoClients", 260), ("tcThreeForEver", 821)]);
}

#[test]
fn no_project_is_left_out() {
    assert_eq!(folders(), PROJECTS);
}

#[test]
fn there_are_many_projects_with_many_planted_bugs() {
    let projects: Vec<Project> = PROJECTS.iter().map(|name| Project::load(name)).collect();
    let mut bugs = 0;
    let mut kinds = BTreeSet::new();
    for project in &projects {
        let expected = project.expectations();
        let passes = expected.iter().filter(|it| !matches!(it, Expectation::Fail(..))).count();
        let fails = expected.len() - passes;
        assert!(passes >= 1 && fails >= 3, "{}: {passes} pass, {fails} fail", project.name());
        bugs += fails;
        kinds.extend(expected.iter().filter_map(|it| match it {
            Expectation::Fail(kind, _) => Some(kind.name()),
            _ => None,
        }));
    }
    assert_eq!((projects.len(), bugs), (21, 87));
    let all = ["assertion", "deadlock", "hot-at-end", "livelock", "monitor", "unhandled-event"];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
}
