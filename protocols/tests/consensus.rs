//! Raft, Paxos, the failure detector and Chord: which strategy finds which bug, in how many
//! schedules, and that the correct versions get somewhere. The long measurement is the table
//! `schedulers` of the evaluation.

mod running;

use dally::contract::{Bug, BugKind};
use dally::machines::{MachineProgram, MonitorCx};
use dally::monitor;
use dally_protocols::raft::Version;
use dally_protocols::{Protocol, chord, failure_detector, paxos, raft};

use crate::running::run;

/// The bug that all seeds from 0 find, and the number of the schedule in which each does. The
/// numbers are exact: a change of a protocol or of a strategy must be seen here, and then
/// `dally compare` shows whether it is for the better.
fn hunts<const SEEDS: usize>(
    protocol: &Protocol,
    program: impl Fn() -> MachineProgram,
    strategy: &str,
) -> (Bug, [u64; SEEDS]) {
    let findings: [_; SEEDS] = std::array::from_fn(|seed| {
        let report = run(protocol, program(), strategy, 10_000, seed as u64);
        let finding = report.findings.into_iter().next();
        finding.unwrap_or_else(|| panic!("seed {seed} finds nothing"))
    });
    let bug = findings[0].bug.clone();
    assert!(findings.iter().all(|finding| finding.bug.cause() == bug.cause()), "{findings:?}");
    (bug, findings.map(|finding| finding.found_at))
}

#[track_caller]
fn assert_clean(protocol: &Protocol, program: impl Fn() -> MachineProgram) {
    for strategy in ["random", "pct:3", "pct:10", "irs", "round-robin"] {
        let report = run(protocol, program(), strategy, 500, 0);
        assert_eq!(report.findings, [], "{strategy}");
        assert_eq!(report.schedules, 500);
    }
}

/// That some of 1,000 random schedules of a program trip this witness, a monitor that panics.
#[track_caller]
fn assert_witnessed(protocol: &Protocol, program: MachineProgram, witness: &str) {
    let report = run(protocol, program, "random", 1_000, 0);
    let culprits: Vec<_> = report.findings.iter().map(|found| &found.bug.culprit).collect();
    assert_eq!(culprits, [&Some(witness.to_owned())]);
}

mod raft_with_five_servers {
    use super::*;

    fn buggy() -> MachineProgram {
        raft::program(Version::V1, Some(raft::Bug::DuplicateVotes))
    }

    #[test]
    fn has_two_leaders_in_one_term_if_votes_are_counted_twice() {
        let (bug, found_at) = hunts(&raft::V1, buggy, "random");
        assert_eq!(bug.kind(), BugKind::Monitor);
        assert_eq!(bug.culprit.as_deref(), Some("OneLeaderPerTerm"));
        assert_eq!(found_at, [1096, 1911, 616]);
    }

    #[test]
    fn has_one_leader_per_term_if_voters_are_counted() {
        assert_clean(&raft::V1, || raft::program(Version::V1, None));
        assert_clean(&raft::V2, || raft::program(Version::V2, None));
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
    struct Leaders {
        elected: u32,
    }

    #[monitor(states(Counting))]
    impl Leaders {
        #[on(Counting, raft::Elected)]
        fn elected(&mut self, _: &mut MonitorCx<Self>, _: raft::Elected) {
            self.elected += 1;
            assert!(self.elected < 2, "a second leader, in another term");
        }
    }

    #[test]
    fn elects_one_leader_after_another() {
        let program = MachineProgram::new("raft", |setup| {
            raft::deploy(setup, Version::V1, None);
            setup.monitor(Leaders::default());
        });
        assert_witnessed(&raft::V1, program, "Leaders");
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Answers;

    #[monitor(states(Watching))]
    impl Answers {
        #[on(Watching, raft::Answered)]
        fn answered(&mut self) {
            panic!("the client has its answer");
        }
    }

    #[test]
    fn answers_the_client() {
        for version in [Version::V1, Version::V2] {
            let program = MachineProgram::new("raft", move |setup| {
                raft::deploy(setup, version, None);
                setup.monitor(Answers);
            });
            assert_witnessed(&raft::V1, program, "Answers");
        }
    }
}

mod paxos_with_three_proposers {
    use super::*;

    #[test]
    fn chooses_two_values_if_the_smallest_proposal_binds() {
        let buggy = || paxos::program(Some(paxos::Bug::SmallestProposal));
        let (bug, found_at) = hunts(&paxos::PROTOCOL, buggy, "pct:30");
        assert_eq!(bug.kind(), BugKind::Panic);
        assert_eq!(bug.culprit.as_deref(), Some("Learner"));
        assert_eq!(found_at, [613, 1812, 822]);
    }

    #[test]
    fn chooses_one_value_if_the_greatest_proposal_binds() {
        assert_clean(&paxos::PROTOCOL, || paxos::program(None));
    }

    /// Sees that any of the values can be chosen.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Chosen {
        value: paxos::Value,
    }

    #[monitor(states(Watching))]
    impl Chosen {
        #[on(Watching, paxos::Chosen)]
        fn chosen(&mut self, _: &mut MonitorCx<Self>, chosen: paxos::Chosen) {
            assert!(chosen.value != self.value, "{} is chosen", self.value);
        }
    }

    #[test]
    fn can_choose_the_value_of_any_proposer() {
        for value in ["v1", "v2", "v3"] {
            let program = MachineProgram::new("paxos", move |setup| {
                paxos::deploy(setup, None);
                setup.monitor(Chosen { value });
            });
            assert_witnessed(&paxos::PROTOCOL, program, "Chosen");
        }
    }
}

mod failure_detector_of_two_nodes {
    use super::*;
    use failure_detector::{Detected, NoFlood, PROTOCOL, deploy, program};

