//! Q-learning against the algorithms of the paper, written down word for word.

use std::collections::BTreeMap;

use dally_core::{
    Cut, Env, Event, MessageId, Status, Stop, System, Tag, Text, WorkerId, fingerprint,
};
use proptest::prelude::{prop, prop_assert, prop_assert_eq, proptest};
use proptest::strategy::Strategy as Generate;

use super::*;
use crate::learning::Learning;
use crate::sampling::{Sampler, Seeded};
use crate::strategy::{Learner, Outcome, Point, Strategy};

type Strategist = Seeded<Learning<Ql>>;

/// A transition system: in each state, every worker that can step asks for one of so many values
/// (0: for none), and each value leads to a state. States whose numbers differ by a multiple of the
/// second number look alike, although other workers may step in them.
#[derive(Clone, Debug)]
struct Graph(Vec<Vec<Edge>>, usize);

#[derive(Clone, Debug)]
struct Edge {
    worker: u32,
    tag: Tag,
    rare: bool,
    to: Vec<usize>,
}

struct Walker<'a> {
    graph: &'a Graph,
    at: usize,
    rare: bool,
    enabled: Vec<WorkerId>,
}

impl<'a> Walker<'a> {
    fn new(graph: &'a Graph) -> Walker<'a> {
        let mut walker = Walker { graph, at: 0, rare: false, enabled: Vec::new() };
        walker.refresh();
        walker
    }

    fn refresh(&mut self) {
        let edges = &self.graph.0[self.at];
        self.enabled = edges.iter().map(|edge| WorkerId::root(edge.worker)).collect();
    }

    fn seen(&self) -> u64 {
        (self.at % self.graph.1) as u64
    }
}

impl System for Walker<'_> {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }
    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let place = worker.place_in(&self.enabled).unwrap();
        let edge = &self.graph.0[self.at][place];
        let value = match edge.to.len() {
            1 => 0,
            of => env.value(of as u32, edge.tag)?,
        };
        (self.at, self.rare) = (edge.to[value as usize], edge.rare);
        self.refresh();
        Ok(())
    }
    fn status(&self) -> Status {
        Status::Running
    }
    fn observe(&self, _: Observe) -> Option<u64> {
        Some(self.seen())
    }
    fn rare(&self) -> bool {
        self.rare
    }
    fn name(&self, _: WorkerId) -> String {
        String::new()
    }
}

/// Has the strategy choose values, and writes down what the paper calls the schedule: the states
/// with their possible actions and the one taken.
struct Asking<'a> {
    ql: &'a mut Strategist,
    here: u64,
    log: &'a mut Vec<Taken>,
}

struct Taken {
    state: u64,
    actions: Vec<u64>,
    action: u64,
    fault: bool,
}

impl Env for Asking<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let index = self.ql.value(of, tag).unwrap();
        let (state, action) = (self.here, u64::from(index));
        let actions = (0..u64::from(of)).collect();
        self.log.push(Taken { state, actions, action, fault: tag == Tag::Fault && index > 0 });
        self.here = fingerprint::mix(self.here, action);
        Ok(index)
    }
    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        Ok(0)
    }
    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}

#[derive(Default)]
struct Paper {
    q: BTreeMap<u64, BTreeMap<u64, f64>>,
    visits: BTreeMap<u64, u32>,
}

impl Paper {
    /// Lines 2 to 6 of algorithm 2 for all states, then algorithm 3 with OPT-1 and OPT-2.
    fn learn(&mut self, schedule: &[Taken], last: u64, reward: Reward) {
        for taken in schedule {
            *self.visits.entry(taken.state).or_default() += 1;
            for &action in &taken.actions {
                self.q.entry(taken.state).or_default().entry(action).or_insert(0.0);
            }
        }
        *self.visits.entry(last).or_default() += 1;
        for i in (0..schedule.len()).rev() {
            let taken = &schedule[i];
            let next = schedule.get(i + 1).map_or(last, |next| next.state);
            let known = self.q.get(&next);
            let max = known.into_iter().flat_map(|q| q.values().copied()).reduce(f64::max);
            let reward = match reward {
                Reward::Flat => -1.0,
                Reward::ByVisits => {
                    let penalty = if taken.fault { 1_000.0 } else { 1.0 };
                    -penalty * f64::from(self.visits[&next])
                }
            };
            let q = self.q.get_mut(&taken.state).unwrap().get_mut(&taken.action).unwrap();
            *q = 0.7 * *q + 0.3 * (reward + 0.7 * max.unwrap_or(0.0));
        }
    }
}

