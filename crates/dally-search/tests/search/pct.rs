//! PCT keeps the promise of its paper: a bug of depth `d + 1` shows with a probability of at
//! least `1 / (n k^d)` under `d` change points.

use std::sync::Arc;

use dally_search::Options;
use dally_search::sampling::{Pct, Sampler};

use crate::programs::{Do, Scripts, check, options, scripts};

/// How many of 20,000 schedules fail under PCT with `d` change points.
fn failures(program: &Arc<Scripts>, d: u32) -> f64 {
    let sampled = Options {
        strategy: Box::new(Pct::new(d).seeded(0)),
        schedules: 20_000,
        seed: 1,
        keep_going: true,
        shrink: false,
        ..options()
    };
    let report = check(program, sampled);
    report.findings.iter().map(|finding| finding.occurrences).sum::<u64>() as f64
}

/// The bound for `n` workers and `k` steps, less four standard deviations.
fn promised(n: f64, k: f64, d: i32) -> f64 {
    let mean = 20_000.0 / (n * k.powi(d));
    mean - 4.0 * mean.sqrt()
}

#[test]
fn an_order_of_two_workers_needs_no_change_point() {
    // Depth 1: all of worker 1 before worker 0 begins.
    let program = scripts([&[Do::PanicIf(0, 5)], &[Do::Add(0, 1); 5]]);
    let found = failures(&program, 0);
    assert!(found >= promised(2.0, 6.0, 0), "{found}");
}

#[test]
fn a_worker_that_must_be_interrupted_deep_in_its_script_needs_one() {
    // Depth 2: worker 1 must see counter 0 at 1, between two steps of worker 0, the last of ten.
    let noise = [Do::Add(1, 1); 10];
    let first = [&noise[..], &[Do::Add(0, 1), Do::Add(0, 1)]].concat();
    let program = scripts([&first, &[Do::Add(1, 1), Do::PanicIf(0, 1)]]);
    assert_eq!(failures(&program, 0), 0.0);
    let found = failures(&program, 1);
    assert!(found >= promised(2.0, 14.0, 1), "{found}");
}

#[test]
fn a_bug_of_three_constraints_needs_two_change_points_and_cannot_be_had_with_one() {
    // Worker 1 reads 0 after worker 0 has added to it, and publishes what it read before worker
    // 0 looks; worker 0 publishes that before worker 1 looks.
    let program = scripts([
        &[Do::Add(0, 1), Do::Load(1), Do::Store(2, 0)],
        &[Do::Load(0), Do::Store(1, 0), Do::Load(2), Do::PanicIfRegister(1)],
    ]);
    assert_eq!(failures(&program, 1), 0.0);
    let found = failures(&program, 2);
    assert!(found >= promised(2.0, 7.0, 2), "{found}");
}

#[test]
fn the_deadlock_of_the_paper_is_found_as_often_as_promised() {
    // Figure 1 of the paper, depth 2: two workers take two locks in opposite orders. It needs
    // one change point, after the first lock of either.
    let deadlock = |first: usize, second: usize| {
        [Do::Lock(first), Do::Lock(second), Do::Unlock(second), Do::Unlock(first)]
    };
    let program = scripts([&deadlock(0, 1), &deadlock(1, 0)]);
    assert_eq!(failures(&program, 0), 0.0);
    let found = failures(&program, 1);
    assert!(found >= promised(2.0, 8.0, 1), "{found}");
}