    fn buggy() -> MachineProgram {
        program(Some(failure_detector::Bug::PingsPileUp))
    }

    #[test]
    fn floods_a_slow_node_if_it_does_not_count_its_pings() {
        let (bug, found_at) = hunts(&PROTOCOL, buggy, "pct:10");
        assert_eq!(bug.kind(), BugKind::Monitor);
        assert_eq!(bug.culprit.as_deref(), Some("NoFlood"));
        assert_eq!(found_at, [1546, 804, 6693]);
    }

    #[test]
    fn is_beyond_random() {
        assert_eq!(run(&PROTOCOL, buggy(), "random", 10_000, 0).findings, []);
    }

    #[test]
    fn floods_nobody_if_it_counts_its_pings() {
        assert_clean(&PROTOCOL, || program(None));
    }

    #[test]
    fn lets_three_pings_wait_even_if_it_counts_them() {
        let strict = MachineProgram::new("failure-detector", |setup| {
            deploy(setup, None);
            setup.monitor(NoFlood::at_most(2));
        });
        let report = run(&PROTOCOL, strict, "pct:10", 10_000, 0);
        assert_eq!(report.findings.len(), 1);
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Detections;

    #[monitor(states(Watching))]
    impl Detections {
        #[on(Watching, Detected)]
        fn detected(&mut self) {
            panic!("a node is down");
        }
    }

    #[test]
    fn detects_failures() {
        let program = MachineProgram::new("failure-detector", |setup| {
            deploy(setup, None);
            setup.monitor(Detections);
        });
        assert_witnessed(&PROTOCOL, program, "Detections");
    }
}

mod chord_with_five_nodes {
    use super::*;
    use chord::{Answered, Bug, PROTOCOL, deploy, program};

    #[test]
    fn is_beyond_random_since_it_hides_behind_36_coins() {
        assert_eq!(
            run(&PROTOCOL, program(Some(Bug::MissingKey)), "random", 10_000, 0).findings,
            []
        );
    }

    #[test]
    fn falls_to_depth_first_search_which_turns_the_last_coin_first() {
        let report = run(&PROTOCOL, program(Some(Bug::MissingKey)), "dfs", 10_000, 0);
        let [finding] = &report.findings[..] else { panic!("{} findings", report.findings.len()) };
        assert_eq!(finding.bug.kind(), BugKind::Panic);
        assert_eq!(finding.bug.message(), "cannot locate the successor of 17");
        assert_eq!(finding.found_at, 2);
    }

    #[test]
    fn answers_every_lookup_if_nodes_know_their_own_keys() {
        assert_clean(&PROTOCOL, || program(None));
        assert_eq!(run(&PROTOCOL, program(None), "dfs", 10_000, 0).findings, []);
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Answers;

    #[monitor(states(Watching))]
    impl Answers {
        #[on(Watching, Answered)]
        fn answered(&mut self) {
            panic!("the client has its answer");
        }
    }

    #[test]
    fn answers_the_client() {
        let program = MachineProgram::new("chord", |setup| {
            deploy(setup, None);
            setup.monitor(Answers);
        });
        assert_witnessed(&PROTOCOL, program, "Answers");
    }
}
