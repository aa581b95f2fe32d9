//! A bad cycle is reported exactly if there is one.

use std::sync::Arc;

use dally_core::{BugKind, Finding, Tag, WorkerId};
use dally_search::liveness::Fairness;
use dally_search::strata::{Plan, RandomOrder, RoundRobin, RunToCompletion, SearchKind, explore};
use dally_search::{Ended, Options, Report};

use crate::how_many::programs;
use crate::labelled::{Labelled, Place, Step, Target, random};
use crate::oracle::{Explored, check_lasso};

const FAIRNESS: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

/// The searches for cycles, each with a number of threads.
const SEARCHES: [(SearchKind, usize); 6] = [
    (SearchKind::Ndfs, 1),
    (SearchKind::IterativeNdfs, 1),
    (SearchKind::Map, 1),
    (SearchKind::Map, 2),
    (SearchKind::Components, 1),
    (SearchKind::Components, 2),
];

fn search(
    program: &Arc<Labelled>,
    search: SearchKind,
    explorer: u64,
    fairness: Fairness,
    threads: usize,
    keep_going: bool,
) -> Report {
    let (delta, exact) = (Some(1 + explorer as u32 % 3), explorer.is_multiple_of(4));
    let plan = Plan { search, delta, exact, memory: 8 << 20, ..Plan::default() };
    let shrink = explorer.is_multiple_of(5);
    let options = Options { fairness, threads, keep_going, shrink, ..Options::default() };
    let program = program.clone();
    match explorer % 3 {
        0 => explore(program, RoundRobin::default(), plan, options, Arc::new(())),
        1 => explore(program, RunToCompletion::default(), plan, options, Arc::new(())),
        _ => explore(program, RandomOrder::new(explorer), plan, options, Arc::new(())),
    }
}

/// The monitors whose cycles were found.
pub fn found(report: &Report) -> Vec<(usize, &Finding)> {
    let monitors = ["HotOne", "HotTwo", "VisitsOne", "VisitsTwo"];
    let livelocks =
        report.findings.iter().filter(|finding| finding.bug.kind() == BugKind::Livelock);
    let monitor = |finding: &Finding| {
        let culprit = finding.bug.culprit.as_deref().unwrap_or("");
        monitors.iter().position(|&name| name == culprit).expect("a monitor of ours")
    };
    livelocks.map(|finding| (monitor(finding), finding)).collect()
}

/// A plain transition.
pub fn to(at: usize) -> Step {
    Step::To(Target::plain(at))
}

/// Of what kinds the programs were that each search was tried with.
#[derive(Debug, Default)]
struct Tally {
    programs: u64,
    /// Of which each search says that no monitor is violated by a cycle that counts.
    claimed_without_cycle: u64,
    /// For which a cycle was found, and for which cycles of several monitors were.
    with_cycle: u64,
    with_cycles_of_several: u64,
    with_sealed_states: u64,
    with_values: u64,
    with_faults: u64,
    with_failing_steps: u64,
}

impl Tally {
    fn count(&mut self, graph: &[Place], found: u64) {
        let transitions = || graph.iter().flat_map(Place::transitions);
        for (one, is_so) in [
            (&mut self.programs, true),
            (&mut self.claimed_without_cycle, found == 0),
            (&mut self.with_cycle, found != 0),
            (&mut self.with_cycles_of_several, found.count_ones() > 1),
            (&mut self.with_sealed_states, graph.iter().any(|place| place.sealed)),
            (&mut self.with_values, transitions().any(|one| !one.inside.is_empty())),
            (&mut self.with_faults, transitions().any(|one| one.fault)),
            (&mut self.with_failing_steps, transitions().any(|one| one.target.is_none())),
        ] {
            *one += u64::from(is_so);
        }
    }

    /// Says what was tried; there must be some of every kind.
    fn tell(&self, fairness: Fairness) {
        for (search, threads) in SEARCHES {
            println!("{search} on {threads}, fairness {fairness}: {self:?}");
        }
        let Tally { claimed_without_cycle, with_cycle, with_cycles_of_several, .. } = *self;
        let Tally { with_sealed_states, with_values, with_faults, with_failing_steps, .. } = *self;
        let cycles = [claimed_without_cycle, with_cycle, with_cycles_of_several];
        let kinds = [with_sealed_states, with_values, with_faults, with_failing_steps];
        let fewest = cycles.into_iter().chain(kinds).min();
        assert!(fewest >= Some(self.programs / 20), "{self:?}");
    }
}

