//! Random transition graphs as programs: states are hot or not and some are sealed, transitions may
//! be allowed only finitely often, are faults or fail, and steps choose up to two values or messages
//! on the way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dally_core::{
    Acceptance, Bug, Captured, Choice, Env, Fingerprint, MessageId, Observe, Program, StateVisitor,
    Status, Stop, System, Tag, WorkerId, fingerprint,
};
use fastrand::Rng;

/// A state.
#[derive(Clone, Debug, Default)]
pub struct Place {
    pub enabled: Vec<WorkerId>,
    /// What each enabled worker can do.
    pub steps: Vec<Step>,
    pub hot: u64,
    pub sealed: bool,
}

/// What happens once a worker steps.
#[derive(Clone, Debug)]
pub enum Step {
    To(Target),
    /// In one of several ways.
    Fail(u32),
    /// One of these, by a value that is asked for at this place of the program.
    Value(Tag, u64, Vec<Step>),
    /// One of these, by the message that is delivered, with the number of its sender.
    Delivery(Vec<(u32, Step)>),
}

/// Where a transition leads.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub to: usize,
    /// The monitors that allow it only finitely often.
    pub visits: u64,
    /// The monitors that are not hot at some moment of it.
    pub relieved: u64,
}

impl Target {
    /// To this state, without a word of any monitor.
    pub fn plain(to: usize) -> Target {
        Target { to, visits: 0, relieved: 0 }
    }
}

/// What a transition chooses on its way, as fairness tells things apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inside {
    /// At a place, a value, and of how many.
    Value(u64, u32, usize),
    From(u32),
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Transition {
    pub worker: WorkerId,
    pub inside: Vec<Inside>,
    pub fault: bool,
    /// `None` if it fails.
    pub target: Option<Target>,
}

impl Place {
    /// All transitions out of this state, in the order of workers and values.
    pub fn transitions(&self) -> Vec<Transition> {
        let mut all = Vec::new();
        for (&worker, step) in self.enabled.iter().zip(&self.steps) {
            let fault = worker == WorkerId::FAULTS;
            let begun = Transition { worker, inside: Vec::new(), fault, target: None };
            step.leaves(begun, &mut all);
        }
        all
    }

    /// The transition that these choices take: a worker, and what is chosen inside.
    pub fn take(&self, worker: WorkerId, inside: &[Choice]) -> Option<Transition> {
        let place = self.enabled.iter().position(|&one| one == worker)?;
        let before: usize = self.steps[..place].iter().map(Step::count).sum();
        let way = self.steps[place].way(inside)?;
        self.transitions().get(before + way).cloned()
    }
}

impl Step {
    fn leaves(&self, begun: Transition, all: &mut Vec<Transition>) {
        match self {
            &Step::To(target) => all.push(Transition { target: Some(target), ..begun }),
            Step::Fail(_) => all.push(begun),
            Step::Value(tag, place, steps) => {
                for (value, step) in steps.iter().enumerate() {
                    let mut begun = begun.clone();
                    match tag {
                        Tag::Fault => begun.fault |= value > 0,
                        Tag::Program => {
                            begun.inside.push(Inside::Value(*place, value as u32, steps.len()));
                        }
                    }
                    step.leaves(begun, all);
                }
            }
            Step::Delivery(steps) => {
                for (from, step) in steps {
                    let mut begun = begun.clone();
                    begun.inside.push(Inside::From(*from));
                    step.leaves(begun, all);
                }
            }
        }
    }

    /// How many transitions it stands for.
    fn count(&self) -> usize {
        match self {
            Step::To(_) | Step::Fail(_) => 1,
            Step::Value(_, _, steps) => steps.iter().map(Step::count).sum(),
            Step::Delivery(steps) => steps.iter().map(|(_, step)| step.count()).sum(),
        }
    }

