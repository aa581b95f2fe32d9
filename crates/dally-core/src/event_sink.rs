//! The events of a step: how many there may be, and how they are told.

use crate::choice::{MessageId, Tag};
use crate::event::{Event, Text};
use crate::input::Input;
use crate::system::{Cut, Env};

/// Counts events up to a limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventBudget {
    spent: u32,
    limit: u32,
}

impl EventBudget {
    /// Nothing is spent of so many events.
    #[inline]
    pub fn new(limit: u32) -> EventBudget {
        EventBudget { spent: 0, limit }
    }

    /// Counts events. `false` if they are more than there may be, together with those before.
    #[inline]
    #[must_use]
    pub fn spend(&mut self, events: u32) -> bool {
        self.spent = self.spent.saturating_add(events);
        !self.is_exceeded()
    }

    /// Whether there were more events than there may be.
    #[inline]
    pub fn is_exceeded(&self) -> bool {
        self.spent > self.limit
    }

    /// The events so far.
    #[inline]
    pub fn spent(&self) -> u32 {
        self.spent
    }

    /// How many events there may be.
    #[inline]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Counts from nothing again.
    #[inline]
    pub fn restart(&mut self) {
        self.spent = 0;
    }

    /// Sets the limit to 0, so that the next event exceeds it. Returns and resets the count.
    pub fn close(&mut self) -> u32 {
        self.limit = 0;
        std::mem::take(&mut self.spent)
    }
}

/// Tells the [`Env`] of a step only the events that somebody hears. The others are counted here up
/// to the [leeway](Env::leeway), and from then on by the `Env`.
pub struct EventSink<'a> {
    env: &'a mut dyn Env,
    heard: bool,
    /// The events that `env` has not counted.
    untold: EventBudget,
    /// The turns that are left until they count as one event.
    turns_left: u32,
}

/// How many turns count as one event towards the bound of a step.
const TURNS: u32 = 64;

impl<'a> EventSink<'a> {
    /// For a step that begins.
    #[inline]
    pub fn new(env: &'a mut dyn Env) -> EventSink<'a> {
        let leeway = env.leeway();
        let untold = EventBudget::new(leeway);
        EventSink { env, heard: leeway == 0, untold, turns_left: TURNS }
    }

    /// Tells an event, which is made only if somebody listens.
    #[inline(always)]
    pub fn tell<'t>(&mut self, event: impl FnOnce() -> Event<Text<'t>>) -> Result<(), Cut> {
        if self.heard { self.tell_env(event()) } else { self.count(1) }
    }

    /// Whether events are told to anybody, and not only counted.
    #[inline]
    pub fn is_heard(&self) -> bool {
        self.heard
    }

    /// Counts events that nobody hears.
    #[inline]
    pub fn count(&mut self, events: u32) -> Result<(), Cut> {
        if self.untold.spend(events) { Ok(()) } else { self.catch_up() }
    }

    /// Counts a jump backwards or a call of an interpreter, to notice endless loops without events.
    /// Answers `true` now and then, always after the same number of turns: the time to look whether
    /// the state is one that the step was in before.
    #[inline(always)]
    pub fn turn(&mut self) -> Result<bool, Cut> {
        self.turns_left -= 1;
        if self.turns_left == 0 { self.turned() } else { Ok(false) }
    }

    #[cold]
    fn turned(&mut self) -> Result<bool, Cut> {
        self.turns_left = TURNS;
        self.count(1).map(|()| true)
    }

    #[inline(never)]
    fn tell_env(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.env.event(event)
    }

    /// Has `env` count the events that it has not counted.
    #[cold]
    fn catch_up(&mut self) -> Result<(), Cut> {
        match self.untold.close() {
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

    fn place(&mut self, place: u64) {
        self.env.place(place);
    }

    fn came_back(&mut self) -> Result<(), Cut> {
        self.env.came_back()
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.catch_up()?;
        self.env.delivery(candidates)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.catch_up()?;
        self.env.input(asked)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.tell(|| event)
    }

    fn leeway(&self) -> u32 {
        if self.heard { 0 } else { u32::MAX }
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.count(events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkerId;

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
    fn events_are_told_without_leeway_and_otherwise_counted_beyond_it_and_before_a_question() {
        let event = "an event";
        assert_eq!(heard(0), [event, event, event, event, "one of 2?", event]);
        assert_eq!(heard(2), ["3 unheard", "1 unheard", "one of 2?", "1 unheard"]);
        assert_eq!(heard(100), ["4 unheard", "one of 2?", "1 unheard"]);
    }

    #[test]
    fn turns_without_an_event_are_counted_in_time() {
        let mut listener = Listener { leeway: 1, heard: Vec::new() };
        let mut event_sink = EventSink::new(&mut listener);
        for _ in 0..3 * TURNS {
            event_sink.turn().unwrap();
        }
        assert_eq!(listener.heard, ["2 unheard", "1 unheard"]);
    }
}
