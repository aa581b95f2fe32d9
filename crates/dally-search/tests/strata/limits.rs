//! Searches that are cut short say by what, and keep what they found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use dally_core::{BugKind, Choice, WorkerId};
use dally_report::text::coverage;
use dally_search::strata::{CachePolicy, Explorer, Plan, RoundRobin, SearchKind, explore};
use dally_search::{Ended, Options, Progress, Sink};
use fastrand::Rng;

use crate::explorers::{RR, options, plan, search};
use crate::graphs::{Graph, Tree};
use crate::random::{Shape, random_places};
use crate::walk::Walk;

fn to(at: u32) -> Tree {
    Tree::To(at, 0)
}

/// From 0 to `last`, one step after the other.
fn chain(last: u32) -> Arc<Graph> {
    let ways: Vec<_> = (1..=last).map(|at| vec![(0, to(at))]).chain([vec![]]).collect();
    Graph::by_hand(&ways.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Two workers who go on for ever; there is always a new state.
fn endless() -> Arc<Graph> {
    Graph::by_hand(&[&[(0, to(1)), (1, Tree::Lap)], &[(0, Tree::Lap), (1, Tree::Lap)]])
}

#[test]
fn a_step_bound_cuts_and_nothing_is_claimed_beyond_it() {
    let graph = chain(20);
    let bounded = |max_steps| search(&graph, RR, plan(), Options { max_steps, ..options(1) });
    let report = bounded(10);
    let states = report.states.as_ref().unwrap();
    assert_eq!((states.states, states.cut, states.is_exhausted()), (11, 1, false));
    assert_eq!((report.ended, report.cut), (Ended::Exhausted, 1));
    insta::assert_snapshot!(coverage(&report), @"nothing is left to try: 11 states, 10 transitions, 1 of them cut by the step bound");
    insta::assert_snapshot!(coverage(&bounded(21)), @"exhausted: 21 states, 20 transitions");
}

#[test]
fn a_step_bound_can_be_a_bug() {
    let options = Options { max_steps: 10, fail_on_max_steps: true, ..options(1) };
    let report = search(&chain(20), RR, plan(), options);
    assert_eq!((report.ended, report.findings.len()), (Ended::Bug, 1));
    let finding = &report.findings[0];
    assert_eq!(finding.bug.kind(), BugKind::StepBound);
    assert_eq!(finding.schedule.choices, vec![Choice::Worker(WorkerId::root(0)); 10]);
}

#[test]
fn a_delay_bound_that_was_completed_is_named() {
    let graph = Graph::by_hand(&[&[(0, to(1)), (1, to(2)), (2, to(3))], &[], &[], &[]]);
    let text = |bound| {
        let report = search(&graph, RR, Plan { delays: Some(bound), ..plan() }, options(1));
        coverage(&report)
    };
    insta::assert_snapshot!(text(0), @"delay bound 0 completed: 2 states, 1 transition");
    insta::assert_snapshot!(text(1), @"delay bound 1 completed: 3 states, 2 transitions");
    insta::assert_snapshot!(text(2), @"exhausted: 4 states, 3 transitions");
}

/// Many states and few ways out of them, with a bug near the start.
fn large() -> Arc<Graph> {
    let mut rng = Rng::with_seed(1);
    let shape = Shape { states: 20, acyclic: true, choosing: 30 };
    let mut graphs: Vec<_> = (0..1_000).map(|_| random_places(&mut rng, shape)).collect();
    graphs[0] = vec![crate::graphs::Place {
        enabled: vec![WorkerId::root(0)],
        steps: vec![crate::graphs::Step { tree: Tree::Fail(0), tells: Vec::new() }],
        ..Default::default()
    }];
    Arc::new(Graph::forest(&graphs))
}

#[test]
fn a_search_whose_memory_is_full_says_so_and_keeps_its_findings() {
    let graph = large();
    for threads in [1, 3] {
        for memory in [20_000, 60_000] {
            let options = Options { keep_going: true, ..options(threads) };
            let report = search(&graph, RR, Plan { memory, ..Plan::default() }, options);
            let states = report.states.as_ref().unwrap();
            assert_eq!((report.ended, report.findings.len()), (Ended::Memory, 1));
            assert!(states.cache_bytes <= memory, "{}", states.cache_bytes);
            assert!(graph.visited().is_subset(&graph.reachable()));
            assert!(states.states < graph.reachable().len() as u64);
            let text = coverage(&report);
            assert!(text.starts_with("visited "), "{text}");
            assert!(text.ends_with(", until the memory was full"), "{text}");
        }
    }
    let report = search(&graph, RR, Plan { memory: 1, ..Plan::default() }, options(1));
    insta::assert_snapshot!(coverage(&report), @"visited 1 state, 0 transitions, until the memory was full");
    insta::assert_snapshot!(report.notes.join("\n"), @"The memory of 1 B was full: visited states took 0 B and had no room to grow, the frontier 0 B, stacks 0 B. Raise it with `--memory`, `memory` of a test or `DALLY_MEMORY`.");
}

/// How much of each there was depends on when somebody looked.
#[test]
fn a_search_whose_memory_is_full_says_of_what() {
    let of = |cache, search_kind| {
        let plan = Plan { memory: 200_000, cache, search: search_kind, ..Plan::default() };
        let report = search(&large(), RR, plan, Options { keep_going: true, ..options(1) });
        assert_eq!(report.ended, Ended::Memory);
        let note = report.notes.last().unwrap();
        let amount = |word: &str| word.parse::<f64>().map_or(word.to_owned(), |_| "...".to_owned());
        let words = note.split(' ').map(amount).collect::<Vec<_>>().join(" ");
        words.replace("... KiB", "...").replace("... B", "...")
    };
    insta::assert_snapshot!(of(CachePolicy::None, SearchKind::Ses), @"The memory of ... was full: visited states took ..., the frontier ..., stacks .... Raise it with `--memory`, `memory` of a test or `DALLY_MEMORY`.");
    insta::assert_snapshot!(of(CachePolicy::All, SearchKind::Map), @"The memory of ... was full: states and transitions took ..., the frontier ..., stacks .... Raise it with `--memory`, `memory` of a test or `DALLY_MEMORY`.");
}

/// Round-robin, and slow about it.
#[derive(Clone, Hash, Default)]
struct Slow(RoundRobin);

impl Explorer for Slow {
    fn name(&self) -> String {
        "slow".into()
    }
    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        std::thread::sleep(Duration::from_millis(4));
        self.0.next(enabled)
    }
    fn delay(&mut self, enabled: &[WorkerId]) {
        self.0.delay(enabled);
    }
    fn started(&mut self, worker: WorkerId, name: &str) {
        self.0.started(worker, name);
    }
    fn finished(&mut self, worker: WorkerId) {
        self.0.finished(worker);
    }
}

/// The most transitions of which it heard.
#[derive(Default)]
struct Watcher(AtomicU64);

impl Sink for Watcher {
    fn progress(&self, progress: &Progress) {
        let transitions = progress.reached.map_or(0, |reached| reached.transitions);
        self.0.fetch_max(transitions, Relaxed);
    }
}

#[test]
fn a_search_whose_steps_are_slow_tells_its_progress_all_the_same() {
    for threads in [1, 2] {
        let (walk, watcher) = (Arc::new(Walk(chain(100))), Arc::new(Watcher::default()));
        let report = explore(walk, Slow::default(), plan(), options(threads), watcher.clone());
        assert_eq!(report.ended, Ended::Exhausted);
        // All of it is one stratum.
        assert_eq!(report.states.unwrap().strata.len(), 1);
        assert!(watcher.0.load(Relaxed) > 10, "{:?}", watcher.0);
    }
}

/// What the frontier takes counts, also where states are not stored at all.
#[test]
fn a_frontier_can_fill_the_memory() {
    let graph = large();
    let plan = Plan { memory: 20_000, cache: CachePolicy::None, ..Plan::default() };
    let report = search(&graph, RR, plan, Options { keep_going: true, ..options(1) });
    assert_eq!((report.ended, report.findings.len()), (Ended::Memory, 1));
}

#[test]
fn a_search_whose_time_is_up_says_so() {
    for (search_kind, threads) in [
        (SearchKind::Ses, 1),
        (SearchKind::Ses, 3),
        (SearchKind::Dfs, 1),
        (SearchKind::Bfs, 1),
        (SearchKind::Bfs, 3),
        (SearchKind::Depth, 1),
    ] {
        let time = Some(Duration::from_millis(60));
        let options = Options { time, max_steps: usize::MAX, ..options(threads) };
        let plan = Plan { search: search_kind, memory: 4 << 30, ..Plan::default() };
        let report = search(&endless(), RR, plan, options);
        assert_eq!(report.ended, Ended::Time, "{search_kind}");
        let text = coverage(&report);
        assert!(text.ends_with(", until the time was up"), "{text}");
    }
}

#[test]
fn a_search_that_the_user_stops_says_so() {
    let stop = Arc::new(AtomicBool::new(true));
    let options = Options { stop, max_steps: usize::MAX, ..options(1) };
    let report = search(&endless(), RR, Plan { search: SearchKind::Bfs, ..plan() }, options);
    assert_eq!(report.ended, Ended::Interrupted);
}

#[test]
fn a_step_that_never_comes_back_is_found_with_its_schedule() {
    let graph = Graph::by_hand(&[
        &[(0, to(1))],
        &[(0, to(2)), (1, Tree::Value(vec![to(2), Tree::Hang]))],
        &[],
    ]);
    let kinds = [SearchKind::Ses, SearchKind::Ses, SearchKind::Dfs, SearchKind::Ss];
    for (search_kind, threads) in kinds.into_iter().zip([1, 3, 3, 1]) {
        let options = Options { step_time: Duration::from_millis(400), ..options(threads) };
        let report = search(&graph, RR, Plan { search: search_kind, ..plan() }, options);
        assert_eq!((report.ended, report.findings.len()), (Ended::Stuck, 1), "{report:#?}");
        let finding = &report.findings[0];
        assert_eq!(finding.bug.kind(), BugKind::EndlessStep);
        let choices = &finding.schedule.choices;
        assert_eq!(choices.len(), 3, "{choices:?}");
        assert_eq!(choices[..2], [0, 1].map(|n| Choice::Worker(WorkerId::root(n))));
        assert!(matches!(choices[2], Choice::Value { index: 1, of: 2, .. }));
        let text = coverage(&report);
        assert!(text.ends_with(", until a step did not come back"), "{text}");
    }
}
