//! The shapes of the comparison, written for shuttle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Schedule, Scheduler, Task, TaskId};
use shuttle::sync::{Mutex, mpsc};
use shuttle::{Config, Runner, future, thread};

use crate::measure::{Strategy, Work};

/// Shape i with shuttle's own channels: three tasks in a ring, ten rounds each.
pub fn ring() {
    future::block_on(async {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| mpsc::channel()).unzip();
        let mut tasks = Vec::new();
        for (i, receiver) in receivers.into_iter().enumerate() {
            let next = senders[(i + 1) % 3].clone();
            tasks.push(future::spawn(async move {
                for round in 0..10u32 {
                    next.send(round).unwrap();
                    receiver.recv().unwrap();
                }
            }));
        }
        drop(senders);
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// Shape i with the channels of the futures crate, which shuttle schedules only where a task
/// must wait.
pub fn ring_of_futures() {
    future::block_on(async {
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..3).map(|_| futures::channel::mpsc::unbounded()).unzip();
        let mut tasks = Vec::new();
        for (i, mut receiver) in receivers.into_iter().enumerate() {
            let next = senders[(i + 1) % 3].clone();
            tasks.push(future::spawn(async move {
                for round in 0..10u32 {
                    next.unbounded_send(round).unwrap();
                    receiver.next().await.unwrap();
                }
            }));
        }
        drop(senders);
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// Shape ii: three threads, ten increments each under a lock.
pub fn mutex() {
    let count = Arc::new(Mutex::new(0u32));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let count = Arc::clone(&count);
            thread::spawn(move || {
                for _ in 0..10 {
                    *count.lock().unwrap() += 1;
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*count.lock().unwrap(), 30);
}

/// Shape iv: three senders, two messages each, to the main thread.
pub fn senders() {
    let (sender, receiver) = mpsc::channel();
    for id in 0..3u32 {
        let sender = sender.clone();
        thread::spawn(move || {
            for message in 0..2u32 {
                sender.send((id, message)).unwrap();
            }
        });
    }
    drop(sender);
    for _ in 0..6 {
        receiver.recv().unwrap();
    }
}

/// Runs `schedules` schedules of a shape and counts their steps.
pub fn run(shape: fn(), strategy: Strategy, schedules: u64, seed: u64) -> Work {
    let steps = Arc::new(AtomicU64::new(0));
    let n = schedules as usize;
    let inner: Box<dyn Scheduler + Send> = match strategy {
        Strategy::Random => Box::new(RandomScheduler::new_from_seed(seed, n)),
        Strategy::Pct(depth) => Box::new(PctScheduler::new_from_seed(seed, depth, n)),
    };
    let counting = Counting { inner, steps: Arc::clone(&steps) };
    let schedules = Runner::new(counting, Config::new()).run(shape) as u64;
    Work { schedules, steps: steps.load(Ordering::Relaxed) }
}

/// Counts scheduling decisions.
struct Counting {
    inner: Box<dyn Scheduler + Send>,
    steps: Arc<AtomicU64>,
}

impl Scheduler for Counting {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.inner.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.inner.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}
