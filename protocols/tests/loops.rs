//! The liveness bugs of the bundled protocols, by the searches for loops. What there is to find
//! is known from brute force: see `liveness.rs`.

use std::sync::Arc;
use std::time::Duration;

use dally::contract::{BugKind, Finding, Schedule};
use dally::machines::MachineProgram;
use dally::search::strata::{self, ExplorerKind, Plan, SearchKind};
use dally::search::{Ended, Mode, Options, Report, replay};
use dally_protocols::{
    elevator_door, elevator_planning, extent_manager, lann, philosophers, process_scheduler,
    tree_identification,
};

const SEARCHES: [(SearchKind, usize); 5] = [
    (SearchKind::Ndfs, 1),
    (SearchKind::IterativeNdfs, 1),
    (SearchKind::Map, 1),
    (SearchKind::Map, 2),
    (SearchKind::Components, 1),
];

const EXPLORERS: [ExplorerKind; 2] = [ExplorerKind::RoundRobin, ExplorerKind::RunToCompletion];

fn search(
    program: MachineProgram,
    (search, threads): (SearchKind, usize),
    explorer: ExplorerKind,
    delta: u32,
) -> Report {
    let plan = Plan { search, delta: Some(delta), ..Plan::default() };
    let options = Options { threads, max_steps: 1_000_000, ..Options::default() };
    let program = Arc::new(program.run_twice(false));
    strata::explore(program, explorer.build(0), plan, options, Arc::new(()))
}

fn context((search, threads): (SearchKind, usize), explorer: ExplorerKind) -> String {
    format!("{search} by {explorer} on {threads} threads")
}

/// Every search finds this bug first, and its schedule shows it again.
#[track_caller]
fn assert_found(program: impl Fn() -> MachineProgram, kind: BugKind, monitor: &str) {
    for how in SEARCHES {
        for explorer in EXPLORERS {
            let report = search(program(), how, explorer, 1);
            let context = context(how, explorer);
            assert_eq!((report.ended, report.findings.len()), (Ended::Bug, 1), "{context}");
            let finding = &report.findings[0];
            let bug = &finding.bug;
            assert_eq!(
                (bug.kind(), bug.culprit.as_deref()),
                (kind, Some(monitor)),
                "{context}: {bug}"
            );
            assert_replays(program(), finding, &context);
        }
    }
}

/// Through its token, as a user would; a loop is gone round three times.
#[track_caller]
fn assert_replays(program: MachineProgram, finding: &Finding, context: &str) {
    let schedule = Schedule::parse(&finding.schedule.to_token()).unwrap();
    let again = replay(Arc::new(program), &schedule, Mode::Exact, 3, Duration::from_secs(10));
    let told = (again.left_at, again.bug.as_ref());
    assert_eq!(told, (None, Some(&finding.bug)), "{context}");
    let rounds = again.lasso.as_ref().map(|lasso| lasso.rounds);
    match (&finding.lasso, finding.bug.kind()) {
        (Some(lasso), BugKind::Livelock) => {
            assert_eq!(rounds, Some(3), "{context}");
            assert!(lasso.whole, "{context}");
            assert_eq!(Some(&lasso.monitor), finding.bug.culprit.as_ref(), "{context}");
            // One state where the loop begins, and one after each of its steps.
            let length = finding.schedule.steps() - lasso.stem;
            assert_eq!(lasso.states.len(), length + 1, "{context}");
        }
        (None, BugKind::HotAtEnd) => assert_eq!(rounds, None, "{context}"),
        (lasso, kind) => panic!("{context}: {kind} with {lasso:?}"),
    }
}

/// Every search comes to its end, and has visited all states.
#[track_caller]
fn assert_exhausted(program: impl Fn() -> MachineProgram, states: u64) {
    for how in SEARCHES {
        for explorer in EXPLORERS {
            // Few strata: the iterative search begins again with each.
            let report = search(program(), how, explorer, 10);
            let context = context(how, explorer);
            assert_eq!(report.findings, [], "{context}");
            assert!(report.is_exhausted(), "{context}");
            assert_eq!(report.states.unwrap().states, states, "{context}");
        }
    }
}

