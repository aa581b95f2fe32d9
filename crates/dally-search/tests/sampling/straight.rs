//! Programs whose executions can be enumerated with their delays: every history is a state of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dally_core::{
    Bug, Captured, Env, Program, StateVisitor, Status, Stop, System, Tag, WorkerId, fingerprint,
};
use dally_search::strata::{Explorer, ExplorerKind, Stepped};
use fastrand::Rng;

/// Workers that take their steps, in each of which they choose one of so many values (0: none).
#[derive(Clone, Debug)]
pub struct Straight {
    pub workers: Vec<Vec<u32>>,
    /// Whether a worker that has chosen a value takes as many steps more.
    pub prolongs: bool,
    pub ended: Arc<Mutex<Vec<Execution>>>,
}

/// The steps of an execution: who, and the value chosen.
pub type Execution = Vec<(u32, u32)>;

/// What a worker has done: its steps, and how many it takes more than those of the program.
pub type Taken = (usize, usize);

pub struct Running {
    program: Straight,
    taken: Vec<Taken>,
    history: Execution,
    enabled: Vec<WorkerId>,
}

impl Straight {
    pub fn new(workers: &[&[u32]]) -> Straight {
        let workers = workers.iter().map(|steps| steps.to_vec()).collect();
        Straight { workers, prolongs: false, ended: Arc::default() }
    }

    pub fn of_different_lengths(workers: &[&[u32]]) -> Straight {
        Straight { prolongs: true, ..Straight::new(workers) }
    }

    /// Up to three workers of up to two steps each.
    pub fn random(rng: &mut Rng) -> Straight {
        let steps = |rng: &mut Rng| -> Vec<u32> {
            (0..rng.usize(1..=2)).map(|_| [0, 0, 2, 3][rng.usize(..4)]).collect()
        };
        let workers = (0..rng.usize(1..=3)).map(|_| steps(rng)).collect();
        Straight { workers, prolongs: rng.bool(), ended: Arc::default() }
    }

    fn enabled(&self, taken: &[Taken]) -> Vec<WorkerId> {
        let able = |&worker: &usize| {
            let (steps, more) = taken[worker];
            steps < self.workers[worker].len() + more
        };
        (0..taken.len()).filter(able).map(|worker| WorkerId::root(worker as u32)).collect()
    }

    /// How many values a worker chooses from in its next step.
    fn values(&self, index: usize, taken: &[Taken]) -> u32 {
        self.workers[index].get(taken[index].0).copied().unwrap_or(0)
    }

    fn take(&self, index: usize, value: u32, taken: &mut [Taken]) {
        taken[index].0 += 1;
        taken[index].1 += if self.prolongs { value as usize } else { 0 };
    }

    fn index(&self, worker: WorkerId) -> usize {
        let is = |&index: &usize| WorkerId::root(index as u32) == worker;
        (0..self.workers.len()).find(is).unwrap()
    }

    /// The steps of the longest execution; every value counts as a step.
    pub fn longest(&self) -> u32 {
        let more = |of: u32| if self.prolongs { of.saturating_sub(1) } else { 0 };
        self.workers.iter().flatten().map(|&of| 1 + u32::from(of > 0) + more(of)).sum()
    }
}

impl Program for Straight {
    type System = Running;

    fn start(&self) -> Result<Running, Bug> {
        let taken = vec![(0, 0); self.workers.len()];
        let enabled = self.enabled(&taken);
        Ok(Running { program: self.clone(), taken, history: Vec::new(), enabled })
    }

    fn granularity(&self) -> &'static str {
        "steps"
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        visitor.copied(self)
    }
}

/// The same, whose states are not copied.
pub struct Rerun(pub Straight);

impl Program for Rerun {
    type System = Running;

    fn start(&self) -> Result<Running, Bug> {
        self.0.start()
    }
}

impl System for Running {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let index = self.program.index(worker);
        let of = self.program.values(index, &self.taken);
        let value = if of == 0 { 0 } else { env.value(of, Tag::Program)? };
        self.program.take(index, value, &mut self.taken);
        self.history.push((index as u32, value));
        self.enabled = self.program.enabled(&self.taken);
        if self.enabled.is_empty() {
            self.program.ended.lock().unwrap().push(self.history.clone());
        }
        Ok(())
    }

    fn status(&self) -> Status {
        if self.enabled.is_empty() { Status::Done } else { Status::Running }
    }

    fn name(&self, worker: WorkerId) -> String {
        format!("worker {worker}")
    }
}

impl Captured for Running {
    fn encode(&self, out: &mut Vec<u8>) {
        fingerprint::Encoder::encode(&self.history, out);
    }

    fn fork(&self) -> Running {
        Running {
            program: self.program.clone(),
            taken: self.taken.clone(),
            history: self.history.clone(),
            enabled: self.enabled.clone(),
        }
    }
}

/// The delays of every execution with at most `most` of them, by going through the composition of
/// program and explorer.
pub fn delays_of_all(
    program: &Straight,
    kind: ExplorerKind,
    most: u32,
) -> BTreeMap<Execution, u32> {
    let mut explorer = kind.build(0);
    let taken = vec![(0, 0); program.workers.len()];
    for worker in program.enabled(&taken) {
        explorer.started(worker, "worker");
    }
    let mut all = BTreeMap::new();
    go_on(program, &explorer, &taken, &mut Vec::new(), (0, most), &mut all);
    all
}

fn go_on<E: Explorer>(
    program: &Straight,
    explorer: &E,
    taken: &[Taken],
    history: &mut Execution,
    (delays, most): (u32, u32),
    all: &mut BTreeMap<Execution, u32>,
) {
    let enabled = program.enabled(taken);
    if enabled.is_empty() {
        assert_eq!(all.insert(history.clone(), delays), None, "each execution comes once");
        return;
    }
    let mut late = explorer.clone();
    for (put_off, _) in (0..).zip(&enabled) {
        if put_off > 0 {
            late.delay(&enabled);
        }
        let worker = late.next(&enabled).unwrap();
        let index = program.index(worker);
        let of = program.values(index, taken);
        for value in 0..of.max(1) {
            let spent = delays + put_off + value;
            if spent > most {
                break;
            }
            let mut next = taken.to_vec();
            program.take(index, value, &mut next);
            let now = program.enabled(&next);
            let blocked: &[WorkerId] = if now.contains(&worker) { &[] } else { &[worker] };
            let mut after = late.clone();
            after.stepped(&Stepped {
                worker,
                enabled: &now,
                sent: &[],
                woken: &[],
                blocked,
                hints: &[],
            });
            history.push((index as u32, value));
            go_on(program, &after, &next, history, (spent, most), all);
            history.pop();
        }
    }
}
