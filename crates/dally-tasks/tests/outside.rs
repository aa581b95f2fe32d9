//! Primitives outside of an execution, or of another one.

mod driver;

use std::panic::catch_unwind;
use std::sync::Mutex as Plain;

use dally_tasks::sync::{Mutex, Notify, mpsc, oneshot};
use dally_tasks::time::Instant;
use dally_tasks::{TaskProgram, choose, note, spawn};
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
        ("`Mutex::new`", || drop(Mutex::new(0))),
        ("`Notify::new`", || drop(Notify::new())),
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
