//! Every kind of bug: found, named, confirmed, and seen again by replay.

use std::sync::Arc;
use std::time::Duration;

use dally_core::{BugKind, Finding};
use dally_search::sampling::{Fair, RoundRobin, Sampler};
use dally_search::{Mode, Options, StrategyKind, replay, run};
use insta::assert_snapshot;

use crate::programs::{Do, Keeper, Scripts, check, only_finding, options, scripts, short, words};

const STEP_TIME: Duration = Duration::from_secs(10);

/// A text with `N` for every number.
fn without_numbers(text: &str) -> String {
    let mut words = String::new();
    for c in text.chars() {
        if !c.is_ascii_digit() {
            words.push(c);
        } else if !words.ends_with('N') {
            words.push('N');
        }
    }
    words
}

/// Finds the only bug of a program and replays it.
fn found(program: &Arc<Scripts>, options: Options) -> Finding {
    let finding = only_finding(program, options);
    let again = replay(program.clone(), &finding.schedule, Mode::Exact, 1, STEP_TIME);
    assert_eq!(again.left_at, None);
    assert_eq!(again.bug.as_ref(), Some(&finding.bug));
    assert_eq!(again.trace, finding.trace);
    assert_eq!(again.schedule, finding.schedule);
    finding
}

#[test]
fn a_lost_update_is_found_as_a_panic_with_its_place() {
    let increment = [Do::Load(0), Do::Store(0, 1), Do::Add(1, 1)];
    let checker = [Do::Load(1), Do::PanicIfRegister(2), Do::Load(0)];
    let program = scripts([&increment, &increment, &checker]);
    let finding = found(&program, options());
    assert_snapshot!(words(&finding.bug), @"panic: the register is 2");
    assert!(finding.bug.location.as_ref().is_some_and(|at| at.file.ends_with("programs.rs")));
    assert_eq!(finding.schedule.bug, Some(finding.bug.record()));
    assert!(finding.bug.to_string().starts_with("panic: the register is 2 at "));
    assert_eq!(finding.schedule.program, "test");
}

