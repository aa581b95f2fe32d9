//! Loops that an execution can go round for ever while a monitor waits.

use std::sync::Arc;
use std::time::Duration;

use dally_core::{
    BugKind, BugRecord, Cause, Choice, Finding, Lasso, MessageId, Schedule, Tag, WorkerId,
};
use dally_search::liveness::Fairness;
use dally_search::{Mode, Options, Replayed, StrategyKind, replay};
use insta::assert_snapshot;

use crate::programs::{Do, Scripts, check, only_finding, options, scripts, short, words};

const LOOK: Do = Do::Load(0);

fn replayed(program: &Arc<Scripts>, schedule: &Schedule, rounds: u32) -> Replayed {
    replay(program.clone(), schedule, Mode::Exact, rounds, Duration::from_secs(10))
}

/// Finds the only bug of a program and replays it.
fn found(program: &Arc<Scripts>, options: Options) -> Finding {
    let finding = only_finding(program, options);
    let rounds = finding.lasso.as_ref().map_or(1, |lasso| lasso.rounds);
    let again = replayed(program, &finding.schedule, rounds);
    assert_eq!(again.left_at, None);
    assert_eq!((again.bug.as_ref(), &again.lasso), (Some(&finding.bug), &finding.lasso));
    assert_eq!((&again.trace, &again.schedule), (&finding.trace, &finding.schedule));
    finding
}

/// Choices as [`short`] writes them; values are out of two.
fn choices(text: &str) -> Vec<Choice> {
    let choice = |word: &str| {
        if let Some(value) = word.strip_prefix('=') {
            return Choice::Value { index: value.parse().unwrap(), of: 2, tag: Tag::Program };
        }
        if let Some(fault) = word.strip_prefix('!') {
            return Choice::Value { index: fault.parse().unwrap(), of: 2, tag: Tag::Fault };
        }
        if let Some((sender, number)) = word.strip_prefix('<').and_then(|m| m.split_once('#')) {
            let sender = WorkerId::root(sender.parse().unwrap());
            return Choice::Delivery(MessageId { sender, number: number.parse().unwrap() });
        }
        Choice::Worker(WorkerId::root(word.parse().unwrap()))
    };
    text.split_whitespace().map(choice).collect()
}

/// Which kinds of fairness make a livelock of the loop that these choices end with.
fn blamed(program: &Arc<Scripts>, text: &str) -> String {
    let schedule = |fairness: &str| Schedule {
        settings: vec![("fairness".into(), fairness.into())],
        bug: Some(BugRecord { kind: BugKind::Livelock, cause: Cause(0), text: "for ever".into() }),
        choices: choices(text),
        ..Schedule::default()
    };
    let blames = |fairness: &&str| {
        let again = replayed(program, &schedule(fairness), 10);
        // No recorded set of enabled workers, so there is nothing else that it could leave.
        assert_eq!(again.bug.is_none(), again.left_at.is_some());
        again.bug.is_some_and(|bug| bug.kind() == BugKind::Livelock)
    };
    ["none", "weak", "strong"].into_iter().filter(blames).collect::<Vec<_>>().join(" ")
}

#[test]
fn two_workers_that_go_round_while_a_monitor_waits_are_a_livelock() {
    let program = scripts([&[Do::Hot, LOOK, Do::Jump(1)], &[LOOK, Do::Jump(0)]]);
    let finding = found(&program, options());
    assert_snapshot!(words(&finding.bug), @"livelock by Progress: monitor Progress waits in vain in state Waiting: the execution can go round a loop of length 4 for ever");
    // The second worker can always step, so it steps in the loop, and comes back.
    assert_eq!(short(&finding.schedule.choices), "0 0 0 1 1");
    let waiting = vec!["Waiting".to_owned(); 5];
    let monitor = "Progress".to_owned();
    let lasso = Lasso { stem: 1, monitor, states: waiting, rounds: 100, whole: false };
    assert_eq!(finding.lasso, Some(lasso));
    assert_eq!(finding.schedule.setting("stem"), Some("1"));
    assert_eq!(finding.schedule.setting("fairness"), Some("strong"));
}

