//! Frontiers in writing: a search that goes on from what another has left, in a state that knows
//! nothing but the written entries, visits the same states and finds the same bugs as one that
//! goes on in memory. The visited states are not carried along.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use dally_core::{Choice, WorkerId};
use dally_search::strata::{
    NextTransition, Plan, SearchKind, WrittenEntry, WrittenEntryError, explore,
};
use dally_search::{Ended, Options, Report, Sink};
use fastrand::Rng;

use crate::bugs::faulty;
use crate::explorers::{ALL, RR, Who, Youngest, options, plan, search};
use crate::graphs::{Graph, Tree};
use crate::walk::Walk;

/// Keeps what a search has left, written.
#[derive(Default)]
struct Left(Mutex<Vec<String>>);

impl Sink for Left {
    fn left(&self, entry: WrittenEntry) {
        self.0.lock().unwrap().push(entry.to_token());
    }
}

/// A search that keeps its frontier, in writing.
fn search_part(
    graph: &Arc<Graph>,
    who: Who,
    plan: Plan,
    options: Options,
) -> (Report, Vec<String>) {
    graph.forget();
    let (sink, plan) = (Arc::new(Left::default()), Plan { keep_frontier: true, ..plan });
    let walk = Arc::new(Walk(graph.clone()));
    let report = match who {
        Who::Bundled(kind) => explore(walk, kind.build(options.seed), plan, options, sink.clone()),
        Who::Youngest => explore(walk, Youngest::default(), plan, options, sink.clone()),
    };
    let left = std::mem::take(&mut *sink.0.lock().unwrap());
    (report, left)
}

fn read(written: &[String]) -> Vec<WrittenEntry> {
    written.iter().map(|token| WrittenEntry::parse(token).unwrap()).collect()
}

fn causes(reports: &[&Report]) -> BTreeSet<String> {
    let findings = reports.iter().flat_map(|report| &report.findings);
    findings.map(|finding| format!("{:?}", finding.bug.cause())).collect()
}

#[test]
fn a_search_that_goes_on_from_a_written_frontier_visits_the_same_states_and_finds_the_same_bugs() {
    let kinds = [SearchKind::Ses, SearchKind::Bfs, SearchKind::Preemptions, SearchKind::Depth];
    let mut rng = Rng::with_seed(14);
    let mut resumed = 0;
    for round in 0..2_000 {
        let graph = faulty(&mut rng);
        let who = ALL[round % ALL.len()];
        let search_kind = kinds[rng.usize(..kinds.len())];
        let delta = Some(rng.u32(1..=3));
        let threads = if round % 16 == 0 { 3 } else { 1 };
        let plan = Plan { search: search_kind, delta, exact: rng.bool(), ..plan() };
        let options = Options { keep_going: true, seed: round as u64, ..options(threads) };
        let whole = search(&graph, who, plan.clone(), options.clone());
        let visited = graph.visited();
        let first = Plan { delays: Some(rng.u32(..3)), ..plan.clone() };
        let (before, left) = search_part(&graph, who, first, options.clone());
        let mut visited_in_parts = graph.visited();
        let what = format!("{who:?}, {search_kind}, {graph:?}");
        assert_eq!(left.is_empty(), before.ended == Ended::Exhausted, "{what}");
        if left.is_empty() {
            continue;
        }
        let (after, rest) = search_part(&graph, who, Plan { resume: read(&left), ..plan }, options);
        visited_in_parts.extend(graph.visited());
        assert_eq!((after.ended, rest.len()), (Ended::Exhausted, 0), "{what}: {:?}", after.notes);
        assert_eq!(visited_in_parts, visited, "{what}");
        assert_eq!(causes(&[&before, &after]), causes(&[&whole]), "{what}");
        resumed += 1;
    }
    assert!(resumed > 500, "only {resumed} searches had something left");
}

