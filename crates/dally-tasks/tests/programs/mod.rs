//! Random small task programs that share only through Dally, given as data.
//!
//! They are there to compare searches: each that claims to be exhaustive must see the same set
//! of [`Outcomes`]. A test file takes them with `#[path = ".../programs/mod.rs"] mod programs;`.
#![allow(dead_code)] // each test file uses a part

mod interpreter;
pub mod on_hosts;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dally_search::{Ended, Options, StrategyKind};
use dally_tasks::{TaskProgram, spawn, yield_now};

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
    /// Looks how many senders its channel has, and what room.
    Senders,
    /// Receives from its own channel, unless that is not ready at once.
    ReceiveOrNot,
    /// Changes the counter, unless that is not ready at once.
    CountOrNot(usize),
    /// Gives way or changes the counter, whichever is ready first.
    YieldOrCount(usize),
    /// Receives from its own channel by one poll.
    ReceiveNow,
    /// Changes the counter by one poll.
    CountNow(usize),
    /// Begins to wait for the notification, and waits after giving way.
    EnrolThenWait,
    /// Begins to wait for the notification, notifies all that wait, and waits.
    EnrolThenNotifyAll,
    /// Shows the counter.
    Show(usize),
    /// From here on it has a value whose destructor panics.
    Arm,
    /// The destructor of that value does nothing any more.
    Disarm,
}

impl Op {
    /// Whether tokio does the same: it knows no choices, and its clock is a real one. A destructor
    /// that panics is no bug there.
    fn is_tokios(self) -> bool {
        use Op::{Arm, Choose, Disarm, Now, ReceiveInTime, Sleep};
        !matches!(self, Choose | Sleep | Now | ReceiveInTime | Arm | Disarm)
    }
}

/// A program: the ops of each task, and how many tasks are waited for by the main task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    pub tasks: Vec<Vec<Op>>,
    pub joined: usize,
}

pub const COUNTERS: usize = 2;

/// How many programs a test tries: so many, or what the variable says, as for the tests of
/// `dally-search`.
pub fn how_many(usually: u64) -> u64 {
    std::env::var("DALLY_PROGRAMS").map_or(usually, |number| number.parse().expect("a number"))
}

/// What some programs have nothing else of: which permit goes to whom shows only in sequences of them.
const OF_NOTIFY: [Op; 7] = [
    Op::NotifyOne,
    Op::NotifyOne,
    Op::NotifyAll,
    Op::Notified,
    Op::Notified,
    Op::EnrolThenWait,
    Op::EnrolThenNotifyAll,
];

/// The program of this seed: two or three tasks with up to `longest` ops each.
pub fn generate(seed: u64, longest: usize) -> Generated {
    let mut random = fastrand::Rng::with_seed(seed);
    let count = random.usize(2..=3);
    let only_notify = random.u8(0..8) == 0;
    let op = |random: &mut fastrand::Rng| {
        if only_notify {
            return OF_NOTIFY[random.usize(0..OF_NOTIFY.len())];
        }
        let other = random.usize(0..count);
        let counter = random.usize(0..COUNTERS);
        match random.u8(0..37) {
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
            27 => Op::Senders,
            28..30 => Op::ReceiveOrNot,
            30 => Op::CountOrNot(counter),
            31 => Op::YieldOrCount(counter),
            32 => Op::ReceiveNow,
            33 => Op::CountNow(counter),
            34 => Op::EnrolThenWait,
            35 => Op::EnrolThenNotifyAll,
            _ => Op::Show(counter),
        }
    };
    let tasks = (0..count)
        .map(|_| {
            let length = random.usize(1..=longest);
            (0..length).map(|_| op(&mut random)).collect()
        })
        .collect();
    Generated { tasks, joined: count }
}

/// The program of this seed with a destructor that panics in one or two tasks, and may be disarmed.
/// The main task waits for the first one alone.
pub fn generate_armed(seed: u64, longest: usize) -> Generated {
    let mut program = generate(seed, longest);
    let mut random = fastrand::Rng::with_seed(seed ^ 0xA1);
    for _ in 0..random.usize(1..=2) {
        let task = random.usize(0..program.tasks.len());
        let ops = &mut program.tasks[task];
        let place = random.usize(0..=ops.len());
        ops.insert(place, Op::Arm);
        if random.u8(0..4) > 0 {
            ops.insert(random.usize(place + 1..=ops.len()), Op::Disarm);
        }
    }
    program.joined = 1;
    program
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
        if lines.is_empty() {
            // The execution is over.
            return;
        }
        lines[task] += what;
        lines[task] += " ";
        self.outcomes.add(lines.join("| "));
    }
}

/// The main task has it. When that is dropped the execution is over, and what others still do
/// is not seen.
struct Open(Logs);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Generated {
    /// The program, which adds what it sees to `outcomes`.
    pub fn program(&self, outcomes: &Outcomes) -> TaskProgram {
        let (tasks, outcomes) = (self.tasks.clone(), outcomes.clone());
        let joined = self.joined;
        TaskProgram::new("random", move || {
            interpreter::under_control::main(tasks.clone(), joined, outcomes.clone())
        })
    }

    /// Whether it can be run by tokio and do the same.
    pub fn is_tokios(&self) -> bool {
        self.tasks.iter().flatten().all(|op| op.is_tokios())
    }

    /// What is seen when tokio runs it on one thread. A program that is stuck is given up.
    pub fn outcomes_on_tokio(&self) -> BTreeSet<String> {
        let outcomes = Outcomes::default();
        let main = interpreter::on_tokio::main(self.tasks.clone(), self.joined, outcomes.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _ = runtime.block_on(async { tokio::time::timeout(STUCK, main).await });
        drop(runtime);
        outcomes.take()
    }
}

/// How long tokio may take for a program. If that is too short, less is seen and compared.
const STUCK: Duration = Duration::from_millis(20);

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