#[test]
fn every_strategy_that_is_not_exhaustive_finds_it() {
    let program = scripts([&[Do::Hot, LOOK, Do::Jump(1)], &[LOOK, Do::Jump(0)]]);
    for name in ["random", "pct", "round-robin", "irs", "portfolio"] {
        let strategy = name.parse::<StrategyKind>().unwrap().build(0, 200);
        let finding = found(&program, Options { strategy, max_steps: 200, ..options() });
        assert_eq!(finding.bug.kind(), BugKind::Livelock, "{name}");
        assert_eq!(finding.schedule.choices.len(), 5, "{name}");
    }
    // Rounds that turn out to differ would keep it from some schedules.
    let dfs = "dfs".parse::<StrategyKind>().unwrap().build(0, 12);
    let report = check(&program, Options { strategy: dfs, max_steps: 12, ..options() });
    assert_eq!((report.findings.len(), report.schedules), (0, 1_000));
}

#[test]
fn a_report_with_livelocks_does_not_depend_on_the_threads() {
    let program = scripts([
        &[Do::Choose(2), Do::JumpIf(0, 5), Do::Hot, LOOK, Do::Jump(3), Do::Visit, Do::Jump(5)],
        &[LOOK, Do::Jump(0)],
    ]);
    let report = |threads| {
        let all = Options { keep_going: true, schedules: 200, threads, ..options() };
        let report = check(&program, all);
        let found = |f: &Finding| (f.bug.clone(), f.schedule.clone(), f.found_at, f.occurrences);
        (report.findings.iter().map(found).collect::<Vec<_>>(), report.steps)
    };
    let (one, three) = (report(1), report(3));
    assert_eq!((one.0.len(), &one), (2, &three));
}

#[test]
fn a_worker_that_could_always_step_must_step_unless_fairness_is_none() {
    let program = scripts([&[Do::Hot, LOOK, Do::Jump(1)], &[LOOK, Do::Jump(0)]]);
    assert_eq!(blamed(&program, "0 0 0"), "none");
    assert_eq!(blamed(&program, "0 0 1 0 1"), "none weak strong");
}

#[test]
fn a_worker_that_could_step_now_and_then_must_step_where_fairness_is_strong() {
    let returns = [Do::Lock(0), Do::Cold, Do::Unlock(0), Do::Jump(0)];
    let program = scripts([&[Do::Hot, Do::Lock(0), Do::Unlock(0), Do::Jump(1)], &returns]);
    assert_eq!(blamed(&program, "0 0 0 0"), "none weak");
    // Sooner or later the second worker gets the lock, and the monitor what it waits for.
    assert_eq!(check(&program, options()).findings, []);
}

#[test]
fn a_value_that_could_be_chosen_must_be_where_fairness_is_strong() {
    let program = scripts([&[Do::Hot, Do::Choose(2), Do::JumpIf(0, 1), Do::Cold]]);
    assert_eq!(blamed(&program, "0 0 =0 0"), "none weak");
    // A strategy that goes on choosing at random leaves that loop.
    assert_eq!(check(&program, options()).findings, []);
    let endless = scripts([&[Do::Hot, Do::Choose(2), Do::Jump(1)]]);
    assert_eq!(blamed(&endless, "0 0 =0 0 0 =1 0 0 =0 0"), "none weak strong");
    assert_eq!(found(&endless, options()).bug.kind(), BugKind::Livelock);
}

#[test]
fn two_coins_that_happen_to_fall_alike_are_no_livelock() {
    // Both toss; the first looks whether they differ, and if not both toss again.
    let program = scripts([&[
        Do::Hot,
        Do::Choose(2),
        Do::JumpIf(1, 6),
        Do::Choose(2),
        Do::JumpIf(0, 1),
        Do::Jump(8),
        Do::Choose(2),
        Do::JumpIf(1, 1),
        Do::Cold,
    ]]);
    assert_eq!(check(&program, options()).findings, []);
    assert_eq!(blamed(&program, "0 0 =0 0 0 =0 0 0 =1 0 0 =1 0 0 =0 0 0 =0 0"), "none weak strong");
}

