//! A full record of one execution.

use dally_core::{Choice, Event, System, Text, Trace, Tracer, WorkerId};

#[cfg(feature = "tracing")]
use super::spans::Spans;

#[derive(Default)]
pub(crate) struct Recorder {
    pub(super) tracer: Tracer,
    #[cfg(feature = "tracing")]
    spans: Option<Spans>,
    /// Whether people read it.
    tells: bool,
    enabled: Vec<Vec<WorkerId>>,
    /// The sum of the sizes of these sets.
    entries: usize,
}

/// The most entries of all enabled sets of a recording. A program that spawns for ever would need
/// the square of its steps; past this bound sets are left out, and a replay compares less.
const MAX_ENABLED_ENTRIES: usize = 1 << 22;

impl Recorder {
    /// For an execution that is told to people.
    pub(crate) fn full() -> Recorder {
        Recorder {
            #[cfg(feature = "tracing")]
            spans: Some(Spans::listen()),
            tells: true,
            ..Recorder::default()
        }
    }

    /// For an execution that is only compared with another.
    pub(crate) fn to_compare() -> Recorder {
        Recorder { tracer: Tracer::without_order(), ..Recorder::default() }
    }

    /// For an execution of which only the order of steps is wanted.
    pub(crate) fn of_order() -> Recorder {
        Recorder { tracer: Tracer::without_texts(), ..Recorder::default() }
    }

    pub(crate) fn finish(mut self) -> (Trace, Vec<Vec<WorkerId>>) {
        self.take_lines();
        (self.tracer.finish(), self.enabled)
    }

    #[cold]
    pub(super) fn step<S: System>(&mut self, worker: WorkerId, system: &S) {
        self.take_lines();
        #[cfg(feature = "tracing")]
        self.spans.iter().for_each(|spans| spans.step(worker));
        let enabled = system.enabled();
        self.entries += enabled.len();
        if self.entries <= MAX_ENABLED_ENTRIES {
            self.enabled.push(enabled.to_vec());
        }
        self.tracer.step(worker, || system.name(worker));
    }

    /// The step is over.
    #[cold]
    pub(super) fn stepped<S: System>(&mut self, worker: WorkerId, system: &S) {
        self.take_lines();
        if self.tells
            && let Some(fields) = system.fields(worker)
        {
            self.tracer.fields(fields);
        }
    }

    #[cold]
    pub(super) fn event(&mut self, event: Event<Text<'_>>) {
        self.take_lines();
        self.tracer.event(event);
    }

    #[cold]
    pub(super) fn choice(&mut self, choice: Choice) {
        self.take_lines();
        self.tracer.choice(choice);
    }

    /// What the program has told by `tracing` comes before what it does next.
    fn take_lines(&mut self) {
        #[cfg(feature = "tracing")]
        for line in self.spans.iter().flat_map(Spans::take) {
            self.tracer.event(Event::Noted { text: Text::Str(&line) });
        }
    }
}
