//! Liveness of the bundled protocols, by brute force: all states of small instances are
//! enumerated, and the strongly connected components of those in which a monitor is hot are judged.
//! And how random scheduling fares.

mod answers;
mod running;

use std::collections::{BTreeMap, BTreeSet};

use dally::contract::{BugKind, Fingerprint, Program, Status, System, WorkerId};
use dally::machines::{MachineProgram, MachineSystem};
use dally_protocols::Protocol;

use crate::answers::successors;

/// A state of a program, with all that can happen in it.
struct State {
    enabled: Vec<WorkerId>,
    hot: u64,
    ended: bool,
    /// Who steps, and the number of the state after that.
    steps: Vec<(WorkerId, usize)>,
}

impl State {
    fn of(system: &MachineSystem) -> State {
        State {
            enabled: system.enabled().to_vec(),
            hot: system.acceptance().hot,
            ended: system.status() != Status::Running,
            steps: Vec::new(),
        }
    }
}

/// All states of a program without safety bugs.
#[track_caller]
fn states(program: MachineProgram) -> Vec<State> {
    let program = program.run_twice(false);
    let first = program.start().unwrap();
    let mut numbers: BTreeMap<Option<Fingerprint>, usize> =
        BTreeMap::from([(first.fingerprint(), 0)]);
    let mut states = vec![State::of(&first)];
    let mut stack = vec![(0, first)];
    while let Some((number, system)) = stack.pop() {
        for &worker in system.enabled() {
            for next in successors(&system, worker) {
                let after = *numbers.entry(next.fingerprint()).or_insert(states.len());
                states[number].steps.push((worker, after));
                if after == states.len() {
                    states.push(State::of(&next));
                    stack.push((after, next));
                }
            }
        }
    }
    states
}

/// The strongly connected components of the states in which all of these monitors are hot, each
/// sorted, by Tarjan's algorithm.
fn components(states: &[State], hot: u64) -> Vec<Vec<usize>> {
    let among = |state: usize| states[state].hot & hot == hot;
    let mut found = Vec::new();
    // The number of each visited state in the order of visits, and the least number that is known
    // to be in its component.
    let mut visits: Vec<Option<(usize, usize)>> = states.iter().map(|_| None).collect();
    let mut visited = 0;
    let mut open = Vec::new();
    let mut is_open = vec![false; states.len()];
    for root in (0..states.len()).filter(|&state| among(state)) {
        if visits[root].is_some() {
            continue;
        }
        // States on the way from the root, each with the number of its next step.
        let mut path = vec![(root, 0)];
        while let Some((state, next)) = path.last_mut() {
            let state = *state;
            if *next == 0 {
                visits[state] = Some((visited, visited));
                visited += 1;
                open.push(state);
                is_open[state] = true;
            }
            let Some(&(_, after)) = states[state].steps.get(*next) else {
                path.pop();
                let (number, least) = visits[state].unwrap();
                if let Some(&(before, _)) = path.last() {
                    let low = &mut visits[before].as_mut().unwrap().1;
                    *low = least.min(*low);
                }
                if number == least {
                    let start = open.iter().rposition(|&other| other == state).unwrap();
                    let mut component = open.split_off(start);
                    component.sort_unstable();
                    component.iter().for_each(|&state| is_open[state] = false);
                    found.push(component);
                }
                continue;
            };
            *next += 1;
            if !among(after) {
                continue;
            }
            match visits[after] {
                None => path.push((after, 0)),
                Some((number, _)) if is_open[after] => {
                    let low = &mut visits[state].as_mut().unwrap().1;
                    *low = number.min(*low);
                }
                Some(_) => {}
            }
        }
    }
    found
}