fn check(seed: u64, fairness: Fairness, tally: &mut Tally) {
    let graph = Arc::new(random(seed, 6));
    let sealed = graph.iter().any(|place| place.sealed);
    let whole = Explored::all(&graph);
    let expected = (!sealed).then(|| whole.violated(fairness));
    for (kind, threads) in SEARCHES {
        let program = Arc::new(Labelled::new(&graph));
        // To shrink is to try other ways than the search.
        let explorer = seed + u64::from(sealed && seed.is_multiple_of(5));
        let report = search(&program, kind, explorer, fairness, threads, true);
        let what = || {
            let findings: Vec<_> = report.findings.iter().map(|f| f.bug.to_string()).collect();
            format!("seed {seed}, {kind} on {threads}, {fairness}: {graph:#?}\n{findings:#?}")
        };
        assert_eq!(report.ended, Ended::Exhausted, "{}", what());
        let explored = Explored::new(&graph, |at, number| program.has_taken(at, number));
        let expected = expected.unwrap_or_else(|| explored.violated(fairness));
        let found = found(&report);
        let monitors = found.iter().fold(0_u64, |all, (monitor, _)| all | 1 << monitor);
        if (kind, threads) == SEARCHES[0] {
            tally.count(&graph, monitors);
        }
        if sealed && kind == SearchKind::IterativeNdfs {
            // It leaves a sealed state by another way when it starts again.
            assert_eq!(monitors & !expected, 0, "{}", what());
        } else {
            assert_eq!(monitors, expected, "{}", what());
        }
        for (monitor, finding) in found {
            let Some(lasso) = &finding.lasso else { panic!("no lasso: {}", what()) };
            let choices = &finding.schedule.choices;
            let checked = check_lasso(&graph, choices, lasso.stem, monitor, fairness);
            assert_eq!(checked, Ok(()), "{}", what());
        }
        let has = |kind| report.findings.iter().any(|finding| finding.bug.kind() == kind);
        assert_eq!(has(BugKind::HotAtEnd), explored.ends_hot(), "{}", what());
        assert_eq!(has(BugKind::Panic), explored.fails(), "{}", what());
        assert!(!has(BugKind::Uncontrolled), "{}", what());
        let states = report.states.as_ref().expect("a search of states");
        assert_eq!(states.is_exhausted(), states.sealed == 0, "{}", what());
        assert!(explored.is_whole() || states.sealed > 0, "{}", what());
        if kind != SearchKind::IterativeNdfs {
            let counts = (states.states, states.transitions);
            assert_eq!(counts, explored.counts(), "{}", what());
        }
    }
}

/// Each search is tried with so many programs, a third of them under each fairness.
fn check_all(fairness: Fairness) {
    let third = FAIRNESS.iter().position(|&one| one == fairness).expect("one of three") as u64;
    let seeds = (third..programs().next_multiple_of(3)).step_by(3);
    let mut tally = Tally::default();
    seeds.for_each(|seed| check(seed, fairness, &mut tally));
    tally.tell(fairness);
}

#[test]
fn without_fairness_every_search_reports_a_cycle_exactly_if_there_is_one() {
    check_all(Fairness::None);
}

#[test]
fn under_weak_fairness_every_search_reports_a_cycle_exactly_if_there_is_one() {
    check_all(Fairness::Weak);
}

#[test]
fn under_strong_fairness_every_search_reports_a_cycle_exactly_if_there_is_one() {
    check_all(Fairness::Strong);
}

#[test]
fn without_keeping_on_the_first_bug_that_there_is_is_reported() {
    for seed in 0..3_000 {
        let mut graph = random(seed, 6);
        graph.iter_mut().for_each(|place| place.sealed = false);
        let fairness = FAIRNESS[seed as usize % 3];
        let [kinds @ .., _] = SEARCHES.map(|(kind, _)| kind);
        let graph = Arc::new(graph);
        let program = Arc::new(Labelled::new(&graph));
        let report =
            search(&program, kinds[seed as usize / 3 % kinds.len()], seed, fairness, 1, false);
        let all = Explored::all(&graph);
        let expected = all.violated(fairness);
        let bugs = usize::from(expected != 0 || all.ends_hot() || all.fails());
        assert_eq!(report.findings.len(), bugs, "seed {seed}: {:?}", report.findings);
        for (monitor, finding) in found(&report) {
            assert_eq!(expected >> monitor & 1, 1, "seed {seed}: {finding:?}");
        }
        let kinds = [BugKind::Livelock, BugKind::HotAtEnd, BugKind::Panic];
        assert!(report.findings.iter().all(|finding| kinds.contains(&finding.bug.kind())));
    }
}

/// Of two loops that are found at once, the first is reported, and with its own stem.
#[test]
fn a_loop_is_not_mistaken_for_another_that_is_found_with_it() {
    let enabled = vec![WorkerId::root(0)];
    let stay_or_go_on = Step::Value(Tag::Program, 0, vec![to(0), to(1)]);
    let graph = Arc::new(vec![
        Place { enabled: enabled.clone(), steps: vec![stay_or_go_on], hot: 0b01, sealed: false },
        Place { enabled, steps: vec![to(1)], hot: 0b10, sealed: false },
    ]);
    for (kind, _) in SEARCHES {
        let (program, order) = (Arc::new(Labelled::new(&graph)), RoundRobin::default());
        let plan = Plan { search: kind, ..Plan::default() };
        let report = explore(program, order, plan, Options::default(), Arc::new(()));
        let [finding] = &report.findings[..] else { panic!("{kind}: {:?}", report.findings) };
        assert_eq!(finding.bug.culprit.as_deref(), Some("HotOne"), "{kind}: {}", finding.bug);
        assert_eq!(finding.lasso.as_ref().map(|lasso| lasso.stem), Some(0), "{kind}");
    }
}

