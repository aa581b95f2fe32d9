//! The engine allocates nothing per step.

#[path = "search/programs.rs"]
mod programs;

use std::alloc::System;
use std::sync::Arc;

use dally_search::{Options, run};
use programs::{Do, options, scripts};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations of a run of 500 schedules with this many steps each, of three workers that do this
/// first and then go on for ever.
fn allocations(first: Do, max_steps: usize) -> usize {
    let worker = [first, Do::Load(0), Do::Choose(3), Do::Store(0, 1), Do::Jump(1)];
    let program = scripts([&worker, &worker, &worker]);
    let temperature = Some(usize::MAX);
    let plain =
        Options { schedules: 500, max_steps, temperature, repeat_check: false, ..options() };
    let before = Region::new(ALLOCATOR);
    let report = run(program, plain, Arc::new(()));
    assert_eq!(report.cut, 500);
    assert!(report.steps >= 500 * max_steps as u64);
    before.change().allocations
}

#[test]
fn a_random_run_allocates_the_same_for_short_and_for_long_schedules() {
    // While a monitor is hot, states are logged in memory that is used again.
    for first in [Do::Load(0), Do::Hot] {
        let short = allocations(first, 100);
        // Below 1024 choices, so that both need one chunk of tape. 400,000 steps more.
        let long = allocations(first, 900);
        // The supervisor may look up a few times more often in the longer run.
        assert!(long <= short + 100, "{short} allocations for short schedules, {long} for long");
    }
}