mod the_elevator_door {
    use super::*;
    use elevator_door::{Bug, program};

    #[test]
    fn waits_for_ever_for_a_thing_that_is_gone() {
        assert_found(|| program(2, 1, Some(Bug::SeesGhosts)), BugKind::Livelock, "Closes");
    }

    #[test]
    fn ends_open_without_its_timer() {
        assert_found(|| program(2, 1, Some(Bug::ForgetsTimer)), BugKind::HotAtEnd, "Closes");
    }

    #[test]
    fn closes_in_the_end_if_it_is_correct() {
        assert_exhausted(|| program(2, 0, None), 332);
    }
}

mod elevator_planning_with_three_floors {
    use super::*;
    use elevator_planning::{Bug, Building, program};

    const SMALL: Building = Building { floors: 3, cabins: 1 };

    #[test]
    fn starves_the_highest_floor_if_cabins_go_to_the_nearest() {
        assert_found(|| program(SMALL, Some(Bug::NearestFirst)), BugKind::Livelock, "Served");
    }

    #[test]
    fn serves_every_floor_if_cabins_keep_their_direction() {
        assert_exhausted(|| program(SMALL, None), 1_287);
    }
}

mod lann_with_three_processes {
    use super::*;
    use lann::{Bug, program};

    #[test]
    fn has_ids_that_go_around_for_ever_if_candidates_wait_for_the_word_of_the_leader() {
        assert_found(|| program(3, Some(Bug::AsksAgain)), BugKind::Livelock, "EverybodyKnows");
    }

    #[test]
    fn tells_everybody_who_is_elected_if_it_is_correct() {
        assert_exhausted(|| program(3, None), 364);
    }
}

mod tree_identification_with_four_nodes {
    use super::*;
    use tree_identification::{Bug, program};

    #[test]
    fn contends_for_ever_if_both_wait_equally_long() {
        assert_found(|| program(4, Some(Bug::SameDelay)), BugKind::Livelock, "OneRoot");
    }

    #[test]
    fn asks_in_vain_for_ever_if_who_asked_too_early_stays_turned_away() {
        assert_found(|| program(4, Some(Bug::TurnsAwayEarly)), BugKind::Livelock, "OneRoot");
    }

    #[test]
    fn ends_with_a_root_if_it_is_correct() {
        assert_exhausted(|| program(4, None), 980);
    }
}

mod extent_manager_with_two_replicas {
    use super::*;
    use extent_manager::{Bug, program};

    #[test]
    fn counts_a_failed_node_for_ever_if_its_last_report_is_late() {
        assert_found(|| program(2, Some(Bug::LateSyncReport)), BugKind::Livelock, "Repair");
    }

    #[test]
    fn repairs_what_a_failed_node_had_if_it_is_correct() {
        assert_exhausted(|| program(2, None), 22_620);
    }
}

mod process_scheduler_with_three_processes {
    use super::*;
    use process_scheduler::{Bug, program};

    #[test]
    fn starves_a_process_by_priorities() {
        assert_found(|| program(2, 3, Some(Bug::Priorities)), BugKind::Livelock, "RunsAgain");
    }

    #[test]
    fn ends_with_everybody_asleep_after_a_lost_wake_up() {
        assert_found(|| program(2, 3, Some(Bug::LostWakeUp)), BugKind::HotAtEnd, "RunsAgain");
    }

    #[test]
    fn lets_everybody_run_again_if_it_is_correct() {
        assert_exhausted(|| program(1, 3, None), 279);
    }
}

mod three_philosophers {
    use super::*;
    use philosophers::{Bug, program};

    #[test]
    fn can_back_off_in_step_for_ever() {
        assert_found(|| program(3, Some(Bug::BacksOff)), BugKind::Livelock, "Dinner");
    }

    #[test]
    fn end_waiting_for_each_other_if_all_begin_on_the_left() {
        assert_found(|| program(3, Some(Bug::LeftFirst)), BugKind::HotAtEnd, "Dinner");
    }

    #[test]
    fn eat_if_they_ask_for_the_forks_in_order() {
        assert_exhausted(|| program(3, None), 3_147);
    }
}
