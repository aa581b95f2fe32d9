//! How many schedules per second tasks give, under a plain random driver.
//!
//! The shapes are the ones that peers are measured on: a ring of three tasks, each sending to the
//! next and receiving from the previous ten times (i); three tasks that lock and add ten times
//! (ii); three senders of two messages each (iv).
//!
//! Run with `cargo run --release -p dally-tasks --example shapes [SCHEDULES]`.

use std::sync::Arc;

use dally_core::{Cut, Env, Event, MessageId, Program, Status, System, Tag, Text};
use dally_tasks::sync::{Mutex, mpsc};
use dally_tasks::{TaskProgram, spawn};

fn main() {
    let schedules = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000);
    measure(&ring_bounded(), schedules);
    measure(&ring_unbounded(), schedules);
    measure(&counter(), schedules);
    measure(&senders_bounded(), schedules);
    measure(&senders_unbounded(), schedules);
}

fn ring_bounded() -> TaskProgram {
    TaskProgram::new("i, ring of 3, bounded", || async {
        let (ends, starts): (Vec<_>, Vec<_>) = (0..3).map(|_| mpsc::channel(16)).unzip();
        let tasks: Vec<_> = starts
            .into_iter()
            .enumerate()
            .map(|(i, mut rx)| {
                let tx = ends[(i + 1) % 3].clone();
                spawn(async move {
                    for n in 0..10u32 {
                        tx.send(n).await.unwrap();
                        rx.recv().await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    })
}

fn ring_unbounded() -> TaskProgram {
    TaskProgram::new("i, ring of 3, unbounded", || async {
        let (ends, starts): (Vec<_>, Vec<_>) = (0..3).map(|_| mpsc::unbounded_channel()).unzip();
        let tasks: Vec<_> = starts
            .into_iter()
            .enumerate()
            .map(|(i, mut rx)| {
                let tx = ends[(i + 1) % 3].clone();
                spawn(async move {
                    for n in 0..10u32 {
                        tx.send(n).unwrap();
                        rx.recv().await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    })
}

fn counter() -> TaskProgram {
    TaskProgram::new("ii, mutex 3 x 10", || async {
        let counter = Arc::new(Mutex::new(0u32));
        let tasks = [0; 3].map(|_| {
            let counter = counter.clone();
            spawn(async move {
                for _ in 0..10 {
                    *counter.lock().await += 1;
                }
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
    })
}

fn senders_bounded() -> TaskProgram {
    TaskProgram::new("iv, 3 senders x 2, bounded", || async {
        let (tx, mut rx) = mpsc::channel(8);
        for i in 0..3u32 {
            let tx = tx.clone();
            spawn(async move {
                tx.send(i).await.unwrap();
                tx.send(i + 10).await.unwrap();
            });
        }
        drop(tx);
        while rx.recv().await.is_some() {}
    })
}

fn senders_unbounded() -> TaskProgram {
    TaskProgram::new("iv, 3 senders x 2, unbounded", || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        for i in 0..3u32 {
            let tx = tx.clone();
            spawn(async move {
                tx.send(i).unwrap();
                tx.send(i + 10).unwrap();
            });
        }
        drop(tx);
        while rx.recv().await.is_some() {}
    })
}

/// Counts what it is told, and tells nobody.
struct Quiet {
    rng: fastrand::Rng,
    events: u64,
}

impl Env for Quiet {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        Ok(self.rng.u32(..of))
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        Ok(self.rng.usize(..candidates.len()))
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        self.events += 1;
        Ok(())
    }
}

/// CPU seconds of this thread where Linux tells them, else seconds on the wall: a machine that
/// is busy with other things must not change the figures.
// The one purpose of this program is to read a clock; no result of a test depends on it.
#[allow(clippy::disallowed_methods)]
fn seconds() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|line| line.split(' ').next()?.parse::<f64>().ok())
        .map_or_else(|| START.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

fn measure(program: &TaskProgram, schedules: u64) {
    let mut env = Quiet { rng: fastrand::Rng::with_seed(7), events: 0 };
    let mut steps = 0u64;
    let mut system = program.start().expect("the program starts");
    let begin = seconds();
    for _ in 0..schedules {
        program.restart(&mut system).expect("the program starts");
        while !system.enabled().is_empty() {
            let worker = system.enabled()[env.rng.usize(..system.enabled().len())];
            system.step(worker, &mut env).expect("no bug");
            steps += 1;
        }
        assert_eq!(system.status(), Status::Done);
        system.end().expect("no bug at the end");
    }
    let seconds = seconds() - begin;
    println!(
        "{:<30} {:>7.1} k schedules/s  {:>5.2} us each  {:>5.1} steps  {:>5.1} ns a step",
        program.name(),
        schedules as f64 / seconds / 1e3,
        seconds / schedules as f64 * 1e6,
        steps as f64 / schedules as f64,
        seconds / steps as f64 * 1e9,
    );
}
