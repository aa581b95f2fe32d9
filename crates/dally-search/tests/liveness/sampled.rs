//! A loop that an execution under a strategy is blamed for is one that searches of states find too.

use std::sync::Arc;

use dally_search::liveness::Fairness;
use dally_search::{Options, StrategyKind, run};

use crate::labelled::{Labelled, random};
use crate::oracle::Explored;
use crate::theorem::found;

/// Chance goes round a loop for ever only if it is strongly fair, whatever fairness is asked for.
#[test]
fn every_livelock_of_a_strategy_is_one_by_enumeration() {
    let (mut livelocks, mut programs) = (0, 0);
    for seed in 0..6_000 {
        let graph = Arc::new(random(seed, 6));
        let (asked, judged) = match seed % 3 {
            0 => (Fairness::None, Fairness::None),
            1 => (Fairness::Weak, Fairness::Strong),
            _ => (Fairness::Strong, Fairness::Strong),
        };
        let all = Explored::all(&graph);
        let name = if seed % 2 == 0 { "random" } else { "pct" };
        let strategy = name.parse::<StrategyKind>().unwrap().build(seed, 200);
        let (schedules, max_steps) = (4, 200);
        let options = Options {
            strategy,
            schedules,
            max_steps,
            temperature: Some(max_steps),
            keep_going: true,
            fairness: asked,
            shrink: seed % 5 == 0,
            ..Options::default()
        };
        let report = run(Arc::new(Labelled::new(&graph)), options, Arc::new(()));
        let expected = all.violated(judged);
        for (monitor, finding) in found(&report) {
            livelocks += 1;
            let what = || format!("seed {seed}, {asked}: {}\n{graph:#?}", finding.bug);
            assert_eq!(expected >> monitor & 1, 1, "{}", what());
        }
        programs += usize::from(expected != 0);
    }
    assert!(livelocks > 500 && programs > 500, "{livelocks} {programs}");
}
