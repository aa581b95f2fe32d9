//! The shapes of the comparison, written for Dally: as tasks and as machines.

use std::sync::Arc;

use dally::contract::Program;
use dally::machine;
use dally::machines::{Addr, Cx, MachineProgram, Setup};
use dally::search::{Options, StrategyKind, run as search};
use dally::tasks::sync::{Mutex, mpsc};
use dally::tasks::task::block_in_place;
use dally::tasks::{TaskProgram, spawn};

use crate::measure::{Strategy, Work};

/// Shape i: three tasks in a ring, ten rounds each. The channels have no bound, as shuttle's.
pub fn ring_of_tasks() -> TaskProgram {
    TaskProgram::new("ring", || async {
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..3).map(|_| mpsc::unbounded_channel::<u32>()).unzip();
        let mut tasks = Vec::new();
        for (i, mut receiver) in receivers.into_iter().enumerate() {
            let next = senders[(i + 1) % 3].clone();
            tasks.push(spawn(async move {
                for round in 0..10 {
                    next.send(round).unwrap();
                    receiver.recv().await.unwrap();
                }
            }));
        }
        drop(senders);
        for task in tasks {
            task.await.unwrap();
        }
    })
}

/// Shape i with bounded channels: a send is awaited, and so a step of its own.
pub fn bounded_ring_of_tasks() -> TaskProgram {
    TaskProgram::new("ring", || async {
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..3).map(|_| mpsc::channel::<u32>(16)).unzip();
        let mut tasks = Vec::new();
        for (i, mut receiver) in receivers.into_iter().enumerate() {
            let next = senders[(i + 1) % 3].clone();
            tasks.push(spawn(async move {
                for round in 0..10 {
                    next.send(round).await.unwrap();
                    receiver.recv().await.unwrap();
                }
            }));
        }
        drop(senders);
        for task in tasks {
            task.await.unwrap();
        }
    })
}