/// Whether an execution can stay in a component for ever although every worker that can step in
/// all of it does.
fn is_fair_cycle(states: &[State], component: &[usize]) -> bool {
    let steps = component.iter().flat_map(|&state| &states[state].steps);
    let inside = steps.filter(|(_, after)| component.binary_search(after).is_ok());
    let steps: BTreeSet<WorkerId> = inside.map(|&(worker, _)| worker).collect();
    let owed = |worker: &WorkerId| {
        *worker != WorkerId::FAULTS
            && component.iter().all(|&state| states[state].enabled.contains(worker))
    };
    let served = |worker| steps.contains(worker) || !owed(worker);
    !steps.is_empty() && states[component[0]].enabled.iter().all(served)
}

/// What brute force says of a program.
#[derive(PartialEq, Eq, Debug)]
struct Verdict {
    states: usize,
    /// The states in which an execution ends while a monitor is hot.
    hot_ends: usize,
    /// Fair cycles of hot states: the components that have one, of all monitors.
    livelocks: usize,
}

#[track_caller]
fn judge(program: MachineProgram) -> Verdict {
    let states = states(program);
    let hot_ends = states.iter().filter(|state| state.ended && state.hot != 0).count();
    let monitors = states.iter().fold(0, |all, state| all | state.hot);
    let livelocks =
        (0..64).map(|monitor| 1 << monitor).filter(|bit| monitors & bit != 0).map(|bit| {
            let components = components(&states, bit);
            components.iter().filter(|component| is_fair_cycle(&states, component)).count()
        });
    Verdict { states: states.len(), hot_ends, livelocks: livelocks.sum() }
}

/// What brute force says of a program whose monitors are never hot for ever.
fn lively(states: usize) -> Verdict {
    Verdict { states, hot_ends: 0, livelocks: 0 }
}

/// What random finds with each of three seeds: the kinds of bug, the monitor that is to blame in
/// all of them, and the schedules in which they show.
fn hunts(
    protocol: &Protocol,
    program: impl Fn() -> MachineProgram,
) -> ([BugKind; 3], String, [u64; 3]) {
    let findings = [0, 1, 2].map(|seed| {
        let report = running::run(protocol, program(), "random", 10_000, seed);
        let finding = report.findings.into_iter().next();
        finding.unwrap_or_else(|| panic!("seed {seed} finds nothing"))
    });
    let culprit = findings[0].bug.culprit.clone();
    assert!(findings.iter().all(|finding| finding.bug.culprit == culprit), "{findings:?}");
    let kinds = findings.each_ref().map(|finding| finding.bug.kind());
    (kinds, culprit.unwrap(), findings.map(|finding| finding.found_at))
}

/// The protocol with another step bound, and so with another temperature bound, half of that.
fn bounded(protocol: &Protocol, max_steps: usize) -> Protocol {
    Protocol { max_steps, ..*protocol }
}

#[track_caller]
fn assert_clean(protocol: &Protocol, program: impl Fn() -> MachineProgram) {
    for strategy in ["random", "pct:3", "round-robin"] {
        let report = running::run(protocol, program(), strategy, 50, 0);
        assert_eq!(report.findings, [], "{strategy}");
        assert_eq!(report.schedules, 50);
    }
}

mod elevator_door {
    use super::*;
    use dally_protocols::elevator_door::{Bug, PROTOCOL, program};

    #[test]
    fn closes_in_the_end_if_it_is_correct() {
        assert_eq!(judge(program(2, 0, None)), lively(332));
        assert_eq!(judge(program(2, 1, None)), lively(3_588));
        assert_clean(&PROTOCOL, || program(3, 2, None));
    }

    #[test]
    fn stays_open_without_its_timer() {
        let verdict = judge(program(2, 1, Some(Bug::ForgetsTimer)));
        assert_eq!(verdict, Verdict { states: 3_650, hot_ends: 2, livelocks: 0 });
        let (kinds, monitor, found_at) =
            hunts(&PROTOCOL, || program(3, 2, Some(Bug::ForgetsTimer)));
        assert_eq!((kinds, monitor.as_str()), ([BugKind::HotAtEnd; 3], "Closes"));
        assert_eq!(found_at, [48, 30, 8]);
    }

