//! Notifications.

mod driver;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use dally_tasks::sync::Notify;
use dally_tasks::{TaskProgram, note, spawn, yield_now};
use driver::explore;

#[test]
fn notify_one_is_kept_for_the_next_that_waits_and_only_once() {
    let program = TaskProgram::new("permit", || async {
        let notify = Arc::new(Notify::new());
        notify.notify_one();
        notify.notify_one();
        notify.notified().await;
        let second = notify.clone();
        let waiter = spawn(async move { second.notified().await });
        yield_now().await;
        yield_now().await;
        assert!(!waiter.is_finished(), "the permit is one");
        notify.notify_one();
        waiter.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

/// The lost wake-up: the flag is looked at, then the notification comes, then the wait begins.
fn waiting_for_a_flag(careful: bool) -> TaskProgram {
    TaskProgram::new("flag", move || async move {
        let shared = Arc::new((AtomicBool::new(false), Notify::new()));
        let setter = shared.clone();
        spawn(async move {
            setter.0.store(true, Relaxed);
            setter.1.notify_waiters();
        });
        yield_now().await;
        let (flag, notify) = &*shared;
        if careful {
            let notified = notify.notified();
            if !flag.load(Relaxed) {
                notified.await;
            }
        } else if !flag.load(Relaxed) {
            yield_now().await;
            notify.notified().await;
        }
    })
}

#[test]
fn a_lost_wake_up_is_found() {
    assert_eq!(explore(&waiting_for_a_flag(false)).kinds(), ["done", "stuck"]);
}

#[test]
fn a_future_made_before_the_look_is_not_too_late() {
    assert_eq!(explore(&waiting_for_a_flag(true)).kinds(), ["done"]);
}

#[test]
fn a_lost_wake_up_needs_no_await_between_the_look_and_the_wait() {
    // `notified()` is awaited at once, but the notifier can still step before the task waits.
    let program = TaskProgram::new("flag", || async {
        let shared = Arc::new((AtomicBool::new(false), Notify::new()));
        let waiter = shared.clone();
        let waiter = spawn(async move {
            while !waiter.0.load(Relaxed) {
                waiter.1.notified().await;
            }
        });
        let (flag, notify) = &*shared;
        yield_now().await;
        // Wrong order: who looks between the two waits for a notification that has passed.
        notify.notify_waiters();
        yield_now().await;
        flag.store(true, Relaxed);
        waiter.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["done", "stuck"]);
}

#[test]
fn notify_one_wakes_one_and_notify_waiters_wakes_all() {
    let program = TaskProgram::new("one or all", || async {
        let notify = Arc::new(Notify::new());
        let waiters = [0; 2].map(|_| {
            let notify = notify.clone();
            spawn(async move {
                let mut notified = std::pin::pin!(notify.notified());
                notified.as_mut().enable();
                yield_now().await;
                notified.await;
            })
        });
        yield_now().await;
        yield_now().await;
        notify.notify_one();
        yield_now().await;
        let woken = waiters.iter().filter(|waiter| waiter.is_finished()).count();
        assert!(woken <= 1);
        notify.notify_waiters();
        note(woken);
    });
    assert_eq!(explore(&program).kinds(), ["0 done", "1 done"]);
}

#[test]
fn a_notification_that_a_dropped_waiter_got_goes_to_the_next() {
    let program = TaskProgram::new("pass on", || async {
        let notify = Arc::new(Notify::new());
        let mut first = Box::pin(notify.notified());
        let mut second = Box::pin(notify.notified());
        assert!(!first.as_mut().enable() && !second.as_mut().enable());
        notify.notify_one();
        drop(first);
        second.await;
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn enabling_a_notification_that_is_awaited_already_does_not_lose_its_waker() {
    let program = TaskProgram::new("enable", || async {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        drop(spawn(async move { other.notify_one() }));
        let mut notified = std::pin::pin!(notify.notified());
        std::future::poll_fn(|cx| {
            let polled = notified.as_mut().poll(cx);
            if polled.is_pending() && notified.as_mut().enable() {
                return std::task::Poll::Ready(());
            }
            polled
        })
        .await;
    });
    let explored = explore(&program);
    assert_eq!(explored.kinds(), ["done"]);
}
