//! How time moves, and where steps end, as the program says.

mod driver;

use std::sync::Arc;
use std::time::Duration;

use dally_core::Program;
use dally_tasks::sync::{Mutex, Notify, mpsc, watch};
use dally_tasks::time::{self, Instant, MissedTickBehavior, interval, sleep, timeout};
use dally_tasks::{Clock, Points, TaskProgram, note, spawn, yield_now};
use driver::explore;

const MS: Duration = Duration::from_millis(1);

/// Two sleeps and somebody who is slow.
fn sleepers() -> TaskProgram {
    TaskProgram::new("sleepers", || async {
        let tasks = [("late", 20), ("soon", 10)].map(|(name, after)| {
            spawn(async move {
                sleep(after * MS).await;
                note(name);
            })
        });
        let slow = spawn(async {
            yield_now().await;
            yield_now().await;
            note("slow");
        });
        for task in tasks {
            task.await.unwrap();
        }
        slow.await.unwrap();
    })
}

#[test]
fn any_timer_may_fire_first_and_by_deadline_only_the_earliest_and_when_idle_nobody_is_slow() {
    let orders = |clock| explore(&sleepers().clock(clock)).outcomes.into_keys().collect::<Vec<_>>();
    let any = orders(Clock::Any);
    let ordered = orders(Clock::Ordered);
    let idle = orders(Clock::Idle);
    assert_eq!(any.len(), 6, "{any:?}");
    // The timers fire in their order; the tasks that they wake may be overtaken.
    assert!(ordered.contains(&"soon late slow done".to_owned()), "{ordered:?}");
    assert!(ordered.iter().all(|order| any.contains(order)));
    assert_eq!(idle, ["slow soon late done"]);
}

#[test]
fn schedules_that_no_clock_could_show_are_left_out() {
    let program = |clock| {
        let program = TaskProgram::new("timeout", || async {
            // A server that answers within its time, asked by one with more patience.
            let (tx, rx) = dally_tasks::sync::oneshot::channel();
            spawn(async move {
                sleep(MS).await;
                tx.send(()).ok();
            });
            note(if timeout(3600 * 1000 * MS, rx).await.is_ok() { "answered" } else { "gave up" });
        });
        explore(&program.clock(clock)).outcomes.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(program(Clock::Any), ["answered done", "gave up done"]);
    // The hour may pass between the timer and the answer: everybody may be slow.
    assert_eq!(program(Clock::Ordered), ["answered done", "gave up done"]);
    assert_eq!(program(Clock::Idle), ["answered done"]);
}

#[test]
fn a_stopped_clock_moves_by_hand_and_when_nobody_can_step() {
    let program = TaskProgram::new("paused", || async {
        time::pause();
        let start = Instant::now();
        let sleeper = spawn(async { sleep(10 * MS).await });
        yield_now().await;
        time::advance(4 * MS).await;
        assert_eq!(start.elapsed(), 4 * MS);
        sleep(100 * MS).await;
        assert!(sleeper.is_finished());
        assert_eq!(start.elapsed(), 104 * MS);
        time::resume();
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn an_interval_that_was_missed_catches_up_or_waits_or_skips() {
    let ticks = |behaviour| {
        let program = TaskProgram::new("ticks", move || async move {
            time::pause();
            let start = Instant::now();
            let mut ticks = interval(10 * MS);
            ticks.set_missed_tick_behavior(behaviour);
            let mut due = Vec::new();
            for turn in 0..4 {
                due.push((ticks.tick().await - start).as_millis().to_string());
                if turn == 0 {
                    time::advance(25 * MS).await;
                }
            }
            note(due.join(","));
        });
        explore(&program).outcomes.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(ticks(MissedTickBehavior::Burst), ["0,10,20,30 done"]);
    assert_eq!(ticks(MissedTickBehavior::Delay), ["0,10,35,45 done"]);
    assert_eq!(ticks(MissedTickBehavior::Skip), ["0,10,30,40 done"]);
}

#[test]
fn moments_are_the_same_by_the_standard_clock() {
    let program = TaskProgram::new("std", || async {
        let start = Instant::now();
        sleep(5 * MS).await;
        let now = Instant::now();
        assert_eq!(now.into_std() - start.into_std(), 5 * MS);
        assert_eq!(Instant::from_std(now.into_std()), now);
        assert_eq!((start - 3600 * 1000 * MS) + 3600 * 1000 * MS, start);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

/// The outcomes where steps end at awaits, and where they also end before other operations.
fn outcomes<F>(main: fn() -> F) -> [Vec<String>; 2]
where
    F: Future<Output = ()> + 'static,
{
    [Points::Awaits, Points::Operations].map(|points| {
        let program = TaskProgram::new("points", main).points(points);
        explore(&program).outcomes.into_keys().collect()
    })
}

#[test]
fn another_thread_can_cut_in_between_two_sends() {
    let [awaits, operations] = outcomes(|| async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let other = tx.clone();
        let other = spawn(async move { other.send('x').unwrap() });
        tx.send('a').unwrap();
        tx.send('b').unwrap();
        drop(tx);
        other.await.unwrap();
        let mut all = String::new();
        while let Some(one) = rx.recv().await {
            all.push(one);
        }
        note(all);
    });
    assert_eq!(awaits, ["abx done"]);
    assert_eq!(operations, ["abx done", "axb done", "xab done"]);
}

#[test]
fn another_thread_can_cut_in_before_a_guard_is_dropped_and_between_a_look_and_a_change() {
    let [awaits, operations] = outcomes(|| async {
        let lock = Arc::new(Mutex::new(0));
        let other = lock.clone();
        let other = spawn(async move { other.try_lock().is_ok() });
        let held = lock.try_lock();
        note(if held.is_ok() { "held" } else { "not held" });
        drop(held);
        note(if other.await.unwrap() { "other too" } else { "other not" });
    });
    assert_eq!(awaits, ["held other too done"]);
    assert_eq!(
        operations,
        ["held other not done", "held other too done", "not held other too done"]
    );

    let [awaits, operations] = outcomes(|| async {
        let (tx, mut rx) = watch::channel(0);
        let other = tx.clone();
        let other = spawn(async move { other.send_replace(2) });
        let seen = *tx.borrow();
        tx.send_replace(seen + 1);
        other.await.unwrap();
        note(*rx.borrow_and_update());
    });
    assert_eq!(awaits, ["2 done"]);
    assert_eq!(operations, ["1 done", "2 done", "3 done"]);
}

#[test]
fn a_notification_can_come_before_the_next_line() {
    let [awaits, operations] = outcomes(|| async {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        let other = spawn(async move {
            other.notified().await;
            note("woken");
        });
        notify.notify_one();
        drop(std::mem::take(&mut Some(mpsc::unbounded_channel::<()>())));
        note("goes on");
        other.await.unwrap();
    });
    assert_eq!(awaits, ["goes on woken done"]);
    assert_eq!(operations, ["goes on woken done", "woken goes on done"]);
}

#[test]
fn the_report_says_where_steps_end_and_how_time_moves() {
    let program = sleepers().clock(Clock::Ordered).points(Points::Operations);
    assert_eq!(program.granularity(), "operations, timers by deadline");
    assert_eq!(sleepers().granularity(), "await points");
    assert_eq!(sleepers().clock(Clock::Idle).granularity(), "await points, time moves when idle");
}
