//! A bad cycle is reported exactly if there is one.

use std::sync::Arc;

use dally_core::{BugKind, Finding, Tag, WorkerId};
use dally_search::liveness::Fairness;
use dally_search::strata::{Plan, RandomOrder, RoundRobin, RunToCompletion, SearchKind, explore};
use dally_search::{Ended, Options, Report};

use crate::labelled::{Labelled, Place, Step, Target, random};
use crate::oracle::{check_lasso, ends_hot, violated};

const FAIRNESS: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

fn search(
    graph: &Arc<Vec<Place>>,
    search: SearchKind,
    explorer: u64,
    fairness: Fairness,
    threads: usize,
    keep_going: bool,
) -> Report {
    let program = Arc::new(Labelled(graph.clone()));
    let plan = Plan { search, delta: Some(1 + explorer as u32 % 3), ..Plan::default() };
    let shrink = explorer.is_multiple_of(5);
    let options = Options { fairness, threads, keep_going, shrink, ..Options::default() };
    match explorer % 3 {
        0 => explore(program, RoundRobin::default(), plan, options, Arc::new(())),
        1 => explore(program, RunToCompletion::default(), plan, options, Arc::new(())),
        _ => explore(program, RandomOrder::new(explorer), plan, options, Arc::new(())),
    }
}

/// The monitors whose cycles were found.
fn found(report: &Report) -> Vec<(usize, &Finding)> {
    let monitors = ["HotOne", "HotTwo", "VisitsOne", "VisitsTwo"];
    let livelocks =
        report.findings.iter().filter(|finding| finding.bug.kind() == BugKind::Livelock);
    let monitor = |finding: &Finding| {
        let culprit = finding.bug.culprit.as_deref().unwrap_or("");
        monitors.iter().position(|&name| name == culprit).expect("a monitor of ours")
    };
    livelocks.map(|finding| (monitor(finding), finding)).collect()
}

fn check(seed: u64, fairness: Fairness, kind: SearchKind, threads: usize) {
    let graph = Arc::new(random(seed, 7));
    let expected = violated(&graph, fairness);
    let report = search(&graph, kind, seed, fairness, threads, true);
    let what = || format!("seed {seed}, {kind}, {fairness}: {graph:#?}\n{:?}", report.findings);
    assert_eq!(report.ended, Ended::Exhausted, "{}", what());
    let found = found(&report);
    let monitors = found.iter().fold(0_u64, |all, (monitor, _)| all | 1 << monitor);
    assert_eq!(monitors, expected, "{}", what());
    for (monitor, finding) in found {
        let Some(lasso) = &finding.lasso else { panic!("no lasso: {}", what()) };
        let choices = &finding.schedule.choices;
        let checked = check_lasso(&graph, choices, lasso.stem, monitor, fairness);
        assert_eq!(checked, Ok(()), "{}", what());
    }
    let quiet = report.findings.iter().any(|finding| finding.bug.kind() == BugKind::HotAtEnd);
    assert_eq!(quiet, ends_hot(&graph), "{}", what());
}

fn check_all(kind: SearchKind, threads: usize) {
    for seed in 0..20_000 {
        check(seed, FAIRNESS[seed as usize % 3], kind, threads);
    }
}

#[test]
fn nested_depth_first_search_reports_a_cycle_exactly_if_there_is_one() {
    check_all(SearchKind::Ndfs, 1);
}

#[test]
fn iterative_nested_depth_first_search_reports_a_cycle_exactly_if_there_is_one() {
    check_all(SearchKind::IterativeNdfs, 1);
}

#[test]
fn maximal_accepting_predecessors_report_a_cycle_exactly_if_there_is_one() {
    check_all(SearchKind::Map, 1);
}

#[test]
fn maximal_accepting_predecessors_on_two_threads_report_a_cycle_exactly_if_there_is_one() {
    check_all(SearchKind::Map, 2);
}

#[test]
fn without_keeping_on_the_first_bug_that_there_is_is_reported() {
    for seed in 0..3_000 {
        let graph = Arc::new(random(seed, 7));
        let fairness = FAIRNESS[seed as usize % 3];
        let kinds = [SearchKind::Ndfs, SearchKind::IterativeNdfs, SearchKind::Map];
        let report = search(&graph, kinds[seed as usize / 3 % 3], seed, fairness, 1, false);
        let expected = violated(&graph, fairness);
        let bugs = usize::from(expected != 0 || ends_hot(&graph));
        assert_eq!(report.findings.len(), bugs, "seed {seed}: {:?}", report.findings);
        for (monitor, finding) in found(&report) {
            assert_eq!(expected >> monitor & 1, 1, "seed {seed}: {finding:?}");
        }
        let kinds = [BugKind::Livelock, BugKind::HotAtEnd];
        assert!(report.findings.iter().all(|finding| kinds.contains(&finding.bug.kind())));
    }
}

/// Of two loops that are found at once, the first is reported, and with its own stem.
#[test]
fn a_loop_is_not_mistaken_for_another_that_is_found_with_it() {
    let to = |to| Target { to, visits: 0, relieved: 0 };
    let enabled = vec![WorkerId::root(0)];
    let stay_or_go_on = Step::Value(Tag::Program, vec![to(0), to(1)]);
    let graph = Arc::new(vec![
        Place { enabled: enabled.clone(), steps: vec![stay_or_go_on], hot: 0b01 },
        Place { enabled, steps: vec![Step::To(to(1))], hot: 0b10 },
    ]);
    for kind in [SearchKind::Ndfs, SearchKind::IterativeNdfs, SearchKind::Map] {
        let (program, order) = (Arc::new(Labelled(graph.clone())), RoundRobin::default());
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
    let to = |to| Step::To(Target { to, visits: 0, relieved: 0 });
    let (one, two) = (WorkerId::root(0), WorkerId::root(1));
    let alone = |next| Place { enabled: vec![one], steps: vec![to(next)], hot: 0 };
    // One way to a hot state without end; another that one delay shows.
    let mut graph =
        vec![Place { enabled: vec![one, two], steps: vec![to(1), to(LAST + 1)], hot: 0 }];
    graph.extend((1..LAST).map(|at| alone(at + 1)));
    graph.push(Place { hot: 1, ..alone(LAST) });
    graph.push(alone(LAST + 1));
    let program = Arc::new(Labelled(Arc::new(graph)));
    let plan = Plan { search: SearchKind::IterativeNdfs, ..Plan::default() };
    let options = Options { max_steps: 2 * LAST, shrink: false, ..Options::default() };
    let report = explore(program, RoundRobin::default(), plan, options, Arc::new(()));
    let states = report.states.as_ref().expect("a search of states");
    assert_eq!((found(&report).len(), states.strata.len()), (1, 1), "{:?}", report.findings);
}