    /// The number of the transition that these choices take, among all of this step.
    fn way(&self, inside: &[Choice]) -> Option<usize> {
        let (index, rest) = match (self, inside) {
            (Step::To(_) | Step::Fail(_), []) => return Some(0),
            (Step::Value(..), [Choice::Value { index, .. }, rest @ ..]) => (*index as usize, rest),
            (Step::Delivery(_), [Choice::Delivery(message), rest @ ..]) => {
                (message.number as usize, rest)
            }
            _ => return None,
        };
        let steps: Vec<&Step> = match self {
            Step::To(_) | Step::Fail(_) => Vec::new(),
            Step::Value(_, _, steps) => steps.iter().collect(),
            Step::Delivery(steps) => steps.iter().map(|(_, step)| step).collect(),
        };
        let before: usize = steps[..index].iter().map(|step| step.count()).sum();
        Some(before + steps.get(index)?.way(rest)?)
    }
}

/// How a random graph is made.
struct Maker {
    rng: Rng,
    states: usize,
    visits: f32,
    relief: f32,
    fails: bool,
}

impl Maker {
    fn target(&mut self) -> Target {
        let Maker { rng, states, visits, relief, .. } = self;
        let mut monitors = |share: f32| (0..2).map(|m| u64::from(rng.f32() < share) << m).sum();
        let (visits, relieved) = (monitors(*visits) << 2, monitors(*relief));
        Target { to: rng.usize(0..*states), visits, relieved }
    }

    /// A step that may ask this often.
    fn step(&mut self, asks: u32) -> Step {
        match self.rng.u8(0..if asks > 0 { 12 } else { 1 }) {
            0 if self.fails && self.rng.u8(..6) == 0 => Step::Fail(0),
            1 | 2 => {
                let tag = if self.rng.u8(..3) > 0 { Tag::Program } else { Tag::Fault };
                let steps = (0..self.rng.u32(2..4)).map(|_| self.next_step(asks)).collect();
                Step::Value(tag, self.rng.u64(..2), steps)
            }
            3 => {
                let messages = 0..self.rng.u32(1..4);
                Step::Delivery(
                    messages.map(|_| (self.rng.u32(0..2), self.next_step(asks))).collect(),
                )
            }
            _ => Step::To(self.target()),
        }
    }

    /// What comes after an answer: mostly nothing.
    fn next_step(&mut self, asks: u32) -> Step {
        let more = if self.rng.u8(..4) == 0 { asks - 1 } else { 0 };
        self.step(more)
    }
}

/// A graph of up to `most` states; the first is where executions begin.
pub fn random(seed: u64, most: usize) -> Vec<Place> {
    let mut rng = Rng::with_seed(seed);
    let states = rng.usize(1..=most);
    let workers = rng.u32(1..=4);
    let faults = rng.u8(0..4) == 0;
    // Many graphs are hot almost everywhere or visit almost nothing: cycles are rare otherwise.
    let (heat, busy, visits) = (rng.f32(), 0.3 + 0.7 * rng.f32(), 0.4 * rng.f32());
    let (fails, seals) = (rng.u8(..3) == 0, rng.u8(..4) == 0);
    // A sealed state is left by one way wherever it is told apart from itself.
    let relief = if seals || rng.bool() { 0.0 } else { 0.5 * rng.f32() };
    let mut maker = Maker { rng, states, visits, relief, fails };
    (0..states)
        .map(|_| {
            let rng = &mut maker.rng;
            let mut enabled: Vec<WorkerId> =
                (0..workers).filter(|_| rng.f32() < busy).map(WorkerId::root).collect();
            if faults && rng.bool() {
                enabled.push(WorkerId::FAULTS);
            }
            enabled.sort_unstable();
            let hot = (0..2).map(|monitor| u64::from(rng.f32() < heat) << monitor).sum();
            let sealed = seals && rng.u8(..3) == 0;
            let steps = enabled.iter().map(|_| maker.step(2)).collect();
            Place { enabled, steps, hot, sealed }
        })
        .collect()
}

/// A graph as a program, which knows the transitions that it was made to take.
pub struct Labelled {
    graph: Arc<Vec<Place>>,
    /// For each state, its transitions.
    taken: Arc<Vec<Vec<AtomicBool>>>,
}

impl Labelled {
    pub fn new(graph: &Arc<Vec<Place>>) -> Labelled {
        let flags = |place: &Place| place.transitions().iter().map(|_| false.into()).collect();
        Labelled { graph: graph.clone(), taken: Arc::new(graph.iter().map(flags).collect()) }
    }