    #[test]
    fn waits_for_ever_for_a_thing_that_is_gone() {
        let verdict = judge(program(2, 1, Some(Bug::SeesGhosts)));
        assert_eq!(verdict, Verdict { states: 3_688, hot_ends: 0, livelocks: 1 });
        let (kinds, monitor, found_at) = hunts(&PROTOCOL, || program(3, 2, Some(Bug::SeesGhosts)));
        assert_eq!((kinds, monitor.as_str()), ([BugKind::Livelock; 3], "Closes"));
        assert_eq!(found_at, [77, 30, 8]);
    }

    #[test]
    fn cannot_be_wrong_about_things_if_there_are_none() {
        assert_eq!(judge(program(2, 0, Some(Bug::SeesGhosts))), lively(332));
    }
}

mod elevator_planning {
    use super::*;
    use dally_protocols::elevator_planning::{Bug, Building, PROTOCOL, program};

    const fn building(floors: usize, cabins: usize) -> Building {
        Building { floors, cabins }
    }

    #[test]
    fn serves_every_floor_if_cabins_keep_their_direction() {
        assert_eq!(judge(program(building(3, 1), None)), lively(1_287));
        assert_eq!(judge(program(Building::BUNDLED, None)), lively(12_319));
        assert_eq!(judge(program(building(3, 2), None)), lively(38_395));
        assert_clean(&PROTOCOL, || program(Building::BUNDLED, None));
    }

    #[test]
    fn starves_the_highest_floor_if_cabins_go_to_the_nearest() {
        let starved = |states| Verdict { states, hot_ends: 0, livelocks: 1 };
        assert_eq!(judge(program(building(3, 1), Some(Bug::NearestFirst))), starved(1_287));
        assert_eq!(judge(program(building(3, 2), Some(Bug::NearestFirst))), starved(38_395));
        let buggy = || program(Building::BUNDLED, Some(Bug::NearestFirst));
        let (kinds, monitor, found_at) = hunts(&bounded(&PROTOCOL, 800), buggy);
        assert_eq!((kinds, monitor.as_str()), ([BugKind::Temperature; 3], "Served"));
        assert_eq!(found_at, [13, 16, 29]);
    }

    #[test]
    fn starves_nobody_if_there_are_two_floors() {
        assert_eq!(judge(program(building(2, 1), Some(Bug::NearestFirst))), lively(119));
        assert_eq!(judge(program(building(2, 2), Some(Bug::NearestFirst))), lively(1_374));
    }

    /// Long: run it with `cargo test --release -p dally-protocols --test liveness -- --ignored`.
    #[test]
    #[ignore = "takes half a minute"]
    fn serves_every_floor_of_a_large_building() {
        assert_eq!(judge(program(Building::LARGE, None)), lively(626_419));
    }
}

mod lann_with_four_processes {
    use super::*;
    use dally_protocols::lann::{Bug, PROTOCOL, program};

    #[test]
    fn tells_everybody_who_is_elected_if_it_is_correct() {
        let judged = [2, 3, 4].map(|processes| judge(program(processes, None)));
        assert_eq!(judged, [52, 364, 2_802].map(lively));
        assert_clean(&PROTOCOL, || program(4, None));
    }

    #[test]
    fn has_ids_that_go_around_for_ever_if_candidates_wait_for_the_word_of_the_leader() {
        let judged = [2, 3, 4].map(|processes| judge(program(processes, Some(Bug::AsksAgain))));
        // One for each set of two or more candidates: all of them but the smallest go on.
        let endless = |(states, livelocks)| Verdict { states, hot_ends: 0, livelocks };
        assert_eq!(judged, [(69, 1), (630, 4), (5_659, 11)].map(endless));
        let (kinds, monitor, found_at) = hunts(&PROTOCOL, || program(4, Some(Bug::AsksAgain)));
        let expected = [BugKind::Livelock, BugKind::Temperature, BugKind::Livelock];
        assert_eq!((kinds, monitor.as_str()), (expected, "EverybodyKnows"));
        assert_eq!(found_at, [1, 1, 1]);
    }
}