#[test]
fn workers_that_happen_to_step_at_the_wrong_moment_are_no_livelock() {
    // The second worker is content if it looks between two steps of the first.
    let blinks = [Do::Hot, Do::Lock(0), Do::Add(0, 1), Do::Add(0, -1), Do::Unlock(0), Do::Jump(1)];
    let looks = [Do::Load(0), Do::JumpIf(0, 0), Do::Cold];
    let program = scripts([&blinks, &looks]);
    // It looks once in each round, and never when there is something to see.
    assert_eq!(blamed(&program, "0 0 1 1 0 0 0 0"), "none weak strong");
    assert_eq!(check(&program, options()).findings, []);
}

#[test]
fn a_fault_that_could_happen_need_not() {
    let program = scripts([&[Do::Hot, Do::Fault(0), Do::Jump(1)]]);
    assert_eq!(blamed(&program, "0 0 !0 0"), "none weak strong");
}

#[test]
fn a_message_that_could_be_taken_must_be_where_fairness_is_strong() {
    let asks = [Do::Hot, Do::Send(2, 1), Do::Receive, Do::Jump(1)];
    let program = scripts([&asks, &[Do::Send(2, 2)], &[Do::Receive, Do::Send(0, 0), Do::Jump(0)]]);
    // The message of worker 1 lies there for ever.
    assert_eq!(blamed(&program, "1 0 0 2 <0#0 2 2 0 0 0 2 <0#1 2 2 0 0"), "none weak");
    // Here it is taken, and where there is no other that is no choice.
    let both = [Do::Receive, Do::Receive, Do::Send(0, 0), Do::Send(1, 0), Do::Jump(0)];
    let program = scripts([&asks, &[Do::Send(2, 2), Do::Receive, Do::Jump(0)], &both]);
    let lap = |n| format!("0 1 2 <0#{n} 2 2 2 2 0 0 1 1");
    assert_eq!(blamed(&program, &format!("0 {} {}", lap(0), lap(1))), "none weak strong");
}

#[test]
fn a_monitor_that_is_hot_now_and_then_raises_no_alarm() {
    let program = scripts([&[Do::Hot, LOOK, Do::Cold, LOOK, Do::Jump(0)], &[LOOK, Do::Jump(0)]]);
    assert_eq!(check(&program, options()).findings, []);
    assert_eq!(blamed(&program, "0 0 0 0 0 0"), "");
}

#[test]
fn states_are_compared_when_a_monitor_has_waited_for_a_part_of_the_bounds() {
    let program = scripts([&[Do::Hot, LOOK, Do::Jump(1)]]);
    let stem = |options: Options| {
        let finding = found(&program, Options { shrink: false, ..options });
        finding.lasso.map(|lasso| lasso.stem)
    };
    // The temperature is half of 1000 steps, and a fiftieth of that is 10.
    assert_eq!(stem(options()), Some(1 + 10));
    assert_eq!(stem(Options { temperature: Some(100), ..options() }), Some(1 + 2));
    // A strategy may have bounds of its own: the first schedules of this one have 100 steps.
    let irs = "irs".parse::<StrategyKind>().unwrap().build(0, 1_000);
    assert_eq!(stem(Options { strategy: irs, ..options() }), Some(1 + 2));
    // Where every loop counts, chance may leave the one that was closed.
    assert_eq!(stem(Options { fairness: Fairness::None, ..options() }), Some(1));
    // What is shrunk is looked at from the start, and so are replays: see `found`.
    assert_eq!(found(&program, options()).lasso.map(|lasso| lasso.stem), Some(1));
}

#[test]
fn who_waits_goes_on_waiting_when_rounds_lead_nowhere() {
    let program = scripts([&[Do::Hot, LOOK, Do::Repeat(50, 1), LOOK, Do::Jump(3)]]);
    let finding = found(&program, Options { shrink: false, ..options() });
    // 51 times round the loop that a counter ends; the step after it differs, and from there on the
    // next loop is closed at once.
    assert_eq!(finding.lasso.map(|lasso| lasso.stem), Some(1 + 2 * 51 + 1));
}

#[test]
fn what_is_visited_in_the_step_in_which_a_monitor_ceases_to_wait_counts() {
    let program = scripts([&[Do::Hot, Do::Visit, Do::Jump(0)]]);
    let options = Options { fairness: Fairness::None, shrink: false, ..options() };
    assert_eq!(found(&program, options).lasso.map(|lasso| lasso.stem), Some(1));
}

