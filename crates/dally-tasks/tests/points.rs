//! A scheduling point is invisible to futures: each answers that it is pending only where tokio's
//! would.

mod driver;

use std::future::ready;
use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::Arc;

use dally_tasks::sync::{Mutex, Notify, mpsc, oneshot};
use dally_tasks::time::{Duration, timeout};
use dally_tasks::{TaskProgram, note, spawn, yield_now};
use driver::{explore, explore_up_to};
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::{FutureExt, future::join};

#[test]
fn a_biased_select_drains_what_is_in_a_queue() {
    let program = TaskProgram::new("drain", || async {
        let (tx, mut rx) = mpsc::channel(4);
        for n in 0..3 {
            tx.send(n).await.unwrap();
        }
        let mut drained = Vec::new();
        loop {
            tokio::select! {
                biased;
                Some(n) = rx.recv() => drained.push(n),
                _ = ready(()) => break,
            }
        }
        note(format!("{drained:?}"));
    });
    assert_eq!(explore(&program).kinds(), ["[0, 1, 2] done"]);
}

#[test]
fn a_free_lock_wins_over_what_is_ready_at_once_and_a_held_one_loses() {
    let program = TaskProgram::new("free", || async {
        let lock = Mutex::new(());
        let select = async || {
            tokio::select! {
                biased;
                _ = lock.lock() => note("lock"),
                _ = async {} => note("ready"),
            }
        };
        select().await;
        let _held = lock.lock().await;
        select().await;
    });
    assert_eq!(explore(&program).kinds(), ["lock ready done"]);
}

#[test]
fn a_free_lock_wins_over_yield_now() {
    let program = TaskProgram::new("yield", || async {
        let lock = Mutex::new(());
        tokio::select! {
            biased;
            _ = yield_now() => note("yield"),
            _ = lock.lock() => note("lock"),
        }
    });
    assert_eq!(explore(&program).kinds(), ["lock done"]);
}