mod tree_identification {
    use super::*;
    use dally_protocols::tree_identification::{Bug, PROTOCOL, program};

    #[test]
    fn ends_with_a_root_if_it_is_correct() {
        let judged = [2, 3, 4, 5].map(|nodes| judge(program(nodes, None)));
        assert_eq!(judged, [55, 264, 980, 4_352].map(lively));
        assert_clean(&PROTOCOL, || program(4, None));
    }

    #[test]
    fn contends_for_ever_between_any_two_neighbours_if_both_wait_equally_long() {
        let judged = [2, 3, 4, 5].map(|nodes| judge(program(nodes, Some(Bug::SameDelay))));
        let endless = |(states, livelocks)| Verdict { states, hot_ends: 0, livelocks };
        assert_eq!(judged, [(37, 1), (192, 2), (764, 3), (3_776, 4)].map(endless));
    }

    #[test]
    fn asks_in_vain_for_ever_if_a_node_turns_away_who_was_early() {
        let judged = [2, 3, 4].map(|nodes| judge(program(nodes, Some(Bug::TurnsAwayEarly))));
        let endless = |(states, livelocks)| Verdict { states, hot_ends: 0, livelocks };
        assert_eq!(judged, [(135, 3), (936, 8), (3_727, 12)].map(endless));
        let buggy = || program(4, Some(Bug::TurnsAwayEarly));
        let (kinds, monitor, found_at) = hunts(&PROTOCOL, buggy);
        let expected = [BugKind::Livelock, BugKind::Temperature, BugKind::Temperature];
        assert_eq!((kinds, monitor.as_str()), (expected, "OneRoot"));
        assert_eq!(found_at, [5, 2, 4]);
    }

    #[test]
    fn gets_out_of_step_too_soon_for_random_to_notice() {
        let buggy = || program(4, Some(Bug::SameDelay));
        assert_eq!(running::run(&PROTOCOL, buggy(), "random", 1_000, 0).findings, []);
        let (kinds, monitor, found_at) = hunts(&bounded(&PROTOCOL, 100), buggy);
        assert_eq!((kinds, monitor.as_str()), ([BugKind::Temperature; 3], "OneRoot"));
        assert_eq!(found_at, [41, 139, 240]);
    }

    /// Long: run it with `cargo test --release -p dally-protocols --test liveness -- --ignored`.
    #[test]
    #[ignore = "takes half a minute"]
    fn ends_with_a_root_in_large_trees() {
        let judged = [6, 7, 8].map(|nodes| judge(program(nodes, None)));
        assert_eq!(judged, [14_256, 63_040, 218_752].map(lively));
    }
}

mod extent_manager {
    use super::*;
    use dally_protocols::extent_manager::{Bug, PROTOCOL, program};

    #[test]
    fn repairs_what_a_failed_node_had_if_it_is_correct() {
        assert_eq!(judge(program(2, None)), lively(22_620));
        assert_clean(&PROTOCOL, || program(3, None));
        let report = running::run(&PROTOCOL, program(3, None), "random", 1_000, 0);
        assert_eq!((report.findings, report.schedules), (Vec::new(), 1_000));
    }

    #[test]
    fn counts_a_failed_node_for_ever_if_its_last_report_is_late() {
        // One for each node that can fail.
        let verdict = judge(program(2, Some(Bug::LateSyncReport)));
        assert_eq!(verdict, Verdict { states: 26_440, hot_ends: 0, livelocks: 2 });
        let (kinds, monitor, found_at) = hunts(&PROTOCOL, || program(3, Some(Bug::LateSyncReport)));
        assert_eq!((kinds, monitor.as_str()), ([BugKind::Temperature; 3], "Repair"));
        assert_eq!(found_at, [6, 4, 4]);
    }

