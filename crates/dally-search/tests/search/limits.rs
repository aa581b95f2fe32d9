//! What ends a run: the clock, the user, a step that does not come back.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use dally_core::{Bug, BugKind, Finding, Program};
use dally_report::text::coverage;
use dally_search::strata::{Plan, RoundRobin, explore};
use dally_search::{Ended, Mode, Options, Progress, Report, Sink, replay, run};
use insta::assert_snapshot;

use crate::programs::{Do, Keeper, Live, Scripts, check, options, scripts, short, words};

fn for_ever() -> Options {
    Options { schedules: u64::MAX, ..options() }
}

#[test]
fn no_time_means_no_schedule_and_the_report_says_so() {
    let program = scripts([&[Do::Add(0, 1)]]);
    let report = check(&program, Options { time: Some(Duration::ZERO), ..options() });
    assert_eq!((report.ended, report.schedules), (Ended::Time, 0));
    assert_eq!(coverage(&report), "sampled 0 schedules by random, until the time was up");
}

#[test]
fn a_little_time_runs_some_schedules_and_keeps_findings() {
    let program = scripts([&[Do::Hot], &[Do::Cold]]);
    let limit = Duration::from_millis(100);
    let report =
        check(&program, Options { time: Some(limit), keep_going: true, threads: 2, ..for_ever() });
    assert_eq!((report.ended, report.findings.len()), (Ended::Time, 1));
    assert!(report.schedules > 0 && report.elapsed >= limit);
    assert_eq!(report.findings[0].shrunk.map(|shrunk| shrunk.steps_after), Some(2));
}

#[test]
fn time_ends_a_schedule_in_its_middle() {
    let program = scripts([&[Do::Add(0, 1), Do::Jump(0)]]);
    let time = Some(Duration::from_millis(50));
    let report =
        check(&program, Options { time, max_steps: usize::MAX, repeat_check: false, ..for_ever() });
    assert_eq!((report.ended, report.schedules), (Ended::Time, 0));
}

/// Takes this long to save a finding that was repeated and not shrunk.
struct Slow(Duration);

impl Sink for Slow {
    fn found(&self, finding: &Finding) {
        if !finding.trace.steps.is_empty() && finding.shrunk.is_none() {
            std::thread::sleep(self.0);
        }
    }
}

#[test]
fn shrinking_ends_with_the_time_and_says_so() {
    let program = scripts([&[Do::Add(1, 1); 20], &[Do::Add(1, 1), Do::PanicIf(0, 0)]]);
    let time = Duration::from_secs(1);
    let options = Options { time: Some(time), ..for_ever() };
    let report = run(program.clone(), options, Arc::new(Slow(time + time / 2)));
    let [finding] = &report.findings[..] else { panic!("{report:#?}") };
    assert_eq!(finding.notes, ["Shrinking stopped early: the time was up."]);
    assert!(finding.shrunk.is_some_and(|shrunk| shrunk.steps_before == shrunk.steps_after));
    let again = replay(program, &finding.schedule, Mode::Exact, 1, Duration::from_secs(10));
    assert_eq!((again.bug.as_ref(), again.left_at), (Some(&finding.bug), None));
}

/// A program that counts its executions.
struct Counted {
    program: Arc<Scripts>,
    executions: Arc<AtomicUsize>,
}

impl Program for Counted {
    type System = Live;

    fn start(&self) -> Result<Live, Bug> {
        self.executions.fetch_add(1, Ordering::Relaxed);
        self.program.start()
    }
}

/// Saves the first finding that was repeated when the time of the run is up, and looks how many executions
/// there were by then.
struct Late {
    executions: Arc<AtomicUsize>,
    time: Duration,
    before: OnceLock<usize>,
}

impl Sink for Late {
    fn found(&self, finding: &Finding) {
        if !finding.trace.steps.is_empty() {
            self.before.get_or_init(|| {
                // The first finding has a quarter more.
                std::thread::sleep(self.time + self.time / 4);
                self.executions.load(Ordering::Relaxed)
            });
        }
    }
}

/// The finding of a bug that needs some delays, and how many executions there were after the time was up.
fn after_the_time(
    find: impl FnOnce(Arc<Counted>, Options, Arc<Late>) -> Report,
) -> (Finding, usize) {
    let program = scripts([&[Do::Add(0, 1); 20], &[Do::Add(1, 1), Do::PanicIf(0, 3)]]);
    let (executions, time) = (Arc::new(AtomicUsize::new(0)), Duration::from_secs(1));
    let counted = Arc::new(Counted { program, executions: executions.clone() });
    let late = Arc::new(Late { executions: executions.clone(), time, before: OnceLock::new() });
    let options = Options { time: Some(time), repeat_check: false, ..for_ever() };
    let mut report = find(counted, options, late.clone());
    let before = late.before.get().expect("the finding was saved");
    (report.findings.remove(0), executions.load(Ordering::Relaxed) - before)
}

#[test]
fn when_the_time_is_up_a_finding_is_told_as_it_is_and_nothing_is_run_for_it() {
    let (finding, executions) =
        after_the_time(|program, options, late| run(program, options, late));
    assert_eq!(executions, 0);
    assert!(finding.nearest.is_none());
    assert_eq!(finding.notes, ["Shrinking stopped early: the time was up."]);
}

