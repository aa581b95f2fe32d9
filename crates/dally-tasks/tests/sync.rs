//! Litmus tests of the primitives that tasks meet in: every schedule of a small program.

mod driver;

use std::sync::Arc;

use dally_tasks::sync::{
    Barrier, Mutex, MutexGuard, Notify, OnceCell, RwLock, RwLockReadGuard, Semaphore, SetOnce,
    broadcast, mpsc, watch,
};
use dally_tasks::task::spawn_blocking;
use dally_tasks::{TaskProgram, note, spawn, yield_now};
use driver::explore;

#[test]
fn a_semaphore_lets_in_as_many_as_it_has_permits_and_in_their_order() {
    let program = TaskProgram::new("permits", || async {
        let semaphore = Arc::new(Semaphore::new(2));
        let all = semaphore.clone().acquire_many_owned(2).await.unwrap();
        let big = semaphore.clone();
        let big = spawn(async move { drop(big.acquire_many(2).await.unwrap()) });
        yield_now().await;
        let waits = !big.is_finished();
        drop(all);
        // Whoever came first has the permits that were given back, also those that it does not use yet.
        if semaphore.try_acquire().is_ok() {
            note("none waits yet or it is done");
        }
        assert!(waits);
        big.await.unwrap();
        assert_eq!(semaphore.available_permits(), 2);
    });
    assert_eq!(explore(&program).kinds(), ["done", "none waits yet or it is done done"]);
}

