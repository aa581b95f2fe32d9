//! The report does not depend on the number of threads.

use std::sync::Arc;

use dally_search::{Options, Report, StrategyKind};

use crate::programs::{Do, Scripts, check, options, random_scripts, scripts};

fn report(program: &Arc<Scripts>, kind: StrategyKind, threads: usize, keep_going: bool) -> Report {
    let options = Options {
        strategy: kind.build(0, 200),
        seed: 11,
        schedules: 700,
        max_steps: 200,
        threads,
        keep_going,
        observe_every: u64::from(keep_going),
        ..options()
    };
    check(program, options).without_times()
}

fn is_the_same_with_any_number_of_threads(program: &Arc<Scripts>) {
    for kind in StrategyKind::all() {
        for keep_going in [false, true] {
            let one = report(program, kind, 1, keep_going);
            for threads in [2, 3, 8] {
                let several = report(program, kind, threads, keep_going);
                assert_eq!(format!("{one:#?}"), format!("{several:#?}"), "{kind}, {threads}");
            }
        }
    }
}

#[test]
fn a_rare_bug_is_found_in_the_same_schedule() {
    let alternating = |parity: i64| -> Vec<Do> {
        (0..4)
            .flat_map(|round| [Do::Load(0), Do::PanicIfRegister(6 + parity), Do::Store(0, round)])
            .collect()
    };
    let program = scripts([&alternating(0), &alternating(0), &[Do::Choose(9), Do::Store(0, 0)]]);
    is_the_same_with_any_number_of_threads(&program);
}

#[test]
fn a_program_with_many_causes_is_reported_the_same() {
    let program = scripts([
        &[Do::Choose(5), Do::PanicIfRegister(1), Do::Lock(0), Do::Lock(1), Do::Hot],
        &[Do::PanicIf(0, 2), Do::Lock(1), Do::Lock(0), Do::Cold],
        &[Do::Add(0, 1), Do::Add(0, 1), Do::PanicInDrop(0), Do::Add(0, -2)],
    ]);
    is_the_same_with_any_number_of_threads(&program);
}

#[test]
fn random_programs_are_reported_the_same() {
    let mut rng = fastrand::Rng::with_seed(5);
    for _ in 0..10 {
        is_the_same_with_any_number_of_threads(&random_scripts(&mut rng, 5));
    }
}

#[test]
fn two_runs_are_the_same_and_another_seed_is_another_run() {
    let program = scripts([&[Do::Add(0, 1); 9], &[Do::Store(0, 1); 9], &[Do::PanicIf(0, 7); 9]]);
    let with_seed = |seed| check(&program, Options { seed, ..options() }).without_times();
    assert_eq!(with_seed(1), with_seed(1));
    assert_ne!(with_seed(1).findings[0].found_at, with_seed(2).findings[0].found_at);
}