/// However large the graph of a stratum is: the next stratum begins without it.
#[test]
fn iterative_nested_search_judges_a_stratum_before_it_forgets_it() {
    const LAST: usize = 70_000;
    let (one, two) = (WorkerId::root(0), WorkerId::root(1));
    let alone = |next| Place { enabled: vec![one], steps: vec![to(next)], ..Place::default() };
    // One way to a hot state without end; another that one delay shows.
    let (enabled, steps) = (vec![one, two], vec![to(1), to(LAST + 1)]);
    let mut graph = vec![Place { enabled, steps, ..Place::default() }];
    graph.extend((1..LAST).map(|at| alone(at + 1)));
    graph.push(Place { hot: 1, ..alone(LAST) });
    graph.push(alone(LAST + 1));
    let program = Arc::new(Labelled::new(&Arc::new(graph)));
    let plan = Plan { search: SearchKind::IterativeNdfs, ..Plan::default() };
    let options = Options { max_steps: 2 * LAST, shrink: false, ..Options::default() };
    let report = explore(program, RoundRobin::default(), plan, options, Arc::new(()));
    let states = report.states.as_ref().expect("a search of states");
    assert_eq!((found(&report).len(), states.strata.len()), (1, 1), "{:?}", report.findings);
}

/// A row of hot states. In each of them one worker goes on to the next and another stays: to stay for
/// ever is not fair. From the last, one goes back to the state `to`, if there is one: then that is.
fn row(states: usize, back: Option<usize>) -> Vec<Place> {
    let place = |at: usize| {
        let next = if at + 1 == states { back } else { Some(at + 1) };
        let ways: Vec<Step> = next.into_iter().chain([at]).map(to).collect();
        let enabled = (2 - ways.len() as u32..2).map(WorkerId::root).collect();
        Place { enabled, steps: ways, hot: 1, sealed: false }
    };
    let mut row: Vec<Place> = (0..states).map(place).collect();
    if back.is_none() {
        row[states - 1].hot = 0;
    }
    row
}

/// A graph of so many states is judged several times before it is complete, and what was judged then
/// is not judged again unless it may have changed.
#[test]
fn a_loop_is_found_that_was_judged_before_it_was_closed() {
    for states in [257, 300, 513, 1100] {
        for back in [None, Some(0), Some(1), Some(100), Some(255), Some(256), Some(states - 1)] {
            let graph = Arc::new(row(states, back.filter(|&back| back < states)));
            for (fairness, (kind, threads)) in [Fairness::Weak, Fairness::Strong]
                .into_iter()
                .flat_map(|fairness| SEARCHES.map(|search| (fairness, search)))
            {
                let program = Arc::new(Labelled::new(&graph));
                for explorer in [1, 2, 3] {
                    let report = search(&program, kind, explorer, fairness, threads, true);
                    let what = format!("{kind} on {threads}, {fairness}: {states}, {back:?}");
                    assert_eq!(report.ended, Ended::Exhausted, "{what}");
                    let found = found(&report);
                    assert_eq!(found.len(), usize::from(back.is_some()), "{what}");
                    for (monitor, finding) in found {
                        let stem = finding.lasso.as_ref().map(|lasso| lasso.stem);
                        let Some(stem) = stem else { panic!("no lasso: {what}") };
                        let choices = &finding.schedule.choices;
                        let checked = check_lasso(&graph, choices, stem, monitor, fairness);
                        assert_eq!(checked, Ok(()), "{what}");
                    }
                }
            }
        }
    }
}

/// A monitor that waits in more places than are kept as candidates is sought everywhere, and of another
/// one it is still told where it waits.
#[test]
fn a_loop_of_one_monitor_is_found_behind_many_candidates_of_another() {
    const ROW: usize = 2_000;
    let mut graph = row(ROW, None);
    graph[ROW - 1].steps = vec![to(ROW)];
    let enabled = graph[ROW - 1].enabled.clone();
    graph.push(Place { enabled, steps: vec![to(ROW)], hot: 0b10, sealed: false });
    let graph = Arc::new(graph);
    for fairness in [Fairness::Weak, Fairness::Strong] {
        for (kind, threads) in SEARCHES {
            let program = Arc::new(Labelled::new(&graph));
            let report = search(&program, kind, 1, fairness, threads, true);
            let found: Vec<usize> = found(&report).into_iter().map(|one| one.0).collect();
            assert_eq!(found, [1], "{kind} on {threads}, {fairness}: {:?}", report.findings);
        }
    }
}