    /// Long: run it with `cargo test --release -p dally-protocols --test liveness -- --ignored`.
    #[test]
    #[ignore = "takes half a minute"]
    fn repairs_three_replicas_if_it_is_correct() {
        assert_eq!(judge(program(3, None)), lively(247_436));
    }
}

mod process_scheduler {
    use super::*;
    use dally_protocols::process_scheduler::{Bug, PROTOCOL, program};

    #[test]
    fn lets_everybody_run_again_if_it_is_correct() {
        assert_eq!(judge(program(1, 3, None)), lively(279));
        assert_eq!(judge(program(2, 3, None)), lively(4_770));
        assert_clean(&PROTOCOL, || program(2, 3, None));
    }

    #[test]
    fn lets_everybody_sleep_for_ever_after_a_lost_wake_up() {
        let verdict = judge(program(2, 3, Some(Bug::LostWakeUp)));
        assert_eq!(verdict, Verdict { states: 5_247, hot_ends: 6, livelocks: 0 });
        let (kinds, monitor, found_at) = hunts(&PROTOCOL, || program(2, 3, Some(Bug::LostWakeUp)));
        assert_eq!((kinds, monitor.as_str()), ([BugKind::HotAtEnd; 3], "RunsAgain"));
        assert_eq!(found_at, [1, 1, 1]);
    }

    #[test]
    fn loses_no_wake_up_on_one_processor() {
        assert_eq!(judge(program(1, 3, Some(Bug::LostWakeUp))), lively(279));
    }

    #[test]
    fn starves_the_last_process_by_priorities() {
        let verdict = judge(program(2, 3, Some(Bug::Priorities)));
        assert_eq!(verdict, Verdict { states: 3_914, hot_ends: 0, livelocks: 1 });
        // On one processor all but the first.
        let verdict = judge(program(1, 3, Some(Bug::Priorities)));
        assert_eq!(verdict, Verdict { states: 22, hot_ends: 0, livelocks: 2 });
    }

    #[test]
    fn does_not_starve_anybody_long_enough_for_random_to_notice() {
        let buggy = || program(2, 3, Some(Bug::Priorities));
        assert_eq!(running::run(&PROTOCOL, buggy(), "random", 200, 0).findings, []);
        let (kinds, monitor, found_at) = hunts(&bounded(&PROTOCOL, 200), buggy);
        assert_eq!((kinds, monitor.as_str()), ([BugKind::Temperature; 3], "RunsAgain"));
        assert_eq!(found_at, [401, 1_818, 158]);
    }
}

mod philosophers {
    use super::*;
    use dally_protocols::philosophers::{Bug, PROTOCOL, program};

    #[test]
    fn eat_if_they_ask_for_the_forks_in_order() {
        assert_eq!(judge(program(3, None)), lively(3_147));
        assert_eq!(judge(program(4, None)), lively(43_454));
        assert_clean(&PROTOCOL, || program(3, None));
    }

    #[test]
    fn can_back_off_in_step_for_ever() {
        let verdict = judge(program(3, Some(Bug::BacksOff)));
        assert_eq!(verdict, Verdict { states: 5_095, hot_ends: 0, livelocks: 1 });
        let (kinds, monitor, found_at) = hunts(&PROTOCOL, || program(3, Some(Bug::BacksOff)));
        assert_eq!((kinds, monitor.as_str()), ([BugKind::Temperature; 3], "Dinner"));
        assert_eq!(found_at, [31, 24, 59]);
    }

    #[test]
    fn wait_for_each_other_if_all_begin_on_the_left() {
        let verdict = judge(program(3, Some(Bug::LeftFirst)));
        assert_eq!(verdict, Verdict { states: 3_304, hot_ends: 1, livelocks: 0 });
        let (kinds, monitor, found_at) = hunts(&PROTOCOL, || program(3, Some(Bug::LeftFirst)));
        assert_eq!((kinds, monitor.as_str()), ([BugKind::HotAtEnd; 3], "Dinner"));
        assert_eq!(found_at, [1, 1, 1]);
    }
}