#[test]
fn when_the_time_is_up_the_finding_of_a_search_is_told_in_delays_and_no_fewer_are_looked_for() {
    let (finding, executions) = after_the_time(|program, options, late| {
        let plan = Plan { memory: 64 << 20, ..Plan::default() };
        explore(program, RoundRobin::default(), plan, options, late)
    });
    // Its delays are counted in one execution, and one shows what happens in it.
    assert!(executions <= 2, "{executions}");
    assert!(finding.nearest.is_none());
    assert!(finding.delays.is_some_and(|delays| delays.count > 0 && !delays.minimal));
}

/// Interrupts the run at the first finding, or at the first sign of progress.
struct Interrupts {
    stop: Arc<AtomicBool>,
    progress: Mutex<Vec<Progress>>,
}

impl Sink for Interrupts {
    fn found(&self, _finding: &Finding) {
        self.stop.store(true, Ordering::Relaxed);
    }
    fn progress(&self, progress: &Progress) {
        self.stop.store(true, Ordering::Relaxed);
        self.progress.lock().unwrap().push(*progress);
    }
}

#[test]
fn the_user_ends_a_run_and_sees_how_far_it_was() {
    let program = scripts([&[Do::Add(0, 1)], &[Do::Add(0, 1)]]);
    let options = for_ever();
    let sink = Arc::new(Interrupts { stop: options.stop.clone(), progress: Mutex::default() });
    let report = run(program, options, sink.clone());
    assert_eq!(report.ended, Ended::Interrupted);
    assert!(report.schedules > 0);
    let last = *sink.progress.lock().unwrap().last().unwrap();
    assert_eq!((last.steps, last.of), (report.steps, u64::MAX));
    assert!(coverage(&report).ends_with(", until it was interrupted"));
}

#[test]
fn what_was_found_before_the_user_ended_the_run_is_kept() {
    let program = scripts([&[Do::Hot, Do::Add(0, 1)], &[Do::Cold, Do::Add(0, 1)]]);
    let options = Options { keep_going: true, ..for_ever() };
    let sink = Arc::new(Interrupts { stop: options.stop.clone(), progress: Mutex::default() });
    let report = run(program.clone(), options, sink);
    assert_eq!(report.ended, Ended::Interrupted);
    let [finding] = &report.findings[..] else { panic!("{report:#?}") };
    let again = replay(program, &finding.schedule, Mode::Exact, 1, Duration::from_secs(10));
    assert_eq!((again.bug.as_ref(), again.left_at), (Some(&finding.bug), None));
}

#[test]
fn a_step_that_blocks_its_thread_is_a_finding_and_not_a_hang() {
    let program = scripts([&[Do::Add(0, 1), Do::Add(0, 1), Do::Sleep]]);
    let step_time = Duration::from_millis(100);
    let keeper = Arc::new(Keeper::default());
    let report = run(program.clone(), Options { step_time, ..options() }, keeper.clone());
    assert_eq!(report.ended, Ended::Stuck);
    let [finding] = &report.findings[..] else { panic!("{report:#?}") };
    assert_snapshot!(words(&finding.bug), @"endless-step: step 3, of worker 0, has not come back after 100ms: it blocks its thread or loops, and code under test must wait through Dally's own operations");
    assert_eq!(short(&finding.schedule.choices), "0 0 0");
    // What led to the step is known; the step itself never said anything.
    assert_eq!(finding.trace.steps.len(), 2);
    assert_eq!(keeper.0.lock().unwrap().last(), Some(finding));

    let again = replay(program, &finding.schedule, Mode::Exact, 1, step_time);
    assert_eq!(again.bug.as_ref(), Some(&finding.bug));
    assert_eq!((again.left_at, &again.trace), (None, &finding.trace));
}

#[test]
fn findings_of_a_thread_that_gets_stuck_later_are_kept() {
    let program =
        scripts([&[Do::Choose(3), Do::PanicIfRegister(1), Do::PanicIfRegister(2), Do::Sleep]]);
    let step_time = Duration::from_millis(200);
    for seed in 0..10 {
        let blocks =
            Options { step_time, seed, keep_going: true, repeat_check: false, ..options() };
        let report = check(&program, blocks);
        assert_eq!(report.ended, Ended::Stuck);
        let kinds: Vec<BugKind> = report.findings.iter().map(|found| found.bug.kind()).collect();
        assert_eq!(kinds.last(), Some(&BugKind::EndlessStep));
        if kinds.len() == 2 {
            assert_eq!(
                (kinds[0], report.findings[0].trace.steps.is_empty()),
                (BugKind::Panic, false)
            );
            return;
        }
    }
    panic!("no seed panics before it blocks");
}

#[test]
fn shrinking_that_meets_a_step_that_blocks_gives_up_and_keeps_the_finding() {
    // With the other worker's step left out, the first one sleeps.
    let program = scripts([
        &[Do::Lock(0), Do::Lock(1), Do::Lock(2), Do::PanicIf(0, 1), Do::Sleep],
        &[Do::Add(0, 1)],
    ]);
    let step_time = Duration::from_millis(200);
    for seed in 0..50 {
        let report = check(&program, Options { step_time, seed, repeat_check: false, ..options() });
        let [finding] = &report.findings[..] else { panic!("{report:#?}") };
        if finding.bug.kind() != BugKind::Panic {
            continue;
        }
        assert_eq!(dally_report::text::bug(&finding.bug), "counter 0 is 1");
        assert!(finding.notes[0].starts_with("It could not be shrunk: step 5, of worker 0,"));
        return;
    }
    panic!("no seed panics");
}
