//! Virtual time.

mod driver;

use std::sync::{Arc, Mutex};

use dally_tasks::sync::{mpsc, oneshot};
use dally_tasks::time::{Duration, Instant, sleep, sleep_until, timeout};
use dally_tasks::{TaskProgram, note, spawn, yield_now};
use driver::{explore, run_one};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn three_sleeps_end_in_all_six_orders() {
    let program = TaskProgram::new("orders", || async {
        let order = Arc::new(Mutex::new(String::new()));
        let tasks = [1, 2, 3].map(|n| {
            let order = order.clone();
            spawn(async move {
                sleep(SECOND * n).await;
                order.lock().unwrap().push_str(&n.to_string());
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        note(order.lock().unwrap());
    });
    assert_eq!(
        explore(&program).kinds(),
        ["123 done", "132 done", "213 done", "231 done", "312 done", "321 done"]
    );
}

#[test]
fn a_sleep_is_never_early_and_the_clock_never_goes_back() {
    let program = TaskProgram::new("clock", || async {
        let begin = Instant::now();
        let tasks = [3, 1, 2].map(|n| {
            spawn(async move {
                let start = Instant::now();
                sleep(SECOND * n).await;
                assert!(start.elapsed() >= SECOND * n);
                Instant::now()
            })
        });
        let mut latest = Instant::now();
        for task in tasks {
            task.await.unwrap();
            assert!(Instant::now() >= latest);
            latest = Instant::now();
        }
        note(latest.duration_since(begin).as_secs());
    });
    // A task may come to its sleep only when the timers of others have moved the clock.
    assert_eq!(explore(&program).kinds(), ["3 done", "4 done", "5 done", "6 done"]);
}

#[test]
fn time_stands_still_while_tasks_run() {
    let program = TaskProgram::new("still", || async {
        let start = Instant::now();
        for _ in 0..3 {
            yield_now().await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        sleep(Duration::ZERO).await;
        sleep_until(start).await;
        assert_eq!(start.elapsed(), Duration::ZERO);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_timeout_passes_in_some_schedules_and_not_in_others() {
    let program = TaskProgram::new("timeout", || async {
        let (tx, rx) = oneshot::channel();
        spawn(async move {
            yield_now().await;
            let _ = tx.send(());
        });
        match timeout(SECOND, rx).await {
            Ok(Ok(())) => note("answered"),
            Ok(Err(closed)) => panic!("{closed}"),
            Err(elapsed) => note(elapsed),
        }
    });
    assert_eq!(explore(&program).kinds(), ["answered done", "deadline has elapsed done"]);
}

#[test]
fn what_is_done_at_once_does_not_time_out() {
    let program = TaskProgram::new("at once", || async {
        assert_eq!(timeout(SECOND, async { 7 }).await, Ok(7));
        let (tx, mut rx) = mpsc::channel(1);
        tx.send(7).await.unwrap();
        // The receive stands at its point while the timer fires: it is still done first.
        assert_eq!(timeout(SECOND, rx.recv()).await, Ok(Some(7)));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_dropped_sleep_does_not_fire() {
    let program = TaskProgram::new("drop", || async {
        let sleeper = spawn(sleep(SECOND));
        yield_now().await;
        sleeper.abort();
        let fired = sleeper.await.is_ok();
        let now = Instant::now();
        yield_now().await;
        assert_eq!(now.elapsed(), Duration::ZERO);
        note(fired);
    });
    assert_eq!(explore(&program).kinds(), ["false done", "true done"]);
}

#[test]
fn a_reset_sleep_keeps_its_new_deadline() {
    let program = TaskProgram::new("reset", || async {
        let start = Instant::now();
        let mut nap = Box::pin(sleep(SECOND));
        let _ = timeout(SECOND * 2, nap.as_mut()).await;
        nap.as_mut().reset(start + SECOND * 5);
        assert_eq!(nap.deadline(), start + SECOND * 5);
        nap.await;
        assert_eq!(start.elapsed(), SECOND * 5);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_timer_is_a_worker_of_its_task() {
    let program = TaskProgram::new("worker", || async { sleep(SECOND).await });
    let (result, log, _) = run_one(&program, &[]);
    result.unwrap();
    insta::assert_snapshot!(log.join("\n"), @r#"
    -- 0 main
    Accessed { access: Access { resource: Object(ObjectId { creator: 0, number: 4294967294 }), mode: Read, ordering: None }, what: "read `clock 0`" }
    Accessed { access: Access { resource: Object(ObjectId { creator: 0, number: 4294967294 }), mode: Read, ordering: None }, what: "" }
    TimerSet { timer: 0.t0, payload: "wakes at 1s" }
    Blocked { on: "wake up by `clock 0` at crates/dally-tasks/tests/time.rs:135:57" }
    -- 0.t0 timer
    Accessed { access: Access { resource: Object(ObjectId { creator: 0, number: 4294967294 }), mode: ReadModifyWrite, ordering: None }, what: "move `clock 0` to 1s" }
    Halted { worker: 0.t0 }
    Accessed { access: Access { resource: Worker(0), mode: ReadModifyWrite, ordering: None }, what: "" }
    Enabled { worker: 0 }
    -- 0 main
    Accessed { access: Access { resource: Object(ObjectId { creator: 0, number: 4294967294 }), mode: Read, ordering: None }, what: "" }
    Accessed { access: Access { resource: Execution, mode: Write, ordering: None }, what: "" }
    Accessed { access: Access { resource: Object(ObjectId { creator: 0, number: 4294967295 }), mode: ReadModifyWrite, ordering: None }, what: "end `task 0`" }
    Halted { worker: 0 }
    "#);
}

#[test]
fn a_sleep_whose_deadline_has_passed_is_over_for_whoever_looks() {
    let program = TaskProgram::new("two sleeps", || async {
        let mut short = Box::pin(sleep(Duration::from_secs(1)));
        let mut long = Box::pin(sleep(Duration::from_secs(10)));
        let first = std::future::poll_fn(|cx| {
            // As `select! { biased; ... }` does: the short one first.
            if short.as_mut().poll(cx).is_ready() {
                return std::task::Poll::Ready("short");
            }
            long.as_mut().poll(cx).map(|()| "long")
        })
        .await;
        assert_eq!(first, "short");
    });
    let explored = explore(&program);
    assert_eq!(explored.kinds(), ["done"]);
}
