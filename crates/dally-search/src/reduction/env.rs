//! The environment of the steps of a reduced search.

use std::sync::Arc;

use dally_core::{
    Choice, Cut, Env, Event, EventBudget, Footprint, Input, MessageId, Resource, Tag, Text,
    WorkerId,
};

use super::inputs::InputDriver;
use super::step::{Pick, Step};
use crate::choice_log::ChoiceWriter;

/// Something that was decided in the step, and what else could be.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) pick: Pick,
    pub(crate) options: Options,
}

#[derive(Clone, Debug)]
pub(crate) enum Options {
    /// Nothing else.
    None,
    /// The values after it.
    Values,
    /// These messages, of which those before it were picked.
    Messages(Vec<MessageId>),
    /// The other outcome of the branch of this number.
    Branch(usize),
}

/// What answers the questions of a step.
pub(crate) enum Answers<'a> {
    /// What a step taken before picked: that very step is taken. So many picks were used.
    Exactly(&'a [Pick], usize),
    /// What is in the list, and after that the first option that no step asleep has picked; what is
    /// picked is added to the list.
    Any { asked: &'a mut Vec<Asked>, asleep: &'a [Arc<Step>] },
}

pub(crate) struct StepEnv<'a, D> {
    pub(crate) writer: &'a mut ChoiceWriter,
    pub(crate) driver: &'a mut D,
    pub(crate) answers: Answers<'a>,
    /// What was picked so far.
    pub(crate) picks: Vec<Pick>,
    pub(crate) had_options: bool,
    /// What the step touches; not filled where nobody listens.
    pub(crate) footprint: &'a mut Footprint,
    pub(crate) listens: bool,
    pub(crate) items: EventBudget,
    pub(crate) endless: bool,
    pub(crate) inputs: bool,
    /// Whether the step was cut since everything that it could do is asleep, or since it came back to
    /// a choice of its own.
    pub(crate) asleep: bool,
    /// Whether it asks for something else than the step that it was to be.
    pub(crate) astray: bool,
    /// The branches on inputs that have been noted.
    pub(crate) branches: usize,
}

impl<D: InputDriver> StepEnv<'_, D> {
    fn item(&mut self, more: u32) -> Result<(), Cut> {
        self.endless |= !self.items.spend(more);
        if self.endless || self.asleep || self.astray { Err(Cut) } else { Ok(()) }
    }

    /// Takes note of the branches that the step has taken since the last question.
    pub(crate) fn note_branches(&mut self) {
        if !D::BRANCHES {
            return;
        }
        while let Some(&outcome) = self.driver.branches().get(self.branches) {
            let number = self.branches;
            self.branches += 1;
            self.had_options = true;
            self.decided(Pick::Branch(outcome), Options::Branch(number));
        }
    }

    /// Something was decided elsewhere than in the list of answers.
    fn decided(&mut self, pick: Pick, options: Options) {
        let at = self.picks.len();
        match &mut self.answers {
            Answers::Exactly(..) => {}
            Answers::Any { asked, .. } => match asked.get(at) {
                Some(before) => self.astray |= before.pick != pick,
                None => asked.push(Asked { pick, options }),
            },
        }
        self.picks.push(pick);
    }

    /// Picks one of `of` options.
    fn pick(
        &mut self,
        of: usize,
        option: impl Fn(usize) -> Pick,
        others: impl FnOnce() -> Options,
    ) -> Result<usize, Cut> {
        self.item(1)?;
        self.note_branches();
        self.had_options |= of > 1;
        let worker = self.footprint.worker();
        let chosen = match &mut self.answers {
            Answers::Exactly(picks, used) => {
                let wanted = |pick: &Pick| (0..of).find(|&one| option(one) == *pick);
                let further = picks.iter().enumerate().skip(*used);
                let found = further.filter_map(|(at, pick)| Some((at, wanted(pick)?))).next();
                found.map(|(at, chosen)| {
                    *used = at + 1;
                    chosen
                })
            }
            Answers::Any { asked, asleep } => {
                let picks = &self.picks;
                if let Some(asked) = asked.get(picks.len()) {
                    (0..of).find(|&one| option(one) == asked.pick)
                } else {
                    let is_open = |&one: &usize| !is_asleep(asleep, worker, picks, option(one));
                    let Some(chosen) = (0..of).find(is_open) else {
                        self.asleep = true;
                        return Err(Cut);
                    };
                    asked.push(Asked { pick: option(chosen), options: others() });
                    Some(chosen)
                }
            }
        };
        let Some(chosen) = chosen else {
            self.astray = true;
            return Err(Cut);
        };
        self.picks.push(option(chosen));
        Ok(chosen)
    }
}

/// Whether a step with these picks and this one after them is asleep.
pub(crate) fn is_asleep(
    asleep: &[Arc<Step>],
    worker: WorkerId,
    picks: &[Pick],
    last: Pick,
) -> bool {
    asleep
        .iter()
        .any(|step| step.worker == worker && step.picks.split_last() == Some((&last, picks)))
}

impl<D: InputDriver> Env for StepEnv<'_, D> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        if D::BRANCHES
            && tag == Tag::Program
            && let Some(index) = self.driver.value(of)
        {
            self.item(1)?;
            self.writer.write(Choice::Value { index, of, tag });
            return Ok(index);
        }
        let option = |index: usize| Pick::Value { index: index as u32, of, tag };
        let index = self.pick(of as usize, option, || Options::Values)? as u32;
        self.writer.write(Choice::Value { index, of, tag });
        self.footprint.value(index, tag);
        Ok(index)
    }

    fn came_back(&mut self) -> Result<(), Cut> {
        self.asleep = true;
        Err(Cut)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        if candidates.is_empty() {
            self.item(1)?;
            return Ok(0);
        }
        let others = || Options::Messages(candidates.to_vec());
        let index = self.pick(candidates.len(), |at| Pick::Take(candidates[at]), others)?;
        self.writer.write(Choice::Delivery(candidates[index]));
        Ok(index)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.item(1)?;
        self.inputs = true;
        let value = asked.clamp(self.driver.input(asked));
        self.writer.write(Choice::Input(value));
        Ok(value)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.item(1)?;
        if !self.listens {
            return Ok(());
        }
        self.footprint.event(&event);
        let taken = match event {
            Event::Received { message, .. } => Some(message),
            Event::Accessed { access, .. } if !access.only_reads() => match access.resource {
                Resource::Message(message) => Some(message),
                _ => None,
            },
            _ => None,
        };
        if let Some(message) = taken
            && self.picks.last() != Some(&Pick::Take(message))
        {
            self.note_branches();
            self.decided(Pick::Take(message), Options::None);
            if self.astray {
                return Err(Cut);
            }
        }
        Ok(())
    }

    fn leeway(&self) -> u32 {
        if self.listens { 0 } else { self.items.limit() }
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.item(events)
    }
}
