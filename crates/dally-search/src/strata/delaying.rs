//! Executions in the order of an explorer, except for the delays that are spent.

use std::collections::BTreeMap;
use std::sync::Arc;

use dally_core::{Choice, DelayAt, Delays, Event, Input, MessageId, Player, Tag, Text, WorkerId};

use super::explorer::Explorer;
use super::explorer_on_path::{ExplorerOnPath, StepSummary};
use crate::strategy::{EndSchedule, Point, Properties, Strategy};

/// A place where delays can be spent. It counts the worker's own steps and not those of the
/// execution, so it means the same when delays elsewhere are left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    worker: WorkerId,
    /// How many steps the worker has taken before.
    step: u32,
    /// 0 for the step itself; `n` for the `n`-th value or delivery that it asks for.
    question: u32,
}

impl Place {
    /// The place of the next step of a worker that has taken so many.
    pub(crate) fn before(worker: WorkerId, taken: u32) -> Place {
        Place { worker, step: taken, question: 0 }
    }
}

/// What an execution follows.
#[derive(Clone)]
pub(crate) enum ChoiceSource {
    /// The choices of a recording, whatever they cost.
    Recording(Player<Arc<[Choice]>>),
    /// The explorer, with so many delays at these places. A worker that comes up again before it
    /// has stepped is at the same place, so several delays can be spent there.
    Spending(BTreeMap<Place, u32>),
}

/// A strategy that follows an explorer and delays, for one schedule.
#[derive(Clone)]
pub(crate) struct Delaying<E: Explorer> {
    explorer: E,
    on_path_explorer: Option<ExplorerOnPath<E>>,
    summary: StepSummary,
    /// The workers that could step before the present step.
    before: Vec<WorkerId>,
    /// How many steps each worker has taken.
    taken: BTreeMap<WorkerId, u32>,
    source: ChoiceSource,
    steps: usize,
    here: Option<Place>,
    /// The delays spent, those of a worker one by one, in order.
    spent: Vec<(Place, u32)>,
    at: Vec<DelayAt>,
    trouble: Option<String>,
    /// The inputs of the recording, which are not changed.
    inputs: Inputs,
}

/// Inputs by the places that ask for them.
pub(crate) type Inputs = BTreeMap<Place, i64>;

impl<E: Explorer> Delaying<E> {
    pub(crate) fn new(explorer: &E, source: ChoiceSource) -> Delaying<E> {
        Delaying {
            explorer: explorer.clone(),
            on_path_explorer: None,
            summary: StepSummary::default(),
            before: Vec::new(),
            taken: BTreeMap::new(),
            source,
            steps: 0,
            here: None,
            spent: Vec::new(),
            at: Vec::new(),
            trouble: None,
            inputs: Inputs::new(),
        }
    }

    /// Uses these inputs; places without one get the given one.
    pub(crate) fn with_inputs(self, inputs: Inputs) -> Delaying<E> {
        Delaying { inputs, ..self }
    }

    pub(crate) fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The delays spent, those of a worker one by one, in order; and the same for a reader. An
    /// error says why the recording could not be followed to its end.
    pub(crate) fn finish(self) -> Result<(Vec<(Place, u32)>, Delays), String> {
        if let Some(trouble) = self.trouble {
            return Err(trouble);
        }
        if let ChoiceSource::Recording(player) = &self.source
            && let left @ 1.. = player.rest().len()
        {
            let (made, all) = (player.position(), player.position() + left);
            return Err(format!("the execution ended after {made} of {all} choices"));
        }
        let count = self.spent.iter().map(|spent| u64::from(spent.1)).sum();
        let explorer = self.explorer.name();
        Ok((self.spent, Delays { explorer, count, minimal: false, at: self.at }))
    }

    fn cannot<T>(&mut self, why: String) -> Result<T, EndSchedule> {
        self.trouble.get_or_insert(why);
        Err(EndSchedule::Cut)
    }

