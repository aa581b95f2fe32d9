//! Which steps on a channel need no order: random programs that use all that its ends can do, compared with
//! enumeration. Steps that their footprints do not order are exchanged, and every class is executed once.

#[path = "../../dally-search/tests/classes/mod.rs"]
#[expect(dead_code, reason = "tests of captured systems use the rest")]
mod classes;

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use classes::{Tally, compare, compare_rules, seeds, seen};
use dally_tasks::sync::mpsc::{self, error::TrySendError};
use dally_tasks::task::spawn_blocking;
use dally_tasks::{Points, TaskProgram, observe, spawn, yield_now};
use fastrand::Rng;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AtSender {
    Send,
    TrySend,
    /// Takes room, gives way and sends into it.
    Reserve,
    /// Takes room if there is some and gives it back.
    TryReserve,
    /// Waits for room and gives up.
    GiveUp,
    Capacity,
    IsClosed,
    /// One poll of the wait for the receiver to close.
    Closed,
    Count,
    Clone,
    Upgrade,
    Drop,
    Yield,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AtReceiver {
    Receive,
    ReceiveMany,
    TryReceive,
    /// Receives, and says in how many polls.
    Polls,
    /// Receives by one poll.
    ReceiveNow,
    Len,
    IsEmpty,
    Capacity,
    IsClosed,
    Close,
    Drop,
    Yield,
}

/// What the ends of one channel are used for.
#[derive(Clone, Debug)]
struct Script {
    /// `None`: unbounded.
    capacity: Option<usize>,
    senders: Vec<Vec<AtSender>>,
    receiver: Vec<AtReceiver>,
    /// Whether the receiver blocks its thread.
    blocking: bool,
    points: bool,
}

fn script(seed: u64) -> Script {
    use AtReceiver as R;
    use AtSender as S;
    let mut rng = Rng::with_seed(seed);
    let at_sender = |rng: &mut Rng| match rng.u8(..18) {
        0..5 => S::Send,
        5 => S::TrySend,
        6 => S::Reserve,
        7 => S::TryReserve,
        8 => S::GiveUp,
        9 => S::Capacity,
        10 => S::IsClosed,
        11 => S::Closed,
        12 => S::Count,
        13 => S::Clone,
        14 => S::Upgrade,
        15 => S::Drop,
        _ => S::Yield,
    };
    let at_receiver = |rng: &mut Rng| match rng.u8(..18) {
        0..5 => R::Receive,
        5 => R::ReceiveMany,
        6 => R::TryReceive,
        7 => R::Polls,
        8 => R::ReceiveNow,
        9 => R::Len,
        10 => R::IsEmpty,
        11 => R::Capacity,
        12 => R::IsClosed,
        13 => R::Close,
        14 => R::Drop,
        _ => R::Yield,
    };
    let senders = (0..rng.usize(1..=2))
        .map(|_| (0..rng.usize(1..=3)).map(|_| at_sender(&mut rng)).collect())
        .collect();
    let receiver = (0..rng.usize(1..=3)).map(|_| at_receiver(&mut rng)).collect();
    let capacity = rng.bool().then(|| rng.usize(1..=2));
    Script { capacity, senders, receiver, blocking: rng.bool(), points: rng.bool() }
}

/// What somebody has seen, which is part of the state that executions are compared by.
#[derive(Default)]
struct Log(Vec<String>);

impl Log {
    fn add(&mut self, what: impl std::fmt::Debug) {
        self.0.push(format!("{what:?}"));
        observe(&self.0);
    }
}

/// The first poll of a future, which is dropped after it.
async fn now<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        Poll::Ready(match future.as_mut().poll(cx) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

macro_rules! ends {
    ($name:ident, $make:expr, $Sender:ty, $Receiver:ty, $own:path, $capacity:expr) => {
        mod $name {
            use super::*;

            pub async fn main(script: Script) {
                let (sender, receiver) = $make(&script);
                for (number, ops) in script.senders.iter().cloned().enumerate() {
                    let sender: $Sender = sender.clone();
                    spawn(send(number, ops, sender));
                }
                drop(sender);
                let ops = script.receiver.clone();
                if script.blocking {
                    drop(spawn_blocking(move || block(ops, receiver)));
                } else {
                    drop(spawn(receive(ops, receiver)));
                }
                pending::<()>().await;
            }

            async fn send(number: usize, ops: Vec<AtSender>, sender: $Sender) {
                let mut log = Log::default();
                let weak = sender.downgrade();
                let mut sender = Some(sender);
                let mut more = Vec::new();
                for (at, op) in ops.into_iter().enumerate() {
                    let value = number * 10 + at;
                    match (op, &sender) {
                        (AtSender::Yield, _) => yield_now().await,
                        (AtSender::Upgrade, _) => log.add(weak.upgrade().is_some()),
                        (AtSender::Drop, _) => sender = None,
                        (_, None) => {}
                        (AtSender::IsClosed, Some(tx)) => log.add(tx.is_closed()),
                        (AtSender::Closed, Some(tx)) => log.add(now(tx.closed()).await),
                        (AtSender::Count, Some(tx)) => log.add(tx.strong_count()),
                        (AtSender::Clone, Some(tx)) => more.push(tx.clone()),
                        (op, Some(tx)) => $own(op, value, tx, &mut log).await,
                    }
                }
                pending::<()>().await;
                drop(more);
            }

            async fn receive(ops: Vec<AtReceiver>, receiver: $Receiver) {
                let mut log = Log::default();
                let mut receiver = Some(receiver);
                for op in ops {
                    match (op, &mut receiver) {
                        (AtReceiver::Yield, _) => yield_now().await,
                        (AtReceiver::Drop, _) => receiver = None,
                        (_, None) => {}
                        (AtReceiver::Receive, Some(rx)) => log.add(rx.recv().await),
                        (AtReceiver::ReceiveMany, Some(rx)) => {
                            let mut all = Vec::new();
                            rx.recv_many(&mut all, 2).await;
                            log.add(all);
                        }
                        (AtReceiver::Polls, Some(rx)) => {
                            let (mut polls, mut next) = (0, pin!(rx.recv()));
                            let received = poll_fn(|cx| {
                                polls += 1;
                                next.as_mut().poll(cx)
                            });
                            let received = received.await;
                            log.add((received, polls));
                        }
                        (AtReceiver::ReceiveNow, Some(rx)) => log.add(now(rx.recv()).await),
                        (op, Some(rx)) => look(op, rx, &mut log),
                    }
                }
                pending::<()>().await;
            }

            fn block(ops: Vec<AtReceiver>, receiver: $Receiver) {
                let mut log = Log::default();
                let mut receiver = Some(receiver);
                for op in ops {
                    match (op, &mut receiver) {
                        (AtReceiver::Drop, _) => receiver = None,
                        (AtReceiver::Yield, _) | (_, None) => {}
                        (AtReceiver::Receive | AtReceiver::Polls, Some(rx)) => {
                            log.add(rx.blocking_recv());
                        }
                        (AtReceiver::ReceiveMany, Some(rx)) => {
                            let mut all = Vec::new();
                            rx.blocking_recv_many(&mut all, 2);
                            log.add(all);
                        }
                        (op, Some(rx)) => look(op, rx, &mut log),
                    }
                }
            }

            fn look(op: AtReceiver, rx: &mut $Receiver, log: &mut Log) {
                match op {
                    AtReceiver::TryReceive | AtReceiver::ReceiveNow => log.add(rx.try_recv()),
                    AtReceiver::Len => log.add(rx.len()),
                    AtReceiver::IsEmpty => log.add(rx.is_empty()),
                    AtReceiver::IsClosed => log.add(rx.is_closed()),
                    AtReceiver::Close => rx.close(),
                    AtReceiver::Capacity => log.add($capacity(rx)),
                    _ => {}
                }
            }
        }
    };
}

async fn own_of_bounded(op: AtSender, value: usize, tx: &mpsc::Sender<usize>, log: &mut Log) {
    match op {
        AtSender::Send => log.add(tx.send(value).await.is_ok()),
        AtSender::TrySend => log.add(tx.try_send(value).map_err(|error| match error {
            TrySendError::Full(_) => "full",
            TrySendError::Closed(_) => "closed",
        })),
        AtSender::Reserve => {
            if let Ok(permit) = tx.reserve().await {
                yield_now().await;
                permit.send(value);
            }
        }
        AtSender::TryReserve => log.add(tx.try_reserve().is_ok()),
        AtSender::GiveUp => log.add(now(tx.send(value)).await.is_some()),
        AtSender::Capacity => log.add(tx.capacity()),
        _ => {}
    }
}

async fn own_of_unbounded(
    op: AtSender,
    value: usize,
    tx: &mpsc::UnboundedSender<usize>,
    log: &mut Log,
) {
    if matches!(op, AtSender::Send | AtSender::TrySend) {
        log.add(tx.send(value).is_ok());
    }
}

ends!(
    bounded,
    |script: &Script| mpsc::channel(script.capacity.unwrap_or(1)),
    mpsc::Sender<usize>,
    mpsc::Receiver<usize>,
    own_of_bounded,
    |rx: &mpsc::Receiver<usize>| rx.capacity()
);
ends!(
    unbounded,
    |_: &Script| mpsc::unbounded_channel(),
    mpsc::UnboundedSender<usize>,
    mpsc::UnboundedReceiver<usize>,
    own_of_unbounded,
    |_: &mpsc::UnboundedReceiver<usize>| ()
);

fn program(script: Script) -> TaskProgram {
    let points = if script.points { Points::Operations } else { Points::default() };
    let program = TaskProgram::new("channel", move || {
        let script = script.clone();
        async move {
            match script.capacity {
                Some(_) => bounded::main(script).await,
                None => unbounded::main(script).await,
            }
        }
    });
    program.points(points)
}

#[test]
fn all_that_ends_of_channels_do_is_executed_once_for_each_class() {
    let mut tally = Tally::default();
    for seed in seeds(500) {
        let script = script(seed);
        let what = || format!("{seed}: {script:?}");
        compare(program(script.clone()), seen, 600, &mut tally, &what);
    }
    classes::enough(&tally, 300, 1_500);
}

#[test]
fn other_rules_miss_no_class_of_channels_within_their_bounds() {
    let mut tally = Tally::default();
    for seed in seeds(60) {
        let script = script(seed);
        let what = || format!("{seed}: {script:?}");
        compare_rules(program(script.clone()), seen, 200, &mut tally, &what);
    }
    classes::enough(&tally, 25, 80);
}

/// The classes of senders that send so many values each to one receiver, which awaits them or blocks.
fn senders(tasks: usize, values: usize, blocking: bool) -> u64 {
    let program = TaskProgram::new("senders", move || async move {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for task in 0..tasks {
            let sender = sender.clone();
            spawn(async move {
                for value in 0..values {
                    sender.send((task, value)).unwrap();
                    yield_now().await;
                }
                pending::<()>().await;
            });
        }
        drop(sender);
        let all = tasks * values;
        if blocking {
            drop(spawn_blocking(move || {
                for _ in 0..all {
                    let _ = receiver.blocking_recv();
                }
            }));
        } else {
            drop(spawn(async move {
                for _ in 0..all {
                    receiver.recv().await;
                }
            }));
        }
        pending::<()>().await;
    });
    let (report, _) = classes::reduce(Arc::new(program));
    assert_eq!(report.redundant, 0);
    report.schedules
}

/// An awaited receipt that has to wait is another class than one that has not, since what awaits it can do
/// something else meanwhile; a blocked thread cannot.
#[test]
fn a_blocking_receiver_has_as_many_classes_as_there_are_orders_of_values() {
    assert_eq!([(2, 1), (2, 2), (3, 1)].map(|(n, k)| senders(n, k, true)), [2, 6, 6]);
    assert_eq!([(3, 2), (3, 3)].map(|(n, k)| senders(n, k, true)), [90, 1_680]);
    assert_eq!(
        [(2, 1), (2, 2), (3, 1)].map(|(n, k)| senders(n, k, false)),
        [2 << 2, 6 << 4, 6 << 3]
    );
}

/// Why: how often a future was polled, which it may count, and which of two futures was ready.
#[test]
fn whether_an_awaited_receipt_waits_can_be_seen() {
    let (senders, receiver) = (vec![vec![AtSender::Send]], Vec::new());
    let mut script = Script { capacity: None, senders, receiver, blocking: false, points: false };
    for op in [AtReceiver::Polls, AtReceiver::ReceiveNow] {
        script.receiver = vec![op];
        let mut tally = Tally::default();
        compare(program(script.clone()), seen, 100, &mut tally, &String::new);
        assert_eq!((tally.classes, tally.ends), (2, 2), "{op:?}");
    }
}
