//! A lock that can be held across awaits.

mod driver;

use std::sync::Arc;

use dally_tasks::sync::Mutex;
use dally_tasks::{TaskProgram, note, spawn, yield_now};
use driver::{explore, run_one};

#[test]
fn a_counter_under_a_lock_loses_nothing() {
    let program = TaskProgram::new("counter", || async {
        let counter = Arc::new(Mutex::new(0));
        let tasks = [0; 2].map(|_| {
            let counter = counter.clone();
            spawn(async move {
                let mut guard = counter.lock().await;
                let seen = *guard;
                yield_now().await;
                *guard = seen + 1;
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
        note(*counter.lock().await);
    });
    let explored = explore(&program);
    assert_eq!(explored.kinds(), ["2 done"]);
    assert_eq!(explored.schedules, 29);
}

#[test]
fn two_locks_in_opposite_orders_deadlock_in_some_schedules() {
    let program = TaskProgram::new("abba", || async {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let other = {
            let (a, b) = (a.clone(), b.clone());
            spawn(async move {
                let _b = b.lock().await;
                let _a = a.lock().await;
            })
        };
        {
            let _a = a.lock().await;
            let _b = b.lock().await;
        }
        other.await.unwrap();
    });
    let explored = explore(&program);
    assert_eq!(explored.kinds(), ["done", "stuck"]);
    // After main's first step M1, M2 take a and b, and T1, T2 take b and a after the task's first
    // step T0. Done: M1 M2 with T0 in any of 3 places, or T0 T1 T2 first. Stuck: M1 in any of 3
    // places of T0 T1, then M2 and T2 queue in either order.
    assert_eq!((explored.outcomes["done"], explored.outcomes["stuck"]), (3 + 1, 3 * 2));
}

#[test]
fn the_lock_is_passed_on_to_who_came_first_and_nobody_overtakes() {
    let program = TaskProgram::new("fair", || async {
        let lock = Arc::new(Mutex::new(()));
        let guard = lock.lock().await;
        let waiter = {
            let lock = lock.clone();
            spawn(async move { drop(lock.lock().await) })
        };
        yield_now().await;
        drop(guard);
        note(if lock.try_lock().is_ok() { "overtook" } else { "passed on" });
        waiter.await.unwrap();
    });
    // The waiter's first step ends before its lock: main may still come first.
    let (result, log, _) = run_one(&program, &["0", "0", "0.0", "0"]);
    result.unwrap();
    assert!(log.iter().any(|line| line.contains("overtook")), "{log:#?}");
    // Its second step queues: the lock is its own when main unlocks, although it has not stepped.
    let (result, log, _) = run_one(&program, &["0", "0", "0.0", "0.0", "0"]);
    result.unwrap();
    assert!(log.iter().any(|line| line.contains("passed on")), "{log:#?}");
}

#[test]
fn trying_fails_while_the_lock_is_held() {
    let program = TaskProgram::new("try", || async {
        let lock = Arc::new(Mutex::new(1));
        let guard = lock.clone().lock_owned().await;
        assert_eq!(lock.try_lock().unwrap_err().to_string(), "operation would block");
        drop(guard);
        *lock.try_lock().unwrap() += 1;
        *lock.clone().try_lock_owned().unwrap() += 1;
        assert_eq!(Arc::into_inner(lock).unwrap().into_inner(), 3);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_waiter_that_gives_up_passes_the_lock_on() {
    let program = TaskProgram::new("give up", || async {
        let lock = Arc::new(Mutex::new(()));
        let guard = lock.lock().await;
        let tasks = [0; 2].map(|_| {
            let lock = lock.clone();
            spawn(async move {
                drop(lock.lock().await);
            })
        });
        yield_now().await;
        drop(guard);
        let [first, second] = tasks;
        first.abort();
        second.await.unwrap();
        assert!(first.await.is_ok() || lock.try_lock().is_ok());
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}