#[test]
fn a_closed_semaphore_sends_those_away_who_wait() {
    let program = TaskProgram::new("closed", || async {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiter = semaphore.clone();
        let waiter = spawn(async move { waiter.acquire().await.is_err() });
        semaphore.close();
        assert!(waiter.await.unwrap());
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn readers_share_and_a_writer_who_waits_keeps_later_readers_out() {
    let program = TaskProgram::new("rwlock", || async {
        let lock = Arc::new(RwLock::new((0, 1)));
        let reader = lock.read().await;
        assert!(lock.try_read().is_ok() && lock.try_write().is_err());
        let part = RwLockReadGuard::map(reader, |pair| &pair.1);
        let writer = lock.clone();
        let writer = spawn(async move { writer.write().await.0 = 7 });
        yield_now().await;
        note(if lock.try_read().is_ok() { "before the writer" } else { "behind the writer" });
        assert_eq!(*part, 1);
        drop(part);
        writer.await.unwrap();
        assert_eq!(lock.read().await.0, 7);
    });
    assert_eq!(explore(&program).kinds(), ["before the writer done", "behind the writer done"]);
}

#[test]
fn two_locks_taken_in_two_orders_are_a_deadlock_for_readers_and_writers_too() {
    let program = TaskProgram::new("abba", || async {
        let locks = Arc::new((RwLock::new(0), RwLock::new(0)));
        let other = locks.clone();
        let other = spawn(async move {
            let _second = other.1.write().await;
            let _first = other.0.write().await;
        });
        let _first = locks.0.read().await;
        let _second = locks.1.read().await;
        drop((_first, _second));
        other.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["done", "stuck"]);
}

#[test]
fn a_watcher_sees_the_last_value_and_may_miss_others() {
    let program = TaskProgram::new("watch", || async {
        let (tx, mut rx) = watch::channel(0);
        let sender = spawn(async move {
            for n in 1..3 {
                tx.send(n).unwrap();
                yield_now().await;
            }
        });
        let mut seen = Vec::new();
        while rx.changed().await.is_ok() {
            seen.push(rx.borrow_and_update().to_string());
        }
        note(seen.join(","));
        sender.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["1,2 done", "2 done"]);
}

#[test]
fn a_slow_receiver_of_a_broadcast_misses_the_oldest() {
    let program = TaskProgram::new("broadcast", || async {
        let (tx, mut rx) = broadcast::channel(1);
        let sender = spawn(async move {
            for n in 0..2 {
                tx.send(n).unwrap();
                yield_now().await;
            }
        });
        loop {
            match rx.recv().await {
                Ok(n) => note(n),
                Err(broadcast::error::RecvError::Lagged(missed)) => note(format!("-{missed}")),
                Err(broadcast::error::RecvError::Closed) => break,
            }
        }
        sender.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["-1 1 done", "0 1 done"]);
}

#[test]
fn a_barrier_has_one_leader_and_lets_nobody_through_early() {
    let program = TaskProgram::new("barrier", || async {
        let barrier = Arc::new(Barrier::new(2));
        let other = barrier.clone();
        let other = spawn(async move { other.wait().await.is_leader() });
        let leads = barrier.wait().await.is_leader();
        assert_ne!(leads, other.await.unwrap());
        note(leads);
    });
    assert_eq!(explore(&program).kinds(), ["false done", "true done"]);
}

#[test]
fn a_cell_is_made_by_one_and_seen_by_all() {
    let program = TaskProgram::new("once", || async {
        let cell = Arc::new(OnceCell::new());
        let made = |n: u32| async move {
            yield_now().await;
            n
        };
        let other = cell.clone();
        let other = spawn(async move { *other.get_or_init(|| made(1)).await });
        let own = *cell.get_or_init(|| made(2)).await;
        assert_eq!(own, other.await.unwrap());
        note(own);
    });
    assert_eq!(explore(&program).kinds(), ["1 done", "2 done"]);
}

#[test]
fn a_value_that_is_set_once_wakes_all_who_wait() {
    let program = TaskProgram::new("set once", || async {
        let cell = Arc::new(SetOnce::new());
        let waiters = [0; 2].map(|_| {
            let cell = cell.clone();
            spawn(async move { *cell.wait().await })
        });
        yield_now().await;
        cell.set(7).unwrap();
        assert_eq!(cell.set(8).unwrap_err().0, 8);
        for waiter in waiters {
            assert_eq!(waiter.await.unwrap(), 7);
        }
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn room_that_is_kept_for_a_value_is_not_there_for_others_and_outlives_a_close() {
    let program = TaskProgram::new("reserve", || async {
        let (tx, mut rx) = mpsc::channel(1);
        let permit = tx.reserve().await.unwrap();
        assert!(matches!(tx.try_send(1), Err(mpsc::error::TrySendError::Full(1))));
        rx.close();
        let receiver = spawn(async move { rx.recv().await });
        yield_now().await;
        assert!(!receiver.is_finished(), "whoever has room may still send");
        permit.send(7);
        assert_eq!(receiver.await.unwrap(), Some(7));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn locks_can_be_held_by_blocking_code_and_in_part() {
    let program = TaskProgram::new("blocking", || async {
        let lock: Arc<Mutex<[u32]>> = Arc::new(Mutex::new([1, 2, 3]));
        let other = lock.clone();
        let worker = spawn_blocking(move || {
            other.blocking_lock()[0] += 10;
            other.blocking_lock_owned()[1] += 10;
        });
        let first = MutexGuard::map(lock.lock().await, |all| &mut all[0]);
        note(*first);
        drop(first);
        worker.await.unwrap();
        assert_eq!(lock.lock().await[1], 12);
    });
    assert_eq!(explore(&program).kinds(), ["1 done", "11 done"]);
}

#[test]
fn a_static_belongs_to_one_execution_after_the_other() {
    static LOCK: Mutex<()> = Mutex::const_new(());
    static BELL: Notify = Notify::const_new();
    static GATE: Semaphore = Semaphore::const_new(1);
    let program = TaskProgram::new("static", || async {
        let other = spawn(async {
            let _held = LOCK.lock().await;
            let _permit = GATE.acquire().await.unwrap();
            BELL.notify_one();
        });
        let _held = LOCK.lock().await;
        drop(_held);
        BELL.notified().await;
        other.await.unwrap();
    });
    let explored = explore(&program);
    assert_eq!(explored.kinds(), ["done"]);
    assert!(explored.schedules > 2, "{explored:?}");
}
