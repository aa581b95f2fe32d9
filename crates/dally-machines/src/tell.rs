//! Telling what happens, at no cost where nobody listens.

use dally_core::{Cut, Env, Event, MessageId, Tag, Text};

use crate::foresight::Question;

/// The [`Env`] of a step, which is told only what somebody hears. Events that nobody hears are
/// counted here up to its leeway, and from then on by it.
pub(crate) struct Teller<'a> {
    env: &'a mut dyn Env,
    heard: bool,
    /// How many more events need not even be counted by `env`.
    leeway: u32,
    /// How many have not been.
    untold: u32,
    /// Where questions are noted with their answers, if they are.
    asked: Option<&'a mut Vec<(Question, u32)>>,
}

impl<'a> Teller<'a> {
    /// For a step that begins.
    #[inline]
    pub(crate) fn new(env: &'a mut dyn Env) -> Teller<'a> {
        let leeway = env.leeway();
        Teller { env, heard: leeway == 0, leeway, untold: 0, asked: None }
    }

    /// As [`Teller::new`], where what the step asks is noted.
    pub(crate) fn noting(env: &'a mut dyn Env, asked: &'a mut Vec<(Question, u32)>) -> Teller<'a> {
        Teller { asked: Some(asked), ..Teller::new(env) }
    }

    fn note(&mut self, question: Question, answer: u32) {
        if let Some(asked) = self.asked.as_deref_mut() {
            asked.push((question, answer));
        }
    }

    /// Tells an event, which is made only if somebody listens.
    #[inline(always)]
    pub(crate) fn tell<'t>(&mut self, event: impl FnOnce() -> Event<Text<'t>>) -> Result<(), Cut> {
        if self.heard { self.speak(event()) } else { self.pass_over(1) }
    }

    #[inline(never)]
    fn speak(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.env.event(event)
    }

    /// Whether events are told to anybody, and not only counted.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        self.heard
    }

    /// Counts events that nobody hears.
    #[inline]
    pub(crate) fn pass_over(&mut self, events: u32) -> Result<(), Cut> {
        self.untold = self.untold.saturating_add(events);
        if self.untold > self.leeway { self.catch_up() } else { Ok(()) }
    }

    /// Has `env` count what has not been told.
    #[cold]
    fn catch_up(&mut self) -> Result<(), Cut> {
        self.leeway = 0;
        match std::mem::take(&mut self.untold) {
            0 => Ok(()),
            untold => self.env.unheard(untold),
        }
    }
}

/// For the code of machines and monitors, which knows only an [`Env`].
impl Env for Teller<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.catch_up()?;
        let answer = self.env.value(of, tag)?;
        self.note(Question::Value { of, tag }, answer);
        Ok(answer)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.catch_up()?;
        let answer = self.env.delivery(candidates)?;
        self.note(Question::Delivery, answer as u32);
        Ok(answer)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.tell(|| event)
    }

    fn leeway(&self) -> u32 {
        if self.heard { 0 } else { u32::MAX }
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.pass_over(events)
    }
}

/// As [`Teller::tell`], where only an [`Env`] is known.
#[inline]
pub(crate) fn tell<'t>(
    env: &mut dyn Env,
    event: impl FnOnce() -> Event<Text<'t>>,
) -> Result<(), Cut> {
    if env.leeway() == 0 { env.event(event()) } else { env.unheard(1) }
}
