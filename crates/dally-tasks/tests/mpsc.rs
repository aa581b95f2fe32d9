//! Channels from many senders to one receiver.

mod driver;

use dally_tasks::sync::mpsc::{self, error::TryRecvError, error::TrySendError};
use dally_tasks::{TaskProgram, note, spawn, yield_now};
use driver::explore;

#[test]
fn messages_of_one_sender_keep_their_order_and_those_of_two_mix() {
    let program = TaskProgram::new("order", || async {
        let (tx, mut rx) = mpsc::channel(4);
        for name in ["a", "b"] {
            let tx = tx.clone();
            spawn(async move {
                for n in 0..2 {
                    tx.send(format!("{name}{n}")).await.unwrap();
                }
            });
        }
        drop(tx);
        let mut got = Vec::new();
        while let Some(message) = rx.recv().await {
            got.push(message);
        }
        note(got.join(""));
    });
    let explored = explore(&program);
    assert_eq!(
        explored.kinds(),
        [
            "a0a1b0b1 done",
            "a0b0a1b1 done",
            "a0b0b1a1 done",
            "b0a0a1b1 done",
            "b0a0b1a1 done",
            "b0b1a0a1 done"
        ]
    );
    assert_eq!(explored.schedules, 328);
}

#[test]
fn a_full_channel_makes_the_sender_wait_and_fails_a_try() {
    let program = TaskProgram::new("capacity", || async {
        let (tx, mut rx) = mpsc::channel(1);
        tx.send(1).await.unwrap();
        assert_eq!((tx.capacity(), tx.max_capacity()), (0, 1));
        assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
        let sender = spawn(async move { tx.send(2).await.unwrap() });
        yield_now().await;
        assert!(!sender.is_finished());
        assert_eq!(rx.len(), 1);
        assert_eq!(rx.recv().await, Some(1));
        assert_eq!(rx.recv().await, Some(2));
        assert_eq!(rx.recv().await, None);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn senders_that_wait_are_served_first_come_first_served() {
    let program = TaskProgram::new("fair", || async {
        let (tx, mut rx) = mpsc::channel(1);
        tx.send(0).await.unwrap();
        for n in [1, 2] {
            let tx = tx.clone();
            spawn(async move {
                // The place in the queue is taken when the send is reached.
                yield_now().await;
                note(n);
                tx.send(n).await.unwrap();
            });
        }
        drop(tx);
        let mut got = Vec::new();
        while let Some(n) = rx.recv().await {
            got.push(n.to_string());
        }
        note(got.join("-"));
    });
    let explored = explore(&program);
    for outcome in ["1 2 0-1-2 done", "2 1 0-2-1 done", "1 2 0-2-1 done", "2 1 0-1-2 done"] {
        // There is a point before each send, so noting first is not yet queueing first.
        assert!(explored.outcomes.contains_key(outcome), "{outcome} in {:?}", explored.kinds());
    }
    assert_eq!(explored.outcomes.len(), 4);
}

#[test]
fn receiving_ends_when_the_last_sender_is_dropped_and_not_before() {
    let program = TaskProgram::new("end", || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let second = tx.clone();
        spawn(async move {
            tx.send(1).unwrap();
        });
        spawn(async move {
            yield_now().await;
            second.send(2).unwrap();
        });
        let mut sum = 0;
        while let Some(n) = rx.recv().await {
            sum += n;
        }
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(sum, 3);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn sending_to_a_dropped_receiver_gives_the_value_back() {
    let program = TaskProgram::new("gone", || async {
        let (tx, rx) = mpsc::channel(1);
        tx.send(1).await.unwrap();
        // Waiting for room, or not yet: either way it fails.
        let waits = {
            let tx = tx.clone();
            spawn(async move { tx.send(2).await })
        };
        yield_now().await;
        drop(rx);
        assert_eq!(waits.await.unwrap(), Err(mpsc::error::SendError(2)));
        assert_eq!(tx.try_send(3), Err(TrySendError::Closed(3)));
        assert!(tx.is_closed());
        tx.closed().await;
        let (unbounded, rx) = mpsc::unbounded_channel();
        drop(rx);
        assert_eq!(unbounded.send(4), Err(mpsc::error::SendError(4)));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_closed_channel_is_emptied_first() {
    let program = TaskProgram::new("close", || async {
        let (tx, mut rx) = mpsc::channel(2);
        tx.send(1).await.unwrap();
        rx.close();
        assert!(tx.send(2).await.is_err());
        assert_eq!(rx.try_recv(), Ok(1));
        assert_eq!(rx.recv().await, None);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn an_empty_channel_with_senders_is_empty_and_not_disconnected() {
    let program = TaskProgram::new("empty", || async {
        let (tx, mut rx) = mpsc::channel::<u8>(1);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        let weak = tx.downgrade();
        assert!(weak.upgrade().is_some());
        drop(tx);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        assert!(weak.upgrade().is_none());
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_send_that_is_given_up_passes_its_room_on() {
    let program = TaskProgram::new("give up", || async {
        let (tx, mut rx) = mpsc::channel(1);
        tx.send(0).await.unwrap();
        let first = {
            let tx = tx.clone();
            spawn(async move { tx.send(1).await.unwrap() })
        };
        let second = {
            let tx = tx.clone();
            spawn(async move { tx.send(2).await.unwrap() })
        };
        drop(tx);
        yield_now().await;
        assert_eq!(rx.recv().await, Some(0));
        // The first may have been promised the room, and may have used it.
        first.abort();
        let mut rest = Vec::new();
        while let Some(n) = rx.recv().await {
            rest.push(n);
        }
        second.await.unwrap();
        assert!(rest.contains(&2), "{rest:?}");
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn many_are_received_at_once_up_to_the_limit() {
    let program = TaskProgram::new("many", || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        for n in 0..5 {
            tx.send(n).unwrap();
        }
        drop(tx);
        let mut got = Vec::new();
        assert_eq!(rx.recv_many(&mut got, 3).await, 3);
        assert_eq!(rx.recv_many(&mut got, 3).await, 2);
        assert_eq!(rx.recv_many(&mut got, 3).await, 0);
        assert_eq!(got, [0, 1, 2, 3, 4]);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}
