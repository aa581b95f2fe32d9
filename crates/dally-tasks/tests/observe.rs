//! What strategies observe of tasks.

mod driver;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dally_core::{Observe, Program, System};
use dally_tasks::sync::{Mutex, mpsc};
use dally_tasks::time::sleep;
use dally_tasks::{
    TaskProgram, TaskSystem, observe, observe_only_shown, observe_shared, rare, spawn, yield_now,
};
use driver::Quiet;

/// Steps the tasks of these places among the enabled.
fn steps(program: &TaskProgram, places: &[usize]) -> TaskSystem {
    let mut system = program.start().unwrap();
    for &place in places {
        let worker = system.enabled()[place];
        system.step(worker, &mut Quiet).unwrap();
    }
    system
}

#[test]
fn a_task_shows_its_own_value_and_whose_it_is_does_not_matter() {
    let program = TaskProgram::new("values", || async {
        let show = |value: u8| async move {
            observe(&value);
            yield_now().await;
            observe(&(value + 1));
        };
        for _ in 0..2 {
            drop(spawn(show(1)));
        }
        yield_now().await;
    });
    let seen = |places: &[usize]| steps(&program, places).observe(Observe::Custom);
    // The main task spawns; then the first or the second of two equal tasks goes ahead.
    assert_eq!(seen(&[0, 1, 1]), seen(&[0, 2, 2]));
    let all: BTreeSet<Option<u64>> =
        [&[0][..], &[0, 1], &[0, 1, 1], &[0, 1, 2]].into_iter().map(seen).collect();
    assert_eq!(all.len(), 4);
}

#[test]
fn of_what_tasks_share_the_last_value_counts() {
    let program = TaskProgram::new("shared", || async {
        for task in 0..2u8 {
            drop(spawn(async move { observe_shared("last", &task) }));
        }
        yield_now().await;
    });
    let seen = |places: &[usize]| steps(&program, places).observe(Observe::Custom);
    // The first task is over after its step, so the second is then in its place.
    assert_eq!(seen(&[0, 2, 1]), seen(&[0, 1]));
    assert_eq!(seen(&[0, 1, 1]), seen(&[0, 2]));
    assert_ne!(seen(&[0, 1]), seen(&[0, 2]));
}

#[test]
fn who_holds_a_lock_is_observed_by_where_that_task_stands() {
    let program = TaskProgram::new("locks", || async {
        let lock = Arc::new(Mutex::new(()));
        let first = lock.clone();
        drop(spawn(async move {
            let _guard = first.lock().await;
            yield_now().await;
        }));
        drop(spawn(async move {
            yield_now().await;
            let _guard = lock.lock().await;
            yield_now().await;
        }));
        yield_now().await;
    });
    let seen = |places: &[usize], how| steps(&program, places).observe(how);
    // Either task holds the lock, and the other has come to the point before its own.
    let (by_first, by_second) = (&[0, 1, 1, 2, 2][..], &[0, 2, 2, 2, 1][..]);
    assert_eq!(seen(by_first, Observe::Inboxes), seen(by_second, Observe::Inboxes));
    assert_ne!(seen(by_first, Observe::Control), seen(by_second, Observe::Control));
}

#[test]
fn a_timer_that_can_fire_is_observed() {
    let program = |armed: bool| {
        TaskProgram::new("timers", move || async move {
            let mut alarm = Box::pin(sleep(Duration::from_secs(1)));
            std::future::poll_fn(|cx| {
                if armed {
                    let _ = alarm.as_mut().poll(cx);
                }
                std::task::Poll::Ready(())
            })
            .await;
            yield_now().await;
        })
    };
    let [armed, not] = [true, false].map(|armed| steps(&program(armed), &[0]));
    assert_eq!(armed.enabled().len(), not.enabled().len() + 1);
    assert_eq!(armed.observe(Observe::Inboxes), not.observe(Observe::Inboxes));
    assert_ne!(armed.observe(Observe::Control), not.observe(Observe::Control));
}

#[test]
fn what_channels_hold_can_be_left_out_of_what_a_program_shows() {
    let program = |only: bool| {
        TaskProgram::new("channel", move || async move {
            if only {
                observe_only_shown();
            }
            let (tx, mut rx) = mpsc::unbounded_channel();
            observe_shared("taken", &0u8);
            yield_now().await;
            tx.send(7u8).unwrap();
            yield_now().await;
            observe_shared("taken", &rx.recv().await.unwrap());
        })
    };
    let seen = |only: bool| {
        [1, 2, 4].map(|count| steps(&program(only), &vec![0; count]).observe(Observe::Custom))
    };
    let ([before, sent, taken], only) = (seen(false), seen(true));
    assert!(before != sent && sent != taken);
    assert!(only[0] == only[1] && only[1] != only[2]);
}

#[test]
fn a_step_is_rare_if_it_says_so() {
    let program = TaskProgram::new("rare", || async {
        let (tx, _rx) = mpsc::channel(1);
        tx.send("fail").await.unwrap();
        rare();
        yield_now().await;
    });
    let mut system = program.start().unwrap();
    let mut rares = Vec::new();
    while let Some(&worker) = system.enabled().first() {
        system.step(worker, &mut Quiet).unwrap();
        rares.push(system.rare());
    }
    // Up to the point before the send; the send; the rest.
    assert_eq!(rares, [false, true, false]);
    assert!(!program.start().unwrap().rare());
}
