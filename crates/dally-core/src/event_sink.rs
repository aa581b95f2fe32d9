//! Telling what happens, at no cost where nobody listens.

use crate::choice::{MessageId, Tag};
use crate::event::{Event, Text};
use crate::system::{Cut, Env};

/// The [`Env`] of a step, which is told only what somebody hears. Events that nobody hears are
/// counted here up to its [leeway](Env::leeway), and from then on by it.
pub struct EventSink<'a> {
    env: &'a mut dyn Env,
    heard: bool,
    /// How many more events need not even be counted by `env`.
    leeway: u32,
    /// How many have not been.
    untold: u32,
}

impl<'a> EventSink<'a> {
    /// For a step that begins.
    #[inline]
    pub fn new(env: &'a mut dyn Env) -> EventSink<'a> {
        let leeway = env.leeway();
        EventSink { env, heard: leeway == 0, leeway, untold: 0 }
    }

    /// Tells an event, which is made only if somebody listens.
    #[inline(always)]
    pub fn tell<'t>(&mut self, event: impl FnOnce() -> Event<Text<'t>>) -> Result<(), Cut> {
        if self.heard { self.speak(event()) } else { self.pass_over(1) }
    }

    /// Whether events are told to anybody, and not only counted.
    #[inline]
    pub fn is_heard(&self) -> bool {
        self.heard
    }

    /// Counts events that nobody hears.
    #[inline]
    pub fn pass_over(&mut self, events: u32) -> Result<(), Cut> {
        self.untold = self.untold.saturating_add(events);
        if self.untold > self.leeway { self.catch_up() } else { Ok(()) }
    }

    #[inline(never)]
    fn speak(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.env.event(event)
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

/// For code that knows only an [`Env`], such as that of monitors.
impl Env for EventSink<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.catch_up()?;
        self.env.value(of, tag)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.catch_up()?;
        self.env.delivery(candidates)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkerId;

    /// Writes down what it hears of a step.
    struct Listener {
        leeway: u32,
        heard: Vec<String>,
    }

    impl Env for Listener {
        fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
            self.heard.push(format!("one of {of}?"));
            Ok(0)
        }

        fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
            Ok(0)
        }

        fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
            self.heard.push("an event".to_owned());
            Ok(())
        }

        fn leeway(&self) -> u32 {
            self.leeway
        }

        fn unheard(&mut self, events: u32) -> Result<(), Cut> {
            self.heard.push(format!("{events} unheard"));
            Ok(())
        }
    }

    /// What is heard of a step with four events and a question, then one event more.
    fn heard(leeway: u32) -> Vec<String> {
        let mut listener = Listener { leeway, heard: Vec::new() };
        let mut event_sink = EventSink::new(&mut listener);
        let event = || Event::Halted { worker: WorkerId::root(0) };
        for _ in 0..4 {
            event_sink.tell(event).unwrap();
        }
        event_sink.value(2, Tag::Program).unwrap();
        event_sink.tell(event).unwrap();
        listener.heard
    }

    #[test]
    fn a_listener_without_leeway_is_told_every_event() {
        let event = "an event";
        assert_eq!(heard(0), [event, event, event, event, "one of 2?", event]);
    }

    #[test]
    fn events_that_nobody_hears_are_counted_together_beyond_the_leeway_and_then_one_by_one() {
        assert_eq!(heard(2), ["3 unheard", "1 unheard", "one of 2?", "1 unheard"]);
    }

    #[test]
    fn events_within_the_leeway_are_counted_when_a_value_is_asked_for() {
        assert_eq!(heard(100), ["4 unheard", "one of 2?", "1 unheard"]);
    }
}
