//! Following a recording: the strategy behind replay, confirmation and shrinking.

use std::sync::Arc;

use dally_core::words::count;
use dally_core::{Choice, Input, MessageId, Player, Question, System, Tag, WorkerId};

use crate::replay::Divergence;
use crate::strategy::{EndSchedule, Point, Strategy};

/// What a replay does where the recording does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strictness {
    /// Ends the schedule at the first difference.
    Exact,
    /// Skips what is impossible and remembers the first difference; ends with the recording.
    BestEffort,
    /// Skips what is impossible silently. After the end of the recording it goes on with the same
    /// worker while it can, up to this many steps of workers in all.
    Loose(usize),
    /// As `Loose`, but after the end of the recording the workers take turns, without faults.
    TakingTurns(usize),
}

#[derive(Clone)]
pub(crate) struct ReplayStrategy {
    player: Player<Arc<[Choice]>>,
    /// The workers that were enabled at each step, if that was recorded.
    enabled: Arc<[Vec<WorkerId>]>,
    strictness: Strictness,
    /// The step from which on the strategy that made the recording was fair.
    fair_from: usize,
    /// The number of the present step of a worker in the execution, from 1.
    step: usize,
    /// The number of steps of workers passed in the recording.
    recorded_step: usize,
    stepping: Option<(WorkerId, String)>,
    difference: Option<Divergence>,
    /// Whether the schedule was ended because the recording is at its end.
    ran_out: bool,
}

impl ReplayStrategy {
    pub(crate) fn new(
        choices: &[Choice],
        strictness: Strictness,
        fair_from: usize,
    ) -> ReplayStrategy {
        ReplayStrategy {
            player: Player::new(choices.into()),
            enabled: Arc::default(),
            strictness,
            fair_from,
            step: 0,
            recorded_step: 0,
            stepping: None,
            difference: None,
            ran_out: false,
        }
    }

    /// Compares the enabled workers of each step with these.
    pub(crate) fn comparing(self, enabled: &[Vec<WorkerId>]) -> ReplayStrategy {
        ReplayStrategy { enabled: enabled.into(), ..self }
    }

    /// The first place where the execution left the recording.
    pub(crate) fn difference(self) -> Option<Divergence> {
        self.difference
    }

    pub(crate) fn ran_out(&self) -> bool {
        self.ran_out
    }

    pub(crate) fn unused(&self) -> usize {
        self.player.rest().len()
    }

    fn is_loose(&self) -> bool {
        matches!(self.strictness, Strictness::Loose(_) | Strictness::TakingTurns(_))
    }

    /// Records the first difference; an error if the replay ends there.
    fn differs(
        &mut self,
        message: impl FnOnce(&ReplayStrategy) -> String,
    ) -> Result<(), EndSchedule> {
        if self.is_loose() {
            return Ok(());
        }
        if self.difference.is_none() {
            let message = message(self);
            self.difference = Some(Divergence { step: self.step, message });
        }
        if self.strictness == Strictness::BestEffort { Ok(()) } else { Err(EndSchedule::Cut) }
    }

    fn skip_values(&mut self) -> Result<(), EndSchedule> {
        match self.player.skip_step() {
            0 => Ok(()),
            left => self.differs(|replay| {
                let values = count(left as u64, "further choice");
                format!("the recording makes {values} inside {}, the program none", replay.here())
            }),
        }
    }

    fn here(&self) -> String {
        match &self.stepping {
            Some((worker, name)) => format!("the step of {name} ({worker})"),
            None => "the start".into(),
        }
    }

    /// Compares the enabled workers with the recorded ones before `worker` steps.
    fn compare_enabled(&mut self, worker: WorkerId, point: &Point<'_>) -> Result<(), EndSchedule> {
        let enabled = self.enabled.clone();
        match enabled.get(self.recorded_step) {
            // A set that was recorded is never empty: an empty one was left out for its size.
            Some(recorded) if !recorded.is_empty() && recorded != point.enabled => {
                self.differs(|_| {
                    let (missing, new) =
                        (less(recorded, point.enabled), less(point.enabled, recorded));
                    let mut message = format!("the recording goes on with worker {worker}");
                    if !missing.is_empty() {
                        // They may not exist now, so the system cannot name them.
                        let who = listed(missing.iter().map(WorkerId::to_string));
                        message += &format!("; could step then and cannot now: {who}");
                    }
                    if !new.is_empty() {
                        let who = named(&new, point.system);
                        message += &format!("; can step now and could not then: {who}");
                    }
                    message
                })
            }
            _ => Ok(()),
        }
    }

