//! Random transition graphs whose states are hot or not and whose transitions may be allowed only
//! finitely often, as programs.

use std::sync::Arc;

use dally_core::{
    Acceptance, Bug, Captured, Choice, Env, Fingerprint, MessageId, Observe, Program, StateVisitor,
    Status, Stop, System, Tag, WorkerId, fingerprint,
};
use fastrand::Rng;

/// A state.
#[derive(Clone, Debug)]
pub struct Place {
    pub enabled: Vec<WorkerId>,
    /// What each enabled worker can do.
    pub steps: Vec<Step>,
    pub hot: u64,
}

/// A step of a worker: one way, or one for each value that it chooses.
#[derive(Clone, Debug)]
pub enum Step {
    To(Target),
    Value(Tag, Vec<Target>),
    /// With the number of the sender of each message.
    Delivery(Vec<(u32, Target)>),
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

/// What a transition does, as fairness tells things apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inside {
    Nothing,
    /// A value, and of how many.
    Value(u32, usize),
    From(u32),
    Fault,
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Transition {
    pub worker: WorkerId,
    pub inside: Inside,
    pub target: Target,
}

impl Place {
    /// All transitions out of this state.
    pub fn transitions(&self) -> Vec<Transition> {
        let mut all = Vec::new();
        for (&worker, step) in self.enabled.iter().zip(&self.steps) {
            let mut add = |inside, target| all.push(Transition { worker, inside, target });
            match step {
                &Step::To(target) => add(Inside::Nothing, target),
                Step::Value(tag, targets) => {
                    for (value, &target) in targets.iter().enumerate() {
                        add(
                            match (tag, value) {
                                (Tag::Fault, 0) => Inside::Nothing,
                                (Tag::Fault, _) => Inside::Fault,
                                (Tag::Program, value) => Inside::Value(value as u32, targets.len()),
                            },
                            target,
                        );
                    }
                }
                Step::Delivery(targets) => {
                    targets.iter().for_each(|&(from, target)| add(Inside::From(from), target));
                }
            }
        }
        all
    }

    /// The transition that these choices, a worker and what is chosen inside, take.
    pub fn take(&self, worker: WorkerId, inside: Option<Choice>) -> Option<Transition> {
        let place = self.enabled.iter().position(|&one| one == worker)?;
        let before: usize = self.steps[..place].iter().map(Step::ways).sum();
        let way = match (&self.steps[place], inside) {
            (Step::To(_), None) => 0,
            (Step::Value(..), Some(Choice::Value { index, .. })) => index as usize,
            (Step::Delivery(_), Some(Choice::Delivery(message))) => message.number as usize,
            _ => return None,
        };
        self.transitions().get(before + way).cloned()
    }
}

impl Step {
    fn ways(&self) -> usize {
        match self {
            Step::To(_) => 1,
            Step::Value(_, targets) => targets.len(),
            Step::Delivery(targets) => targets.len(),
        }
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
    let relief = if rng.bool() { 0.0 } else { 0.5 * rng.f32() };
    (0..states)
        .map(|_| {
            let mut enabled: Vec<WorkerId> =
                (0..workers).filter(|_| rng.f32() < busy).map(WorkerId::root).collect();
            if faults && rng.bool() {
                enabled.push(WorkerId::FAULTS);
            }
            enabled.sort_unstable();
            let target = |rng: &mut Rng| {
                let marked = (0..2).map(|monitor| u64::from(rng.f32() < visits) << (2 + monitor));
                let visits = marked.sum();
                let calm = (0..2).map(|monitor| u64::from(rng.f32() < relief) << monitor);
                let relieved = calm.sum();
                Target { to: rng.usize(0..states), visits, relieved }
            };
            let steps = enabled.iter().map(|_| match rng.u8(0..10) {
                0 => {
                    let tag = if rng.bool() { Tag::Program } else { Tag::Fault };
                    Step::Value(tag, (0..rng.u32(2..4)).map(|_| target(&mut rng)).collect())
                }
                1 => Step::Delivery(
                    (0..rng.u32(1..4)).map(|_| (rng.u32(0..2), target(&mut rng))).collect(),
                ),
                _ => Step::To(target(&mut rng)),
            });
            let steps = steps.collect();
            let hot = (0..2).map(|monitor| u64::from(rng.f32() < heat) << monitor).sum();
            Place { enabled, steps, hot }
        })
        .collect()
}

/// A graph as a program.
pub struct Labelled(pub Arc<Vec<Place>>);

/// One live execution.
pub struct Live {
    graph: Arc<Vec<Place>>,
    at: usize,
    /// Of the last transition: not a part of the state.
    visits: u64,
    relieved: u64,
}

impl Program for Labelled {
    type System = Live;

    fn start(&self) -> Result<Live, Bug> {
        Ok(Live { graph: self.0.clone(), at: 0, visits: 0, relieved: 0 })
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
        let place = &self.graph[self.at];
        let step = &place.steps[worker.place_in(&place.enabled).expect("a worker that can step")];
        let target = match step {
            Step::To(target) => *target,
            Step::Value(tag, targets) => targets[env.value(targets.len() as u32, *tag)? as usize],
            Step::Delivery(targets) => {
                let message = |(number, &(sender, _))| MessageId {
                    sender: WorkerId::root(sender),
                    number: number as u32,
                };
                let messages: Vec<_> = targets.iter().enumerate().map(message).collect();
                targets[env.delivery(&messages)?].1
            }
        };
        (self.at, self.visits, self.relieved) = (target.to, target.visits, target.relieved);
        Ok(())
    }

    fn status(&self) -> Status {
        if self.enabled().is_empty() { Status::Done } else { Status::Running }
    }

    fn acceptance(&self) -> Acceptance {
        let Live { ref graph, at, visits, relieved } = *self;
        Acceptance { hot: graph[at].hot, relieved, visits }
    }

    fn observe(&self, _how: Observe) -> Option<u64> {
        Some(self.at as u64)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(Fingerprint(fingerprint::mix(self.at as u64, 7)))
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
        Live { graph: self.graph.clone(), ..*self }
    }

    fn restore_from(&mut self, saved: &Live) {
        (self.at, self.visits, self.relieved) = (saved.at, saved.visits, saved.relieved);
    }
}
