//! The environment of the steps of an exhaustive search, which gives them their values.

use dally_core::{Choice, Cut, Env, Event, EventBudget, Input, MessageId, Tag, Text, fingerprint};

use super::entry::Value;
use super::explorer_on_path::StepSummary;
use crate::choice_log::ChoiceWriter;

/// Answers with `values`, then with the first value of every further choice, which it appends.
pub(crate) struct TransitionEnv<'a> {
    pub(crate) writer: &'a mut ChoiceWriter,
    pub(crate) values: &'a mut Vec<Value>,
    pub(crate) answered: usize,
    /// Whether the step may ask for values; otherwise it is cut when it does.
    pub(crate) chooses: bool,
    pub(crate) inputs: bool,
    /// Where the next value is asked for, and where those before it were, as one hash.
    pub(crate) place: u64,
    pub(crate) places: u64,
    /// Records what the step did, if an explorer needs it.
    pub(crate) summary: Option<&'a mut StepSummary>,
    /// Counts values and events.
    pub(crate) items: EventBudget,
    /// Whether there were too many, or a value was asked for where there may be none.
    pub(crate) endless: bool,
    /// Whether the step has come back to a choice of its own: other values of it lead wherever this
    /// one does.
    pub(crate) redundant: bool,
}

impl TransitionEnv<'_> {
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

impl Env for TransitionEnv<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.choice()?;
        let index = self.answer(of);
        self.writer.write(Choice::Value { index, of, tag });
        let place = std::mem::take(&mut self.place);
        // Whether there may be a fault is no matter of fairness.
        if tag != Tag::Fault {
            self.places = fingerprint::mix(self.places, place);
        }
        Ok(index)
    }

    fn place(&mut self, place: u64) {
        self.place = place;
    }

    fn came_back(&mut self) -> Result<(), Cut> {
        self.redundant = true;
        Err(Cut)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.choice()?;
        let index = self.answer(candidates.len() as u32) as usize;
        // A front end may ask without candidates; such a question is not recorded.
        if let Some(&message) = candidates.get(index) {
            self.writer.write(Choice::Delivery(message));
        }
        Ok(index)
    }

    /// Inputs are as given: they are neither varied nor part of the transition.
    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.item(1)?;
        self.inputs = true;
        self.writer.write(Choice::Input(asked.given));
        Ok(asked.given)
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
