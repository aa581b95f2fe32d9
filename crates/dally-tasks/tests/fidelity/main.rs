//! The primitives do what tokio's do: random sequences of operations are run on both, one operation at a time, and
//! give the same results, the same wake-ups, and the same when futures, guards and handles are dropped half-way.
//!
//! Each primitive has a file. Its interpreter is compiled twice, against tokio and against this crate. Under Dally it is
//! the main task, whose futures are polled by hand, so that the order of operations is the same.
//! `DALLY_FIDELITY=100000` sets how many sequences each has.

use std::cell::Cell;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use dally_core::{Program, System, WorkerId};
use dally_tasks::{TaskPanics, TaskProgram};
use driver::Quiet;

mod barrier;
mod broadcast;
#[path = "../driver/mod.rs"]
mod driver;
mod join_set;
mod mpsc;
mod mutex;
mod notify;
mod once_cell;
mod oneshot;
mod rwlock;
mod semaphore;
mod set_once;
mod time;
mod unbounded;
mod watch;

/// A waker that counts. Only wake-ups of what was pending when it was last polled are compared: tokio keeps some
/// wakers beyond that, and wakes for nothing.
#[derive(Default)]
pub struct Flag(AtomicUsize);

impl Flag {
    /// What was polled with it is ready or pending; answers it.
    pub fn after<T>(&self, polled: Poll<T>, waits: &Cell<bool>) -> Poll<T> {
        waits.set(polled.is_pending());
        self.0.store(0, Relaxed);
        polled
    }

    /// Whether it was woken since this was asked, if it waits.
    pub fn woken(&self, waits: &Cell<bool>) -> bool {
        self.0.swap(0, Relaxed) > 0 && waits.get()
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Futures that are polled by hand, each with a waker of its own.
pub struct Futures<T> {
    /// One that is done or dropped is absent.
    all: Vec<(Option<BoxFuture<T>>, Arc<Flag>)>,
}

type BoxFuture<T> = Pin<Box<dyn Future<Output = T>>>;

impl<T> Default for Futures<T> {
    fn default() -> Futures<T> {
        Futures { all: Vec::new() }
    }
}

impl<T> Futures<T> {
    /// Another one.
    pub fn add(&mut self, future: impl Future<Output = T> + 'static) {
        self.all.push((Some(Box::pin(future)), Arc::default()));
    }

    /// One that is not done, if there is one.
    pub fn pick(&self, rng: &mut fastrand::Rng) -> Option<usize> {
        let live: Vec<_> = (0..self.all.len()).filter(|&at| self.all[at].0.is_some()).collect();
        (!live.is_empty()).then(|| live[rng.usize(..live.len())])
    }

    /// Polls a future, which is gone when it is done.
    pub fn poll(&mut self, at: usize) -> Option<T> {
        let (future, flag) = &mut self.all[at];
        let waker = Waker::from(flag.clone());
        let polled = future.as_mut()?.as_mut().poll(&mut Context::from_waker(&waker));
        match polled {
            Poll::Ready(output) => {
                *future = None;
                Some(output)
            }
            Poll::Pending => None,
        }
    }

    /// Drops a future, done or not.
    pub fn drop_one(&mut self, at: usize) {
        self.all[at].0 = None;
    }

    /// Which were woken since this was asked.
    pub fn woken(&self) -> String {
        let woken = |(at, one): (usize, &(Option<_>, Arc<Flag>))| {
            let times = one.1.0.swap(0, Relaxed);
            (times > 0).then(|| format!(" wakes {at}"))
        };
        self.all.iter().enumerate().filter_map(woken).collect()
    }
}

/// A future that is ready when it is opened.
#[derive(Clone, Default)]
pub struct Gate(Rc<Cell<bool>>);

impl Gate {
    /// Opens it.
    pub fn open(&self) {
        self.0.set(true);
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0.get() { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// What happened, a line for each operation.
#[derive(Default)]
pub struct Log(Vec<String>);

impl Log {
    /// Another line: the operation, its result, and who was woken.
    pub fn add(&mut self, what: &str, result: impl Debug, woken: String) {
        self.0.push(format!("{what} = {result:?}{woken}"));
    }
}

/// How many sequences each primitive has.
fn sequences() -> u64 {
    let given = std::env::var("DALLY_FIDELITY").ok();
    given.map_or(1_000, |text| text.parse().expect("DALLY_FIDELITY is a number"))
}

/// Runs sequences on both and compares what happened. `ours` runs in a task under Dally.
pub fn compare<F>(theirs: impl Fn(u64) -> Log, ours: fn(u64) -> F)
where
    F: Future<Output = Log> + 'static,
{
    let seed = Arc::new(AtomicUsize::new(0));
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let (of, to) = (seed.clone(), told.clone());
    let program = TaskProgram::new("fidelity", move || {
        let (of, to) = (of.load(Relaxed) as u64, to.clone());
        async move {
            let log = ours(of).await;
            *to.lock().unwrap() = log.0;
        }
    });
    let program = program.task_panics(TaskPanics::Unobserved);
    let mut system = program.start().unwrap();
    let main = WorkerId::root(0);
    for number in 0..sequences() {
        seed.store(number as usize, Relaxed);
        program.restart(&mut system).unwrap();
        // Whoever is ready goes first, and then the sequence goes on.
        while let Some(&worker) = system.enabled().iter().rfind(|&&worker| worker != main).or({
            let enabled = system.enabled();
            enabled.iter().find(|&&worker| worker == main)
        }) {
            system.step(worker, &mut Quiet).unwrap_or_else(|stop| panic!("{number}: {stop:?}"));
        }
        system.end().unwrap();
        let (theirs, ours) = (theirs(number).0, std::mem::take(&mut *told.lock().unwrap()));
        let differs = theirs.iter().zip(&ours).position(|(theirs, ours)| theirs != ours);
        let at = differs.unwrap_or(theirs.len().min(ours.len()));
        assert!(
            theirs == ours,
            "sequence {number} differs at {at}:\n  {}\ntokio: {:?}\nours:  {:?}",
            ours[..at].join("\n  "),
            theirs.get(at),
            ours.get(at),
        );
    }
}

/// An interpreter, compiled against both.
macro_rules! both {
    ($run:ident($seed:ident) in |$lib:ident| $body:block) => {
        mod ours {
            use dally_tasks as $lib;
            use super::*;
            pub async fn $run($seed: u64) -> Log $body
        }

        mod theirs {
            use tokio as $lib;
            use super::*;
            pub async fn $run($seed: u64) -> Log $body
        }
    };
}
pub(crate) use both;

/// Runs what never waits.
pub fn at_once<F: Future<Output = Log>>(future: F) -> Log {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(log) => log,
        Poll::Pending => panic!("the interpreter of a sequence does not wait"),
    }
}
