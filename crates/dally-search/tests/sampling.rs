//! Stratified sampling against brute force: Theorem 3 of the paper on delaying explorers says that
//! an execution with `d` delays is sampled with a probability of at least `1/L^d`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use dally_core::{
    Bug, Captured, Env, Program, StateVisitor, Status, Stop, System, Tag, WorkerId, fingerprint,
};
use dally_report::text::coverage;
use dally_search::strata::{Explorer, ExplorerKind, Plan, SearchKind, Stepped, explore};
use dally_search::{Ended, Options};

/// Workers that take their steps, in each of which they choose one of so many values (0: none).
#[derive(Clone)]
struct Straight {
    workers: Vec<Vec<u32>>,
    /// Whether a worker that has chosen a value takes as many steps more.
    prolongs: bool,
    ended: Arc<Mutex<Vec<Execution>>>,
}

/// The steps of an execution: who, and the value chosen.
type Execution = Vec<(u32, u32)>;

/// What a worker has done: its steps, and how many it takes more than those of the program.
type Taken = (usize, usize);

struct Running {
    program: Straight,
    taken: Vec<Taken>,
    history: Execution,
    enabled: Vec<WorkerId>,
}

impl Straight {
    fn new(workers: &[&[u32]]) -> Straight {
        let workers = workers.iter().map(|steps| steps.to_vec()).collect();
        Straight { workers, prolongs: false, ended: Arc::default() }
    }