/// Shape ii: three tasks, ten increments each under a lock.
pub fn mutex_of_tasks() -> TaskProgram {
    TaskProgram::new("mutex", || async {
        let count = Arc::new(Mutex::new(0u32));
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                let count = Arc::clone(&count);
                spawn(async move {
                    for _ in 0..10 {
                        *count.lock().await += 1;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*count.lock().await, 30);
    })
}

/// Shape iv: three senders, two messages each, to the main task.
pub fn senders_of_tasks() -> TaskProgram {
    TaskProgram::new("senders", || async {
        let (sender, mut receiver) = mpsc::channel(16);
        for id in 0..3u32 {
            let sender = sender.clone();
            drop(spawn(async move {
                for message in 0..2u32 {
                    sender.send((id, message)).await.unwrap();
                }
            }));
        }
        drop(sender);
        for _ in 0..6 {
            receiver.recv().await.unwrap();
        }
    })
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Next(Addr<Ring>);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Token(u32);

/// A member of the ring: sends to the next and answers each token with one, ten rounds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Ring {
    next: Option<Addr<Ring>>,
    rounds: u32,
}

#[machine(states(Apart, Linked))]
impl Ring {
    #[defer(Apart, Token)]
    const RULES: () = ();

    #[on(Apart, Next)]
    fn link(&mut self, cx: &mut Cx<Self>, Next(next): Next) {
        self.next = Some(next);
        cx.send(next, Token(0));
        cx.goto(Linked);
    }

    #[on(Linked, Token)]
    fn pass(&mut self, cx: &mut Cx<Self>, Token(round): Token) {
        self.rounds += 1;
        if let Some(next) = self.next.filter(|_| self.rounds < 10) {
            cx.send(next, Token(round + 1));
        }
    }
}

/// Shape i: three machines in a ring, ten rounds each.
pub fn ring_of_machines() -> MachineProgram {
    MachineProgram::new("ring", |setup: &mut Setup| {
        let members = [(); 3].map(|()| setup.create(Ring { next: None, rounds: 0 }));
        for (i, member) in members.iter().enumerate() {
            setup.send(*member, Next(members[(i + 1) % 3]));
        }
    })
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Value {
    from: u32,
    number: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Collector {
    received: u32,
}

#[machine(states(Collecting))]
impl Collector {
    #[on(Collecting, Value)]
    fn receive(&mut self, _cx: &mut Cx<Self>, _value: Value) {
        self.received += 1;
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sender {
    id: u32,
    to: Addr<Collector>,
}

#[machine(states(Sending))]
impl Sender {
    #[entry(Sending)]
    fn send(&mut self, cx: &mut Cx<Self>) {
        for number in 0..2 {
            cx.send(self.to, Value { from: self.id, number });
        }
        cx.halt();
    }
}

/// Shape iv: three senders, two messages each, to one collector.
pub fn senders_of_machines() -> MachineProgram {
    MachineProgram::new("senders", |setup: &mut Setup| {
        let to = setup.create(Collector { received: 0 });
        for id in 0..3 {
            setup.create(Sender { id, to });
        }
    })
}

/// So many senders of so many messages each to one collector.
pub fn many_senders_of_machines(senders: u32, messages: u32) -> MachineProgram {
    MachineProgram::new("senders", move |setup: &mut Setup| {
        let to = setup.create(Collector { received: 0 });
        for id in 0..senders {
            setup.create(Burst { id, messages, to });
        }
    })
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Burst {
    id: u32,
    messages: u32,
    to: Addr<Collector>,
}

#[machine(states(Sending))]
impl Burst {
    #[entry(Sending)]
    fn send(&mut self, cx: &mut Cx<Self>) {
        for number in 0..self.messages {
            cx.send(self.to, Value { from: self.id, number });
        }
    }
}

/// So many tasks that send so many messages each to the main task, which blocks its thread until they have come, as
/// a thread does. One that awaits them can do something else where there is none, so whether it finds one when
/// it looks would make classes of its own.
pub fn many_senders_of_tasks(senders: usize, messages: usize) -> TaskProgram {
    TaskProgram::new("senders", move || async move {
        let (sender, mut receiver) = mpsc::channel(senders * messages);
        for id in 0..senders {
            let sender = sender.clone();
            drop(spawn(async move {
                for message in 0..messages {
                    sender.send((id, message)).await.unwrap();
                }
            }));
        }
        block_in_place(|| {
            for _ in 0..senders * messages {
                receiver.blocking_recv().unwrap();
            }
        });
    })
}

/// So many tasks that take a lock so often each. The main task blocks its thread until they are done.
pub fn locks_of_tasks(tasks: u32, times: u32) -> TaskProgram {
    TaskProgram::new("locks", move || async move {
        let count = Arc::new(Mutex::new(0u32));
        let tasks: Vec<_> = (0..tasks)
            .map(|_| {
                let (count, (done, is_done)) = (Arc::clone(&count), mpsc::unbounded_channel());
                drop(spawn(async move {
                    for _ in 0..times {
                        *count.lock().await += 1;
                    }
                    done.send(()).unwrap();
                }));
                is_done
            })
            .collect();
        block_in_place(|| {
            for mut is_done in tasks {
                is_done.blocking_recv().unwrap();
            }
        });
    })
}

/// Runs `schedules` schedules of a shape.
pub fn run<P: Program + 'static>(
    shape: &Arc<P>,
    strategy: Strategy,
    schedules: u64,
    seed: u64,
) -> Work {
    let name = match strategy {
        Strategy::Random => "random".to_owned(),
        Strategy::Pct(depth) => format!("pct:{depth}"),
    };
    let kind: StrategyKind = name.parse().expect("a bundled strategy");
    let max_steps = 10_000;
    let strategy = kind.build(seed, max_steps);
    let options = Options { strategy, schedules, seed, max_steps, ..Options::default() };
    let report = search(Arc::clone(shape), options, Arc::new(()));
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    Work { schedules: report.schedules, steps: report.steps }
}
