//! Random small task programs that share only through Dally, given as data.
//!
//! They are there to compare searches: each that claims to be exhaustive must see the same set
//! of [`Outcomes`]. A test file takes them with `#[path = ".../programs/mod.rs"] mod programs;`.
#![allow(dead_code)] // each test file uses a part

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use dally_search::{Ended, Options, StrategyKind};
use dally_tasks::sync::{self, Notify, mpsc, oneshot};
use dally_tasks::time::{self, Duration, Instant};
use dally_tasks::{AbortHandle, TaskProgram, choose, spawn, yield_now};
use futures_util::stream::{FuturesUnordered, StreamExt};

/// What one task does, step after step. What it sees it logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Locks the counter of this number, reads and changes it.
    Count(usize),
    /// The same with an await under the lock.
    CountSlowly(usize),
    /// Changes the counter if it is free.
    TryCount(usize),
    /// Sends to this task, waiting for room.
    Send(usize),
    /// Sends to this task if there is room.
    TrySend(usize),
    /// Receives from its own channel.
    Receive,
    /// Receives from its own channel what is there.
    TryReceive,
    /// Receives from its own channel, if that takes no time.
    ReceiveInTime,
    /// Sends into the oneshot channel of the next task.
    Answer,
    /// Waits for its own oneshot channel, or finds it closed.
    Ask,
    NotifyOne,
    NotifyAll,
    Notified,
    /// Waits for its channel and the notification, whichever comes first.
    Either,
    /// Waits for its channel, its oneshot channel and the notification, with a combinator that
    /// has wakers of its own.
    Unordered,
    Yield,
    Choose,
    Sleep,
    /// Looks at the clock.
    Now,
    /// Aborts this task.
    Abort(usize),
    /// Looks whether this task is over.
    IsOver(usize),
    /// Looks how many senders its channel has.
    Senders,
}

/// A program: the ops of each task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    pub tasks: Vec<Vec<Op>>,
}

const COUNTERS: usize = 2;

/// The program of this seed: two or three tasks with up to `longest` ops each.
pub fn generate(seed: u64, longest: usize) -> Generated {
    let mut random = fastrand::Rng::with_seed(seed);
    let count = random.usize(2..=3);
    let op = |random: &mut fastrand::Rng| {
        let other = random.usize(0..count);
        let counter = random.usize(0..COUNTERS);
        match random.u8(0..28) {
            0..3 => Op::Count(counter),
            3 => Op::CountSlowly(counter),
            4 => Op::TryCount(counter),
            5..8 => Op::Send(other),
            8 => Op::TrySend(other),
            9..12 => Op::Receive,
            12 => Op::TryReceive,
            13 => Op::ReceiveInTime,
            14 => Op::Answer,
            15 => Op::Ask,
            16 => Op::NotifyOne,
            17 => Op::NotifyAll,
            18 => Op::Notified,
            19 => Op::Either,
            20 => Op::Unordered,
            21 => Op::Yield,
            22 => Op::Choose,
            23 => Op::Sleep,
            24 => Op::Now,
            25 => Op::Abort(other),
            26 => Op::IsOver(other),
            _ => Op::Senders,
        }
    };
    let tasks = (0..count)
        .map(|_| {
            let length = random.usize(1..=longest);
            (0..length).map(|_| op(&mut random)).collect()
        })
        .collect();
    Generated { tasks }
}

/// What was seen in all the executions of a program: after each thing that a task logs, the logs
/// of all tasks so far, and `end` behind them when the main task is over. Such a line is a
/// function of the state of the program, so whoever visits all states sees all lines.
#[derive(Clone, Debug, Default)]
pub struct Outcomes(Arc<Mutex<BTreeSet<String>>>);

impl Outcomes {
    /// All of them so far.
    pub fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Something that was seen.
    pub fn add(&self, outcome: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(outcome);
    }
}

/// What the tasks of one execution have seen. It is written by them and read by nobody but the
/// test, so that it is no way to share.
#[derive(Clone)]
struct Logs {
    lines: Arc<Mutex<Vec<String>>>,
    outcomes: Outcomes,
}

impl Logs {
    fn new(tasks: usize, outcomes: &Outcomes) -> Logs {
        Logs { lines: Arc::new(Mutex::new(vec![String::new(); tasks])), outcomes: outcomes.clone() }
    }

