//! Telling what happens, at no cost where nobody listens.

use dally_core::{Cut, Env, Event, Tag, Text};

/// The [`Env`] of a step, which is told only what somebody hears. What nobody hears is counted
/// here up to its leeway, and from then on by it.
pub(crate) struct Teller<'a> {
    env: &'a mut dyn Env,
    heard: bool,
    /// How many more events need not even be counted by `env`.
    leeway: u32,
    /// How many have not been.
    untold: u32,
    /// How many loops and calls make the next event.
    until_next: u32,
}

/// So many jumps backwards or calls count as one event towards the bound of a step.
const TURNS: u32 = 64;

impl<'a> Teller<'a> {
    /// For a step that begins.
    #[inline]
    pub(crate) fn new(env: &'a mut dyn Env) -> Teller<'a> {
        let leeway = env.leeway();
        Teller { env, heard: leeway == 0, leeway, untold: 0, until_next: TURNS }
    }

    /// Tells an event, which is made only if somebody listens.
    #[inline]
    pub(crate) fn tell<'t>(&mut self, event: impl FnOnce() -> Event<Text<'t>>) -> Result<(), Cut> {
        if self.heard { self.env.event(event()) } else { self.pass_over() }
    }

    /// Counts a jump backwards or a call.
    #[inline(always)]
    pub(crate) fn turn(&mut self) -> Result<(), Cut> {
        self.until_next -= 1;
        if self.until_next == 0 { self.turned() } else { Ok(()) }
    }

    #[cold]
    fn turned(&mut self) -> Result<(), Cut> {
        self.until_next = TURNS;
        if self.heard { self.env.unheard(1) } else { self.pass_over() }
    }

    #[inline]
    fn pass_over(&mut self) -> Result<(), Cut> {
        self.untold = self.untold.saturating_add(1);
        if self.untold > self.leeway { self.catch_up() } else { Ok(()) }
    }

    /// Asks for one of so many values.
    pub(crate) fn value(&mut self, of: u32) -> Result<u32, Cut> {
        self.catch_up()?;
        self.env.value(of, Tag::Program)
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
