//! What learning finds and chance does not: the strings of figure 1 and table 1 of "Learning-based
//! Controlled Concurrency Testing" (Mukherjee et al., OOPSLA 2020), and Chord of its table 2.

mod running;

use std::sync::Arc;

use dally::search::{Options, StrategyKind};
use dally_protocols::chord;
use dally_protocols::messaging::{self, Bug};

use crate::running::run;

/// How many of 2,000 schedules spell the string.
fn spelt(bug: Bug, strategy: &str) -> u64 {
    let strategy: StrategyKind = strategy.parse().unwrap();
    let options = Options {
        strategy: strategy.build(1, messaging::PROTOCOL.max_steps),
        seed: 1,
        schedules: 2_000,
        max_steps: messaging::PROTOCOL.max_steps,
        keep_going: true,
        shrink: false,
        ..Options::default()
    };
    let report = dally::search::run(Arc::new(messaging::program(Some(bug))), options, Arc::new(()));
    report.findings.iter().map(|finding| finding.occurrences).sum()
}

#[test]
fn every_string_of_two_senders_is_spelt_by_one_schedule_in_twenty_or_more() {
    for bug in [Bug::Late, Bug::Alternating, Bug::Mixed] {
        let (random, ql) = (spelt(bug, "random"), spelt(bug, "ql-c"));
        // Random spells 2 of 2,000; 9 would be five standard deviations away.
        assert!(random < 9 && ql >= 100, "{bug:?}: random {random}, ql-c {ql}");
    }
}

#[test]
fn strings_with_a_third_sender_are_spelt_wherever_its_message_comes() {
    for bug in [Bug::TwoThenLate, Bug::LateThenTwo, Bug::AlternatingThenTwo] {
        let (random, ql) = (spelt(bug, "random"), spelt(bug, "ql-c"));
        assert!(random < 9 && ql >= 34, "{bug:?}: random {random}, ql-c {ql}");
    }
}

#[test]
fn a_key_behind_36_coins_is_looked_up_only_by_who_learns_values() {
    let program = || chord::program(Some(chord::Bug::MissingKey));
    let hunts = |strategy: &str| {
        (0..3)
            .filter_map(|seed| {
                let report = run(&chord::PROTOCOL, program(), strategy, 10_000, seed);
                report.findings.first().map(|finding| finding.found_at)
            })
            .collect::<Vec<u64>>()
    };
    assert_eq!(hunts("random"), []);
    assert_eq!(hunts("ql-ndn"), []);
    assert_eq!(hunts("ql"), [0; 3]);
}
