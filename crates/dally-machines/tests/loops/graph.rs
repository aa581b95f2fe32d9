//! All states of a program, by forks and steps alone.

use std::collections::{BTreeMap, BTreeSet};

use dally_core::{
    Acceptance, Captured, Choice, Cut, Env, Event, MessageId, Program, Status, Stop, System, Tag,
    Text, WorkerId,
};
use dally_machines::{MachineProgram, MachineSystem};

/// A state, with all that can happen in it.
pub struct State {
    pub enabled: Vec<WorkerId>,
    pub hot: u64,
    pub ended: bool,
    pub steps: Vec<Step>,
}

/// A step that can be taken in a state.
pub struct Step {
    pub action: Action,
    pub to: usize,
    /// The monitors that allow it only finitely often.
    pub visits: u64,
    /// The monitors that are not hot at some moment of it.
    pub relieved: u64,
}

/// What is done in a step, as far as strong fairness tells things apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Action {
    pub worker: WorkerId,
    pub parts: Vec<Part>,
    /// Whether the surroundings did it; that is owed to nobody.
    pub fault: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// With the place of the source where it is chosen.
    Value {
        place: u64,
        index: u32,
        of: u32,
    },
    From(WorkerId),
}

impl Action {
    /// Of choices, each with the place of the source where it was made.
    pub fn of(worker: WorkerId, choices: &[(u64, Choice)]) -> Action {
        let mut action = Action { worker, parts: Vec::new(), fault: worker == WorkerId::FAULTS };
        for &(place, choice) in choices {
            match choice {
                Choice::Value { index, tag: Tag::Fault, .. } => action.fault |= index > 0,
                Choice::Value { index, of, .. } => {
                    action.parts.push(Part::Value { place, index, of });
                }
                Choice::Delivery(message) => action.parts.push(Part::From(message.sender)),
                Choice::Input(_) => unreachable!("no machine here asks for inputs"),
                Choice::Worker(_) => panic!("a worker inside a step"),
            }
        }
        action
    }
}

/// Every step that a worker can take in a state, and the system after it.
pub fn steps(system: &MachineSystem, worker: WorkerId) -> Vec<(Action, MachineSystem)> {
    let mut answers = Answers::default();
    let mut all = Vec::new();
    loop {
        let mut next = system.fork();
        match next.step(worker, &mut answers) {
            Ok(()) => all.push((Action::of(worker, &answers.made), next)),
            Err(Stop::Bug(bug)) => panic!("{bug}"),
            Err(Stop::Cut) => unreachable!("nobody cuts here"),
        }
        if !answers.advance() {
            return all;
        }
    }
}

/// All states, the first one first; `None` if there are more than `most`.
pub fn states(program: &MachineProgram, most: usize) -> Option<Vec<State>> {
    let first = program.start().unwrap();
    let mut numbers = BTreeMap::from([(first.fingerprint(), 0)]);
    let mut states = vec![state(&first)];
    let mut stack = vec![(0, first)];
    while let Some((number, system)) = stack.pop() {
        for &worker in system.enabled() {
            for (action, next) in steps(&system, worker) {
                let to = *numbers.entry(next.fingerprint()).or_insert(states.len());
                let Acceptance { visits, relieved, .. } = next.acceptance();
                states[number].steps.push(Step { action, to, visits, relieved });
                if to == states.len() {
                    states.push(state(&next));
                    stack.push((to, next));
                }
            }
        }
        if states.len() > most {
            return None;
        }
    }
    Some(states)
}

/// How many states a search for cycles tells apart: a state that is come to by a step in which a
/// monitor, hot by its end, was relieved is not the same as without.
pub fn count(states: &[State]) -> u64 {
    let come_to = states.iter().flat_map(|state| &state.steps);
    let pairs = come_to.map(|step| (step.to, step.relieved & states[step.to].hot));
    pairs.chain([(0, 0)]).collect::<BTreeSet<_>>().len() as u64
}

fn state(system: &MachineSystem) -> State {
    State {
        enabled: system.enabled().to_vec(),
        hot: system.acceptance().hot,
        ended: system.status() != Status::Running,
        steps: Vec::new(),
    }
}

/// Answers as it is told, then with the first of the possible answers.
#[derive(Default)]
struct Answers {
    /// Each with the number of possible answers.
    given: Vec<(u32, u32)>,
    made: Vec<(u64, Choice)>,
    /// Where the next one is asked for.
    place: u64,
}

impl Answers {
    fn make(&mut self, choice: Choice) {
        self.made.push((std::mem::take(&mut self.place), choice));
    }

    fn answer(&mut self, of: u32) -> u32 {
        if self.made.len() == self.given.len() {
            self.given.push((0, of));
        }
        self.given[self.made.len()].0
    }

    /// Goes on to the next sequence of answers, if there is one.
    fn advance(&mut self) -> bool {
        self.made.clear();
        while let Some((answer, of)) = self.given.pop() {
            if answer + 1 < of {
                self.given.push((answer + 1, of));
                return true;
            }
        }
        false
    }
}

impl Env for Answers {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let index = self.answer(of);
        self.make(Choice::Value { index, of, tag });
        Ok(index)
    }

    fn place(&mut self, place: u64) {
        self.place = place;
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        let place = self.answer(candidates.len() as u32) as usize;
        self.make(Choice::Delivery(candidates[place]));
        Ok(place)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}