#[test]
fn a_deadlock_names_who_waits_for_what() {
    let program = scripts([
        &[Do::Lock(0), Do::Lock(1), Do::Unlock(1), Do::Unlock(0)],
        &[Do::Lock(1), Do::Lock(0), Do::Unlock(0), Do::Unlock(1)],
    ]);
    let finding = found(&program, options());
    assert_eq!(finding.bug.kind(), BugKind::Deadlock);
    assert_snapshot!(dally_report::text::bug(&finding.bug), @"
    no worker can step, and 2 still wait:
      Script (0) waits to lock `lock 1`
      Script (1) waits to lock `lock 0`
    ");
    assert_eq!(short(&finding.schedule.choices), "0 1");
}

#[test]
fn a_message_that_never_comes_is_a_deadlock_of_one() {
    let finding = found(&scripts([&[Do::Receive]]), options());
    assert_snapshot!(words(&finding.bug), @r#"
        deadlock: no worker can step, and one still waits:
          Script (0) waits to receive
    "#);
}

#[test]
fn an_execution_that_ends_hot_names_the_monitor_and_its_state() {
    let program = scripts([&[Do::Hot], &[Do::Cold]]);
    let finding = found(&program, options());
    assert_snapshot!(words(&finding.bug), @"hot-at-end by Progress: the system is quiet (nothing is left to do) and monitor Progress is still hot, in state Waiting: what it waits for will not happen any more");
    assert_eq!(short(&finding.schedule.choices), "1 0");
}

#[test]
fn a_monitor_that_stays_hot_is_a_bug_under_a_fair_strategy() {
    let program = scripts([&[Do::Hot, Do::Add(0, 1), Do::Jump(1)], &[Do::Add(0, 1), Do::Jump(0)]]);
    let finding = found(&program, Options { max_steps: 200, ..options() });
    assert_snapshot!(words(&finding.bug), @"temperature by Progress: monitor Progress is hot for more than 100 steps under a fair strategy, now in state Waiting");
    assert_eq!(finding.schedule.setting("temperature"), Some("100"));
    // Without some of its steps the schedule would no longer be fair.
    assert_eq!(finding.shrunk, None);
}

#[test]
fn an_unfair_strategy_alone_does_not_heat_a_monitor_and_its_fair_tail_does() {
    let program = scripts([&[Do::Hot, Do::Add(0, 1), Do::Jump(1)]]);
    let unfair = Options {
        strategy: Box::new(RoundRobin::default().seeded(0)),
        max_steps: 200,
        ..options()
    };
    assert_eq!(check(&program, unfair).findings, []);
    let fair = Fair::new(Box::new(RoundRobin::default().seeded(0)), 50, 0);
    let finding = found(
        &program,
        Options { strategy: Box::new(fair), temperature: Some(30), max_steps: 200, ..options() },
    );
    // Hot from the first step on, but counted from step 50 on only.
    assert_eq!(finding.schedule.choices.len(), 50 + 31);
    assert_eq!(finding.schedule.setting("fair-from"), Some("50"));
}

#[test]
fn a_monitor_that_stays_hot_is_found_by_every_strategy_that_is_fair_in_the_end() {
    let program = scripts([&[Do::Hot, Do::Add(0, 1), Do::Jump(1)], &[Do::Add(0, 1), Do::Jump(0)]]);
    for name in ["random", "pct", "round-robin", "irs", "portfolio"] {
        let strategy = name.parse::<StrategyKind>().unwrap().build(0, 200);
        let finding = found(&program, Options { strategy, max_steps: 200, ..options() });
        assert_eq!(finding.bug.kind(), BugKind::Temperature, "{name}");
    }
}

#[test]
fn the_step_bound_is_a_bug_only_where_that_was_asked_for() {
    let program = scripts([&[Do::Add(0, 1), Do::Jump(0)]]);
    let short = Options { max_steps: 50, schedules: 10, ..options() };
    let report = check(&program, short.clone());
    assert_eq!((report.findings.len(), report.cut), (0, 10));
    let finding = found(&program, Options { fail_on_max_steps: true, ..short });
    assert_snapshot!(words(&finding.bug), @"step-bound: the execution does not end within 50 steps");
    assert_eq!(finding.schedule.steps(), 50);
}

#[test]
fn a_step_that_tells_events_for_ever_is_cut_and_found() {
    let program = scripts([&[Do::Add(0, 1), Do::TellForEver]]);
    let finding = found(&program, options());
    assert_snapshot!(words(&finding.bug), @"endless-step by Script: a step of worker 0 goes on without end: 10,000 values and events, and still not at its next scheduling point");
}

#[test]
fn a_step_that_chooses_for_ever_is_cut_and_found_although_values_count_as_steps() {
    let program = scripts([&[Do::Add(0, 1), Do::ChooseForEver]]);
    let finding = found(&program, options());
    assert_eq!(finding.bug.kind(), BugKind::EndlessStep);
}

#[test]
fn a_panic_in_a_destructor_is_found_when_the_execution_is_ended() {
    let program = scripts([&[Do::PanicInDrop(0)], &[Do::Add(0, 1)]]);
    let finding = found(&program, options());
    assert_snapshot!(words(&finding.bug), @"panic: a value was dropped too early");
}

#[test]
fn a_panic_in_a_destructor_after_a_bug_becomes_a_note() {
    let program = scripts([&[Do::PanicInDrop(0), Do::Add(0, 1), Do::PanicIf(0, 1)]]);
    let finding = found(&program, options());
    assert_eq!(dally_report::text::bug(&finding.bug), "counter 0 is 1");
    let [note] = &finding.notes[..] else { panic!("{:?}", finding.notes) };
    assert!(note.starts_with("Then, at the end: panic: a value was dropped too early at"));
}

#[test]
fn a_panic_of_the_front_end_itself_is_a_finding_and_not_a_dead_thread() {
    let finding = found(&scripts([&[Do::Add(0, 1), Do::FrontEndPanics]]), options());
    assert_eq!(finding.bug.kind(), BugKind::Panic);
    assert_eq!(dally_report::text::bug(&finding.bug), "a front end of no great quality");
}

#[test]
fn a_bug_that_depends_on_a_global_is_reported_as_nondeterminism() {
    // Counter 0 gets a number that was never seen before: a schedule that fails cannot again.
    let program = scripts([&[Do::AddGlobal(0), Do::Load(0), Do::PanicIfRegister(40)]]);
    let quiet = Options { repeat_check: false, ..options() };
    let finding = only_finding(&program, quiet);
    assert_eq!(finding.bug.kind(), BugKind::Uncontrolled);
    let message = without_numbers(&dally_report::text::bug(&finding.bug));
    assert_snapshot!(message, @r#"
        schedule N, run again with the same choices, did something else: step N: no bug the second time
        Something that Dally does not control decides what the program does: a clock, a random number, a `select!` of tokio or futures without `biased`, which draws one (`dally::tasks::select!` has it chosen by the search), the order of a hash map, a global that survives the execution (`isolate = process` gives each schedule a process of its own), a thread of the operating system
    "#);
    assert!(finding.notes[0].starts_with("The first time it ended in panic: the register is 40"));
}

#[test]
fn what_is_not_under_control_is_found_by_running_schedules_twice() {
    let program = scripts([&[Do::Add(0, 1)], &[Do::TellGlobal]]);
    let finding = only_finding(&program, options());
    assert_eq!((finding.bug.kind(), finding.found_at), (BugKind::Uncontrolled, 1));
    let message = without_numbers(&dally_report::text::bug(&finding.bug));
    assert_snapshot!(message, @r#"
        schedule N, run again with the same choices, did something else: step N: the step of Script (N) told `Noted { text: "N" }` first and `Noted { text: "N" }` then
        Something that Dally does not control decides what the program does: a clock, a random number, a `select!` of tokio or futures without `biased`, which draws one (`dally::tasks::select!` has it chosen by the search), the order of a hash map, a global that survives the execution (`isolate = process` gives each schedule a process of its own), a thread of the operating system
    "#);
    assert_eq!(finding.trace.steps.len(), 2);
}

#[test]
fn a_program_that_reads_a_global_and_does_nothing_with_it_is_no_finding() {
    let program = scripts([&[Do::AddGlobal(0), Do::Add(1, 1)]]);
    assert_eq!(check(&program, options()).findings, []);
}

#[test]
fn a_finding_reaches_the_sink_raw_then_confirmed_then_shrunk() {
    let program = scripts([
        &[Do::Add(1, 1), Do::Add(1, 1), Do::Lock(0), Do::Lock(1)],
        &[Do::Add(1, 1), Do::Add(1, 1), Do::Lock(1), Do::Lock(0)],
    ]);
    let keeper = Arc::new(Keeper::default());
    let report = run(program, options(), keeper.clone());
    let told = keeper.0.lock().unwrap();
    let [raw, confirmed, shrunk] = &told[..] else { panic!("{told:#?}") };
    assert!(raw.trace.steps.is_empty() && raw.shrunk.is_none());
    assert_eq!(raw.schedule.choices, confirmed.schedule.choices);
    assert_eq!(confirmed.trace.steps.len(), confirmed.schedule.steps());
    assert_eq!(shrunk, &report.findings[0]);
    assert!(told.iter().all(|finding| finding.bug.cause() == raw.bug.cause()));
}

#[test]
fn going_on_groups_findings_by_cause_and_counts_them() {
    let program = scripts([
        &[Do::Choose(4), Do::PanicIfRegister(1), Do::PanicIfRegister(2), Do::Hot],
        &[Do::Lock(0), Do::Lock(0)],
    ]);
    let report = check(&program, Options { keep_going: true, ..options() });
    let mut kinds: Vec<_> = report
        .findings
        .iter()
        .map(|finding| (finding.bug.kind(), dally_report::text::bug(&finding.bug).lines().count()))
        .collect();
    kinds.sort();
    assert_eq!(kinds, [(BugKind::Panic, 1), (BugKind::Deadlock, 2)]);
    let occurrences: u64 = report.findings.iter().map(|finding| finding.occurrences).sum();
    // Every schedule fails: by a panic for the values 1 and 2, else by the deadlock.
    assert_eq!((occurrences, report.schedules), (1_000, 1_000));
    let firsts: Vec<u64> = report.findings.iter().map(|finding| finding.found_at).collect();
    assert!(firsts.is_sorted() && firsts[0] == 1);
}

#[test]
fn more_causes_than_anybody_reads_are_counted_and_not_kept() {
    let program = scripts([&[Do::Choose(150), Do::FailByRegister]]);
    for threads in [1, 3] {
        let noisy = Options { keep_going: true, schedules: 3_000, threads, ..options() };
        let report = check(&program, noisy);
        assert_eq!((report.findings.len(), report.schedules), (100, 3_000));
        let kept: u64 = report.findings.iter().map(|finding| finding.occurrences).sum();
        let further: u64 = report.further_causes.iter().map(|(_, occurrences)| occurrences).sum();
        assert_eq!((report.further_causes.len(), kept + further), (50, 3_000));
    }
}
