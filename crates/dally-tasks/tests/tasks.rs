//! Spawning, joining, aborting, giving way.

mod driver;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use dally_core::BugKind;
use dally_tasks::time::sleep;
use dally_tasks::{TaskProgram, note, spawn, task, yield_now};
use driver::{explore, explore_up_to, run_one};

/// The number of ways to interleave two sequences of `n` steps.
fn interleavings(n: usize) -> usize {
    (1..=n).fold(1, |ways, k| ways * (n + k) / k)
}

/// In whatever order workers are created, and whatever was in the same memory before, the driver
/// looks at every state whether they are told apart.
#[test]
fn tasks_that_are_created_in_any_order_are_told_apart() {
    let program = TaskProgram::new("nested", || async {
        let parents = ["a", "b"].map(|name| {
            spawn(async move {
                let child = spawn(async move { note(name) });
                sleep(Duration::from_secs(1)).await;
                child.await.unwrap();
            })
        });
        for parent in parents {
            parent.await.unwrap();
        }
    });
    assert_eq!(explore(&program).kinds(), ["a b done", "b a done"]);
}

#[test]
fn two_tasks_of_n_yields_have_all_interleavings_of_their_steps() {
    for n in 0..4 {
        let program = TaskProgram::new("yields", move || async move {
            let yielding = || async move {
                for _ in 0..n {
                    yield_now().await;
                }
            };
            let (a, b) = (spawn(yielding()), spawn(yielding()));
            // Main steps only once both are over, so its steps do not multiply the count.
            std::future::poll_fn(|_| {
                if a.is_finished() && b.is_finished() {
                    std::task::Poll::Ready(())
                } else {
                    std::task::Poll::Pending
                }
            })
            .await;
        });
        let explored = explore(&program);
        // Nobody wakes main: each schedule ends stuck after both tasks' n + 1 steps.
        assert_eq!(explored.kinds(), ["stuck"]);
        assert_eq!(explored.schedules, interleavings(n + 1), "n = {n}");
    }
}

#[test]
fn a_load_and_a_store_in_different_steps_lose_updates() {
    let program = TaskProgram::new("racy counter", || async {
        let counter = Arc::new(AtomicUsize::new(0));
        let tasks = [0; 2].map(|_| {
            let counter = counter.clone();
            spawn(async move {
                let seen = counter.load(Relaxed);
                yield_now().await;
                counter.store(seen + 1, Relaxed);
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        note(counter.load(Relaxed));
    });
    assert_eq!(explore(&program).kinds(), ["1 done", "2 done"]);
}

#[test]
fn a_joined_task_gives_its_result() {
    let program = TaskProgram::new("join", || async {
        assert_eq!(spawn(async { 7 }).await.unwrap(), 7);
    });
    let explored = explore(&program);
    assert_eq!(explored.kinds(), ["done"]);
    // Either main waits first, or the task is over first and main stands before the join.
    assert_eq!(explored.schedules, 1);
}

#[test]
fn the_end_of_main_is_the_end_of_the_execution() {
    let program = TaskProgram::new("detached", || async {
        drop(spawn(async { note("ran") }));
        yield_now().await;
    });
    assert_eq!(explore(&program).kinds(), ["done", "ran done"]);
}

#[test]
fn an_aborted_task_is_cancelled_unless_it_is_over_first() {
    let program = TaskProgram::new("abort", || async {
        let task = spawn(async {
            yield_now().await;
            7
        });
        yield_now().await;
        task.abort();
        match task.await {
            Ok(seven) => note(seven),
            Err(error) => {
                assert!(error.is_cancelled() && !error.is_panic());
                assert_eq!(error.to_string(), "task 0.0 was cancelled");
                note("cancelled");
            }
        }
    });
    assert_eq!(explore(&program).kinds(), ["7 done", "cancelled done"]);
}

#[test]
fn aborting_wakes_a_task_that_waits_for_ever() {
    let program = TaskProgram::new("abort", || async {
        let task = spawn(std::future::pending::<()>());
        let handle = task.abort_handle();
        yield_now().await;
        handle.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert!(handle.is_finished());
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_task_that_aborts_itself_ends_at_its_next_await() {
    let program = TaskProgram::new("abort", || async {
        let (tx, rx) = dally_tasks::sync::oneshot::channel::<task::AbortHandle>();
        let task = spawn(async move {
            rx.await.unwrap().abort();
            note("still here");
            std::future::pending::<()>().await;
        });
        tx.send(task.abort_handle()).unwrap();
        assert!(task.await.unwrap_err().is_cancelled());
    });
    assert_eq!(explore(&program).kinds(), ["still here done"]);
}

#[test]
fn a_panic_in_a_task_is_a_bug_of_that_task_at_its_place() {
    async fn worker() {
        panic!("out of cheese");
    }
    let program = TaskProgram::new("panic", || async {
        let task = spawn(worker());
        let _ = task.await;
    });
    let explored = explore(&program);
    let bug = &explored.bugs[0];
    assert_eq!((bug.kind(), bug.message()), (BugKind::Panic, "out of cheese"));
    assert!(bug.culprit.as_deref().unwrap().starts_with("worker:"));
    assert!(bug.location.as_ref().unwrap().file.ends_with("tests/tasks.rs"));
}

#[test]
fn a_panic_in_the_programs_closure_is_a_bug_of_the_start() {
    use dally_core::Program;
    let program = TaskProgram::new("setup", || {
        if true {
            panic!("no configuration");
        }
        async {}
    });
    let bug = program.start().unwrap_err();
    assert_eq!((bug.kind(), bug.message()), (BugKind::Panic, "no configuration"));
}

#[test]
fn ids_and_names_derive_from_the_parent() {
    let program = TaskProgram::new("names", || async {
        let outer = spawn(async {
            let inner = task::Builder::new().name("inner").spawn(async { task::id() }).unwrap();
            assert_eq!(inner.await.unwrap().to_string(), "0.0.0");
        });
        assert_eq!(outer.id().to_string(), "0.0");
        outer.await.unwrap();
    });
    let (result, log, _) = run_one(&program, &[]);
    result.unwrap();
    assert!(log.iter().any(|line| line.contains("-- 0.0.0 inner")), "{log:#?}");
}

#[test]
fn spawning_for_ever_is_ended_by_the_step_bound() {
    fn breed() -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async {
            let child = spawn(breed());
            let _ = child.await;
        })
    }
    let program = TaskProgram::new("rabbits", || async { breed().await });
    let explored = explore_up_to(&program, 30);
    assert_eq!(explored.kinds(), ["cut"]);
}
