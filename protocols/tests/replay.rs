//! Every finding replays to the same bug: over all protocols, bugs and strategies.

#[path = "../../crates/dally-search/tests/past/mod.rs"]
#[expect(dead_code, reason = "tests of random programs use the rest")]
mod past;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dally::contract::{Finding, Schedule};
use dally::search::{Mode, Options, StrategyKind};
use dally_protocols::{PlantedBug, Protocol, all};
use past::only;

const STRATEGIES: [&str; 7] =
    ["random", "pct:3", "pct:10", "irs", "round-robin", "portfolio", "dfs"];

/// How many findings to replay; `DALLY_REPLAYS=10000` for the full check.
fn wanted() -> usize {
    std::env::var("DALLY_REPLAYS").map_or(400, |text| text.parse().expect("a number"))
}

#[test]
fn findings_of_all_protocols_and_strategies_replay_to_the_same_bug() {
    let mut replayed = BTreeMap::<_, usize>::new();
    let mut contributed = BTreeSet::new();
    let mut seed = 0;
    while replayed.values().sum::<usize>() < wanted() {
        for protocol in all() {
            for bug in protocol.bugs {
                for strategy in STRATEGIES {
                    for finding in findings(protocol, bug, strategy, seed) {
                        check(protocol, bug, strategy, &finding);
                        *replayed.entry((protocol.name, bug.name)).or_default() += 1;
                        contributed.insert(strategy);
                    }
                }
            }
        }
        assert!(!replayed.is_empty(), "no findings at all");
        seed += 1;
    }
    assert_eq!(contributed, BTreeSet::from(STRATEGIES), "strategies that found something");
    assert!(replayed.len() >= 40, "few bugs were found: {replayed:#?}");
    println!("{} findings replayed: {replayed:#?}", replayed.values().sum::<usize>());
}

fn findings(protocol: &Protocol, bug: &PlantedBug, strategy: &str, seed: u64) -> Vec<Finding> {
    // The first seed looks longer, so that rare bugs are among the findings of the full check.
    let schedules = if seed == 0 { wanted() as u64 / 2 } else { 200 };
    let strategy: StrategyKind = strategy.parse().expect("a bundled strategy");
    let options = Options {
        program: protocol.name.into(),
        strategy: strategy.build(seed, protocol.max_steps),
        seed,
        schedules,
        max_steps: protocol.max_steps,
        shrink: seed.is_multiple_of(2), // raw schedules and shrunk ones must both replay
        ..Options::default()
    };
    (protocol.program)(Some(bug.name)).run(options, Arc::new(())).findings
}

/// Through the token, as a user would.
fn check(protocol: &Protocol, bug: &PlantedBug, strategy: &str, finding: &Finding) {
    let token = finding.schedule.to_token();
    let schedule = Schedule::parse(&token).expect("a token that was just written");
    let program = (protocol.program)(Some(bug.name));
    let replayed = program.replay(&schedule, Mode::Exact, 10, Duration::from_secs(10));
    let context = format!("{} {} {strategy}: {token}", protocol.name, bug.name);
    assert_eq!(replayed.left_at, None, "{context}");
    assert_eq!(replayed.bug.as_ref(), Some(&finding.bug), "{context}");
}

/// Steps outside of the causal past of a bug commute with all that led to it, so it shows without them.
#[test]
fn a_bug_shows_without_the_steps_that_are_not_in_its_past() {
    let (mut bugs, mut left_out) = (0, 0);
    for protocol in all() {
        for bug in protocol.bugs {
            let options = Options {
                program: protocol.name.into(),
                strategy: StrategyKind::default().build(1, protocol.max_steps),
                seed: 1,
                schedules: 60,
                max_steps: protocol.max_steps,
                shrink: false,
                ..Options::default()
            };
            let program = (protocol.program)(Some(bug.name));
            for finding in program.clone().run(options, Arc::new(())).findings {
                // Other bugs are about the end of an execution, which leaving out steps changes.
                if finding.shows_in().len() != 1 {
                    continue;
                }
                let past = finding.past();
                let schedule = only(&finding.schedule, &past);
                let replayed =
                    program.clone().replay(&schedule, Mode::BestEffort, 1, Duration::from_secs(10));
                let context = format!("{} {}: {}", protocol.name, bug.name, schedule.to_text());
                assert_eq!(
                    replayed.bug.map(|bug| bug.cause()),
                    Some(finding.bug.cause()),
                    "{context}"
                );
                bugs += 1;
                left_out += past.iter().filter(|past| !**past).count();
            }
        }
    }
    assert!(bugs >= 20 && left_out >= 20, "{bugs} bugs, {left_out} steps left out");
}
