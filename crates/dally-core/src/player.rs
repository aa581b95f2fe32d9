//! Recorded choices, made again.

use std::fmt;
use std::ops::Deref;

use crate::choice::{Choice, MessageId, Tag};
use crate::event::{Event, Text};
use crate::input::Input;
use crate::system::{Cut, Env};
use crate::words::count;
use crate::worker::WorkerId;

/// What a step asks its [`Env`] for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Question {
    /// One of so many values.
    Value {
        /// How many.
        of: u32,
        /// Who asks.
        tag: Tag,
    },
    /// One of so many messages.
    Delivery {
        /// How many.
        of: u32,
    },
    /// A number from outside.
    Input,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Question::Value { of, tag: Tag::Program } => {
                write!(f, "one of {}", count(of.into(), "value"))
            }
            Question::Value { of, tag: Tag::Fault } => {
                write!(f, "one of {} (a fault)", count(of.into(), "value"))
            }
            Question::Delivery { of } => write!(f, "one of {}", count(of.into(), "message")),
            Question::Input => f.write_str("an input"),
        }
    }
}

/// A question with the place of its answer among the possible ones. A message that is sent again
/// has another identity but the same place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Answer {
    /// What was asked for.
    pub question: Question,
    /// Which of the values or messages it was, or the number that was given.
    pub index: i64,
}

/// What was recorded of a question and its answer.
pub trait Recorded: Copy {
    /// The answer to the same question, asked again; `None` if it was another question.
    fn value(self, of: u32, tag: Tag) -> Option<u32>;

    /// The place of the recorded message among these; `None` if it is missing or was not asked for.
    fn delivery(self, candidates: &[MessageId]) -> Option<usize>;

    /// The recorded number; `None` if it is out of range now, or if the question was another.
    fn input(self, asked: Input<'_>) -> Option<i64>;
}

impl Recorded for Choice {
    fn value(self, of: u32, tag: Tag) -> Option<u32> {
        match self {
            Choice::Value { index, of: then, tag: who } => {
                ((then, who) == (of, tag)).then_some(index)
            }
            _ => None,
        }
    }

    fn delivery(self, candidates: &[MessageId]) -> Option<usize> {
        match self {
            Choice::Delivery(message) => candidates.iter().position(|&one| one == message),
            _ => None,
        }
    }

    fn input(self, asked: Input<'_>) -> Option<i64> {
        match self {
            Choice::Input(value) => (asked.clamp(value) == value).then_some(value),
            _ => None,
        }
    }
}

impl Recorded for Answer {
    fn value(self, of: u32, tag: Tag) -> Option<u32> {
        (self.question == Question::Value { of, tag }).then_some(self.index as u32)
    }

    fn delivery(self, candidates: &[MessageId]) -> Option<usize> {
        let of = candidates.len() as u32;
        (self.question == Question::Delivery { of }).then_some(self.index as usize)
    }

    fn input(self, asked: Input<'_>) -> Option<i64> {
        let fits = self.question == Question::Input && asked.clamp(self.index) == self.index;
        fits.then_some(self.index)
    }
}

/// Gives recorded answers again, in their order.
///
/// ```
/// use dally_core::{Choice, Player, Tag, WorkerId};
///
/// let worker = WorkerId::root(0);
/// let value = Choice::Value { index: 1, of: 2, tag: Tag::Program };
/// let mut player = Player::new(vec![Choice::Worker(worker), value]);
/// assert_eq!(player.worker(), Ok(worker));
/// assert_eq!(player.value(3, Tag::Program), Err(Some(value)), "it was one of two");
/// assert_eq!(player.value(2, Tag::Program), Ok(1));
/// assert_eq!(player.worker(), Err(None), "the recording is at its end");
/// ```
#[derive(Clone, Debug)]
pub struct Player<C> {
    recorded: C,
    next: usize,
}

impl<R: Recorded, C: Deref<Target = [R]>> Player<C> {
    /// At the beginning of a recording.
    pub fn new(recorded: C) -> Player<C> {
        Player { recorded, next: 0 }
    }

    /// The next answer.
    pub fn peek(&self) -> Option<R> {
        self.rest().first().copied()
    }

    /// The answers that are still to come.
    pub fn rest(&self) -> &[R] {
        &self.recorded[self.next..]
    }

    /// How much of the recording has been played or passed over.
    pub fn position(&self) -> usize {
        self.next
    }

    /// Passes over so much of the recording.
    pub fn skip(&mut self, many: usize) {
        self.next = self.recorded.len().min(self.next + many);
    }

    /// The recorded answer; an error is what was recorded instead, if anything was.
    pub fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Option<R>> {
        self.play(|recorded| recorded.value(of, tag))
    }

    /// The place of the recorded message; an error is what was recorded instead.
    pub fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Option<R>> {
        self.play(|recorded| recorded.delivery(candidates))
    }

    /// The recorded number; an error is what was recorded instead.
    pub fn input(&mut self, asked: Input<'_>) -> Result<i64, Option<R>> {
        self.play(|recorded| recorded.input(asked))
    }

    fn play<T>(&mut self, fit: impl FnOnce(R) -> Option<T>) -> Result<T, Option<R>> {
        let recorded = self.peek();
        let answer = recorded.and_then(fit).ok_or(recorded)?;
        self.next += 1;
        Ok(answer)
    }
}

impl<C: Deref<Target = [Choice]>> Player<C> {
    /// The worker that steps next; an error is what was recorded instead.
    pub fn worker(&mut self) -> Result<WorkerId, Option<Choice>> {
        self.play(|choice| match choice {
            Choice::Worker(worker) => Some(worker),
            _ => None,
        })
    }

