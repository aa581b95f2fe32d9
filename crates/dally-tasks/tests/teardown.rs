//! The end of an execution, complete or half-run: destructors run once, in order, and in peace.

mod driver;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex as Plain};

use dally_core::{BugKind, Program, System};
use dally_tasks::sync::{Mutex, Notify, mpsc, oneshot};
use dally_tasks::time::{Duration, Instant, sleep};
use dally_tasks::{TaskProgram, announce, flip, note, spawn, yield_now};
use driver::{explore, explore_up_to, run_one};

type Log = Arc<Plain<Vec<String>>>;

/// Writes its name when it is dropped.
struct Named(&'static str, Log);

impl Drop for Named {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0.to_owned());
    }
}

/// Does something when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn half_run_tasks_are_dropped_in_the_order_of_their_creation() {
    let log = Log::default();
    let program = {
        let log = log.clone();
        TaskProgram::new("order", move || {
            let log = log.clone();
            async move {
                let _main = Named("main", log.clone());
                for name in ["first", "second", "third"] {
                    let value = Named(name, log.clone());
                    drop(spawn(async move {
                        let _value = value;
                        std::future::pending::<()>().await;
                    }));
                }
                std::future::pending::<()>().await;
            }
        })
    };
    // The third never ran, the second only once: it makes no difference.
    let mut system = program.start().unwrap();
    let mut env = Silent;
    for worker in ["0", "0.0", "0.1"] {
        system.step(worker.parse().unwrap(), &mut env).unwrap();
    }
    system.end().unwrap();
    assert_eq!(log.lock().unwrap().join(" "), "main first second third");
    drop(system);
    assert_eq!(log.lock().unwrap().len(), 4, "nothing is dropped twice");
}

struct Silent;

impl dally_core::Env for Silent {
    fn value(&mut self, _: u32, _: dally_core::Tag) -> Result<u32, dally_core::Cut> {
        Ok(0)
    }

    fn delivery(&mut self, _: &[dally_core::MessageId]) -> Result<usize, dally_core::Cut> {
        Ok(0)
    }

    fn event(&mut self, _: dally_core::Event<dally_core::Text<'_>>) -> Result<(), dally_core::Cut> {
        Ok(())
    }
}

