//! Destructors are judged exactly where the program itself came to its end.

mod programs;

use std::collections::BTreeSet;
use std::sync::Arc;

use dally_core::{Problem, Program};
use dally_search::strata::{ExplorerKind, Plan, SearchKind, explore};
use dally_search::{Ended, Options, Report, StrategyKind, run};
use dally_tasks::sync::Mutex;
use dally_tasks::{TaskProgram, spawn, yield_now};
use programs::{Outcomes, generate_armed, how_many};

/// Panics when it is dropped, unless it was disarmed.
struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.0 || std::thread::panicking(), "the bomb is still armed");
    }
}

const SEARCHES: [SearchKind; 3] = [SearchKind::Ses, SearchKind::Dfs, SearchKind::Bfs];

fn options(max_steps: usize) -> Options {
    let strategy = "random".parse::<StrategyKind>().unwrap().build(0, max_steps);
    Options { strategy, schedules: 50, max_steps, keep_going: true, ..Options::default() }
}

fn search(program: &TaskProgram, search: SearchKind, max_steps: usize) -> Report {
    let plan = Plan { search, ..Plan::default() };
    let explorer = ExplorerKind::ALL[0].build(0);
    explore(Arc::new(program.clone()), explorer, plan, options(max_steps), Arc::new(()))
}

fn sample(program: &TaskProgram, max_steps: usize) -> Report {
    run(Arc::new(program.clone()), options(max_steps), Arc::new(()))
}

/// The bugs that were found, each once.
fn bugs(report: &Report) -> BTreeSet<String> {
    report.findings.iter().map(|finding| dally_report::text::bug(&finding.bug)).collect()
}

const AT_THE_END: &str =
    "the bomb is still armed\n(in a destructor, while the execution was torn down)";

#[test]
fn a_value_that_is_left_when_the_program_ends_is_found_by_every_search() {
    let program = TaskProgram::new("left", || async {
        let lock = Arc::new(Mutex::new(()));
        let other = lock.clone();
        spawn(async move {
            let _bomb = Bomb(true);
            drop(other.lock().await);
            std::future::pending::<()>().await;
        });
        yield_now().await;
        drop(lock.lock().await);
    });
    assert_eq!(bugs(&sample(&program, 100)), [AT_THE_END.to_owned()].into());
    for kind in SEARCHES {
        let report = search(&program, kind, 100);
        assert_eq!(report.ended, Ended::Exhausted, "{kind:?}");
        assert_eq!(bugs(&report), [AT_THE_END.to_owned()].into(), "{kind:?}");
    }
}

/// Two tasks count, and a value may be dropped only when both are done.
fn disarms_at_its_end() -> TaskProgram {
    TaskProgram::new("disarmed", || async {
        let mut bomb = Bomb(true);
        let count = Arc::new(Mutex::new(0));
        let add = |count: Arc<Mutex<u32>>| async move {
            let mut bomb = Bomb(true);
            *count.lock().await += 1;
            yield_now().await;
            *count.lock().await += 1;
            bomb.0 = false;
        };
        let tasks = [spawn(add(count.clone())), spawn(add(count.clone()))];
        for task in tasks {
            task.await.unwrap();
        }
        bomb.0 = false;
    })
}

#[test]
fn a_poll_that_the_end_of_the_program_meets_goes_on_as_its_primitives_answer() {
    let program = |disarms: bool| {
        TaskProgram::new("met by the end", move || async move {
            let lock = Arc::new(Mutex::new(()));
            let other = lock.clone();
            spawn(async move {
                let mut bomb = Bomb(disarms);
                tokio::select! {
                    biased;
                    _ = other.lock() => bomb.0 = false,
                    // The lock is free, so this never happens.
                    _ = std::future::ready(()) => bomb.0 = true,
                }
                std::future::pending::<()>().await;
            });
            yield_now().await;
            drop(lock);
        })
    };
    for disarms in [false, true] {
        let program = program(disarms);
        assert_eq!(bugs(&sample(&program, 100)), BTreeSet::new());
        for kind in SEARCHES {
            let report = search(&program, kind, 100);
            assert_eq!(report.ended, Ended::Exhausted, "{kind:?}");
            assert_eq!(bugs(&report), BTreeSet::new(), "{kind:?}");
        }
    }
}

