//! Random small programs on simulated hosts, given as data, with what is done to hosts by hand and with faults.

use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dally_tasks::hosts::{self, Host};
use dally_tasks::pipe::Pipe;
use dally_tasks::time::sleep;
use dally_tasks::{Clock, TaskProgram, faults, note, spawn, yield_now};

/// What one task does, step after step. What it sees it notes. Hosts are told apart by their numbers, 0 being
/// that of the test; each pipe leads from there to another.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// An operation at which a fault can strike.
    Strike,
    Crash(usize),
    Restart(usize),
    Cut(usize, usize),
    Heal(usize),
    Skew(usize),
    /// Looks at the calendar.
    Date,
    IsUp(usize),
    IsCut(usize, usize),
    Put(usize),
    /// Waits until something is there.
    Take(usize),
    Look(usize),
    Sleep(u64),
    Yield,
}

/// A program: what each host does in each of its lives, and what the tasks of the test do.
#[derive(Clone, Debug)]
pub struct OnHosts {
    hosts: Vec<Vec<Op>>,
    tasks: Vec<Vec<Op>>,
    faults: u32,
    clock: Clock,
}

/// The program of this seed: one or two hosts and two tasks, with up to `longest` ops each.
pub fn generate(seed: u64, longest: usize) -> OnHosts {
    let mut random = fastrand::Rng::with_seed(seed);
    let hosts = random.usize(1..=2);
    let op = |random: &mut fastrand::Rng| {
        let (host, other) = (random.usize(1..=hosts), random.usize(0..=hosts));
        match random.u8(0..20) {
            0..3 => Op::Strike,
            3 => Op::Crash(host),
            4 => Op::Restart(host),
            5 => Op::Cut(host, other),
            6 => Op::Heal(host),
            7 => Op::Skew(host),
            8 => Op::Date,
            9 => Op::IsUp(host),
            10 => Op::IsCut(host, other),
            11..13 => Op::Put(host),
            13..15 => Op::Take(host),
            15 => Op::Look(host),
            16..18 => Op::Sleep(random.u64(0..3)),
            _ => Op::Yield,
        }
    };
    let mut ops = |count: usize| -> Vec<Vec<Op>> {
        let mut some = || (0..random.usize(1..=longest)).map(|_| op(&mut random)).collect();
        (0..count).map(|_| some()).collect()
    };
    let (of_hosts, of_tasks) = (ops(hosts), ops(2));
    let clocks = [Clock::Any, Clock::Ordered, Clock::Idle];
    let (faults, clock) = (random.u32(0..3), clocks[random.usize(..3)]);
    OnHosts { hosts: of_hosts, tasks: of_tasks, faults, clock }
}

type Pipes = Arc<Mutex<Vec<Pipe<usize>>>>;

impl OnHosts {
    /// The program.
    pub fn program(&self) -> TaskProgram {
        let OnHosts { hosts, tasks, faults, clock } = self.clone();
        let main = move || {
            let (hosts, tasks) = (hosts.clone(), tasks.clone());
            async move {
                let pipes = Pipes::default();
                for (number, ops) in (1..).zip(hosts) {
                    let theirs = Arc::clone(&pipes);
                    let host = hosts::start(name(number), move || {
                        let (ops, pipes) = (ops.clone(), Arc::clone(&theirs));
                        async move { perform(&ops, &pipes).await }
                    });
                    let pipe = Pipe::between(Host::here(), host, "pipe", 2);
                    all(&pipes).push(pipe);
                }
                let tasks: Vec<_> = tasks
                    .into_iter()
                    .map(|ops| {
                        let pipes = Arc::clone(&pipes);
                        spawn(async move { perform(&ops, &pipes).await })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
            }
        };
        TaskProgram::new("on hosts", main).fault_budget(faults).clock(clock)
    }
}

fn all(pipes: &Pipes) -> MutexGuard<'_, Vec<Pipe<usize>>> {
    pipes.lock().unwrap_or_else(PoisonError::into_inner)
}

fn name(host: usize) -> String {
    if host == 0 { "localhost".to_owned() } else { format!("host {host}") }
}

fn host(number: usize) -> Host {
    Host::named(&name(number)).expect("it was started")
}

async fn perform(ops: &[Op], pipes: &Pipes) {
    for &op in ops {
        let pipe = |host: usize| all(pipes)[host - 1].clone();
        match op {
            Op::Strike => {
                note(format!("{:?}", faults::strike(&["something happens"])));
                if !Host::here().is_up() {
                    pending::<()>().await;
                }
            }
            Op::Crash(number) => host(number).crash(),
            Op::Restart(number) => host(number).restart(),
            Op::Cut(number, other) => host(number).cut_off_from(host(other)),
            Op::Heal(number) => host(number).heal(),
            Op::Skew(number) => host(number).set_skew(60),
            Op::Date => note(date()),
            Op::IsUp(number) => note(format!("{}", host(number).is_up())),
            Op::IsCut(number, other) => {
                note(format!("{}", host(number).is_cut_off_from(host(other))));
            }
            Op::Put(number) => pipe(number).put(|queue| queue.push_back(queue.len())),
            Op::Take(number) => {
                let pipe = pipe(number);
                poll_fn(|cx| pipe.poll_readable(cx)).await;
                note(format!("{:?}", pipe.take(|queue| queue.pop_front())));
            }
            Op::Look(number) => {
                let pipe = pipe(number);
                note(format!("{} {}", pipe.is_held(), pipe.look(|queue| queue.len())));
            }
            Op::Sleep(millis) => sleep(Duration::from_millis(millis)).await,
            Op::Yield => yield_now().await,
        }
    }
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "virtual in here")]
fn date() -> String {
    format!("{:?}", std::time::SystemTime::now())
}

#[cfg(not(target_os = "linux"))]
fn date() -> String {
    "some date".to_owned()
}