#[test]
fn every_value_of_every_schedule_is_dropped_exactly_once() {
    let (made, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let program = {
        let (made, dropped) = (made.clone(), dropped.clone());
        TaskProgram::new("counted", move || {
            let (made, dropped) = (made.clone(), dropped.clone());
            let value = move || {
                made.fetch_add(1, Relaxed);
                Counted(dropped.clone())
            };
            async move {
                let (tx, mut rx) = mpsc::channel(1);
                let lock = Arc::new(Mutex::new(value()));
                let (sent, locked, result) = (value.clone(), lock.clone(), value.clone());
                let sender = spawn(async move {
                    let _guard = locked.lock().await;
                    let _ = tx.send(sent()).await;
                    let _ = tx.send(sent()).await;
                    result()
                });
                let aborted = spawn(async move {
                    let _value = value();
                    sleep(Duration::from_secs(1)).await;
                    let _guard = lock.lock().await;
                });
                drop(rx.recv().await);
                if flip() {
                    aborted.abort();
                    drop(sender.await);
                }
            }
        })
    };
    // Cut at every depth, so that executions are torn down in every state.
    for bound in 0..12 {
        explore_up_to(&program, bound);
        assert_eq!(made.load(Relaxed), dropped.load(Relaxed), "after {bound} steps");
    }
    assert!(made.load(Relaxed) > 100);
}

#[test]
fn a_system_that_is_dropped_without_its_end_still_runs_the_destructors() {
    let log = Log::default();
    let program = {
        let log = log.clone();
        TaskProgram::new("dropped", move || {
            let value = Named("main", log.clone());
            async move { drop(value) }
        })
    };
    drop(program.start().unwrap());
    assert_eq!(log.lock().unwrap().join(" "), "main");
}

#[test]
fn a_panic_in_a_destructor_is_a_bug_and_the_others_still_run() {
    let log = Log::default();
    let program = {
        let log = log.clone();
        TaskProgram::new("grenade", move || {
            let log = log.clone();
            async move {
                let (before, after) = (Named("before", log.clone()), Named("after", log));
                drop(spawn(async move {
                    let _before = before;
                    let _grenade = OnDrop(|| panic!("cannot close the file"));
                    std::future::pending::<()>().await;
                }));
                drop(spawn(async move {
                    let _after = after;
                    std::future::pending::<()>().await;
                }));
                yield_now().await;
                yield_now().await;
            }
        })
    };
    let (result, _, _) = run_one(&program, &["0", "0.0", "0.1"]);
    let bug = result.unwrap_err();
    assert_eq!(bug.kind(), BugKind::Panic);
    assert_eq!(
        dally_report::text::bug(&bug),
        "cannot close the file\n(in a destructor, while the execution was torn down)"
    );
    assert!(bug.location.unwrap().file.ends_with("teardown.rs"));
    assert_eq!(log.lock().unwrap().join(" "), "before after");
}

#[test]
fn a_panic_in_a_destructor_inside_a_step_is_a_bug_of_that_step() {
    let program = TaskProgram::new("grenade", || async {
        let task = spawn(async {
            let _grenade = OnDrop(|| panic!("cannot close the file"));
            std::future::pending::<()>().await;
        });
        yield_now().await;
        task.abort();
        let _ = task.await;
    });
    let explored = explore(&program);
    // Aborted before its first step the task has made no grenade yet.
    assert_eq!(explored.kinds(), ["done", "panic: cannot close the file"]);
}

#[test]
fn destructors_may_use_every_primitive() {
    let log = Log::default();
    let program = {
        let log = log.clone();
        TaskProgram::new("busy destructor", move || {
            let log = log.clone();
            async move {
                let (tx, mut rx) = mpsc::channel(1);
                let (unbounded, _kept) = mpsc::unbounded_channel();
                let (once, answer) = oneshot::channel();
                let (lock, notify) = (Arc::new(Mutex::new(1)), Arc::new(Notify::new()));
                let held = lock.clone().lock_owned().await;
                let waiter = {
                    let (lock, notify) = (lock.clone(), notify.clone());
                    spawn(async move {
                        notify.notified().await;
                        drop(lock.lock().await);
                    })
                };
                let mut once = Some(once);
                let _busy = OnDrop(move || {
                    let spawned = Named("spawned", log.clone());
                    let handle = spawn(async move { drop(spawned) });
                    handle.abort();
                    log.lock().unwrap().push(format!("finished: {}", handle.is_finished()));
                    let _ = tx.try_send(1);
                    let _ = rx.try_recv();
                    let _ = unbounded.send(2);
                    let _ = once.take().unwrap().send(3);
                    log.lock().unwrap().push(format!("locked: {}", lock.try_lock().is_err()));
                    notify.notify_one();
                    notify.notify_waiters();
                    waiter.abort();
                    let (tx, rx) = mpsc::channel::<u8>(1);
                    drop((tx, rx, Mutex::new(()), sleep(Duration::ZERO), Instant::now()));
                    note(flip());
                    announce(7);
                });
                let _held = held;
                let _ = answer.await;
            }
        })
    };
    let (result, _, status) = run_one(&program, &[]);
    result.unwrap();
    assert!(matches!(status, dally_core::Status::Stuck(_)));
    assert_eq!(log.lock().unwrap().join(", "), "spawned, finished: true, locked: false");
}

#[test]
fn a_handle_that_is_never_dropped_does_no_harm() {
    let program = TaskProgram::new("leak", || async {
        std::mem::forget(spawn(async { 7 }));
        let waiting = spawn(std::future::pending::<()>());
        std::mem::forget(waiting);
        yield_now().await;
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_waker_that_outlives_its_execution_wakes_nobody() {
    let kept: Arc<Plain<Vec<std::task::Waker>>> = Arc::default();
    let program = {
        let kept = kept.clone();
        TaskProgram::new("kept", move || {
            let kept = kept.clone();
            async move {
                for old in kept.lock().unwrap().drain(..) {
                    old.wake();
                }
                std::future::poll_fn(|cx| {
                    kept.lock().unwrap().push(cx.waker().clone());
                    std::task::Poll::<()>::Pending
                })
                .await;
            }
        })
    };
    let mut system = program.start().unwrap();
    for _ in 0..3 {
        program.restart(&mut system).unwrap();
        let main = system.enabled()[0];
        system.step(main, &mut Silent).unwrap();
        assert!(system.enabled().is_empty(), "an old waker woke the main task");
        system.end().unwrap();
    }
}

/// Cuts the step at the first value.
struct NoValues;

impl dally_core::Env for NoValues {
    fn value(&mut self, _: u32, _: dally_core::Tag) -> Result<u32, dally_core::Cut> {
        Err(dally_core::Cut)
    }

    fn delivery(&mut self, _: &[dally_core::MessageId]) -> Result<usize, dally_core::Cut> {
        Ok(0)
    }

    fn event(&mut self, _: dally_core::Event<dally_core::Text<'_>>) -> Result<(), dally_core::Cut> {
        Ok(())
    }
}

#[test]
fn a_destructor_runs_to_its_end_after_a_step_was_cut() {
    let finished = Arc::new(AtomicUsize::new(0));
    let program = {
        let finished = finished.clone();
        TaskProgram::new("cut", move || {
            let finished = finished.clone();
            async move {
                let (tx, _rx) = mpsc::unbounded_channel();
                let _value = OnDrop(move || {
                    tx.send(1).ok();
                    Instant::now();
                    finished.fetch_add(1, Relaxed);
                });
                yield_now().await;
                flip();
            }
        })
    };
    let mut system = program.start().unwrap();
    let main = "0".parse().unwrap();
    system.step(main, &mut NoValues).unwrap();
    assert!(matches!(system.step(main, &mut NoValues), Err(dally_core::Stop::Cut)));
    system.end().unwrap();
    assert_eq!(finished.load(Relaxed), 1);
}
