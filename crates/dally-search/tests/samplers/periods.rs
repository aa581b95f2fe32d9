//! PERIOD goes through every interleaving of key points once, those with few descents first.

use std::collections::{BTreeMap, BTreeSet};

use dally_search::research::Period;
use dally_search::sampling::Sampler;

use crate::programs::{Do, Scripts};

#[test]
fn every_interleaving_with_a_descent_comes_once() {
    for program in [
        Scripts::new(&[&[Do::Write(0); 3], &[Do::Write(0); 3]]),
        Scripts::new(&[&[Do::Write(0); 2], &[Do::Read(0); 2], &[Do::Write(0); 1]]),
    ] {
        let mut expected: BTreeSet<Vec<usize>> = program.all().into_iter().collect();
        // The serial one is schedule 0.
        expected.pop_first();
        let counts = program.sample(Box::new(Period::default().seeded(0)), expected.len() as u64);
        assert!(counts.values().all(|&count| count == 1), "{counts:?}");
        assert_eq!(counts.into_keys().collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn steps_that_nobody_notices_are_no_key_points() {
    let noticed = [Do::Local, Do::Local, Do::Write(0), Do::Local];
    let program = Scripts::new(&[&noticed, &noticed]);
    // Worker 1 can go first, and that is all.
    let counts: BTreeMap<Vec<usize>, u64> =
        program.sample(Box::new(Period::default().seeded(0)), 1);
    assert_eq!(counts.into_keys().next().unwrap(), [0, 0, 1, 1, 1, 1, 0, 0]);
}

#[test]
fn programs_that_block_come_to_their_ends() {
    let ping = [Do::Send(1), Do::Receive, Do::Send(1), Do::Receive];
    let pong = [Do::Receive, Do::Send(0), Do::Receive, Do::Send(0)];
    let program = Scripts::new(&[&ping, &pong, &[Do::Send(0), Do::Send(1)]]);
    let counts = program.sample(Box::new(Period::default().seeded(0)), 500);
    assert!(counts.len() > 20, "{}", counts.len());
}
