//! German's protocol, the replicated set and the elections of Le Lann and of tree identification:
//! how many schedules each bug takes, that the correct versions pass and get somewhere, and how
//! many states they have.

mod answers;
mod running;

use std::collections::BTreeSet;

use dally::contract::{Bug, BugKind, Program, Status, System};
use dally::machines::{Granularity, MachineProgram, Mailbox, MonitorCx};
use dally::monitor;
use dally_protocols::{Protocol, german, lann, orset, tree_identification};

use crate::answers::successors;
use crate::running::run;

/// The bug that seed 0 finds, and the number of the schedule in which each of three seeds finds
/// one: first those of random, then those of PCT with three change points.
fn hunts(protocol: &Protocol, program: impl Fn() -> MachineProgram) -> (Bug, [[u64; 3]; 2]) {
    let hunt = |strategy, seed| {
        let report = run(protocol, program(), strategy, 1_000, seed);
        let finding = report.findings.into_iter().next();
        finding.unwrap_or_else(|| panic!("{strategy} finds nothing with seed {seed}"))
    };
    let found_at =
        ["random", "pct:3"].map(|strategy| [0, 1, 2].map(|seed| hunt(strategy, seed).found_at));
    (hunt("random", 0).bug, found_at)
}

#[track_caller]
fn assert_clean(protocol: &Protocol, program: impl Fn() -> MachineProgram) {
    for strategy in ["random", "pct:3", "pct:10", "irs", "round-robin"] {
        let report = run(protocol, program(), strategy, 500, 0);
        assert_eq!(report.findings, [], "{strategy}");
        assert_eq!(report.schedules, 500);
        assert_eq!(report.cut, 0, "{strategy}");
    }
}

/// How many states a program without bugs has, and in how many of them it is at its end.
#[track_caller]
fn states(program: &MachineProgram) -> (usize, usize) {
    let first = program.start().unwrap();
    let mut seen = BTreeSet::from([first.fingerprint()]);
    let mut stack = vec![first];
    let mut ends = 0;
    while let Some(system) = stack.pop() {
        match system.status() {
            Status::Running => {}
            Status::Done => ends += 1,
            Status::Stuck(waiting) => panic!("{waiting:?}"),
        }
        for &worker in system.enabled() {
            for next in successors(&system, worker) {
                if seen.insert(next.fingerprint()) {
                    stack.push(next);
                }
            }
        }
    }
    (seen.len(), ends)
}

mod german_with_three_clients {
    use super::*;
    use german::{Bug, PROTOCOL, Saw, deploy, endless, program};

    fn hunt(bug: Bug) -> (dally::contract::Bug, [[u64; 3]; 2]) {
        hunts(&PROTOCOL, || program(3, Some(bug)))
    }

    #[test]
    fn has_copies_beside_an_exclusive_one_if_it_does_not_wait_for_acknowledgements() {
        let (bug, found_at) = hunt(Bug::GrantWithoutAck);
        assert_eq!(bug.culprit.as_deref(), Some("Exclusion"));
        assert_eq!(found_at, [[2, 2, 7], [3, 12, 5]]);
    }

    #[test]
    fn has_copies_beside_an_exclusive_one_if_it_forgets_a_third_sharer() {
        let (bug, found_at) = hunt(Bug::ForgetsSharer);
        assert_eq!(bug.culprit.as_deref(), Some("Exclusion"));
        assert_eq!(found_at, [[16, 12, 4], [102, 40, 118]]);
    }

    #[test]
    fn sees_old_data_if_a_client_trusts_its_copy_when_its_upgrade_was_overtaken() {
        let (bug, found_at) = hunt(Bug::StaleData);
        assert_eq!(bug.culprit.as_deref(), Some("LastWrite"));
        assert_eq!(found_at, [[5, 6, 3], [12, 7, 38]]);
    }

    #[test]
    fn has_an_unhandled_event_if_an_upgrade_is_overtaken_unexpectedly() {
        let (bug, found_at) = hunt(Bug::UnexpectedInvalidation);
        assert_eq!(bug.kind(), BugKind::UnhandledEvent);
        assert_eq!(bug.culprit.as_deref(), Some("Client"));
        assert_eq!(found_at, [[2, 6, 3], [12, 5, 13]]);
    }

    #[test]
    fn is_coherent_if_it_is_correct() {
        assert_clean(&PROTOCOL, || program(3, None));
        assert_clean(&PROTOCOL, || program(3, None).mailbox(Mailbox::PerSender));
    }

    #[test]
    fn has_so_many_states() {
        assert_eq!(states(&program(2, None)), (1_272, 14));
        assert_eq!(states(&program(3, None)), (55_452, 26));
    }

    #[test]
    fn has_finitely_many_states_even_if_it_never_ends() {
        assert_eq!(states(&endless(2, None)), (882, 0));
        assert_eq!(states(&endless(3, None)), (21_510, 0));
    }

    /// Sees that a client reads what another one wrote.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Written;

    #[monitor(states(Watching))]
    impl Written {
        #[on(Watching, Saw)]
        fn saw(&mut self, _: &mut MonitorCx<Self>, Saw { data }: Saw) {
            assert_eq!(data, 0, "somebody wrote");
        }
    }

