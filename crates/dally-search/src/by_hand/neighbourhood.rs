//! The states around a state: all that can be reached in so many steps, and the steps between them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dally_core::{
    Bug, Captured, Choice, Cut, Env, Event, EventBudget, Fingerprint, Input, MessageId, Program,
    StateVisitor, Stop, System, Tag, Text, Trace, TraceStep, Tracer, WorkerId, fingerprint,
};
use rustc_hash::FxHashMap;

use super::AfterPrefix;
use crate::choice_log::{Activity, ChoiceWriter};
use crate::executor::bug_at_end;
use crate::supervisor::{Lost, watched};

/// The states that can be reached from a state in so many steps.
#[derive(Clone, Debug, Default)]
pub struct Neighbourhood {
    /// The states, those with fewer steps first; the first is where it begins.
    pub states: Vec<Neighbour>,
    /// The steps between them.
    pub transitions: Vec<Between>,
    /// What each worker is.
    pub names: BTreeMap<WorkerId, String>,
    /// Whether there are more states than were asked for.
    pub cut: bool,
}

/// A state of a neighbourhood.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// The fewest steps that lead to it.
    pub depth: u32,
    /// The choices of these steps.
    pub choices: Vec<Choice>,
    /// How many workers can step in it.
    pub enabled: usize,
    /// The bug, if the execution ends in one here.
    pub bug: Option<Bug>,
}

/// A step from one state of a neighbourhood to another.
#[derive(Clone, Debug)]
pub struct Between {
    /// The index of the state that it is taken in.
    pub from: usize,
    /// The index of the state that it leads to.
    pub to: usize,
    /// What happens in it.
    pub step: TraceStep,
}

/// Why there is no [`Neighbourhood`].
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoNeighbourhood {
    /// The program must be run again for every state.
    #[error(
        "the states of this program cannot be copied{}",
        .why.as_ref().map_or(", so it has no map".to_owned(), |why| format!(": {why}"))
    )]
    NotCopied {
        /// The reason, if the program gives one.
        why: Option<String>,
    },
    /// The choices do not lead to a state.
    #[error("the way here fails: {0}")]
    Fails(Bug),
    /// A step blocks its thread.
    #[error("a step around here does not come back")]
    Stuck,
    /// The thread was lost otherwise.
    #[error("{0}")]
    Lost(String),
}

/// The states of `program` within `depth` steps of the one that these choices, whole steps, lead to: at most
/// `most` of them.
pub fn neighbourhood<P: Program + 'static>(
    program: &Arc<P>,
    choices: &[Choice],
    depth: u32,
    most: usize,
    step_time: Duration,
) -> Result<Neighbourhood, NoNeighbourhood> {
    let program = Arc::new(AfterPrefix::new(program.clone(), choices));
    let name = program.name().to_owned();
    let drawn = watched(&name, step_time, move |writer| {
        program.states(Survey {
            depth,
            most,
            writer,
            step_items: crate::Options::default().step_items,
        })
    });
    match drawn {
        Ok(drawn) => drawn,
        Err(Lost::Stuck(..)) => Err(NoNeighbourhood::Stuck),
        Err(Lost::Failed(why)) => Err(NoNeighbourhood::Lost(why)),
    }
}

struct Survey {
    depth: u32,
    most: usize,
    writer: ChoiceWriter,
    step_items: u32,
}

/// Of the values that steps can be given in one state, no more combinations than this are tried.
const MOST_ANSWERS: usize = 256;

