//! Leader election in a ring: its states and transitions, counted, and its bugs.

mod running;

use std::collections::BTreeSet;

use dally::contract::{
    BugKind, Captured, Cut, Env, Event, MessageId, Program, Stop, System, Tag, Text,
};
use dally::machines::{MachineProgram, MachineSystem};
use dally::search::Report;
use dally_protocols::lcr::{Bug, PROTOCOL, program, ring};

/// Delivers the message at one place, and knows how many there were to deliver.
struct Delivering {
    place: usize,
    of: usize,
}

impl Env for Delivering {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        unreachable!("processes choose nothing")
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.of = candidates.len();
        Ok(self.place)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}

/// The states and transitions of a ring, by plain depth-first search with exact storage.
fn count(ring: &MachineProgram) -> (usize, usize) {
    let encoded = |system: &MachineSystem| {
        let mut bytes = Vec::new();
        system.encode(&mut bytes);
        bytes
    };
    let first = ring.start().unwrap();
    let mut seen = BTreeSet::from([encoded(&first)]);
    let mut stack = vec![first];
    let mut transitions = 0;
    while let Some(system) = stack.pop() {
        for &process in system.enabled() {
            let mut delivering = Delivering { place: 0, of: 1 };
            while delivering.place < delivering.of {
                let mut next = system.fork();
                match next.step(process, &mut delivering) {
                    Ok(()) => {}
                    Err(Stop::Bug(bug)) => panic!("{bug}"),
                    Err(Stop::Cut) => unreachable!("nobody cuts here"),
                }
                transitions += 1;
                if seen.insert(encoded(&next)) {
                    stack.push(next);
                }
                delivering.place += 1;
            }
        }
    }
    (seen.len(), transitions)
}

#[test]
fn a_ring_has_as_many_states_and_transitions_as_in_other_tools() {
    assert_eq!(count(&ring(3)), (128, 241));
    assert_eq!(count(&ring(4)), (1_028, 2_429));
    assert_eq!(count(&ring(5)), (10_072, 28_235));
}

/// Tools that count the states they generate have one more, the first: 5,729,130.
///
/// Long: run it with `cargo test --release -p dally-protocols --test lcr -- --ignored`.
#[test]
#[ignore = "takes a minute"]
fn a_ring_of_seven_has_as_many_states_and_transitions_as_in_other_tools() {
    assert_eq!(count(&ring(6)), (117_268, 377_131));
    assert_eq!(count(&ring(7)), (1_587_280, 5_729_129));
}

fn run(bug: Option<Bug>, strategy: &str, seed: u64) -> Report {
    running::run(&PROTOCOL, program(5, bug), strategy, 1_000, seed)
}

/// What random finds with each seed from 0: the kind, the culprit and the number of the schedule.
fn hunts(bug: Bug) -> (BugKind, Option<String>, [u64; 3]) {
    let findings = [0, 1, 2].map(|seed| {
        let finding = run(Some(bug), "random", seed).findings.into_iter().next();
        finding.unwrap_or_else(|| panic!("seed {seed} finds nothing"))
    });
    let first = findings[0].bug.clone();
    (first.kind(), first.culprit, findings.map(|finding| finding.found_at))
}

#[test]
fn there_are_two_leaders_if_a_process_passes_on_smaller_ids_before_it_starts() {
    let (kind, culprit, found_at) = hunts(Bug::ForwardsSmaller);
    assert_eq!((kind, culprit.as_deref()), (BugKind::Monitor, Some("OneLeader")));
    assert_eq!(found_at, [65, 15, 22]);
}

#[test]
fn there_are_two_leaders_if_0_is_an_id() {
    let (kind, culprit, found_at) = hunts(Bug::ZeroIsAnId);
    assert_eq!((kind, culprit.as_deref()), (BugKind::Monitor, Some("OneLeader")));
    assert_eq!(found_at, [16, 15, 22]);
}

#[test]
fn a_process_waits_for_ever_if_it_forgets_that_the_election_is_over() {
    let (kind, culprit, found_at) = hunts(Bug::ForgetsDone);
    assert_eq!((kind, culprit.as_deref()), (BugKind::HotAtEnd, Some("Outcome")));
    assert_eq!(found_at, [16, 195, 100]);
}

#[test]
fn one_leader_is_elected_and_all_know_if_it_is_correct() {
    for strategy in ["random", "pct:3", "pct:10", "irs", "round-robin"] {
        let report = run(None, strategy, 0);
        assert_eq!(report.findings, [], "{strategy}");
        assert_eq!((report.schedules, report.cut), (1_000, 0), "{strategy}");
    }
}
