//! A monitor is blamed for a loop exactly if some fair loop violates it, and every loop that is
//! shown is one.

use std::ops::Range;
use std::sync::Arc;

use dally_core::{BugKind, Finding};
use dally_machines::MachineProgram;
use dally_search::liveness::Fairness;
use dally_search::strata::{ExplorerKind, Plan, SearchKind, explore};
use dally_search::{Ended, Options, Report};

use crate::programs::{MONITORS, random};
use crate::{graph, oracle, walker};

/// Larger programs are left out.
const MOST: usize = 100;

/// The searches for one program, each with a number of threads.
fn searches(seed: u64) -> [(SearchKind, usize); 3] {
    let by_turns = if seed.is_multiple_of(2) { SearchKind::IterativeNdfs } else { SearchKind::Map };
    let threads = if seed.is_multiple_of(2) { 1 } else { 2 };
    [(SearchKind::Ndfs, 1), (SearchKind::Map, 1), (by_turns, threads)]
}

fn search(
    seed: u64,
    program: &Arc<MachineProgram>,
    (search, threads): (SearchKind, usize),
    fairness: Fairness,
) -> Report {
    let (delta, exact) = (Some(1 + seed as u32 % 4), seed.is_multiple_of(7));
    let plan = Plan { search, delta, exact, ..Plan::default() };
    let shrink = seed.is_multiple_of(25);
    let options = Options { fairness, threads, keep_going: true, shrink, ..Options::default() };
    let explorer = ExplorerKind::ALL[seed as usize / 4 % 4].build(seed);
    explore(Arc::clone(program), explorer, plan, options, Arc::new(()))
}

fn monitor(finding: &Finding) -> usize {
    let culprit = finding.bug.culprit.as_deref().unwrap_or("");
    MONITORS.iter().position(|&name| name == culprit).expect("a monitor of ours")
}

/// What a number of programs were like.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    programs: usize,
    too_large: usize,
    /// With a loop in which the first monitor stays hot.
    without_answer: usize,
    /// With a loop that the second monitor forbids.
    without_lasting_light: usize,
}

fn check(seed: u64, fairness: Fairness, tally: &mut Tally) {
    let program = Arc::new(random(seed));
    let Some(states) = graph::states(&program, MOST) else {
        tally.too_large += 1;
        return;
    };
    tally.programs += 1;
    let violated = oracle::violated(&states, fairness);
    let ends_hot = states.iter().any(|state| state.ended && state.hot != 0);
    tally.without_answer += (violated & 1) as usize;
    tally.without_lasting_light += (violated >> 1 & 1) as usize;
    for how in searches(seed) {
        let report = search(seed, &program, how, fairness);
        let what =
            || format!("seed {seed}, {} on {}, {fairness}: {:?}", how.0, how.1, report.findings);
        assert_eq!(report.ended, Ended::Exhausted, "{}", what());
        let covered = report.states.as_ref().expect("a search of states");
        assert_eq!(covered.states, graph::count(&states), "{}", what());
        let (loops, ends): (Vec<_>, Vec<_>) =
            report.findings.iter().partition(|finding| finding.bug.kind() == BugKind::Livelock);
        let blamed = loops.iter().fold(0, |all, finding| all | 1 << monitor(finding));
        assert_eq!(blamed, violated, "{}", what());
        assert_eq!(!ends.is_empty(), ends_hot, "{}", what());
        assert!(ends.iter().all(|end| end.bug.kind() == BugKind::HotAtEnd), "{}", what());
        for finding in loops {
            let lasso = finding.lasso.as_ref().unwrap_or_else(|| panic!("no lasso: {}", what()));
            let choices = &finding.schedule.choices;
            let walked = walker::check(&program, choices, lasso.stem, monitor(finding), fairness);
            assert_eq!(walked, Ok(()), "{}", what());
            assert!(lasso.whole, "{}", what());
        }
    }
}

fn check_all(seeds: Range<u64>, fairness: Fairness) -> Tally {
    let mut tally = Tally::default();
    seeds.for_each(|seed| check(seed, fairness, &mut tally));
    tally
}

#[test]
fn under_weak_fairness_every_search_blames_exactly_the_monitors_that_a_fair_loop_violates() {
    let expected = Tally {
        programs: 3_011,
        too_large: 1_489,
        without_answer: 861,
        without_lasting_light: 1_354,
    };
    assert_eq!(check_all(0..4_500, Fairness::Weak), expected);
}

#[test]
fn without_fairness_every_search_blames_exactly_the_monitors_that_a_loop_violates() {
    let expected =
        Tally { programs: 1_012, too_large: 488, without_answer: 308, without_lasting_light: 474 };
    assert_eq!(check_all(4_500..6_000, Fairness::None), expected);
}

#[test]
fn under_strong_fairness_every_search_blames_exactly_the_monitors_that_a_fair_loop_violates() {
    let expected =
        Tally { programs: 1_019, too_large: 481, without_answer: 240, without_lasting_light: 374 };
    assert_eq!(check_all(6_000..7_500, Fairness::Strong), expected);
}

#[test]
fn a_search_that_foresees_steps_goes_through_the_states_and_transitions_that_brute_force_does() {
    let (mut programs, mut transitions) = (0, 0);
    for seed in 7_500..10_500 {
        let program = Arc::new(random(seed));
        let Some(states) = graph::states(&program, MOST) else { continue };
        let steps = states.iter().map(|state| state.steps.len() as u64).sum::<u64>();
        for (kind, threads) in [(SearchKind::Dfs, 1), (SearchKind::Bfs, 1), (SearchKind::Dfs, 2)] {
            let report = search(seed, &program, (kind, threads), Fairness::None);
            assert_eq!(report.ended, Ended::Exhausted, "seed {seed}");
            let covered = report.states.as_ref().expect("a search of states");
            let counts = (covered.states, covered.transitions);
            assert_eq!(counts, (states.len() as u64, steps), "seed {seed}, {kind} on {threads}");
        }
        programs += 1;
        transitions += steps;
    }
    assert_eq!((programs, transitions), (1_977, 154_128));
}