impl<P: Program + 'static> StateVisitor<P> for Survey {
    type Output = Result<Neighbourhood, NoNeighbourhood>;

    fn copied(mut self, program: Arc<P>) -> Result<Neighbourhood, NoNeighbourhood>
    where
        P::System: Captured + Send + 'static,
    {
        self.writer.now(Activity::Starting);
        let first = program.start().map_err(NoNeighbourhood::Fails)?;
        self.writer.now(Activity::Stepping);
        let mut around = Neighbourhood::default();
        let mut known: FxHashMap<Fingerprint, usize> = FxHashMap::default();
        known.insert(identity(&first), 0);
        around.states.push(Neighbour {
            depth: 0,
            choices: Vec::new(),
            enabled: first.enabled().len(),
            bug: bug_at_end(&first).filter(|_| first.enabled().is_empty()),
        });
        let mut open = VecDeque::from([(0, first)]);
        while let Some((from, system)) = open.pop_front() {
            if around.states[from].depth == self.depth {
                continue;
            }
            for &worker in system.enabled() {
                around.names.entry(worker).or_insert_with(|| system.name(worker));
                let mut answers = vec![Vec::new()];
                let mut tried = 0;
                while let Some(given) = answers.pop() {
                    tried += 1;
                    if tried > MOST_ANSWERS {
                        around.cut = true;
                        break;
                    }
                    self.writer.rewind(0);
                    self.writer.write(Choice::Worker(worker));
                    let mut next = system.fork();
                    let mut asked = Answering::new(given, worker, self.step_items);
                    let stepped = next.step(worker, &mut asked);
                    answers.extend(asked.others());
                    let (step, choices, names) = asked.finish(worker, &next);
                    around.names.extend(names);
                    let failed = match stepped {
                        Ok(()) => bug_at_end(&next).filter(|_| next.enabled().is_empty()),
                        Err(Stop::Bug(bug)) => Some(*bug),
                        Err(Stop::Cut) => {
                            around.cut = true;
                            continue;
                        }
                    };
                    let place = around.states.len();
                    // A state of a step that failed is broken, and its fingerprint says nothing.
                    let to = match failed {
                        Some(_) => place,
                        None => *known.entry(identity(&next)).or_insert(place),
                    };
                    if to == place {
                        if place == self.most {
                            around.cut = true;
                            known.retain(|_, known| *known != place);
                            continue;
                        }
                        let Neighbour { depth, choices: before, .. } = &around.states[from];
                        let (depth, choices) = (depth + 1, [before.clone(), choices].concat());
                        let enabled = if failed.is_some() { 0 } else { next.enabled().len() };
                        around.states.push(Neighbour { depth, choices, enabled, bug: failed });
                        if enabled > 0 {
                            open.push_back((place, next));
                        }
                    }
                    around.transitions.push(Between { from, to, step });
                }
            }
        }
        Ok(around)
    }

    fn replayed(self, _: Arc<P>, why: Option<String>) -> Result<Neighbourhood, NoNeighbourhood> {
        Err(NoNeighbourhood::NotCopied { why })
    }
}

fn identity<S: Captured>(system: &S) -> Fingerprint {
    system.fingerprint().unwrap_or_else(|| {
        let mut bytes = Vec::new();
        system.encode(&mut bytes);
        Fingerprint(fingerprint::of_bytes(&bytes))
    })
}

/// Gives the answers of a list, and then always the first, and notes what else could be answered.
struct Answering {
    given: Vec<u32>,
    asked: Vec<u32>,
    choices: Vec<Choice>,
    tracer: Tracer,
    items: EventBudget,
}

impl Answering {
    fn new(given: Vec<u32>, worker: WorkerId, step_items: u32) -> Answering {
        let mut tracer = Tracer::without_order();
        tracer.step(worker, String::new);
        let (asked, choices) = (Vec::new(), vec![Choice::Worker(worker)]);
        Answering { given, asked, choices, tracer, items: EventBudget::new(step_items) }
    }

    fn answer(&mut self, of: u32) -> Result<u32, Cut> {
        self.spend(1)?;
        let answer = self.given.get(self.asked.len()).copied().unwrap_or(0);
        self.asked.push(of);
        Ok(answer.min(of.saturating_sub(1)))
    }

    fn spend(&mut self, items: u32) -> Result<(), Cut> {
        if self.items.spend(items) { Ok(()) } else { Err(Cut) }
    }

    /// The answers that were not given where the first one was for want of a list.
    fn others(&self) -> Vec<Vec<u32>> {
        let mut others = Vec::new();
        for place in self.given.len()..self.asked.len() {
            for answer in 1..self.asked[place] {
                let mut other = self.given.clone();
                other.resize(place, 0);
                other.push(answer);
                others.push(other);
            }
        }
        others.reverse();
        others
    }

    fn finish<S: System>(
        mut self,
        worker: WorkerId,
        system: &S,
    ) -> (TraceStep, Vec<Choice>, BTreeMap<WorkerId, String>) {
        self.tracer.name_mentioned(|worker| system.name(worker));
        let Trace { mut steps, mut names } = self.tracer.finish();
        names.remove(&worker);
        let step = steps.pop().unwrap_or(TraceStep {
            worker,
            items: Vec::new(),
            after: Vec::new(),
            clock: None,
            fields: None,
        });
        (step, self.choices, names)
    }
}

impl Env for Answering {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let index = self.answer(of)?;
        let choice = Choice::Value { index, of, tag };
        self.choices.push(choice);
        self.tracer.choice(choice);
        Ok(index)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        let index = self.answer(u32::try_from(candidates.len()).unwrap_or(u32::MAX))? as usize;
        if let Some(&message) = candidates.get(index) {
            self.choices.push(Choice::Delivery(message));
            self.tracer.choice(Choice::Delivery(message));
        }
        Ok(index)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.spend(1)?;
        self.choices.push(Choice::Input(asked.given));
        self.tracer.input(asked.name, asked.given);
        Ok(asked.given)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.spend(1)?;
        self.tracer.event(event);
        Ok(())
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.spend(events)
    }
}