    fn add(&self, task: usize, what: &str) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines[task] += what;
        lines[task] += " ";
        self.outcomes.add(lines.join("| "));
    }
}

impl Generated {
    /// The program, which adds what it sees to `outcomes`.
    pub fn program(&self, outcomes: &Outcomes) -> TaskProgram {
        let (tasks, outcomes) = (self.tasks.clone(), outcomes.clone());
        TaskProgram::new("random", move || main(tasks.clone(), outcomes.clone()))
    }
}

/// What a task has to do its ops with.
struct Means {
    me: usize,
    logs: Logs,
    counters: Arc<[sync::Mutex<u64>]>,
    /// To each task; its own sender is left out, so that its channel closes some time.
    senders: Vec<Option<mpsc::Sender<usize>>>,
    receiver: mpsc::Receiver<usize>,
    answer: Option<oneshot::Sender<usize>>,
    ask: Option<oneshot::Receiver<usize>>,
    notify: Arc<Notify>,
    /// All tasks: filled before any of them steps, and not changed after that.
    handles: Arc<Mutex<Vec<AbortHandle>>>,
}

async fn main(tasks: Vec<Vec<Op>>, outcomes: Outcomes) {
    let count = tasks.len();
    let logs = Logs::new(count + 1, &outcomes);
    let counters: Arc<[_]> = (0..COUNTERS).map(|_| sync::Mutex::new(0)).collect();
    let notify = Arc::new(Notify::new());
    let handles = Arc::new(Mutex::new(Vec::new()));
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel(1)).unzip();
    let (mut answers, asks): (Vec<_>, Vec<_>) =
        (0..count).map(|_| oneshot::channel()).map(|(tx, rx)| (Some(tx), Some(rx))).unzip();
    answers.rotate_left(1);
    let mut joins = Vec::new();
    let ends = receivers.into_iter().zip(answers).zip(asks);
    for (me, (ops, ((receiver, answer), ask))) in tasks.into_iter().zip(ends).enumerate() {
        let others = senders.iter().enumerate();
        let means = Means {
            me,
            logs: logs.clone(),
            counters: counters.clone(),
            senders: others.map(|(to, tx)| (to != me).then(|| tx.clone())).collect(),
            receiver,
            answer,
            ask,
            notify: notify.clone(),
            handles: handles.clone(),
        };
        joins.push(spawn(work(means, ops)));
    }
    drop(senders);
    let aborts = joins.iter().map(|join| join.abort_handle());
    handles.lock().unwrap_or_else(PoisonError::into_inner).extend(aborts);
    for (task, join) in joins.into_iter().enumerate() {
        if join.await.is_err() {
            logs.add(count, &format!("{task} aborted"));
        }
    }
    logs.add(count, "end");
}

async fn work(mut means: Means, ops: Vec<Op>) {
    for (number, op) in ops.into_iter().enumerate() {
        let seen = means.perform(number, op).await;
        means.logs.add(means.me, &seen);
    }
}

impl Means {
    async fn perform(&mut self, number: usize, op: Op) -> String {
        let content = self.me * 10 + number;
        match op {
            Op::Count(counter) => bump(&mut *self.counters[counter].lock().await, self.me),
            Op::CountSlowly(counter) => {
                let mut count = self.counters[counter].lock().await;
                yield_now().await;
                bump(&mut count, self.me)
            }
            Op::TryCount(counter) => match self.counters[counter].try_lock() {
                Ok(mut count) => bump(&mut count, self.me),
                Err(_) => "held".into(),
            },
            Op::Send(to) => match &self.senders[to] {
                Some(tx) => format!("sent:{}", tx.send(content).await.is_ok()),
                None => "-".into(),
            },
            Op::TrySend(to) => match &self.senders[to] {
                Some(tx) => format!("tried:{}", tx.try_send(content).is_ok()),
                None => "-".into(),
            },
            Op::Receive => format!("{:?}", self.receiver.recv().await),
            Op::TryReceive => format!("{:?}", self.receiver.try_recv()),
            Op::ReceiveInTime => {
                let received = time::timeout(Duration::from_millis(1), self.receiver.recv());
                format!("{:?}", received.await)
            }
            Op::Answer => match self.answer.take() {
                Some(tx) => format!("answered:{}", tx.send(content).is_ok()),
                None => "-".into(),
            },
            Op::Ask => match self.ask.take() {
                Some(rx) => format!("{:?}", rx.await.ok()),
                None => "-".into(),
            },
            Op::NotifyOne => {
                self.notify.notify_one();
                "one".into()
            }
            Op::NotifyAll => {
                self.notify.notify_waiters();
                "all".into()
            }
            Op::Notified => {
                self.notify.notified().await;
                "notified".into()
            }
            Op::Either => self.either().await,
            Op::Unordered => self.unordered().await,
            Op::Yield => {
                yield_now().await;
                ".".into()
            }
            Op::Choose => format!("chose:{}", choose(2)),
            Op::Sleep => {
                time::sleep(Duration::from_millis(1 + self.me as u64)).await;
                "slept".into()
            }
            Op::Now => format!("{:?}", Instant::now()),
            Op::Abort(task) => {
                self.handle(task).abort();
                "abort".into()
            }
            Op::IsOver(task) => format!("over:{}", self.handle(task).is_finished()),
            Op::Senders => {
                let sender = self.senders.iter().flatten().next();
                format!("{:?}", sender.map(|tx| (tx.strong_count(), tx.capacity())))
            }
        }
    }