    /// Whether the transition of this number out of a state was taken.
    pub fn has_taken(&self, at: usize, number: usize) -> bool {
        self.taken[at][number].load(Ordering::Relaxed)
    }
}

/// One live execution.
pub struct Live {
    graph: Arc<Vec<Place>>,
    taken: Arc<Vec<Vec<AtomicBool>>>,
    at: usize,
    /// Of the last transition: not a part of the state.
    visits: u64,
    relieved: u64,
}

impl Live {
    /// The fingerprint after a step of this worker, if it chooses nothing.
    pub fn plain_target(&self, worker: WorkerId) -> Option<Fingerprint> {
        let place = &self.graph[self.at];
        match place.steps[worker.place_in(&place.enabled).ok()?] {
            Step::To(target) => Some(Fingerprint(fingerprint::mix(target.to as u64, 7))),
            _ => None,
        }
    }
}

impl Program for Labelled {
    type System = Live;

    fn start(&self) -> Result<Live, Bug> {
        let (graph, taken) = (self.graph.clone(), self.taken.clone());
        Ok(Live { graph, taken, at: 0, visits: 0, relieved: 0 })
    }

    fn granularity(&self) -> &'static str {
        "one transition"
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        visitor.copied(self)
    }
}

impl System for Live {
    fn enabled(&self) -> &[WorkerId] {
        &self.graph[self.at].enabled
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let graph = self.graph.clone();
        let place = &graph[self.at];
        let number = worker.place_in(&place.enabled).expect("a worker that can step");
        let mut transition: usize = place.steps[..number].iter().map(Step::count).sum();
        let mut step = &place.steps[number];
        let target = loop {
            step = match step {
                Step::To(target) => break Ok(*target),
                Step::Fail(way) => break Err(Bug::panic(format!("failed{way}"))),
                Step::Value(tag, place, steps) => {
                    env.place(*place);
                    let value = env.value(steps.len() as u32, *tag)? as usize;
                    transition += steps[..value].iter().map(Step::count).sum::<usize>();
                    &steps[value]
                }
                Step::Delivery(steps) => {
                    let message = |(number, &(sender, _)): (usize, &(u32, Step))| MessageId {
                        sender: WorkerId::root(sender),
                        number: number as u32,
                    };
                    let messages: Vec<_> = steps.iter().enumerate().map(message).collect();
                    let chosen = env.delivery(&messages)?;
                    transition +=
                        steps[..chosen].iter().map(|(_, step)| step.count()).sum::<usize>();
                    &steps[chosen].1
                }
            };
        };
        self.taken[self.at][transition].store(true, Ordering::Relaxed);
        let target = target?;
        (self.at, self.visits, self.relieved) = (target.to, target.visits, target.relieved);
        Ok(())
    }

    fn status(&self) -> Status {
        if self.enabled().is_empty() { Status::Done } else { Status::Running }
    }

    fn acceptance(&self) -> Acceptance {
        let Live { ref graph, at, visits, relieved, .. } = *self;
        Acceptance { hot: graph[at].hot, relieved, visits }
    }

    fn observe(&self, _how: Observe) -> Option<u64> {
        Some(self.at as u64)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(Fingerprint(fingerprint::mix(self.at as u64, 7)))
    }

    fn sealed(&self) -> bool {
        self.graph[self.at].sealed
    }

    fn name(&self, _worker: WorkerId) -> String {
        "Walker".into()
    }

    fn monitor(&self, index: usize) -> (String, String) {
        let names = ["HotOne", "HotTwo", "VisitsOne", "VisitsTwo"];
        (names[index].into(), "Waiting".into())
    }
}

impl Captured for Live {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.at.to_le_bytes());
    }

    fn fork(&self) -> Live {
        Live { graph: self.graph.clone(), taken: self.taken.clone(), ..*self }
    }

    fn restore_from(&mut self, saved: &Live) {
        (self.at, self.visits, self.relieved) = (saved.at, saved.visits, saved.relieved);
    }
}
