//! Primitives outside of an execution, or of another one; and what tasks share without Dally.

mod driver;

use std::future::{Future, poll_fn};
use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as Plain};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use dally_core::{BugKind, ForeignKind, Program};
use dally_report::About;
use dally_search::{Options, run};
use dally_tasks::sync::{Mutex, Notify, Semaphore, mpsc, oneshot};
use dally_tasks::time::{self, Instant, sleep};
use dally_tasks::{TaskProgram, choose, note, run_once, spawn, yield_now};
use driver::explore;

fn message(code: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = catch_unwind(code).expect_err("it must panic");
    payload.downcast_ref::<String>().expect("a text").clone()
}

#[test]
fn what_needs_an_execution_says_so() {
    let cases: [(&str, fn()); 5] = [
        ("`spawn`", || drop(spawn(async {}))),
        ("a timer", || drop(sleep(Duration::from_secs(1)))),
        ("`time::pause`", time::pause),
        ("`choose`", || _ = choose(2)),
        ("`note`", || note("nobody reads this")),
    ];
    for (what, code) in cases {
        let message = message(code);
        let expected = format!("{what} outside of a Dally execution: ");
        assert!(message.starts_with(&expected), "{message}");
    }
}

/// Counts how often it is called.
#[derive(Default)]
struct Calls(AtomicUsize);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn primitives_work_outside_as_tokio_s_do() {
    let calls = Arc::new(Calls::default());
    let waker = Waker::from(Arc::clone(&calls));
    let cx = &mut Context::from_waker(&waker);

    let (tx, mut rx) = mpsc::channel(1);
    assert!(pin!(rx.recv()).poll(cx).is_pending());
    tx.try_send(1).unwrap();
    assert_eq!(calls.0.load(Ordering::Relaxed), 1);
    assert!(tx.try_send(2).is_err());
    assert_eq!(rx.try_recv(), Ok(1));

    let (tx, mut rx) = oneshot::channel();
    assert!(pin!(&mut rx).poll(cx).is_pending());
    tx.send("hello").unwrap();
    assert_eq!(calls.0.load(Ordering::Relaxed), 2);
    assert_eq!(pin!(rx).poll(cx), Poll::Ready(Ok("hello")));

    let (lock, permits) = (Mutex::new(0), Semaphore::new(1));
    let held = lock.try_lock().unwrap();
    assert!(lock.try_lock().is_err());
    let mut waits = pin!(lock.lock());
    assert!(waits.as_mut().poll(cx).is_pending());
    drop(held);
    assert_eq!(calls.0.load(Ordering::Relaxed), 3);
    assert!(waits.poll(cx).is_ready());
    permits.try_acquire().unwrap().forget();
    assert!(permits.try_acquire().is_err());

    let notify = Notify::new();
    notify.notify_one();
    assert!(pin!(notify.notified()).poll(cx).is_ready());
    assert!(Instant::now() <= Instant::now());
}

#[test]
fn threads_of_the_program_s_own_block_outside() {
    let (tx, mut rx) = mpsc::channel(1);
    let sender = thread::spawn(move || (0..100).for_each(|n| tx.blocking_send(n).unwrap()));
    let mut sum = 0;
    while let Some(n) = rx.blocking_recv() {
        sum += n;
    }
    sender.join().unwrap();
    assert_eq!(sum, 4_950);
}

#[test]
fn what_was_made_outside_is_refused_where_it_would_leak_and_taken_where_all_is_run_once() {
    let (tx, rx) = mpsc::unbounded_channel();
    let leak = TaskProgram::new("made outside", move || {
        let tx = tx.clone();
        async move { tx.send(1).unwrap() }
    });
    let refused = explore(&leak);
    let text = dally_report::text::bug(&refused.bugs[0]);
    assert!(text.contains("belongs to another execution"), "{text}");
    drop(rx);

    let (tx, mut rx) = mpsc::channel(1);
    let received = run_once(async {
        let sender = spawn(async move { tx.send(7).await.unwrap() });
        let received = rx.recv().await;
        sender.await.unwrap();
        received
    });
    assert_eq!(received.unwrap(), Some(7));
    assert!(rx.try_recv().is_err(), "it can be used afterwards");
}