    fn of_different_lengths(workers: &[&[u32]]) -> Straight {
        Straight { prolongs: true, ..Straight::new(workers) }
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
    fn longest(&self) -> u32 {
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
struct Rerun(Straight);

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
fn delays_of_all(program: &Straight, kind: ExplorerKind, most: u32) -> BTreeMap<Execution, u32> {
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

/// How often each execution is the last one of a sample with so many delays.
fn sampled(
    program: &Straight,
    kind: ExplorerKind,
    delays: u32,
    samples: u64,
    captured: bool,
) -> BTreeMap<Execution, u64> {
    let plan = Plan {
        search: SearchKind::Ss,
        delays: Some(delays),
        samples: (samples - 1, 1),
        ..Plan::default()
    };
    let options = Options { schedules: u64::MAX, ..Options::default() };
    let (straight, explorer) = (program.clone(), kind.build(0));
    let report = if captured {
        explore(Arc::new(straight), explorer, plan, options, Arc::new(()))
    } else {
        explore(Arc::new(Rerun(straight)), explorer, plan, options, Arc::new(()))
    };
    assert_eq!(report.ended, Ended::Bound);
    let done = report.states.unwrap().samples.unwrap();
    assert_eq!((done.samples, done.delays), (samples * u64::from(delays), delays));
    assert!(done.longest <= program.longest() as usize);
    assert!(done.longest == program.longest() as usize || program.prolongs);
    // Each sample begins with the execution without delays, and no later one is equal to it.
    let ended = std::mem::take(&mut *program.ended.lock().unwrap());
    let own = ended[0].clone();
    let mut lasts = BTreeMap::new();
    let groups = ended.split(|execution| *execution == own).skip(1);
    for group in groups.skip((samples * u64::from(delays - 1)) as usize) {
        let last = group.last().unwrap_or(&own).clone();
        *lasts.entry(last).or_default() += 1;
    }
    assert_eq!(lasts.values().sum::<u64>(), samples);
    lasts
}

#[test]
fn every_execution_with_d_delays_has_a_chance_of_at_least_one_in_l_to_the_d() {
    let programs = [
        Straight::new(&[&[0, 0], &[0, 0], &[0]]),
        Straight::new(&[&[0, 2], &[0, 0]]),
        Straight::new(&[&[3], &[0], &[2]]),
        Straight::new(&[&[0], &[0], &[0], &[0]]),
        Straight::of_different_lengths(&[&[4], &[0, 0]]),
        Straight::of_different_lengths(&[&[0, 3], &[3], &[0]]),
    ];
    const SAMPLES: u64 = 20_000;
    for program in &programs {
        for kind in [ExplorerKind::RoundRobin, ExplorerKind::RunToCompletion] {
            let all = delays_of_all(program, kind, 2);
            for delays in [1, 2] {
                let seen = sampled(program, kind, delays, SAMPLES, true);
                let chance = f64::from(program.longest()).powi(-(delays as i32));
                let expected = SAMPLES as f64 * chance;
                // Five standard deviations: by chance once in three million.
                let least = expected - 5.0 * (expected * (1.0 - chance)).sqrt();
                for (execution, _) in all.iter().filter(|(_, cost)| **cost == delays) {
                    let times = seen.get(execution).copied().unwrap_or(0) as f64;
                    assert!(
                        times >= least,
                        "{kind}: {execution:?} was sampled {times} times, and not {expected}"
                    );
                }
                for execution in seen.keys() {
                    assert!(all[execution] <= delays, "{execution:?}");
                }
            }
        }
    }
}

/// Of each of many random programs one execution, drawn from all with so many delays: together they
/// are sampled as often as the bound says, or more.
#[test]
fn so_it_is_over_twenty_thousand_random_programs() {
    const SAMPLES: u64 = 12;
    let (mut seen, mut expected, mut variance) = (0, 0.0, 0.0);
    let mut programs = 0;
    for seed in 0..25_000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let steps = |rng: &mut fastrand::Rng| -> Vec<u32> {
            (0..rng.usize(1..=2)).map(|_| [0, 0, 2, 3][rng.usize(..4)]).collect()
        };
        let workers = (0..rng.usize(1..=3)).map(|_| steps(&mut rng)).collect();
        let program = Straight { workers, prolongs: rng.bool(), ended: Arc::default() };
        let kind = [ExplorerKind::RoundRobin, ExplorerKind::RunToCompletion][rng.usize(..2)];
        let delays = rng.u32(1..=2);
        let all = delays_of_all(&program, kind, delays);
        let with_all: Vec<_> = all.iter().filter(|(_, cost)| **cost == delays).collect();
        let Some((target, _)) = rng.choice(with_all) else { continue };
        let lasts = sampled(&program, kind, delays, SAMPLES, true);
        assert!(lasts.keys().all(|execution| all[execution] <= delays), "seed {seed}");
        let chance = f64::from(program.longest()).powi(-(delays as i32));
        seen += lasts.get(target).copied().unwrap_or(0);
        expected += SAMPLES as f64 * chance;
        variance += SAMPLES as f64 * chance * (1.0 - chance);
        programs += 1;
    }
    assert!(programs >= 20_000, "{programs}");
    assert!(seen as f64 >= expected - 5.0 * f64::sqrt(variance), "{seen} and not {expected}");
}

#[test]
fn samples_are_the_same_where_states_are_copied_and_where_prefixes_run_again() {
    let program = Straight::new(&[&[0, 2], &[0, 0], &[2]]);
    let kind = ExplorerKind::RoundRobin;
    // To come back to a state runs its prefix again, which ends no execution.
    let copied = sampled(&program, kind, 2, 300, true);
    let again = sampled(&program, kind, 2, 300, false);
    assert_eq!(copied, again);
}

/// Which samples are drawn does not depend on how fast the threads are.
#[test]
fn samples_are_the_same_on_several_threads() {
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let workers = (0..rng.usize(2..=3)).map(|_| vec![[0, 2, 3][rng.usize(..3)]; 2]).collect();
        let program = Straight { workers, prolongs: rng.bool(), ended: Arc::default() };
        let drawn = [1, 2, 3].map(|threads| {
            let plan = Plan {
                search: SearchKind::Ss,
                delays: Some(2),
                samples: (20, 1),
                ..Plan::default()
            };
            let options = Options { seed, threads, schedules: u64::MAX, ..Options::default() };
            let explorer = ExplorerKind::ALL[seed as usize % 4].build(seed);
            let report = explore(Arc::new(program.clone()), explorer, plan, options, Arc::new(()));
            let mut ended = std::mem::take(&mut *program.ended.lock().unwrap());
            ended.sort();
            (ended, report.states.unwrap().samples)
        });
        assert_eq!(drawn[0], drawn[1], "seed {seed}");
        assert_eq!(drawn[0], drawn[2], "seed {seed}");
    }
}

#[test]
fn a_hybrid_search_samples_from_its_frontier_when_its_memory_is_nearly_used() {
    // Every history is a state of its own: there are 369,600 executions.
    let program = Straight::new(&[&[0; 3], &[0; 3], &[0; 3], &[0; 3]]);
    let plan = Plan { search: SearchKind::Hybrid, memory: 300_000, ..Plan::default() };
    let options = Options { schedules: 500, ..Options::default() };
    let explorer = ExplorerKind::RoundRobin.build(0);
    let report = explore(Arc::new(program), explorer, plan, options, Arc::new(()));
    assert_eq!(report.ended, Ended::Schedules);
    let text = coverage(&report);
    let states = report.states.unwrap();
    let samples = states.samples.unwrap();
    assert_eq!(samples.executions, 500);
    assert!(samples.from_frontier > 100, "{samples:?}");
    assert!(states.strata.iter().any(|stratum| stratum.complete));
    assert!(
        text.starts_with("visited ") && text.contains(", then sampled 500 schedules"),
        "{text}"
    );
}

#[test]
fn a_hybrid_search_draws_each_state_of_its_frontier_with_the_same_chance() {
    for threads in [1, 2] {
        let program = Straight::new(&[&[0; 3], &[0; 3], &[0; 3], &[0; 3]]);
        let ended = program.ended.clone();
        const SAMPLES: u64 = 40_000;
        let plan = Plan {
            search: SearchKind::Hybrid,
            memory: 300_000,
            samples: (SAMPLES - 1, 1),
            ..Plan::default()
        };
        // The samples without a further delay, and none with one.
        let options = Options { threads, schedules: SAMPLES, ..Options::default() };
        let explorer = ExplorerKind::RoundRobin.build(0);
        let report = explore(Arc::new(program), explorer, plan, options, Arc::new(()));
        let frontier = report.states.unwrap().samples.unwrap().from_frontier;
        assert!((100..1_000).contains(&frontier), "{frontier}");
        let mut ended = std::mem::take(&mut *ended.lock().unwrap());
        let mut times: BTreeMap<Execution, u32> = BTreeMap::new();
        for execution in ended.split_off(ended.len() - SAMPLES as usize) {
            *times.entry(execution).or_default() += 1;
        }
        assert_eq!(times.len() as u64, frontier, "no two entries lead to the same execution");
        let expected = SAMPLES as f64 / frontier as f64;
        let least = expected - 6.0 * expected.sqrt();
        let fewest = times.values().min().copied().unwrap_or(0);
        assert!(f64::from(fewest) >= least, "{fewest} and not {expected}, on {threads}");
    }
}
