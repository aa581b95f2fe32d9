//! Primitives outside of an execution, or of another one; and what tasks share without Dally.

mod driver;

use std::future::poll_fn;
use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::{Arc, Mutex as Plain};
use std::time::Duration;

use dally_core::BugKind;
use dally_report::About;
use dally_search::{Options, run};
use dally_tasks::sync::{Mutex, Notify, mpsc, oneshot};
use dally_tasks::time::Instant;
use dally_tasks::{TaskProgram, choose, note, spawn, yield_now};
use driver::explore;

fn message(code: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = catch_unwind(code).expect_err("it must panic");
    payload.downcast_ref::<String>().expect("a text").clone()
}

#[test]
fn every_way_in_says_that_it_needs_an_execution() {
    let cases: [(&str, fn()); 9] = [
        ("`spawn`", || drop(spawn(async {}))),
        ("`mpsc::channel`", || drop(mpsc::channel::<u8>(1))),
        ("`mpsc::unbounded_channel`", || drop(mpsc::unbounded_channel::<u8>())),
        ("`oneshot::channel`", || drop(oneshot::channel::<u8>())),
        ("`Mutex::try_lock`", || drop(Mutex::new(0).try_lock())),
        ("`Notify::notify_one`", || Notify::new().notify_one()),
        ("`Instant::now`", || _ = Instant::now()),
        ("`choose`", || _ = choose(2)),
        ("`note`", || note("nobody reads this")),
    ];
    for (what, code) in cases {
        let message = message(code);
        let expected = format!("{what} outside of a Dally execution: ");
        assert!(message.starts_with(&expected), "{message}");
    }
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