    fn after_the_end(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.ran_out = true;
        let (Strictness::Loose(most) | Strictness::TakingTurns(most)) = self.strictness else {
            return Err(EndSchedule::Cut);
        };
        if self.step > most {
            return Err(EndSchedule::Cut);
        }
        if let Strictness::TakingTurns(_) = self.strictness {
            let turn = point.enabled.iter().filter(|&&worker| worker != WorkerId::FAULTS);
            let next = turn.clone().find(|&&worker| point.last < Some(worker));
            return next.or(turn.clone().next()).copied().ok_or(EndSchedule::Cut);
        }
        let same = point.last.filter(|last| point.enabled.binary_search(last).is_ok());
        Ok(same.unwrap_or(point.enabled[0]))
    }

    /// Answers a question that the recording does not have here: if the replay may go on, with the
    /// recorded answer where that is of the `same` kind, or else with the `first` one.
    fn otherwise<T>(
        &mut self,
        question: Question,
        same: Option<T>,
        first: T,
    ) -> Result<T, EndSchedule> {
        let recorded = self.player.peek();
        self.ran_out |= recorded.is_none();
        self.differs(|replay| replay.asks_otherwise(question, recorded))?;
        self.player.skip(usize::from(same.is_some()));
        Ok(same.unwrap_or(first))
    }

    fn asks_otherwise(&self, question: Question, recorded: Option<Choice>) -> String {
        let here = self.here();
        let instead = match (question, recorded) {
            (Question::Value { .. }, Some(Choice::Value { of, tag, .. })) => {
                let then = Question::Value { of, tag };
                return format!("{here} asks for {question}, in the recording for {then}");
            }
            (Question::Delivery { .. }, Some(Choice::Delivery(message))) => {
                return format!(
                    "message {message} is delivered in {here} in the recording and is not there now"
                );
            }
            (_, None) => "the recording ends before",
            (_, Some(Choice::Worker(_))) => "the recording goes on with the next step",
            (_, Some(Choice::Value { .. })) => "the recording has a value here",
            (_, Some(Choice::Delivery(_))) => "the recording has a delivery here",
            (_, Some(Choice::Input(_))) => "the recording has an input here",
        };
        format!("{here} asks for {question}, and {instead}")
    }
}

impl Strategy for ReplayStrategy {
    fn name(&self) -> String {
        "replay".into()
    }

    fn begin(&mut self, _schedule: u64) -> bool {
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.skip_values()?;
        self.step += 1;
        if point.step >= self.fair_from {
            point.fair_from_here();
        }
        while let Some(Choice::Worker(worker)) = self.player.peek() {
            self.compare_enabled(worker, point)?;
            let is_enabled = point.enabled.binary_search(&worker).is_ok();
            if !is_enabled {
                self.differs(|_| {
                    format!(
                        "worker {worker} steps in the recording and cannot step now: only {} can",
                        named(point.enabled, point.system),
                    )
                })?;
            }
            self.player.skip(1);
            self.recorded_step += 1;
            if is_enabled {
                if !self.is_loose() {
                    self.stepping = Some((worker, point.system.name(worker)));
                }
                return Ok(worker);
            }
            self.player.skip_step();
        }
        self.after_the_end(point)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        let answer = self.player.value(of, tag).or_else(|recorded| {
            let same = match recorded {
                Some(Choice::Value { index, .. }) => Some(index),
                _ => None,
            };
            self.otherwise(Question::Value { of, tag }, same, 0)
        });
        Ok(answer?.min(of.saturating_sub(1)))
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        self.player.delivery(candidates).or_else(|recorded| {
            let same = matches!(recorded, Some(Choice::Delivery(_))).then_some(0);
            self.otherwise(Question::Delivery { of: candidates.len() as u32 }, same, 0)
        })
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        match self.player.input(asked) {
            Ok(value) => Ok(value),
            Err(Some(Choice::Input(value))) => {
                self.differs(|replay| {
                    let (name, least, most) = (asked.name, asked.least, asked.most);
                    format!(
                        "{} asks for the input `{name}` from {least} to {most}, and in the \
                         recording it is {value}",
                        replay.here(),
                    )
                })?;
                self.player.skip(1);
                Ok(value)
            }
            Err(_) => self.otherwise(Question::Input, None, asked.given),
        }
    }
}

fn less(all: &[WorkerId], others: &[WorkerId]) -> Vec<WorkerId> {
    all.iter().copied().filter(|worker| !others.contains(worker)).collect()
}

pub(crate) fn named(workers: &[WorkerId], system: &dyn System) -> String {
    listed(workers.iter().map(|&worker| format!("{} ({worker})", system.name(worker))))
}

/// Names joined by commas: of ten or more only the first five, and how many there are besides.
fn listed(things: impl ExactSizeIterator<Item = String>) -> String {
    const FIRST: usize = 5;
    let rest = Some(things.len().saturating_sub(FIRST)).filter(|&rest| rest > 4);
    let shown = if rest.is_some() { FIRST } else { things.len() };
    let counted = rest.map(|rest| format!("{rest} more"));
    things.take(shown).chain(counted).collect::<Vec<_>>().join(", ")
}