fn run(ql: &mut Strategist, graph: &Graph, schedule: u64) -> (Vec<Taken>, u64, Outcome) {
    let mut system = Walker::new(graph);
    let mut log = Vec::new();
    assert!(ql.begin(schedule));
    let mut step = 0;
    while step < 8 && !system.enabled.is_empty() {
        let point = Point::new(&system.enabled, None, [step; 2], &system);
        let worker = ql.worker(&point).unwrap();
        let actions = system.enabled.iter().map(|worker| worker.to_bits()).collect();
        let (state, action) = (system.seen(), worker.to_bits());
        log.push(Taken { state, actions, action, fault: false });
        let here = fingerprint::mix(state, action);
        system.step(worker, &mut Asking { ql: &mut *ql, here, log: &mut log }).unwrap();
        log.last_mut().unwrap().fault |= system.rare;
        step += 1;
    }
    let lesson = ql.sampler.lesson(Some(&system));
    let outcome = Outcome { schedule, lesson, ..Outcome::default() };
    // Nothing was asked in the last state of a schedule that was cut.
    (log, system.seen(), outcome)
}

fn edge(states: usize) -> impl Generate<Value = Edge> {
    let to = prop::collection::vec(0..states, 1..4);
    (0u32..6, prop::bool::ANY, prop::bool::ANY, to).prop_map(|(worker, fault, rare, to)| Edge {
        worker,
        tag: if fault { Tag::Fault } else { Tag::Program },
        rare,
        to,
    })
}

/// Up to 6 states; the one after the last has no actions, so that schedules end.
fn graph() -> impl Generate<Value = Graph> {
    (2usize..6).prop_flat_map(|states| {
        let edges = prop::collection::vec(edge(states + 1), 1..4).prop_map(|mut edges| {
            edges.sort_by_key(|edge| edge.worker);
            edges.dedup_by_key(|edge| edge.worker);
            edges
        });
        (prop::collection::vec(edges, states), 1..=states + 1).prop_map(|(mut all, seen)| {
            all.push(Vec::new());
            Graph(all, seen)
        })
    })
}

proptest! {
    #[test]
    fn values_are_those_of_the_algorithms_of_the_paper(
        graph in graph(),
        seed in 0u64..1_000,
        flat in prop::bool::ANY,
        batch in 1usize..4,
    ) {
        let reward = if flat { Reward::Flat } else { Reward::ByVisits };
        let mut ql = Learning::by(Ql { reward, ..Ql::default() }).seeded(seed);
        let mut paper = Paper::default();
        for first in 0..20 {
            let ran: Vec<_> =
                (0..batch as u64).map(|n| run(&mut ql, &graph, first * batch as u64 + n)).collect();
            let outcomes: Vec<Outcome> = ran.iter().map(|ran| ran.2.clone()).collect();
            ql.sampler.learn(&outcomes);
            for (log, last, _) in &ran {
                paper.learn(log, *last, reward);
            }
            for (&state, q) in &paper.q {
                let at = ql.sampler.table.find(state).unwrap();
                prop_assert_eq!(ql.sampler.table.visits(at), paper.visits[&state]);
                let known: BTreeMap<u64, f64> = ql.sampler.table.taken(at).collect();
                for (action, expected) in q {
                    let value = known.get(action).copied().unwrap_or(0.0);
                    prop_assert!((value - expected).abs() <= 1e-9 * expected.abs());
                }
            }
        }
    }
}

#[test]
fn a_fault_that_was_injected_is_not_injected_there_again() {
    let to = |to: usize| Edge { worker: 0, tag: Tag::Fault, rare: false, to: vec![to; 2] };
    let graph = Graph((1..=8).map(|state| vec![to(state)]).chain([Vec::new()]).collect(), 9);
    let mut ql = Learning::by(Ql::default()).seeded(3);
    let mut injected: Vec<Vec<usize>> = Vec::new();
    for schedule in 0..40 {
        let (log, _, outcome) = run(&mut ql, &graph, schedule);
        injected.push((0..16).filter(|&place| log[place].fault).collect());
        ql.sampler.learn(&[outcome]);
    }
    // Each of the 8 places once, and no place twice: the penalty outweighs a thousand visits.
    let mut places = injected.concat();
    places.sort_unstable();
    assert_eq!(places, [1, 3, 5, 7, 9, 11, 13, 15]);
}

#[test]
fn what_the_program_calls_rare_is_not_done_there_again() {
    // One worker goes on, the other injects a failure and takes the schedule to its end.
    let on = |to: usize| Edge { worker: 0, tag: Tag::Program, rare: false, to: vec![to] };
    let fail = Edge { worker: 1, tag: Tag::Program, rare: true, to: vec![8] };
    let states = (1..=8).map(|to| vec![on(to), fail.clone()]);
    let graph = Graph(states.chain([Vec::new()]).collect(), 9);
    let mut ql = Learning::by(Ql::default()).seeded(3);
    let mut injected: Vec<u64> = Vec::new();
    for schedule in 0..40 {
        let (log, _, outcome) = run(&mut ql, &graph, schedule);
        injected.extend(log.iter().filter(|taken| taken.fault).map(|taken| taken.state));
        ql.sampler.learn(&[outcome]);
    }
    // Once in each of the 8 states, where chance would inject it in the first one 20 times.
    injected.sort_unstable();
    assert_eq!(injected, [0, 1, 2, 3, 4, 5, 6, 7]);
}
