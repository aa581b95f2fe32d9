//! Random scripts of a few workers, which machines and tasks follow.

use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::Arc;

use dally::machines::{Addr, Cx, MachineProgram, Mailbox, Setup};
use dally::tasks::sync::mpsc;
use dally::tasks::{TaskProgram, spawn};
use dally::{Int, IntInputs};
use fastrand::Rng;

/// What a worker does next. There are two variables.
#[derive(Clone, Copy, Debug)]
pub enum Deed {
    /// A number from 0 to this one.
    Input(usize, i64),
    /// Adds this to a variable.
    Add(usize, i64),
    /// Sends a variable to a worker.
    Send(usize, usize),
    Receive(usize),
    /// Leaves out so many deeds if a variable is below a number.
    SkipIfBelow(usize, i64, usize),
    /// Leaves out so many deeds if the variables are equal.
    SkipIfEqual(usize),
    /// Fails if a variable has this value.
    Refuse(usize, i64),
}

#[derive(Clone, Debug)]
pub struct Script {
    workers: Vec<Vec<Deed>>,
    mailbox: Mailbox,
}

impl Script {
    pub fn random(rng: &mut Rng, workers: RangeInclusive<usize>) -> Script {
        let count = rng.usize(workers);
        let mut inputs = rng.usize(1..=2);
        let workers = (0..count)
            .map(|_| {
                let mut deeds = Vec::new();
                if inputs > 0 && rng.bool() {
                    inputs -= 1;
                    deeds.push(Deed::Input(rng.usize(..2), rng.i64(1..=3)));
                }
                for _ in 0..rng.usize(1..=4) {
                    let variable = rng.usize(..2);
                    deeds.push(match rng.u8(..16) {
                        0 => Deed::Add(variable, rng.i64(-1..=2)),
                        1..6 => Deed::Send(rng.usize(..count), variable),
                        6..10 => Deed::Receive(variable),
                        10..13 => Deed::SkipIfBelow(variable, rng.i64(1..=3), rng.usize(1..=2)),
                        13..15 => Deed::SkipIfEqual(rng.usize(1..=2)),
                        _ => Deed::Refuse(variable, rng.i64(1..=3)),
                    });
                }
                deeds
            })
            .collect();
        let mailboxes = [Mailbox::Fifo, Mailbox::PerSender, Mailbox::Unordered];
        Script { workers, mailbox: mailboxes[rng.usize(..3)] }
    }
}

/// What is not done by sending or receiving; answers how many deeds to leave out.
fn compute(deed: Deed, variables: &mut [Int; 2]) -> usize {
    match deed {
        Deed::Add(variable, by) => variables[variable] += by,
        Deed::SkipIfBelow(variable, limit, deeds) if variables[variable] < limit => return deeds,
        Deed::SkipIfEqual(deeds) if variables[0] == variables[1] => return deeds,
        Deed::Refuse(variable, value) => assert!(variables[variable] != value, "refused"),
        _ => {}
    }
    0
}

/// The same all the time, so it is no part of the state.
#[derive(Clone, Debug)]
struct Fixed(Arc<Vec<Deed>>);

impl PartialEq for Fixed {
    fn eq(&self, _: &Fixed) -> bool {
        true
    }
}

impl Eq for Fixed {}

impl Hash for Fixed {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Letter(Int);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Actor {
    deeds: Fixed,
    at: usize,
    variables: [Int; 2],
    all: Vec<Addr<Actor>>,
}

#[dally::machine(states(Busy, Done))]
impl Actor {
    #[entry(Busy)]
    fn begin(&mut self, cx: &mut Cx<Self>) {
        self.go_on(cx);
    }

    #[on(Busy, Letter)]
    fn letter(&mut self, cx: &mut Cx<Self>, letter: Letter) {
        if let Some(Deed::Receive(variable)) = self.deeds.0.get(self.at) {
            self.variables[*variable] = letter.0;
            self.at += 1;
            self.go_on(cx);
        }
    }

    #[ignore(Done, Letter)]
    const RULES: () = ();

    fn go_on(&mut self, cx: &mut Cx<Self>) {
        let deeds = self.deeds.0.clone();
        while let Some(&deed) = deeds.get(self.at) {
            match deed {
                Deed::Receive(_) => return,
                Deed::Input(variable, most) => {
                    self.variables[variable] = cx.int_in("number", 0..=most);
                }
                Deed::Send(to, variable) => cx.send(self.all[to], Letter(self.variables[variable])),
                _ => self.at += compute(deed, &mut self.variables),
            }
            self.at += 1;
        }
        cx.goto(Done);
    }
}

/// A machine for each worker.
pub fn machines(script: &Script) -> MachineProgram {
    let workers: Vec<Arc<Vec<Deed>>> = script.workers.iter().cloned().map(Arc::new).collect();
    MachineProgram::new("scripts", move |setup: &mut Setup| {
        let all: Vec<Addr<Actor>> = workers.iter().map(|_| setup.reserve()).collect();
        for (&actor, deeds) in all.iter().zip(&workers) {
            let (deeds, all) = (Fixed(deeds.clone()), all.clone());
            setup.fill(actor, Actor { deeds, at: 0, variables: Default::default(), all });
        }
    })
    .mailbox(script.mailbox)
    .run_twice(false)
}

/// A task for each worker, with a channel of its own.
pub fn tasks(script: &Script) -> TaskProgram {
    let workers: Vec<Arc<Vec<Deed>>> = script.workers.iter().cloned().map(Arc::new).collect();
    TaskProgram::new("scripts", move || {
        let workers = workers.clone();
        async move {
            let (senders, receivers): (Vec<_>, Vec<_>) =
                workers.iter().map(|_| mpsc::unbounded_channel::<Int>()).unzip();
            let mut running = Vec::new();
            for (deeds, receiver) in workers.into_iter().zip(receivers) {
                running.push(spawn(follow(deeds, receiver, senders.clone())));
            }
            drop(senders);
            for task in running {
                let _ = task.await;
            }
        }
    })
}

async fn follow(
    deeds: Arc<Vec<Deed>>,
    mut receiver: mpsc::UnboundedReceiver<Int>,
    senders: Vec<mpsc::UnboundedSender<Int>>,
) {
    let mut variables = [Int::default(); 2];
    let mut at = 0;
    while let Some(&deed) = deeds.get(at) {
        match deed {
            Deed::Receive(variable) => match receiver.recv().await {
                Some(number) => variables[variable] = number,
                None => return,
            },
            Deed::Input(variable, most) => {
                variables[variable] = dally::input_in("number", 0..=most)
            }
            Deed::Send(to, variable) => {
                let _ = senders[to].send(variables[variable]);
            }
            _ => at += compute(deed, &mut variables),
        }
        at += 1;
    }
}