#[test]
fn a_poll_without_end_is_left_when_the_program_has_ended() {
    let program = TaskProgram::new("for ever", || async {
        let lock = Arc::new(Mutex::new(0_u64));
        let other = lock.clone();
        spawn(async move {
            loop {
                *other.lock().await += 1;
            }
        });
        yield_now().await;
        drop(lock);
    });
    assert_eq!(bugs(&sample(&program, 20)), BTreeSet::new());
}

#[test]
fn executions_that_a_search_gives_up_are_not_blamed() {
    let program = disarms_at_its_end();
    for kind in SEARCHES {
        let report = search(&program, kind, 100);
        assert_eq!(report.ended, Ended::Exhausted, "{kind:?}");
        assert_eq!(bugs(&report), BTreeSet::new(), "{kind:?}");
    }
}

#[test]
fn schedules_that_a_bound_cuts_are_not_blamed() {
    let program = disarms_at_its_end();
    for max_steps in 1..8 {
        assert_eq!(bugs(&sample(&program, max_steps)), BTreeSet::new(), "{max_steps} steps");
        for kind in SEARCHES {
            let report = search(&program, kind, max_steps);
            assert_eq!(bugs(&report), BTreeSet::new(), "{kind:?}, {max_steps} steps");
        }
    }
}

#[test]
fn a_system_that_starts_again_is_not_blamed_for_what_it_leaves() {
    let program = disarms_at_its_end();
    let mut system = program.start().unwrap();
    program.restart(&mut system).unwrap();
    let _ = dally_core::System::end(&mut system);
}

/// The bugs of an enumeration of all schedules; `None` if they are too many.
fn enumerated(program: TaskProgram) -> Option<Report> {
    let strategy = "dfs".parse::<StrategyKind>().unwrap().build(0, 1_000);
    let options = Options {
        strategy,
        schedules: 5_000,
        max_steps: 1_000,
        keep_going: true,
        shrink: false,
        repeat_check: false,
        ..Options::default()
    };
    let report = run(Arc::new(program), options, Arc::new(()));
    (report.ended == Ended::Exhausted).then_some(report)
}

/// What kinds of bugs were found: who waits for what is left out. A panic at one place is one bug,
/// whether it is met in a step or at the end.
fn kinds(report: &Report) -> BTreeSet<String> {
    let kind = |problem: &Problem| match problem {
        Problem::Deadlock { .. } => "deadlock".to_owned(),
        Problem::Panic { message, .. } => message.clone(),
        other => format!("{other:?}"),
    };
    report.findings.iter().map(|finding| kind(&finding.bug.problem)).collect()
}

#[test]
fn searches_find_the_panics_of_destructors_that_enumeration_finds() {
    let programs = how_many(200);
    let (mut compared, mut at_the_end) = (0, 0);
    for seed in 0..programs {
        let generated = generate_armed(seed, 2);
        let program = generated.program(&Outcomes::default());
        let Some(all) = enumerated(program.clone()) else { continue };
        compared += 1;
        let left = |problem: &Problem| matches!(problem, Problem::Panic { at_tear_down: true, .. });
        at_the_end += all.findings.iter().filter(|finding| left(&finding.bug.problem)).count();
        let kind = SEARCHES[seed as usize % SEARCHES.len()];
        let plan = Plan { search: kind, ..Plan::default() };
        let options = Options { keep_going: true, shrink: false, ..Options::default() };
        let explorer = ExplorerKind::ALL[seed as usize % ExplorerKind::ALL.len()].build(seed);
        let report = explore(Arc::new(program), explorer, plan, options, Arc::new(()));
        assert_eq!(kinds(&report), kinds(&all), "{kind:?}, seed {seed}: {generated:?}");
    }
    println!("{compared} programs with destructors that panic, {at_the_end} at the end");
    assert!(compared > programs / 2, "only {compared} programs are small enough");
    assert!(at_the_end > 5, "only {at_the_end} programs leave a value behind");
}
