//! The [`Env`] of the steps of an execution under a strategy.

use dally_core::{
    Choice, Cut, Env, Event, EventBudget, Input, MessageId, System, Tag, Text, WorkerId,
};

use super::recorder::Recorder;
use crate::choice_log::ChoiceWriter;
use crate::liveness::LoopDetector;
use crate::strategy::{EndSchedule, Strategy};

#[derive(Clone, Copy)]
pub(super) enum CutReason {
    Strategy(EndSchedule),
    Endless,
}

/// Has the strategy answer the questions of steps, and passes on their events.
pub(super) struct StepEnv<'a> {
    pub(super) strategy: &'a mut dyn Strategy,
    pub(super) listens: bool,
    /// Whether events are told to the strategy or the recorder.
    pub(super) heard: bool,
    pub(super) writer: &'a mut ChoiceWriter,
    pub(super) recorder: Option<&'a mut Recorder>,
    /// Logs states while a monitor waits, and answers the steps of further rounds of a loop.
    pub(super) loop_detector: &'a mut LoopDetector,
    pub(super) worker: WorkerId,
    pub(super) steps: usize,
    pub(super) values: usize,
    pub(super) inputs: bool,
    /// Values and events of the present step.
    pub(super) items: EventBudget,
    pub(super) cut: Option<CutReason>,
}

impl StepEnv<'_> {
    #[inline(always)]
    pub(super) fn step<S: System>(&mut self, worker: WorkerId, system: &S) {
        self.steps += 1;
        self.items.restart();
        self.worker = worker;
        self.writer.write(Choice::Worker(worker));
        if let Some(recorder) = self.recorder.as_deref_mut() {
            recorder.step(worker, system);
        }
    }

    #[inline]
    fn items(&mut self, more: u32) -> Result<(), Cut> {
        if !self.items.spend(more) {
            self.cut = Some(CutReason::Endless);
            return Err(Cut);
        }
        if self.cut.is_some() {
            return Err(Cut);
        }
        Ok(())
    }

    fn wrote(&mut self, choice: Choice) {
        self.steps += 1;
        self.values += 1;
        self.writer.write(choice);
    }

    fn chose(&mut self, choice: Choice) {
        self.wrote(choice);
        if let Some(recorder) = self.recorder.as_deref_mut() {
            recorder.choice(choice);
        }
    }

    fn by_strategy<T>(&mut self, answer: Result<T, EndSchedule>) -> Result<T, Cut> {
        answer.map_err(|why| {
            self.cut = Some(CutReason::Strategy(why));
            Cut
        })
    }
}

impl Env for StepEnv<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.items(1)?;
        let answer = match self.loop_detector.value_again(of, tag) {
            None => self.strategy.value(of, tag),
            Some(again) => Ok(again),
        };
        // An answer out of range becomes the last value.
        let index = self.by_strategy(answer)?.min(of.saturating_sub(1));
        self.chose(Choice::Value { index, of, tag });
        if self.loop_detector.is_logging() {
            self.loop_detector.chose(index, of, tag);
        }
        Ok(index)
    }

    fn place(&mut self, place: u64) {
        if self.loop_detector.is_logging() {
            self.loop_detector.asks_at(place);
        }
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.items(1)?;
        let answer = match self.loop_detector.delivery_again(candidates) {
            None => self.strategy.delivery(candidates),
            Some(again) => Ok(again),
        };
        let index = self.by_strategy(answer)?.min(candidates.len().saturating_sub(1));
        // A front end may ask without candidates; such a question is not recorded.
        if let Some(&message) = candidates.get(index) {
            self.chose(Choice::Delivery(message));
            if self.loop_detector.is_logging() {
                self.loop_detector.delivered(index, candidates);
            }
        }
        Ok(index)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.items(1)?;
        self.inputs = true;
        let answer = match self.loop_detector.input_again(asked) {
            None => self.strategy.input(asked),
            Some(again) => Ok(again),
        };
        // An answer out of range becomes the nearest number.
        let value = asked.clamp(self.by_strategy(answer)?);
        self.wrote(Choice::Input(value));
        if let Some(recorder) = self.recorder.as_deref_mut() {
            recorder.tracer.input(asked.name, value);
        }
        if self.loop_detector.is_logging() {
            self.loop_detector.given(value);
        }
        Ok(value)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.items(1)?;
        if self.listens {
            self.strategy.heard(&event);
        }
        if self.loop_detector.is_owed()
            && let Event::Received { message, .. } | Event::Discarded { message, .. } = event
        {
            self.loop_detector.took(self.worker, message.sender);
        }
        if let Some(recorder) = self.recorder.as_deref_mut() {
            recorder.event(event);
        }
        Ok(())
    }

    fn leeway(&self) -> u32 {
        if self.heard || self.loop_detector.is_owed() { 0 } else { self.items.limit() }
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.items(events)
    }
}