    #[test]
    fn lets_clients_read_what_was_written() {
        let program = MachineProgram::new("german", |setup| {
            deploy(setup, 3, Some(2), None);
            setup.monitor(Written);
        });
        let report = run(&PROTOCOL, program, "random", 100, 0);
        assert_eq!(report.findings[0].bug.culprit.as_deref(), Some("Written"));
    }
}

mod orset_with_three_replicas {
    use super::*;
    use orset::{Answered, Bug, PROTOCOL, deploy, program};

    fn hunt(bug: Bug) -> (dally::contract::Bug, [[u64; 3]; 2]) {
        hunts(&PROTOCOL, || program(3, Some(bug)))
    }

    #[test]
    fn hides_an_add_from_a_read_that_comes_before_its_tag() {
        let (bug, found_at) = hunt(Bug::AddRead);
        assert_eq!(bug.culprit.as_deref(), Some("ReadYourAdds"));
        assert_eq!(found_at, [[1, 11, 1], [5, 1, 8]]);
    }

    #[test]
    fn diverges_if_a_removal_removes_what_it_has_not_seen() {
        let (bug, found_at) = hunt(Bug::RemoveWins);
        assert_eq!(bug.culprit.as_deref(), Some("Convergence"));
        assert_eq!(found_at, [[24, 6, 14], [2, 11, 23]]);
    }

    #[test]
    fn loses_an_add_if_another_has_the_same_tag() {
        let (bug, found_at) = hunt(Bug::TagReuse);
        assert_eq!(bug.culprit.as_deref(), Some("ReadYourAdds"));
        assert_eq!(found_at, [[16, 2, 34], [5, 11, 1]]);
    }

    #[test]
    fn diverges_if_a_removal_that_comes_before_its_add_is_forgotten() {
        let (bug, found_at) = hunt(Bug::ForgetsEarlyRemoval);
        assert_eq!(bug.culprit.as_deref(), Some("Convergence"));
        assert_eq!(found_at, [[16, 2, 97], [5, 2, 1]]);
    }

    #[test]
    fn converges_if_it_is_correct() {
        assert_clean(&PROTOCOL, || program(3, None));
        let finely = || program(3, None).granularity(Granularity::PerSend);
        assert_clean(&PROTOCOL, finely);
        assert_clean(&PROTOCOL, || finely().mailbox(Mailbox::Fifo));
    }

    #[test]
    fn has_so_many_states() {
        assert_eq!(states(&program(2, None)), (294, 6));
        assert_eq!(states(&program(3, None)), (17_516, 26));
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Removed;

    #[monitor(states(Watching))]
    impl Removed {
        #[on(Watching, Answered)]
        fn answered(&mut self, _: &mut MonitorCx<Self>, Answered { elements, .. }: Answered) {
            assert!(!elements.is_empty(), "somebody removed what the client had added");
        }
    }

    #[test]
    fn lets_a_client_remove_what_another_has_added() {
        let program = MachineProgram::new("orset", |setup| {
            deploy(setup, 3, None);
            setup.monitor(Removed);
        });
        let report = run(&PROTOCOL, program, "random", 100, 0);
        assert_eq!(report.findings[0].bug.culprit.as_deref(), Some("Removed"));
    }
}

mod lann_with_four_processes {
    use super::*;
    use lann::{Bug, PROTOCOL, program};

    #[test]
    fn elects_two_leaders_if_a_candidate_is_late() {
        let (bug, found_at) = hunts(&PROTOCOL, || program(4, Some(Bug::LateCandidate)));
        assert_eq!(bug.culprit.as_deref(), Some("OneLeader"));
        assert_eq!(found_at, [[9, 2, 4], [2, 6, 9]]);
    }

    #[test]
    fn elects_one_leader_if_it_is_correct() {
        assert_clean(&PROTOCOL, || program(4, None));
        assert_clean(&PROTOCOL, || program(4, None).mailbox(Mailbox::PerSender));
    }

    #[test]
    fn has_so_many_states() {
        let counted = [2, 3, 4, 5].map(|processes| states(&program(processes, None)));
        assert_eq!(counted, [(52, 2), (364, 3), (2_802, 4), (22_566, 5)]);
    }
}

mod tree_identification_with_four_nodes {
    use super::*;
    use tree_identification::{Bug, PROTOCOL, program};

    #[test]
    fn has_two_roots_if_nodes_do_not_toss_coins_again() {
        let (bug, found_at) = hunts(&PROTOCOL, || program(4, Some(Bug::GivesUpCoins)));
        assert_eq!(bug.culprit.as_deref(), Some("OneRoot"));
        assert_eq!(found_at, [[16, 3, 14], [6, 46, 1]]);
    }

    #[test]
    fn has_one_root_if_it_is_correct() {
        assert_clean(&PROTOCOL, || program(4, None));
        assert_clean(&PROTOCOL, || program(4, None).mailbox(Mailbox::PerSender));
    }

    #[test]
    fn has_so_many_states_and_any_node_can_be_the_root() {
        let counted = [2, 3, 4, 5].map(|nodes| states(&program(nodes, None)));
        assert_eq!(counted, [(55, 2), (264, 3), (980, 4), (4_352, 5)]);
    }
}
