//! What learning finds and chance does not: the strings of figure 1 and table 1 of "Learning-based
//! Controlled Concurrency Testing" (Mukherjee et al., OOPSLA 2020), and Chord of its table 2.

mod running;

use std::sync::{Arc, Mutex};

use dally::search::{self, Options, StrategyKind};
use dally::tasks::{TaskProgram, observe_shared, spawn, yield_now};
use dally_protocols::chord;

use crate::running::run;

/// Senders of a digit each, ten times 0 and 1 and once 2, and a string that what they send may
/// spell. A message is received when it is sent, and what is observed is the number of characters
/// that match, as in the paper. (In the protocol `messaging` messages wait in an inbox: there a
/// string that is already spoilt can be put off in so many ways that learning has less to go by.)
fn senders(string: &'static str) -> TaskProgram {
    TaskProgram::new("senders", move || async move {
        // Nothing after a mismatch.
        let matched = Arc::new(Mutex::new(Some(0usize)));
        let receive = move |digit: u8| {
            let mut matched = matched.lock().unwrap();
            let goes_on = |&place: &usize| string.as_bytes()[place] == digit;
            *matched = matched.filter(goes_on).map(|place| place + 1);
            observe_shared("matched", &*matched);
            assert!(*matched != Some(string.len()), "{string} was spelt");
        };
        let mut senders = Vec::new();
        for (digit, sends) in [(b'0', 10), (b'1', 10), (b'2', 1)] {
            if string.contains('2') || digit != b'2' {
                let receive = receive.clone();
                senders.push(spawn(async move {
                    for _ in 0..sends {
                        yield_now().await;
                        receive(digit);
                    }
                }));
            }
        }
        for sender in senders {
            sender.await.unwrap();
        }
    })
}

/// How many of 1,000 schedules spell the string.
fn spelt(string: &'static str, strategy: &str) -> u64 {
    let strategy: StrategyKind = strategy.parse().unwrap();
    let options = Options {
        strategy: strategy.build(1, 200),
        seed: 1,
        schedules: 1_000,
        max_steps: 200,
        keep_going: true,
        shrink: false,
        ..Options::default()
    };
    let report = search::run(Arc::new(senders(string)), options, Arc::new(()));
    report.findings.iter().map(|finding| finding.occurrences).sum()
}

#[test]
fn every_string_is_spelt_by_most_schedules_of_q_learning_and_by_hardly_one_of_random() {
    for string in
        ["0000000001", "0101010101", "0101010001", "20000000001", "00000000012", "01010101012"]
    {
        let (random, ql) = (spelt(string, "random"), spelt(string, "ql-c"));
        // Table 1 has 0.08% for random and 7% for QL; 5% is what is asked for.
        assert!(random <= 6 && ql >= 500, "{string}: random {random}, ql-c {ql}");
    }
}

#[test]
fn pct_spells_what_few_changes_of_worker_make_and_nothing_else() {
    assert!(spelt("0000000001", "pct:3") >= 5);
    assert_eq!(spelt("0101010101", "pct:3"), 0);
    assert_eq!(spelt("0101010001", "pct:3"), 0);
}

#[test]
fn a_key_behind_36_coins_is_looked_up_only_by_who_learns_values() {
    let found = |strategy: &str| {
        let hunt = |seed| {
            let program = chord::program(Some(chord::Bug::MissingKey));
            run(&chord::PROTOCOL, program, strategy, 5_000, seed).findings.len()
        };
        (0..3).map(hunt).sum::<usize>()
    };
    assert_eq!([found("random"), found("ql-ndn"), found("ql")], [0, 0, 3]);
}