    fn handle(&self, task: usize) -> AbortHandle {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)[task].clone()
    }

    async fn either(&mut self) -> String {
        let (mut received, mut notified) =
            (pin!(self.receiver.recv()), pin!(self.notify.notified()));
        poll_fn(|cx| {
            if let Poll::Ready(received) = received.as_mut().poll(cx) {
                return Poll::Ready(format!("{received:?}"));
            }
            notified.as_mut().poll(cx).map(|()| "notified".into())
        })
        .await
    }

    async fn unordered(&mut self) -> String {
        let (receiver, ask, notify) = (&mut self.receiver, self.ask.take(), &self.notify);
        let received = async move { format!("{:?}", receiver.recv().await) };
        let asked = async move {
            match ask {
                Some(rx) => format!("{:?}", rx.await.ok()),
                None => "-".into(),
            }
        };
        let notified = async move {
            notify.notified().await;
            "notified".to_owned()
        };
        let all: [std::pin::Pin<Box<dyn Future<Output = String> + Send + '_>>; 3] =
            [Box::pin(received), Box::pin(asked), Box::pin(notified)];
        let mut all = all.into_iter().collect::<FuturesUnordered<_>>();
        let (first, second) = (all.next().await, all.next().await);
        format!("{first:?} then {second:?}")
    }
}

fn bump(count: &mut u64, me: usize) -> String {
    *count = *count * 10 + me as u64 + 1;
    format!("count:{count}")
}

/// Two tasks that share a number behind Dally's back: each adds one, in two steps. A search that
/// trusts in what it is told takes the orders of these steps for the same.
pub fn behind_dallys_back(outcomes: &Outcomes) -> TaskProgram {
    let outcomes = outcomes.clone();
    TaskProgram::new("behind Dally's back", move || {
        let outcomes = outcomes.clone();
        async move {
            let number = Arc::new(AtomicU64::new(0));
            let add = |number: Arc<AtomicU64>| async move {
                let seen = number.load(Ordering::SeqCst);
                yield_now().await;
                number.store(seen + 1, Ordering::SeqCst);
            };
            let tasks = [spawn(add(number.clone())), spawn(add(number.clone()))];
            for task in tasks {
                task.await.unwrap();
            }
            outcomes.add(format!("{}", number.load(Ordering::SeqCst)));
        }
    })
}

/// The outcomes over all schedules, each run by itself; `None` if they are more than `most`.
pub fn all_outcomes(
    program: TaskProgram,
    outcomes: &Outcomes,
    most: u64,
) -> Option<BTreeSet<String>> {
    outcomes.take();
    let max_steps = 1_000;
    let options = Options {
        strategy: "dfs".parse::<StrategyKind>().unwrap().build(0, max_steps),
        schedules: most,
        max_steps,
        // Deadlocks are bugs, and no reason to end.
        keep_going: true,
        shrink: false,
        repeat_check: false,
        ..Options::default()
    };
    let report = dally_search::run(Arc::new(program), options, Arc::new(()));
    let seen = outcomes.take();
    (report.ended == Ended::Exhausted).then_some(seen)
}