#[test]
fn strata_with_stored_explorers_are_the_same_whether_the_frontier_was_written_or_not() {
    let mut rng = Rng::with_seed(15);
    let mut resumed = 0;
    for round in 0..600 {
        let graph = faulty(&mut rng);
        let who = ALL[round % ALL.len()];
        let options = Options { keep_going: true, seed: round as u64, ..options(1) };
        let (part, last) = (rng.u32(..3), rng.u32(3..6));
        let plan = Plan { with_explorer: true, ..plan() };
        let up_to = |delays| Plan { delays: Some(delays), ..plan.clone() };
        let whole = search(&graph, who, up_to(last), options.clone());
        let visited = graph.visited();
        let (before, left) = search_part(&graph, who, up_to(part), options.clone());
        let mut visited_in_parts = graph.visited();
        if left.is_empty() {
            continue;
        }
        let plan = Plan { resume: read(&left), ..up_to(last) };
        let (after, _) = search_part(&graph, who, plan, options);
        visited_in_parts.extend(graph.visited());
        assert_eq!(visited_in_parts, visited, "{who:?}, {graph:?}");
        assert_eq!(causes(&[&before, &after]), causes(&[&whole]), "{who:?}, {graph:?}");
        resumed += 1;
    }
    assert!(resumed > 150, "only {resumed} searches had something left");
}

/// Two workers, of which the first chooses one of two values.
fn two_workers() -> Arc<Graph> {
    let choice = || Tree::Value(vec![Tree::To(1, 0), Tree::To(2, 0)]);
    Graph::by_hand(&[
        &[(0, choice()), (1, Tree::To(3, 0))],
        &[(1, Tree::To(3, 0))],
        &[(1, Tree::To(3, 0))],
        &[],
    ])
}

#[test]
fn an_entry_says_which_choices_lead_to_its_state_and_what_comes_next() {
    let plan = Plan { delays: Some(0), ..plan() };
    let (_, left) = search_part(&two_workers(), RR, plan, options(1));
    let entries = read(&left);
    assert_eq!(entries.iter().map(WrittenEntry::to_token).collect::<Vec<_>>(), left);
    let next: Vec<_> = entries.iter().map(|entry| (entry.cost, &entry.next)).collect();
    let [(0, NextTransition::Values(0, worker, values)), (0, NextTransition::Worker(1))] = next[..]
    else {
        panic!("{next:?}");
    };
    assert_eq!((*worker, values[0].index, values[0].of), (WorkerId::root(0), 1, 2));
    assert!(entries.iter().all(|entry| entry.program == "graph" && entry.choices.is_empty()));
}

#[test]
fn entries_that_cannot_be_gone_on_from_are_refused_with_the_reason() {
    let graph = two_workers();
    let first = Plan { delays: Some(0), ..plan() };
    let (_, left) = search_part(&graph, RR, first, options(1));
    let error = |text: &str| WrittenEntry::parse(text).unwrap_err();
    assert_eq!(
        error(&left[0].replace("dally-entry1", "dally-entry7")),
        WrittenEntryError::Version { found: "7".into() }
    );
    assert_eq!(error("dally1-AAAA"), WrittenEntryError::NotAnEntry);
    assert!(matches!(error(&left[0][..left[0].len() - 4]), WrittenEntryError::Choices(_)));
    let refused = |entry: WrittenEntry, plan: Plan, options: Options| {
        let report = search(&graph, RR, Plan { resume: vec![entry], ..plan }, options);
        assert_eq!(report.ended, Ended::Failed);
        report.notes.join("\n")
    };
    let entry = read(&left).remove(0);
    let other_seed = Options { seed: 1, ..options(1) };
    let mut elsewhere = entry.clone();
    elsewhere.choices.push(Choice::Worker(WorkerId::root(5)));
    let mut another_state = entry.clone();
    another_state.state ^= 1;
    let bfs = Plan { search: SearchKind::Bfs, ..plan() };
    let cycles = Plan { search: SearchKind::Map, ..plan() };
    insta::assert_snapshot!(
        [
            refused(entry.clone(), plan(), other_seed),
            refused(entry.clone(), bfs, options(1)),
            refused(elsewhere, plan(), options(1)),
            refused(another_state, plan(), options(1)),
            refused(entry, cycles, options(1)),
        ]
        .join("\n\n"),
        @r#"
        The search was not done: the entry is of `graph` by ses(round-robin), seed 0, and this is `graph` by ses(round-robin), seed 1: go on with the search that wrote it.

        The search was not done: the entry is of `graph` by ses(round-robin), seed 0, and this is `graph` by bfs(breadth first), seed 0: go on with the search that wrote it.

        The search was not done: the choices of the entry were made again, and worker 5 was not offered: the program or the explorer has changed, or something that Dally does not control decides what they do.

        The search was not done: the choices of the entry were made again, and led to another state, or at another cost: the program or the explorer has changed, or something that Dally does not control decides what they do.

        The search map was not done: map is not resumed from a frontier: leave out keep_frontier and resume, or search by ses, pb, depth, dfs or bfs.
        "#
    );
}
