//! PCT keeps the promise of its paper: a bug of depth `d + 1` shows with a probability of at
//! least `1 / (n k^d)` under `d` change points.

use std::sync::Arc;

use dally_search::Options;
use dally_search::sampling::Pct;

use crate::programs::{Do, Scripts, check, options, scripts};

/// How many of 20,000 schedules fail under PCT with `d` change points.
fn failures(program: &Arc<Scripts>, d: u32) -> f64 {
    let sampled = Options {
        strategy: Box::new(Pct::new(0, d)),
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
fn a_lost_update_deep_in_long_scripts_needs_one() {
    // Depth 2: worker 1's store between the load and the store of worker 0.
    let noise = [Do::Add(1, 1); 10];
    let mut first = noise.to_vec();
    first.extend([Do::Load(0), Do::Store(0, 1), Do::PanicIf(0, 1)]);
    let mut second = noise.to_vec();
    second.extend([Do::Load(0), Do::Add(0, 5)]);
    let program = scripts([&first, &second]);
    let found = failures(&program, 1);
    // Loads at 0 and the store at 6 make 1 only if the update was lost.
    assert!(found >= promised(2.0, 25.0, 1), "{found}");
}

#[test]
fn a_bug_of_depth_three_needs_two() {
    // Worker 0 must be interrupted in both of two windows.
    let program = scripts([
        &[Do::Add(0, 1), Do::PanicIf(2, 9), Do::Add(0, 1), Do::Load(1), Do::PanicIfRegister(2)],
        &[Do::Load(0), Do::Store(1, 0), Do::Add(2, 1)],
        &[Do::Load(1), Do::Store(1, 1), Do::Add(2, 1)],
    ]);
    let found = failures(&program, 2);
    assert!(found >= promised(3.0, 11.0, 2), "{found}");
}

#[test]
fn more_change_points_reach_what_fewer_cannot() {
    // Strict alternation of two workers, three rounds: five switches.
    let program = scripts([
        &[Do::Load(0), Do::Store(0, 1), Do::Load(0), Do::Store(0, 1), Do::PanicIf(0, 99)],
        &[Do::Add(0, 10), Do::Add(0, 10), Do::Load(0), Do::PanicIfRegister(11)],
    ]);
    // 11 = 10 added between the first store and the second load, 10 lost in the second window.
    let (one, three) = (failures(&program, 1), failures(&program, 3));
    assert!(one == 0.0 || three > one, "{one} {three}");
    assert!(three > 0.0);
}
