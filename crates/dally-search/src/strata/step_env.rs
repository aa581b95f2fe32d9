//! What a step of an exhaustive search may ask and tell: its values are written beforehand.

use dally_core::{Choice, Cut, Env, Event, EventBudget, Input, MessageId, Tag, Text};

use super::entry::Value;
use super::explorer_on_path::StepSummary;
use crate::choice_log::ChoiceWriter;

/// Answers with the values given, then with the first value of every further choice, which it
/// adds to them.
pub(crate) struct StepEnv<'a> {
    pub(crate) writer: &'a mut ChoiceWriter,
    pub(crate) values: &'a mut Vec<Value>,
    pub(crate) answered: usize,
    /// Whether there may be values at all; a step that asks for one is cut short otherwise.
    pub(crate) chooses: bool,
    /// Whether an input was asked for.
    pub(crate) inputs: bool,
    /// What the step did is noted here, if an explorer wants to know.
    pub(crate) summary: Option<&'a mut StepSummary>,
    /// Values and events so far, and how many there may be.
    pub(crate) items: EventBudget,
    /// Whether there were more, or values where there may be none.
    pub(crate) endless: bool,
}

impl StepEnv<'_> {
    fn item(&mut self, more: u32) -> Result<(), Cut> {
        self.endless |= !self.items.spend(more);
        if self.endless { Err(Cut) } else { Ok(()) }
    }

    fn choice(&mut self) -> Result<(), Cut> {
        self.endless |= !self.chooses;
        self.item(1)
    }

    fn answer(&mut self, of: u32) -> u32 {
        let at = self.answered;
        self.answered += 1;
        match self.values.get_mut(at) {
            Some(value) => {
                value.of = of;
                value.index.min(of.saturating_sub(1))
            }
            None => {
                self.values.push(Value { index: 0, of });
                0
            }
        }
    }
}

impl Env for StepEnv<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.choice()?;
        let index = self.answer(of);
        self.writer.write(Choice::Value { index, of, tag });
        Ok(index)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.choice()?;
        let index = self.answer(candidates.len() as u32) as usize;
        // A front end that asks without a candidate is answered, and nothing is written down.
        if let Some(&message) = candidates.get(index) {
            self.writer.write(Choice::Delivery(message));
        }
        Ok(index)
    }

    /// Inputs are as given: they are neither part of the transition nor varied.
    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.item(1)?;
        self.inputs = true;
        self.writer.write(Choice::Input(asked.given()));
        Ok(asked.given())
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.item(1)?;
        if let Some(summary) = self.summary.as_deref_mut() {
            summary.hear(&event);
        }
        Ok(())
    }

    #[inline]
    fn leeway(&self) -> u32 {
        if self.summary.is_some() { 0 } else { self.items.limit() }
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.item(events)
    }
}
