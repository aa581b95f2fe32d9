//! Channels for one value.

mod driver;

use dally_tasks::sync::oneshot::{self, error::TryRecvError};
use dally_tasks::{TaskProgram, note, spawn, yield_now};
use driver::explore;

#[test]
fn the_value_arrives_whoever_comes_first() {
    let program = TaskProgram::new("send", || async {
        let (tx, rx) = oneshot::channel();
        spawn(async move { tx.send(7).unwrap() });
        yield_now().await;
        assert_eq!(rx.await, Ok(7));
    });
    let explored = explore(&program);
    assert_eq!(explored.kinds(), ["done"]);
    // Main's second step before or after the sender's one; after it, a point before receiving.
    assert_eq!(explored.schedules, 2);
}

#[test]
fn a_sender_dropped_without_sending_closes() {
    let program = TaskProgram::new("drop", || async {
        let (tx, rx) = oneshot::channel::<u8>();
        spawn(async move { drop(tx) });
        assert_eq!(rx.await.unwrap_err().to_string(), "channel closed");
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn sending_to_a_dropped_receiver_gives_the_value_back() {
    let program = TaskProgram::new("gone", || async {
        let (mut tx, rx) = oneshot::channel();
        let watcher = spawn(async move {
            tx.closed().await;
            assert!(tx.is_closed());
            tx.send(7)
        });
        yield_now().await;
        drop(rx);
        assert_eq!(watcher.await.unwrap(), Err(7));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_try_sees_empty_then_the_value_then_closed() {
    let program = TaskProgram::new("try", || async {
        let (tx, mut rx) = oneshot::channel();
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        tx.send(1).unwrap();
        assert_eq!(rx.try_recv(), Ok(1));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn closing_races_with_sending() {
    let program = TaskProgram::new("close", || async {
        let (tx, mut rx) = oneshot::channel();
        let sender = spawn(async move { tx.send(1) });
        yield_now().await;
        rx.close();
        // What was sent before the close can still be received.
        match (sender.await.unwrap(), rx.try_recv()) {
            (Ok(()), Ok(1)) => note("sent"),
            (Err(1), Err(TryRecvError::Closed)) => note("refused"),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(explore(&program).kinds(), ["refused done", "sent done"]);
}