    /// Passes over the choices inside the present step; answers how many there were.
    pub fn skip_step(&mut self) -> usize {
        let is_inside = |choice: &&Choice| !matches!(choice, Choice::Worker(_));
        let inside = self.rest().iter().take_while(is_inside).count();
        self.skip(inside);
        inside
    }
}

/// The [`Env`] of a step that is taken again: a recording answers it, and its events are dropped.
#[derive(Debug)]
pub struct PlayedStep<'a, R, C> {
    player: &'a mut Player<C>,
    misfit: Option<(Question, Option<R>)>,
}

impl<'a, R: Recorded, C: Deref<Target = [R]>> PlayedStep<'a, R, C> {
    /// For a step that begins at the player's position.
    pub fn new(player: &'a mut Player<C>) -> PlayedStep<'a, R, C> {
        PlayedStep { player, misfit: None }
    }

    /// The question that the recording did not answer, which cut the step, and what it has there.
    pub fn misfit(self) -> Option<(Question, Option<R>)> {
        self.misfit
    }

    fn answer<T>(&mut self, question: Question, answer: Result<T, Option<R>>) -> Result<T, Cut> {
        answer.map_err(|recorded| {
            self.misfit = Some((question, recorded));
            Cut
        })
    }

    fn fits(&self) -> Result<(), Cut> {
        if self.misfit.is_some() { Err(Cut) } else { Ok(()) }
    }
}

impl<R: Recorded, C: Deref<Target = [R]>> Env for PlayedStep<'_, R, C> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.fits()?;
        let answer = self.player.value(of, tag);
        self.answer(Question::Value { of, tag }, answer)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.fits()?;
        let answer = self.player.delivery(candidates);
        self.answer(Question::Delivery { of: candidates.len() as u32 }, answer)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.fits()?;
        let answer = self.player.input(asked);
        self.answer(Question::Input, answer)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        self.fits()
    }

    fn leeway(&self) -> u32 {
        u32::MAX
    }
}

/// The [`Env`] of a step whose questions are recorded with their answers.
pub struct RecordedStep<'a> {
    env: &'a mut dyn Env,
    answers: &'a mut Vec<Answer>,
}

impl<'a> RecordedStep<'a> {
    /// Appends to `answers` what `env` answers.
    pub fn new(env: &'a mut dyn Env, answers: &'a mut Vec<Answer>) -> RecordedStep<'a> {
        RecordedStep { env, answers }
    }
}

impl Env for RecordedStep<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let index = self.env.value(of, tag)?;
        self.answers.push(Answer { question: Question::Value { of, tag }, index: index.into() });
        Ok(index)
    }

    fn place(&mut self, place: u64) {
        self.env.place(place);
    }

    fn came_back(&mut self) -> Result<(), Cut> {
        self.env.came_back()
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        let index = self.env.delivery(candidates)?;
        let question = Question::Delivery { of: candidates.len() as u32 };
        self.answers.push(Answer { question, index: index as i64 });
        Ok(index)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        let index = self.env.input(asked)?;
        self.answers.push(Answer { question: Question::Input, index });
        Ok(index)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.env.event(event)
    }

    fn leeway(&self) -> u32 {
        self.env.leeway()
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.env.unheard(events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers every question with its last answer.
    struct Last;

    impl Env for Last {
        fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
            Ok(of - 1)
        }

        fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
            Ok(candidates.len() - 1)
        }

        fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
            Ok(())
        }
    }

    fn message(number: u32) -> MessageId {
        MessageId { sender: WorkerId::root(0), number }
    }

    #[test]
    fn a_recorded_step_is_played_by_place_and_a_schedule_by_identity() {
        let (mut env, mut answers) = (Last, Vec::new());
        let mut step = RecordedStep::new(&mut env, &mut answers);
        assert_eq!(step.value(3, Tag::Fault), Ok(2));
        assert_eq!(step.delivery(&[message(4), message(5)]), Ok(1));
        assert_eq!(step.input(Input::named("id").by_default(-7)), Ok(-7));

        let mut player = Player::new(answers);
        let mut again = PlayedStep::new(&mut player);
        assert_eq!(again.value(3, Tag::Fault), Ok(2));
        assert_eq!(again.delivery(&[message(7), message(8)]), Ok(1));
        assert_eq!(again.input(Input::named("id")), Ok(-7));
        assert_eq!(again.misfit(), None);

        let mut player = Player::new(vec![Choice::Delivery(message(5))]);
        let mut again = PlayedStep::new(&mut player);
        assert_eq!(again.delivery(&[message(5), message(6)]), Ok(0));
        assert_eq!(again.misfit(), None);
    }

    #[test]
    fn a_step_that_asks_for_something_else_is_cut_from_there_on() {
        let value = Choice::Value { index: 0, of: 2, tag: Tag::Program };
        let mut player = Player::new(vec![value]);
        let mut again = PlayedStep::new(&mut player);
        assert_eq!(again.value(2, Tag::Fault), Err(Cut));
        assert_eq!(again.value(2, Tag::Program), Err(Cut));
        assert_eq!(again.event(Event::Halted { worker: WorkerId::root(0) }), Err(Cut));
        let (question, recorded) = again.misfit().unwrap();
        assert_eq!(
            (question.to_string().as_str(), recorded),
            ("one of 2 values (a fault)", Some(value))
        );
    }
}
