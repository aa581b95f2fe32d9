//! Code that blocks its thread, tasks of a thread, and values of a task.

mod driver;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use dally_tasks::sync::{Notify, mpsc, oneshot};
use dally_tasks::task::{self, LocalSet, block_in_place, spawn_blocking, spawn_local};
use dally_tasks::{TaskProgram, note, spawn, yield_now};
use driver::{explore, run_one};

#[test]
fn a_blocking_function_is_a_worker_whose_step_goes_on_until_it_blocks() {
    let program = TaskProgram::new("blocking", || async {
        let (tx, mut rx) = mpsc::channel(1);
        let counter = Arc::new(AtomicU32::new(0));
        let counts = counter.clone();
        let worker = spawn_blocking(move || {
            counts.fetch_add(1, Relaxed);
            counts.fetch_add(1, Relaxed);
            let received = task::block_on(rx.recv());
            counts.fetch_add(1, Relaxed);
            received
        });
        yield_now().await;
        note(counter.load(Relaxed));
        tx.send(7).await.unwrap();
        assert_eq!(worker.await.unwrap(), Some(7));
    });
    // Its two first additions are one step: nobody sees one of them alone.
    assert_eq!(explore(&program).kinds(), ["0 done", "2 done"]);
}

#[test]
fn a_blocking_function_that_waits_for_ever_is_a_deadlock_and_tells_what_for() {
    let program = TaskProgram::new("stuck", || async {
        let (tx, rx) = oneshot::channel::<u8>();
        let worker = spawn_blocking(move || task::block_on(rx));
        worker.await.unwrap().unwrap();
        drop(tx);
    });
    let (result, _, status) = run_one(&program, &[]);
    result.unwrap();
    let dally_core::Status::Stuck(waiting) = status else { panic!("{status:?}") };
    assert_eq!(waiting.len(), 2);
    assert_eq!(waiting[1].on[0].operation, "receive");
}

#[test]
fn a_blocking_function_that_has_begun_cannot_be_aborted() {
    let program = TaskProgram::new("abort", || async {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        let worker = spawn_blocking(move || task::block_on(other.notified()));
        yield_now().await;
        worker.abort();
        notify.notify_one();
        note(if worker.await.is_ok() { "ran" } else { "never began" });
    });
    assert_eq!(explore(&program).kinds(), ["never began done", "ran done"]);
}

#[test]
fn async_code_may_block_only_in_place() {
    let program = TaskProgram::new("in place", || async {
        let (tx, rx) = oneshot::channel();
        spawn(async move { tx.send(1).unwrap() });
        assert_eq!(block_in_place(|| task::block_on(rx)), Ok(1));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);

    let program = TaskProgram::new("not in place", || async { task::block_on(async {}) });
    let bugs = explore(&program).bugs;
    assert!(bugs[0].message().contains("blocks its thread"), "{bugs:?}");
}

#[test]
fn local_tasks_go_on_only_while_their_set_is_driven() {
    let program = TaskProgram::new("local", || async {
        let set = LocalSet::new();
        let log = Rc::new(std::cell::RefCell::new(Vec::new()));
        let inside = log.clone();
        let task = set.spawn_local(async move {
            inside.borrow_mut().push("begins");
            yield_now().await;
            inside.borrow_mut().push("ends");
        });
        for _ in 0..3 {
            yield_now().await;
        }
        assert!(log.borrow().is_empty(), "nobody drives the set");
        set.run_until(async {
            let inner = spawn_local(async { 2 });
            assert_eq!(inner.await.unwrap(), 2);
        })
        .await;
        let seen = log.borrow().len();
        for _ in 0..3 {
            yield_now().await;
        }
        assert_eq!(log.borrow().len(), seen, "nobody drives the set any more");
        set.await;
        assert_eq!(*log.borrow(), ["begins", "ends"]);
        task.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn local_tasks_are_dropped_with_their_set_and_need_one() {
    let program = TaskProgram::new("dropped", || async {
        let set = LocalSet::new();
        let alive = Rc::new(());
        let kept = alive.clone();
        let task = set.spawn_local(async move {
            let _kept = kept;
            std::future::pending::<()>().await;
        });
        set.run_until(yield_now()).await;
        drop(set);
        assert_eq!(Rc::strong_count(&alive), 1);
        assert!(task.await.unwrap_err().is_cancelled());
        spawn_local(async {});
    });
    let explored = explore(&program);
    assert!(explored.outcomes.keys().all(|end| end.starts_with("panic: `spawn_local` called")));
}

dally_tasks::task_local! {
    static NAME: &'static str;
}

#[test]
fn a_value_of_a_task_stays_with_the_task_where_it_is_suspended() {
    let program = TaskProgram::new("task_local", || async {
        let (tx, mut rx) = mpsc::channel(1);
        let other = spawn(NAME.scope("other", async move {
            tx.send(()).await.unwrap();
            assert_eq!(NAME.get(), "other");
        }));
        NAME.scope("main", async {
            rx.recv().await.unwrap();
            assert_eq!(NAME.with(|name| name.len()), 4);
            NAME.sync_scope("inner", || assert_eq!(NAME.get(), "inner"));
            assert_eq!(NAME.get(), "main");
        })
        .await;
        assert_eq!(NAME.try_get().unwrap_err().to_string(), "task-local value not set");
        other.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}
