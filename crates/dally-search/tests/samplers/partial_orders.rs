//! POS draws again where steps race, and only there.

use dally_search::sampling::{Pos, Sampler};

use crate::programs::{Do, Scripts};

const STEPS: usize = 5;
const SCHEDULES: u64 = 64_000;

/// How often the one step of worker 1 comes after all steps of worker 0.
fn last(theirs: Do, own: Do) -> f64 {
    let program = Scripts::new(&[&[theirs; STEPS], &[own]]);
    let counts = program.sample(Box::new(Pos::default().seeded(0)), SCHEDULES);
    let last: u64 =
        counts.iter().filter(|(word, _)| word[STEPS] == 1).map(|(_, count)| count).sum();
    last as f64
}

/// Whether a count is within five standard deviations of its mean.
fn is_near(count: f64, chance: f64) -> bool {
    let mean = SCHEDULES as f64 * chance;
    (count - mean).abs() < 5.0 * (mean * (1.0 - chance)).sqrt()
}

#[test]
fn a_step_that_loses_a_race_draws_again() {
    for (theirs, own) in [
        (Do::Write(0), Do::Write(0)),
        (Do::Write(0), Do::Read(0)),
        (Do::Read(0), Do::Write(0)),
        (Do::Send(1), Do::Send(1)),
    ] {
        // It has to lose five even races.
        let count = last(theirs, own);
        assert!(is_near(count, 1.0 / 32.0), "{theirs:?}, {own:?}: {count}");
    }
}

#[test]
fn steps_that_do_not_race_keep_their_priorities() {
    for (theirs, own) in [
        (Do::Write(0), Do::Write(1)),
        (Do::Read(0), Do::Read(0)),
        (Do::Local, Do::Local),
        (Do::Send(1), Do::Send(0)),
    ] {
        // The lowest of six priorities is its own.
        let count = last(theirs, own);
        assert!(is_near(count, 1.0 / 6.0), "{theirs:?}, {own:?}: {count}");
    }
}