#[test]
fn an_object_of_another_execution_is_refused() {
    static LEAKED: Plain<Option<mpsc::UnboundedSender<u8>>> = Plain::new(None);
    let program = TaskProgram::new("leak", || async {
        let (tx, rx) = mpsc::unbounded_channel();
        let tx = LEAKED.lock().unwrap().get_or_insert(tx).clone();
        let _ = tx.send(1);
        drop(rx);
    });
    // The driver starts the program once before it counts: nothing ran then.
    let first = explore(&program);
    assert_eq!(first.kinds(), ["done"]);
    let second = explore(&program);
    assert!(
        dally_report::text::bug(&second.bugs[0])
            .starts_with("`channel 0#0` belongs to another execution"),
        "{second:?}"
    );
    assert!(second.bugs[0].location.as_ref().unwrap().file.ends_with("outside.rs"));
    std::mem::forget(LEAKED.lock().unwrap().take());
}

#[test]
fn a_std_lock_that_a_suspended_task_holds_is_named_where_another_task_waits_for_it() {
    let program = TaskProgram::new("plain lock", || async {
        let (plain, lock) = (Arc::new(Plain::new(())), Arc::new(Mutex::new(())));
        let other = plain.clone();
        let holder = spawn(async move {
            let mut locked = pin!(lock.lock());
            let _guard = poll_fn(|cx| {
                let _held = plain.lock().unwrap();
                locked.as_mut().poll(cx)
            })
            .await;
        });
        yield_now().await;
        drop(other.lock().unwrap());
        holder.await.unwrap();
    });
    let step_time = Duration::from_millis(100);
    let options = Options { schedules: 100, step_time, ..Options::default() };
    let report = run(Arc::new(program), options, Arc::new(()));
    let finding = &report.findings[0];
    assert_eq!(finding.bug.kind(), BugKind::EndlessStep);
    let text = dally_report::text::finding(finding, &report, &About::default());
    assert!(text.contains("locking a `std::sync::Mutex` that a task holds"), "{text}");
}

/// A flag that wakes whoever waits for it, and that Dally knows nothing of.
#[derive(Default)]
struct Flag(Plain<(bool, Option<Waker>)>);

impl Flag {
    fn raise(&self) {
        let waker = {
            let mut state = self.0.lock().unwrap();
            state.0 = true;
            state.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn raised(&self) {
        poll_fn(|cx| {
            let mut state = self.0.lock().unwrap();
            state.1 = Some(cx.waker().clone());
            if state.0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// Who used what is not under control in this way.
fn user_of(program: &TaskProgram, kind: ForeignKind) -> String {
    let uses = program.foreign().unwrap().uses;
    uses.into_iter().find(|used| used.kind == kind).unwrap().by
}

#[test]
fn waits_for_what_is_not_under_control_are_told() {
    let foreign_only = TaskProgram::new("foreign only", || async {
        let flag = Arc::new(Flag::default());
        let other = Arc::clone(&flag);
        spawn(async move { other.raise() });
        flag.raised().await;
    });
    let too = TaskProgram::new("foreign too", || async {
        let flag = Arc::new(Flag::default());
        let other = Arc::clone(&flag);
        let waits = spawn(async move { other.raised().await });
        yield_now().await;
        drop(Mutex::new(()).lock().await);
        flag.raise();
        waits.await.unwrap();
    });
    let under_control = TaskProgram::new("own", || async { drop(Mutex::new(()).lock().await) });
    for (program, only) in
        [(&foreign_only, Some(true)), (&too, Some(false)), (&under_control, None)]
    {
        assert_eq!(explore(program).kinds(), ["done"]);
        assert_eq!(program.foreign().map(|foreign| foreign.only), only, "{}", program.name());
    }
    assert_eq!(user_of(&foreign_only, ForeignKind::Futures), "`main`");
    let worker = user_of(&too, ForeignKind::Futures);
    assert!(worker.contains(", spawned at crates/dally-tasks/tests/outside.rs:"), "{worker}");
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#[test]
fn a_thread_that_wakes_nobody_is_told() {
    let program = TaskProgram::new("thread", || async {
        let task = spawn(async {
            thread::spawn(|| ()).join().unwrap();
        });
        task.await.unwrap();
    });
    assert_eq!(program.foreign(), None);
    assert_eq!(explore(&program).kinds(), ["done"]);
    assert!(!program.foreign().unwrap().only);
    let worker = user_of(&program, ForeignKind::Threads);
    assert!(worker.contains(", spawned at crates/dally-tasks/tests/outside.rs:"), "{worker}");
}
