//! What people read when nothing can step any more.

mod driver;

use std::sync::Arc;

use dally_core::{Bug, Problem, Status};
use dally_tasks::sync::{Mutex, Notify, mpsc, oneshot};
use dally_tasks::{TaskProgram, spawn, task};
use driver::run_one;

fn stuck(program: &TaskProgram) -> String {
    let (result, _, status) = run_one(program, &[]);
    result.unwrap();
    let Status::Stuck(waiting) = status else { panic!("{status:?}") };
    dally_report::text::bug(&Bug::new(Problem::Deadlock { waiting }))
}

#[test]
fn each_task_says_what_it_waits_for_and_where() {
    async fn reader(lock: Arc<Mutex<Vec<u8>>>) {
        lock.lock().await.clear();
    }
    let program = TaskProgram::new("stuck", || async {
        let lock = Arc::new(Mutex::new(Vec::new()));
        let notify = Arc::new(Notify::new());
        let (tx, mut rx) = mpsc::channel::<String>(1);
        let (once, answer) = oneshot::channel::<Result<u8, String>>();
        let _guard = lock.clone().lock_owned().await;
        let _reader = spawn(reader(lock));
        drop(task::Builder::new().name("sender").spawn(async move {
            tx.send(String::new()).await.unwrap();
            tx.send(String::new()).await.unwrap();
            once.send(Ok(1)).unwrap();
        }));
        drop(task::Builder::new().name("asker").spawn(answer));
        let last = task::Builder::new()
            .name("notified")
            .spawn(async move { notify.notified().await })
            .unwrap();
        last.await.unwrap();
        rx.recv().await;
    });
    insta::assert_snapshot!(stuck(&program), @"
    no worker can step, and 5 still wait:
      main (0) waits to join `task 0.3` spawned at crates/dally-tasks/tests/deadlock.rs:39:14
      reader:30 (0.0) waits to lock `mutex 0#0` at crates/dally-tasks/tests/deadlock.rs:22:14
      sender (0.1) waits to send `String` to `channel 0#2` at crates/dally-tasks/tests/deadlock.rs:33:16
      asker (0.2) waits to receive `Result<u8, String>` from `oneshot 0#3` made at crates/dally-tasks/tests/deadlock.rs:28:30
      notified (0.3) waits to be notified by `notify 0#1` at crates/dally-tasks/tests/deadlock.rs:39:40
    ");
}

#[test]
fn a_task_in_a_race_waits_for_either() {
    let program = TaskProgram::new("stuck", || async {
        let (_a, mut left) = mpsc::channel::<u8>(1);
        let (_b, right) = oneshot::channel::<u8>();
        futures_util::future::select(std::pin::pin!(left.recv()), right).await;
    });
    insta::assert_snapshot!(stuck(&program), @"
    no worker can step, and one still waits:
      main (0) waits to receive `u8` from `channel 0#0` at crates/dally-tasks/tests/deadlock.rs:59:58, or receive `u8` from `oneshot 0#1` made at crates/dally-tasks/tests/deadlock.rs:58:27
    ");
}