#[test]
fn who_gave_way_is_woken_when_its_own_poll_ends_and_not_another() {
    let program = TaskProgram::new("given way", || async {
        let other = spawn(async {});
        let lock = Mutex::new(());
        let locks = async {
            drop(lock.lock().await);
            std::future::pending::<()>().await;
        };
        let mut both = FuturesUnordered::new();
        both.push(yield_now().left_future());
        both.push(locks.right_future());
        // While the lock is about to be taken, the other task may come to its end.
        tokio::select! {
            biased;
            _ = both.next() => note("yielded"),
            _ = ready(()) => note("ready"),
        }
        drop(both);
        other.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["ready done"]);
}

#[test]
fn yield_now_is_pending_once() {
    let program = TaskProgram::new("yield", || async {
        assert_eq!(yield_now().now_or_never(), None);
        let mut twice = pin!(yield_now());
        assert_eq!(twice.as_mut().now_or_never(), None);
        assert_eq!(twice.now_or_never(), Some(()));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn futures_unordered_gives_first_what_is_ready_first() {
    let program = TaskProgram::new("unordered", || async {
        let lock = Mutex::new(());
        let locks = async {
            drop(lock.lock().await);
            "lock"
        };
        let yields = async {
            yield_now().await;
            "yield"
        };
        let both: [std::pin::Pin<Box<dyn Future<Output = &str>>>; 2] =
            [Box::pin(yields), Box::pin(locks)];
        let mut both: FuturesUnordered<_> = both.into_iter().collect();
        while let Some(name) = both.next().await {
            note(name);
        }
    });
    assert_eq!(explore(&program).kinds(), ["lock yield done"]);
}

#[test]
fn what_is_there_is_received_before_a_timeout_of_nothing() {
    let program = TaskProgram::new("timeout", || async {
        let (tx, mut rx) = mpsc::channel(1);
        tx.send(7).await.unwrap();
        assert_eq!(timeout(Duration::ZERO, rx.recv()).await, Ok(Some(7)));
        assert!(timeout(Duration::ZERO, rx.recv()).await.is_err());
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn another_task_steps_before_each_operation_of_a_poll() {
    // Both locks are taken in one poll, and the other task may come before, between and after.
    let program = TaskProgram::new("join", || async {
        let log = Arc::new(Mutex::new(String::new()));
        let other = log.clone();
        let task = spawn(async move { other.lock().await.push('x') });
        let push = async |c| log.lock().await.push(c);
        join(push('a'), push('b')).await;
        task.await.unwrap();
        note(&*log.lock().await);
    });
    assert_eq!(explore(&program).kinds(), ["abx done", "axb done", "xab done"]);
}

#[test]
fn operations_that_were_waited_for_are_done_one_in_a_step() {
    // The task is woken for one of them. Before the other one the sender may step.
    let program = TaskProgram::new("both", || async {
        let (first, one) = oneshot::channel();
        let (second, two) = oneshot::channel();
        let sender = spawn(async move {
            yield_now().await;
            first.send("one").unwrap();
            second.send("two").unwrap();
            yield_now().await;
            note("sender");
        });
        let show = async |rx: oneshot::Receiver<&'static str>| note(rx.await.unwrap());
        join(show(one), show(two)).await;
        sender.await.unwrap();
    });
    let orders = ["one sender two done", "one two sender done", "sender one two done"];
    assert_eq!(explore(&program).kinds(), orders);
}

#[test]
fn notify_waiters_leaves_the_permit_to_others() {
    let program = TaskProgram::new("notify", || async {
        let notify = Notify::new();
        notify.notify_one();
        let enrolled = notify.notified();
        notify.notify_waiters();
        enrolled.await;
        notify.notified().await;
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_oneshot_that_has_said_closed_cannot_be_awaited() {
    let program = TaskProgram::new("oneshot", || async {
        let (tx, mut rx) = oneshot::channel::<u8>();
        drop(tx);
        assert_eq!(rx.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert_eq!(rx.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        let _ = rx.await;
    });
    let explored = explore(&program);
    assert_eq!(
        explored.kinds(),
        ["panic: a oneshot receiver was polled after it had given its value"]
    );
}

#[test]
fn capacity_is_whole_when_the_receiver_is_gone() {
    let program = TaskProgram::new("capacity", || async {
        let (tx, rx) = mpsc::channel(3);
        tx.send(1).await.unwrap();
        tx.send(2).await.unwrap();
        assert_eq!(tx.capacity(), 1);
        drop(rx);
        assert_eq!(tx.capacity(), 3);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
    // Room that was granted to a sender, which then finds the channel closed, is free again.
    let program = TaskProgram::new("granted", || async {
        let (tx, mut rx) = mpsc::channel(1);
        tx.send(1).await.unwrap();
        let second = tx.clone();
        let waiting = spawn(async move { second.send(2).await.is_err() });
        yield_now().await;
        rx.try_recv().unwrap();
        rx.close();
        if waiting.await.unwrap() {
            assert_eq!(tx.capacity(), 1);
        }
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_task_that_aborts_itself_goes_on_until_it_waits() {
    let program = TaskProgram::new("abort", || async {
        let lock = Arc::new(Mutex::new(0));
        let (own, handle) = oneshot::channel::<dally_tasks::AbortHandle>();
        let count = lock.clone();
        let task = spawn(async move {
            handle.await.unwrap().abort();
            let mut count = count.lock().await;
            *count += 1;
            yield_now().await;
            *count += 1;
        });
        own.send(task.abort_handle()).unwrap();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(*lock.lock().await, 1);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
    let program = TaskProgram::new("too late", || async {
        let (own, handle) = oneshot::channel::<dally_tasks::AbortHandle>();
        let task = spawn(async move {
            handle.await.unwrap().abort();
            7
        });
        own.send(task.abort_handle()).unwrap();
        assert_eq!(task.await.unwrap(), 7);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_lock_that_is_being_handed_over_shows_as_locked() {
    let program = TaskProgram::new("debug", || async {
        let lock = Arc::new(Mutex::new(1));
        assert_eq!(format!("{lock:?}"), "Mutex { data: 1 }");
        let held = lock.lock().await;
        assert_eq!(format!("{lock:?}"), "Mutex { data: <locked> }");
        let next = lock.clone();
        let waiter = spawn(async move { drop(next.lock().await) });
        yield_now().await;
        yield_now().await;
        drop(held);
        if !waiter.is_finished() && lock.try_lock().is_err() {
            note(format!("{lock:?}"));
        }
        waiter.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["Mutex { data: <locked> } done", "done"]);
}

#[test]
fn a_panic_after_a_scheduling_point_keeps_its_message_and_its_place() {
    let program = TaskProgram::new("panic", || async {
        let lock = Mutex::new(1);
        assert_eq!(*lock.lock().await, 2, "it is not two");
    });
    let explored = explore(&program);
    assert!(explored.bugs[0].message().starts_with("assertion `left == right` failed: it is not"));
    assert!(explored.bugs[0].location.as_ref().unwrap().file.ends_with("points.rs"));
}

#[test]
fn a_program_may_catch_its_panics_around_a_scheduling_point() {
    let program = TaskProgram::new("caught", || async {
        let caught = catch_unwind(|| {
            let lock = Mutex::new(1);
            drop(lock.lock().now_or_never().expect("it is free"));
            panic!("caught");
        });
        assert!(caught.is_err());
        note("caught");
    });
    assert_eq!(explore(&program).kinds(), ["caught done"]);
}

#[test]
fn a_task_that_stands_before_an_operation_is_dropped_there() {
    // Cut at every depth: the code behind the point does not run, and nothing is left behind.
    let alive = Arc::new(());
    let program = {
        let alive = alive.clone();
        TaskProgram::new("dropped", move || {
            let alive = alive.clone();
            async move {
                let lock = Arc::new(Mutex::new(()));
                for _ in 0..3 {
                    let (lock, alive) = (lock.clone(), alive.clone());
                    spawn(async move {
                        let _alive = alive;
                        loop {
                            tokio::select! {
                                biased;
                                _ = lock.lock() => {}
                                _ = std::future::pending() => unreachable!(),
                            }
                        }
                    });
                }
                std::future::pending::<()>().await;
            }
        })
    };
    for bound in 0..6 {
        assert_eq!(explore_up_to(&program, bound).kinds(), ["cut"]);
        // The program itself and this test have one.
        assert_eq!(Arc::strong_count(&alive), 2, "after {bound} steps");
    }
}

#[test]
fn a_poll_that_never_ends_when_the_execution_is_over_is_left() {
    let program = TaskProgram::new("spins", || async {
        let (_tx, mut rx) = mpsc::channel::<u8>(1);
        let lock = Mutex::new(());
        loop {
            tokio::select! {
                biased;
                _ = lock.lock() => {}
                _ = ready(()) => {}
            }
            let _ = rx.try_recv();
        }
    });
    assert_eq!(explore_up_to(&program, 3).kinds(), ["cut"]);
}

#[test]
fn a_thread_that_is_blocked_on_a_free_lock_is_let_go_when_the_execution_is_over() {
    let program = TaskProgram::new("blocks", || async {
        let lock = Mutex::new(());
        loop {
            let _guard = spin_on(lock.lock());
        }
    });
    assert_eq!(explore_up_to(&program, 3).kinds(), ["cut"]);
}

/// Polls until it is ready.
fn spin_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Some(output) = future.as_mut().now_or_never() {
            return output;
        }
    }
}

#[test]
fn polls_recurse_as_deeply_as_on_a_thread_of_a_search() {
    fn depth(n: u32) -> u32 {
        let buffer = std::hint::black_box([n; 256]);
        if n == 0 { buffer[0] } else { depth(n - 1) + std::hint::black_box(buffer[1]) / n }
    }
    let program = TaskProgram::new("deep", || async {
        let lock = Mutex::new(());
        let _guard = lock.lock().await;
        // Some ten megabytes.
        assert_eq!(depth(8_000), 8_000);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}
