//! Hybrid search: strata as far as memory goes, then samples from the frontier that is left.

use std::collections::BTreeMap;
use std::sync::Arc;

use dally_report::text::coverage;
use dally_search::strata::{ExplorerKind, Plan, SearchKind, explore};
use dally_search::{Ended, Options};
use fastrand::Rng;

use crate::how_many::programs;
use crate::straight::{Execution, Straight, delays_of_all};

#[test]
fn a_hybrid_search_samples_from_its_frontier_when_its_memory_is_nearly_used() {
    // Every history is a state of its own: there are 369,600 executions.
    let program = Straight::new(&[&[0; 3], &[0; 3], &[0; 3], &[0; 3]]);
    let plan = Plan { search: SearchKind::Hybrid, memory: 300_000, ..Plan::default() };
    let options = Options { schedules: 500, ..Options::default() };
    let explorer = ExplorerKind::RoundRobin.build(0);
    let report = explore(Arc::new(program), explorer, plan, options, Arc::new(()));
    assert_eq!(report.ended, Ended::Schedules);
    let text = coverage(&report);
    let states = report.states.unwrap();
    let samples = states.samples.unwrap();
    assert_eq!(samples.executions, 500);
    assert!(samples.from_frontier > 100, "{samples:?}");
    assert!(states.strata.iter().any(|stratum| stratum.complete));
    assert!(
        text.starts_with("visited ") && text.contains(", then sampled 500 schedules"),
        "{text}"
    );
}

#[test]
fn a_hybrid_search_draws_each_state_of_its_frontier_with_the_same_chance() {
    for threads in [1, 2] {
        let program = Straight::new(&[&[0; 3], &[0; 3], &[0; 3], &[0; 3]]);
        let ended = program.ended.clone();
        const SAMPLES: u64 = 40_000;
        let plan = Plan {
            search: SearchKind::Hybrid,
            memory: 300_000,
            samples: (SAMPLES - 1, 1),
            ..Plan::default()
        };
        // The samples without a further delay, and none with one.
        let options = Options { threads, schedules: SAMPLES, ..Options::default() };
        let explorer = ExplorerKind::RoundRobin.build(0);
        let report = explore(Arc::new(program), explorer, plan, options, Arc::new(()));
        let frontier = report.states.unwrap().samples.unwrap().from_frontier;
        assert!((100..1_000).contains(&frontier), "{frontier}");
        let mut ended = std::mem::take(&mut *ended.lock().unwrap());
        let mut times: BTreeMap<Execution, u32> = BTreeMap::new();
        for execution in ended.split_off(ended.len() - SAMPLES as usize) {
            *times.entry(execution).or_default() += 1;
        }
        assert_eq!(times.len() as u64, frontier, "no two entries lead to the same execution");
        let expected = SAMPLES as f64 / frontier as f64;
        let least = expected - 6.0 * expected.sqrt();
        let fewest = times.values().min().copied().unwrap_or(0);
        assert!(f64::from(fewest) >= least, "{fewest} and not {expected}, on {threads}");
    }
}

/// What is claimed of each execution beyond the frontier, `1/F · 1/L^d` where `F` entries are left and
/// it takes `d` delays more than its entry: of each program one such execution is looked for in all samples.
///
/// Every history is a state of its own, so the complete strata have run all executions of up to so many
/// delays, and an entry of the frontier takes one more than that.
#[test]
fn executions_beyond_the_frontier_have_the_chance_that_is_claimed_over_many_random_programs() {
    const SAMPLES: u64 = 12;
    const MOST: u32 = 2;
    let (mut seen, mut expected, mut variance) = (0, 0.0, 0.0);
    let (mut tried, mut on_two_threads, mut with_further_delays) = (0, 0, 0);
    for seed in 0.. {
        if tried == programs() {
            break;
        }
        let mut rng = Rng::with_seed(seed);
        let program = Straight::random(&mut rng);
        let kind = [ExplorerKind::RoundRobin, ExplorerKind::RunToCompletion][rng.usize(..2)];
        let threads = 1 + usize::from(rng.u8(..4) == 0);
        let plan = Plan {
            search: SearchKind::Hybrid,
            memory: rng.u64(1..3_000),
            delays: Some(MOST),
            samples: (SAMPLES - 1, 1),
            ..Plan::default()
        };
        let options = Options { seed, threads, schedules: u64::MAX, ..Options::default() };
        let (explorer, searched) = (kind.build(0), Arc::new(program.clone()));
        let report = explore(searched, explorer, plan, options, Arc::new(()));
        let ended = std::mem::take(&mut *program.ended.lock().unwrap());
        let states = report.states.as_ref().unwrap();
        let last = states.strata.last().unwrap();
        let Some(samples) = states.samples.as_ref().filter(|_| last.complete) else { continue };
        let complete = last.bound.unwrap();
        let all = delays_of_all(&program, kind, complete + 1 + MOST);
        let beyond: Vec<_> = all.iter().filter(|(_, cost)| **cost > complete).collect();
        let Some((target, cost)) = rng.choice(beyond) else { continue };
        let further = cost - complete - 1;
        // What is sampled with more delays than that begins as one with so many.
        let trials = SAMPLES * u64::from(MOST - further + 1);
        let longest = f64::from(program.longest());
        let chance = longest.powi(-(further as i32)) / samples.from_frontier as f64;
        seen += ended.iter().filter(|execution| *execution == target).count();
        expected += trials as f64 * chance;
        variance += trials as f64 * chance * (1.0 - chance);
        tried += 1;
        on_two_threads += u64::from(threads == 2);
        with_further_delays += u64::from(further > 0);
    }
    println!(
        "hybrid: {tried} programs, {on_two_threads} on two threads, {with_further_delays} with \
         further delays: the executions looked for were sampled {seen} times, {expected:.0} are \
         promised"
    );
    assert!(on_two_threads.min(with_further_delays) >= tried / 20);
    assert!(seen as f64 >= expected - 5.0 * f64::sqrt(variance), "{seen} and not {expected}");
}
