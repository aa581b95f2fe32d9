//! The steps of a recorded execution, taken again to hear what is told as data.

use dally_core::{
    Choice, Cut, Env, Event, EventBudget, Input, Item, MessageId, PlayedStep, Player, Program as _,
    System, Tag, Text, TraceStep,
};
use serde_json::Value;

use super::OtherProgram;
use crate::vm::{PProgram, PSystem};

/// What an event tells: its text, and the same as data.
pub(super) struct Told {
    pub(super) text: String,
    data: Value,
}

impl Told {
    /// The name of the event that a message or an announcement carries.
    pub(super) fn event(&self) -> &str {
        self.data["event"].as_str().unwrap_or(&self.text)
    }

    /// What that event carries, if anything.
    pub(super) fn payload(&self) -> Option<&Value> {
        self.data.get("payload")
    }
}

/// An execution that goes the way of a trace.
pub(super) struct Again(PSystem);

impl Again {
    pub(super) fn begin(program: &PProgram) -> Result<Again, OtherProgram> {
        program.start().map(Again).map_err(|_| OtherProgram { step: 0 })
    }

    /// The events of the next step, which is the `at`-th of the trace. The last one may have been cut: then it
    /// would have told more.
    pub(super) fn step(
        &mut self,
        at: usize,
        recorded: &TraceStep,
        is_last: bool,
    ) -> Result<Vec<Event<Told>>, OtherProgram> {
        let mut choices = Vec::new();
        let mut events = Vec::new();
        for item in &recorded.items {
            match item {
                Item::Choice(choice) => choices.push(*choice),
                Item::Input { value, .. } => choices.push(Choice::Input(*value)),
                Item::Event(event) => events.push(event),
                _ => {}
            }
        }
        let of = events.len();
        let mut player = Player::new(choices);
        let mut listener = Listener {
            played: PlayedStep::new(&mut player),
            expected: events.into_iter(),
            told: Vec::with_capacity(of),
            differs: false,
            unheard: EventBudget::new(LONG_STEP),
        };
        // A step that ended in a bug or was cut has told before all that it tells.
        let _ = self.0.step(recorded.worker, &mut listener);
        let Listener { told, differs, .. } = listener;
        let same = told.len() == of && (is_last || !differs);
        if same { Ok(told) } else { Err(OtherProgram { step: at + 1 }) }
    }
}

/// Gives a step the choices that were recorded, and keeps what it tells, as long as that is what was recorded.
struct Listener<'a> {
    played: PlayedStep<'a, Choice, Vec<Choice>>,
    expected: std::vec::IntoIter<&'a Event<String>>,
    told: Vec<Event<Told>>,
    /// Whether an event was another one than was recorded, or one more.
    differs: bool,
    unheard: EventBudget,
}

/// How many turns of 64 instructions a step may take without an event.
const LONG_STEP: u32 = 2_000_000;

impl Env for Listener<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        self.played.value(of, tag)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.played.delivery(candidates)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        self.played.input(asked)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.played.event(event)?;
        let written = event.map(|text| text.written());
        if self.expected.next() != Some(&written) {
            self.differs = true;
            return Err(Cut);
        }
        let told = |text: Text<'_>| Told { text: text.written(), data: text.data() };
        self.told.push(event.map(told));
        Ok(())
    }

    fn unheard(&mut self, turns: u32) -> Result<(), Cut> {
        if self.unheard.spend(turns) { Ok(()) } else { Err(Cut) }
    }
}
