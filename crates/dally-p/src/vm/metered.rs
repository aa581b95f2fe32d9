//! Telling what happens, and counting what only takes time.

use dally_core::{Cut, Env, Event, EventSink, Tag, Text};

/// The [`Env`] of a step, which also counts loops and calls: code that runs without end is noticed,
/// though nothing happens in it.
pub(crate) struct Metered<'a> {
    event_sink: EventSink<'a>,
    /// How many loops and calls make the next event.
    until_next: u32,
}

/// So many jumps backwards or calls count as one event towards the bound of a step.
const TURNS: u32 = 64;

impl<'a> Metered<'a> {
    /// For a step that begins.
    #[inline]
    pub(crate) fn new(env: &'a mut dyn Env) -> Metered<'a> {
        Metered { event_sink: EventSink::new(env), until_next: TURNS }
    }

    /// Tells an event, which is made only if somebody listens.
    #[inline]
    pub(crate) fn tell<'t>(&mut self, event: impl FnOnce() -> Event<Text<'t>>) -> Result<(), Cut> {
        self.event_sink.tell(event)
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
        self.event_sink.pass_over(1)
    }

    /// Asks for one of so many values.
    pub(crate) fn value(&mut self, of: u32) -> Result<u32, Cut> {
        self.event_sink.value(of, Tag::Program)
    }
}