    /// Answers a question of the present step: by the recording, or by the delays to be spent here.
    fn answer(
        &mut self,
        of: usize,
        recorded: impl FnOnce(&mut Player<Arc<[Choice]>>) -> Option<usize>,
    ) -> Result<usize, EndSchedule> {
        let here = self.here.as_mut().ok_or(EndSchedule::Cut)?;
        here.question += 1;
        let here = *here;
        let index = match &mut self.source {
            ChoiceSource::Recording(player) => match recorded(player) {
                Some(index) => index,
                None => {
                    let step = self.steps;
                    return self.cannot(format!("step {step} asks for what was not recorded"));
                }
            },
            ChoiceSource::Spending(left) => {
                let index = left.remove(&here).unwrap_or(0) as usize;
                index.min(of.saturating_sub(1))
            }
        };
        if index > 0 {
            let delays = u32::try_from(index).unwrap_or(u32::MAX);
            self.spent.push((here, delays));
            self.at.push(DelayAt { step: self.steps, delays, instead_of: None, value: true });
        }
        Ok(index)
    }
}

impl<E: Explorer> Strategy for Delaying<E> {
    fn name(&self) -> String {
        self.explorer.name()
    }

    fn begin(&mut self, schedule: u64) -> bool {
        schedule == 0
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        match (&mut self.on_path_explorer, point.last) {
            (Some(on_path_explorer), Some(last)) => {
                on_path_explorer.after(last, &self.before, point.system, &mut self.summary);
            }
            (none, _) => *none = Some(ExplorerOnPath::new(self.explorer.clone(), point.system)),
        }
        self.summary.clear();
        self.before.clear();
        self.before.extend_from_slice(point.enabled);
        let wanted = match &mut self.source {
            ChoiceSource::Spending(_) => None,
            ChoiceSource::Recording(player) => match player.worker() {
                Ok(worker) => Some(worker),
                Err(None) => return Err(EndSchedule::Cut),
                Err(Some(_)) => {
                    let step = self.steps;
                    return self.cannot(format!("step {step} asks for less than was recorded"));
                }
            },
        };
        self.steps += 1;
        let mut delays = 0;
        let mut instead_of = None;
        loop {
            let next =
                self.on_path_explorer.as_ref().and_then(|explorer| explorer.next(point.enabled));
            let Some(next) = next.filter(|next| next.place_in(point.enabled).is_ok()) else {
                let (name, step) = (self.explorer.name(), self.steps);
                return self.cannot(format!("{name} offers nobody at step {step}"));
            };
            let taken = self.taken.get(&next).copied().unwrap_or(0);
            let place = Place::before(next, taken);
            let is_last = delays as usize + 1 >= point.enabled.len();
            let goes = match (wanted, &mut self.source) {
                (None, ChoiceSource::Spending(left)) if !is_last => !take_one(left, place),
                (None, _) => true,
                (Some(worker), _) => worker == next,
            };
            if goes {
                if delays > 0 {
                    self.at.push(DelayAt { step: self.steps, delays, instead_of, value: false });
                }
                self.taken.insert(next, taken + 1);
                self.here = Some(place);
                return Ok(next);
            }
            if is_last {
                let (name, step) = (self.explorer.name(), self.steps);
                let never = wanted.map_or_else(String::new, |worker| worker.to_string());
                return self.cannot(format!("{name} never offers worker {never} at step {step}"));
            }
            instead_of = instead_of.or(Some(next));
            delays += 1;
            self.spent.push((place, 1));
            if let Some(on_path_explorer) = &mut self.on_path_explorer {
                on_path_explorer.delay(point.enabled);
            }
        }
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        let recorded = |player: &mut Player<_>| player.value(of, tag).ok().map(|i| i as usize);
        Ok(self.answer(of as usize, recorded)? as u32)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        self.answer(candidates.len(), |player| player.delivery(candidates).ok())
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        let here = self.here.as_mut().ok_or(EndSchedule::Cut)?;
        here.question += 1;
        let here = *here;
        let ChoiceSource::Recording(player) = &mut self.source else {
            return Ok(self.inputs.get(&here).copied().unwrap_or(asked.given));
        };
        let Ok(value) = player.input(asked) else {
            let step = self.steps;
            return self.cannot(format!("step {step} asks for what was not recorded"));
        };
        self.inputs.insert(here, value);
        Ok(value)
    }

    fn properties(&self) -> Properties {
        Properties { listens: true, ..Properties::default() }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.summary.hear(event);
    }
}

fn take_one(left: &mut BTreeMap<Place, u32>, place: Place) -> bool {
    match left.get_mut(&place) {
        Some(delays) if *delays > 0 => {
            *delays -= 1;
            true
        }
        _ => false,
    }
}
