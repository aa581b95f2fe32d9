//! Shrunk schedules fail in the same way, replay exactly, and are as small as they can be.

use std::sync::Arc;
use std::time::Duration;

use dally_core::Choice;
use dally_search::{Mode, Options, StrategyKind, replay};

use crate::programs::{Do, Scripts, check, only_finding, options, random_scripts, scripts, short};

/// The shrunk schedule of the only finding, in short.
fn shrunk(program: &Arc<Scripts>, seed: u64) -> String {
    let found = only_finding(program, Options { seed, ..options() });
    let sizes = found.shrunk.unwrap();
    assert_eq!(sizes.steps_after, found.schedule.steps());
    assert_eq!(sizes.switches_after, found.schedule.switches());
    short(&found.schedule.choices)
}

#[test]
fn steps_that_do_not_matter_are_left_out() {
    let noise = [Do::Add(1, 1); 20];
    let program = scripts([
        &[&noise[..], &[Do::Add(0, 1)]].concat(),
        &[&[Do::PanicIf(0, 1)], &noise[..]].concat(),
        &noise,
        &noise,
    ]);
    // Worker 0 must come to its last step; worker 1 then needs its first, and nobody else any.
    let expected = format!("{} 1", ["0"; 21].join(" "));
    for seed in 0..5 {
        let pct = "pct:3".parse::<StrategyKind>().unwrap().build(seed, 1_000);
        let found = only_finding(&program, Options { seed, strategy: pct, ..options() });
        assert_eq!(short(&found.schedule.choices), expected);
    }
}

#[test]
fn a_deadlock_behind_a_long_prelude_keeps_the_prelude_and_one_switch() {
    let prelude = [Do::Add(1, 1); 8];
    let program = scripts([
        &[&prelude[..], &[Do::Lock(0), Do::Lock(1), Do::Unlock(1), Do::Unlock(0)]].concat(),
        &[&prelude[..], &[Do::Lock(1), Do::Lock(0), Do::Unlock(0), Do::Unlock(1)]].concat(),
    ]);
    for seed in 0..5 {
        let one = [["0"; 9].join(" "), ["1"; 9].join(" ")];
        let schedule = shrunk(&program, seed);
        assert!(
            schedule == one.join(" ") || schedule == format!("{} {}", one[1], one[0]),
            "{schedule}"
        );
    }
}

#[test]
fn values_become_the_lowest_that_still_fail_and_faults_go() {
    let program = scripts([
        &[Do::Choose(9), Do::Store(0, 0), Do::Choose(9), Do::Fault(1), Do::PanicIf(0, 3)],
        &[Do::Choose(5), Do::Add(1, 3), Do::Fault(1)],
    ]);
    for seed in 0..5 {
        // The least: worker 0 alone chooses 3 for its first value, nothing for the others.
        assert_eq!(shrunk(&program, seed), "0 =3 0 0 =0 0 =0 0");
    }
}

#[test]
fn a_lost_update_has_three_switches_left() {
    let update = [Do::Add(1, 1), Do::Load(0), Do::Store(0, 1), Do::Send(2, 0)];
    let program = scripts([
        &update,
        &update,
        &[Do::Receive, Do::Receive, Do::Load(0), Do::PanicIfRegister(1)],
    ]);
    // One worker goes up to its load, the other all the way, the first on, and the third sees.
    let least = ["0 0 1 1 1 1 0 0 2 <0#0 2 2 2", "1 1 0 0 0 0 1 1 2 <0#0 2 2 2"];
    for seed in 0..5 {
        let schedule = shrunk(&program, seed).replace("<1#0", "<0#0");
        assert!(least.contains(&&*schedule), "{schedule}");
    }
}

#[test]
fn a_panic_in_a_destructor_needs_no_more_than_what_armed_it() {
    let program = scripts([&[Do::Add(1, 1), Do::PanicInDrop(0)], &[Do::Add(1, 1), Do::Add(0, 1)]]);
    for seed in 0..5 {
        let schedule = shrunk(&program, seed);
        assert!(["0 0 1 1", "1 1 0 0"].contains(&&*schedule), "{schedule}");
    }
}

#[test]
fn a_budget_of_no_steps_gives_the_schedule_as_it_was_found_and_says_so() {
    let program = scripts([&[Do::Hot, Do::Add(0, 1)], &[Do::Cold, Do::Add(0, 1)]]);
    let found = only_finding(&program, Options { shrink_steps: 0, ..options() });
    assert_eq!(found.notes, ["Shrinking stopped early: its budget of steps was used up."]);
    let plain = only_finding(&program, Options { shrink: false, ..options() });
    assert_eq!((plain.schedule, plain.shrunk), (found.schedule, None));
}

#[test]
fn findings_of_random_programs_shrink_to_the_same_cause_and_replay_exactly() {
    let mut rng = fastrand::Rng::with_seed(8);
    let (mut findings, mut smaller) = (0, 0);
    for seed in 0..1_000 {
        let program = random_scripts(&mut rng, 12);
        let all = Options { seed, schedules: 60, keep_going: true, ..options() };
        let raw = check(&program, Options { shrink: false, ..all.clone() });
        let shrunk = check(&program, all);
        assert_eq!(raw.findings.len(), shrunk.findings.len());
        for (raw, shrunk) in raw.findings.iter().zip(&shrunk.findings) {
            assert_eq!(raw.bug.cause(), shrunk.bug.cause());
            let size = |choices: &[Choice]| {
                choices.iter().filter(|choice| matches!(choice, Choice::Worker(_))).count()
            };
            let (before, after) = (size(&raw.schedule.choices), size(&shrunk.schedule.choices));
            assert!(after <= before);
            findings += 1;
            smaller += usize::from(after < before);
            for found in [raw, shrunk] {
                let again = replay(
                    program.clone(),
                    &found.schedule,
                    Mode::Exact,
                    1,
                    Duration::from_secs(10),
                );
                assert_eq!(again.left_at, None, "{program:?}");
                assert_eq!(again.bug.as_ref(), Some(&found.bug));
                assert_eq!(again.trace, found.trace);
                assert_eq!(again.schedule, found.schedule);
            }
        }
    }
    assert!(findings > 800 && smaller > 150, "{findings} {smaller}");
}
