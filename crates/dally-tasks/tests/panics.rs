//! What a panic of a task means: a bug at once, or an error for whoever joins it.

mod driver;

use dally_tasks::task::JoinSet;
use dally_tasks::{TaskPanics, TaskProgram, note, spawn, yield_now};
use driver::explore;

fn unobserved<F>(main: fn() -> F) -> TaskProgram
where
    F: Future<Output = ()> + 'static,
{
    TaskProgram::new("panics", main).task_panics(TaskPanics::Unobserved)
}

#[test]
fn whoever_joins_a_task_that_panicked_gets_the_panic() {
    let program = unobserved(|| async {
        let worker = spawn(async {
            yield_now().await;
            let luck = "luck".to_owned();
            panic!("no {luck}");
        });
        let id = worker.id();
        let error: dally_tasks::JoinError = worker.await.map(|never: ()| never).unwrap_err();
        assert!(error.is_panic() && !error.is_cancelled());
        assert_eq!(error.to_string(), format!("task {id} panicked with message \"no luck\""));
        assert_eq!(format!("{error:?}"), format!("JoinError::Panic({id:?}, \"no luck\", ...)"));
        assert_eq!(*error.into_panic().downcast::<String>().unwrap(), "no luck");
    });
    assert_eq!(explore(&program).kinds(), ["panics: no luck done"]);
}

#[test]
fn a_supervisor_starts_its_worker_again() {
    let program = unobserved(|| async {
        for attempt in 0.. {
            let worker = spawn(async move {
                assert!(attempt == 2, "not yet");
                attempt
            });
            if let Ok(attempt) = worker.await {
                note(attempt);
                break;
            }
        }
    });
    assert_eq!(explore(&program).kinds(), ["panics: not yet panics: not yet 2 done"]);
}

#[test]
fn a_panic_that_nobody_observes_is_a_bug_of_the_task() {
    let dropped_before = unobserved(|| async {
        drop(spawn(async { panic!("lost") }));
        yield_now().await;
    });
    let explored = explore(&dropped_before);
    assert_eq!(explored.kinds(), ["done", "panics: lost panic: lost"]);
    assert!(explored.bugs[0].culprit.as_deref().unwrap().starts_with("task:"), "{explored:?}");

    let dropped_after = unobserved(|| async {
        let worker = spawn(async { panic!("lost") });
        yield_now().await;
        drop::<dally_tasks::JoinHandle<()>>(worker);
        yield_now().await;
    });
    assert_eq!(explore(&dropped_after).kinds(), ["done", "panics: lost panic: lost"]);

    let never_awaited = unobserved(|| async {
        let worker: dally_tasks::JoinHandle<()> = spawn(async { panic!("lost") });
        yield_now().await;
        std::mem::forget(spawn(async move { drop(worker) }));
    });
    assert_eq!(explore(&never_awaited).kinds(), ["done", "panics: lost panic: lost"]);
}

#[test]
fn every_panic_of_a_task_is_a_bug_unless_the_program_says_otherwise() {
    let program = TaskProgram::new("all", || async {
        let worker: dally_tasks::JoinHandle<()> = spawn(async { panic!("an assertion") });
        let _ = worker.await;
    });
    assert_eq!(explore(&program).kinds(), ["panic: an assertion"]);
}

#[test]
fn a_panic_of_the_main_task_is_a_bug_even_if_it_passes_one_on() {
    let program = unobserved(|| async {
        spawn(async { panic!("inner") }).await.map(|never: ()| never).unwrap();
    });
    let kinds = explore(&program).outcomes;
    assert_eq!(kinds.len(), 1);
    let text = kinds.keys().next().unwrap();
    assert!(text.contains("JoinError::Panic(Id(") && text.contains("inner"), "{text}");
}

#[test]
fn what_a_task_holds_is_dropped_when_it_panics_before_its_handle_tells() {
    struct Held;
    impl Drop for Held {
        fn drop(&mut self) {
            note("dropped");
        }
    }
    let program = unobserved(|| async {
        let worker = spawn(async {
            let _held = Held;
            yield_now().await;
            panic!("with a value");
        });
        let error = worker.await.map(|never: ()| never).unwrap_err();
        note(if error.is_panic() { "panicked" } else { "cancelled" });
    });
    assert_eq!(explore(&program).kinds(), ["dropped panics: with a value panicked done"]);
}

#[test]
fn a_set_joins_tasks_in_the_order_in_which_they_end_panicked_or_aborted_or_not() {
    let program = unobserved(|| async {
        let mut set = JoinSet::new();
        set.spawn(async { 1 });
        set.spawn(async { panic!("two") });
        let third = set.spawn(std::future::pending());
        third.abort();
        assert_eq!(set.len(), 3);
        let mut ends = Vec::new();
        while let Some(end) = set.join_next().await {
            ends.push(match end {
                Ok(number) => number.to_string(),
                Err(error) if error.is_panic() => "panicked".to_owned(),
                Err(_) => "aborted".to_owned(),
            });
        }
        note(ends.join(","));
        assert!(set.is_empty() && set.join_next().await.is_none());
    });
    let mut orders = explore(&program).outcomes.into_keys().collect::<Vec<_>>();
    orders.sort();
    assert_eq!(
        orders,
        [
            "panics: two 1,aborted,panicked done",
            "panics: two 1,panicked,aborted done",
            "panics: two aborted,1,panicked done",
            "panics: two aborted,panicked,1 done",
            "panics: two panicked,1,aborted done",
            "panics: two panicked,aborted,1 done",
        ]
    );
}

#[test]
fn a_task_that_is_detached_ends_a_later_task_of_its_set_for_nobody() {
    let program = TaskProgram::new("detached", || async {
        let mut set = JoinSet::new();
        set.spawn(async { 1 });
        set.detach_all();
        set.spawn(async { 2 });
        assert_eq!(set.join_next().await.unwrap().unwrap(), 2);
        assert!(set.join_next().await.is_none());
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_set_that_is_dropped_aborts_its_tasks() {
    let program = unobserved(|| async {
        let mut set = JoinSet::new();
        let handle = set.spawn(std::future::pending::<()>());
        drop(set);
        while !handle.is_finished() {
            yield_now().await;
        }
        let mut set: JoinSet<u8> = [1, 2].map(|n| async move { n }).into_iter().collect();
        set.spawn_blocking(|| 3);
        let mut all = set.join_all().await;
        all.sort();
        assert_eq!(all, [1, 2, 3]);
    });
    let explored = driver::explore_up_to(&program, 14);
    assert!(explored.kinds().iter().all(|kind| ["done", "cut"].contains(kind)), "{explored:?}");
}