#[test]
fn a_counter_that_nobody_sees_ends_a_loop_and_that_is_no_livelock() {
    let program = scripts([&[Do::Hot, LOOK, Do::Repeat(50, 1), Do::Cold]]);
    assert_eq!(check(&program, options()).findings, []);
}

#[test]
fn a_bug_behind_rounds_that_led_nowhere_replays_exactly() {
    let fails = [Do::Hot, LOOK, Do::Repeat(50, 1), Do::Cold, Do::PanicIf(0, 0)];
    let program = scripts([&fails, &[LOOK, LOOK]]);
    let finding = found(&program, Options { shrink: false, ..options() });
    assert_eq!((finding.bug.kind(), finding.lasso), (BugKind::Panic, None));
    let shrunk = found(&program, options());
    assert_eq!(shrunk.schedule.steps(), 1 + 2 * 51 + 2);
}

#[test]
fn what_may_happen_only_finitely_often_must_not_happen_in_a_loop() {
    let program = scripts([&[Do::Visit, LOOK, LOOK, Do::Jump(0)]]);
    let finding = found(&program, options());
    assert_snapshot!(words(&finding.bug), @"livelock by Progress: monitor Progress comes to state Happy again and again, which is allowed only finitely often: the execution can go round a loop of length 4 for ever");
    assert_eq!(short(&finding.schedule.choices), "0 0 0 0");
    assert_eq!(finding.lasso.map(|lasso| lasso.stem), Some(0));
    // Once is allowed.
    let once = scripts([&[Do::Visit, LOOK, LOOK, Do::Jump(1)]]);
    assert_eq!(check(&once, options()).findings, []);
}

#[test]
fn loops_of_different_lengths_have_one_cause() {
    let program = scripts([&[Do::Hot, LOOK, Do::Jump(1)], &[LOOK, LOOK, LOOK, Do::Jump(0)]]);
    let report = check(&program, Options { keep_going: true, shrink: false, ..options() });
    let occurrences: Vec<u64> = report.findings.iter().map(|found| found.occurrences).collect();
    assert_eq!(occurrences, [1_000]);
}

#[test]
fn shrinking_shortens_the_stem_and_the_loop() {
    let noise = [Do::Add(1, 1), Do::Add(1, -1), Do::Add(1, 1), Do::Jump(0)];
    let program = scripts([
        &[&[LOOK; 10][..], &[Do::Hot, Do::Add(1, 1), Do::Add(1, -1), Do::Jump(11)]].concat(),
        &noise[..2],
        &[LOOK, Do::Jump(0)],
    ]);
    for seed in 0..5 {
        let raw = only_finding(&program, Options { seed, shrink: false, ..options() });
        let (long, least) = (raw.lasso.unwrap(), found(&program, Options { seed, ..options() }));
        let lasso = least.lasso.unwrap();
        // Worker 1 must be done before the loop, in which the two others come back once.
        assert_eq!((lasso.stem, least.schedule.steps()), (10 + 1 + 2, 10 + 1 + 2 + 3 + 2));
        assert!(raw.schedule.steps() > least.schedule.steps());
        assert!(long.stem > lasso.stem || long.states.len() > lasso.states.len());
    }
}

#[test]
fn a_replay_goes_round_as_often_as_it_is_told_and_says_which_round_differs() {
    let program = scripts([&[Do::Hot, LOOK, Do::Jump(1)]]);
    let schedule = found(&program, options()).schedule;
    for rounds in [1, 7, 1_000] {
        let again = replayed(&program, &schedule, rounds);
        assert_eq!(again.lasso.map(|lasso| lasso.rounds), Some(rounds));
        assert_eq!((again.trace.steps.len(), again.left_at), (3, None));
    }
    let changed = scripts([&[Do::Hot, LOOK, Do::Repeat(5, 1), Do::Cold]]);
    let again = replayed(&changed, &schedule, 10);
    assert_snapshot!(again.left_at.unwrap(), @"step 13: the loop does not repeat: in round 5, at step 2 of 2, the state after it is another");
    assert_eq!(again.bug, None);
    let fixed = scripts([&[Do::Hot, Do::Cold, Do::Jump(1)]]);
    assert_snapshot!(replayed(&fixed, &schedule, 10).left_at.unwrap(), @"step 3: the loop does not repeat: the steps no longer lead back to where they began while a monitor waits");
}
