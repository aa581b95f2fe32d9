//! The contract of strategies: who picks the choices of one schedule after another.

use std::sync::Arc;

use dally_core::{Event, MessageId, System, Tag, Text, WorkerId};

/// Picks the choices of one schedule after another.
///
/// Schedule number `i` may depend on the seed, on `i` and on what [`Strategy::learn`] was told,
/// and on nothing else: then a run gives the same report with any number of threads. A strategy
/// that goes from one schedule to the next by itself, as depth-first search does, says
/// [`Strategy::is_sequential`] and runs on one thread.
///
/// Not every step is asked for: where an execution has closed a loop while a monitor waits, it
/// goes round again by itself to see whether the loop repeats. If not, the strategy is asked
/// again where that has led; one that is sequential is never passed over in this way.
///
/// A strategy that always runs the first worker that can step, and answers every question with
/// the first value:
///
/// ```
/// use dally_core::{Tag, WorkerId};
/// use dally_search::{Point, Strategy};
///
/// #[derive(Clone)]
/// struct First;
///
/// impl Strategy for First {
///     fn name(&self) -> String {
///         "first".into()
///     }
///     fn begin(&mut self, schedule: u64) -> bool {
///         schedule == 0 // there is only one such schedule
///     }
///     fn worker(&mut self, point: &Point<'_>) -> Option<WorkerId> {
///         point.enabled.first().copied()
///     }
///     fn value(&mut self, _of: u32, _tag: Tag) -> Option<u32> {
///         Some(0)
///     }
///     fn fork(&self) -> Box<dyn Strategy> {
///         Box::new(self.clone())
///     }
/// }
/// ```
pub trait Strategy: Send {
    /// Its name with its parameters, such as `pct(3)`.
    fn name(&self) -> String;

    /// Starts over with this seed. The runner calls it once, before the first schedule, so the
    /// seed of the options is the seed of the run. Strategies without randomness need not care.
    fn reseed(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Prepares for schedule number `schedule`, from 0. `false`: there is nothing left to try.
    fn begin(&mut self, schedule: u64) -> bool;

    /// The worker, one of the enabled, that takes the next step; `None` ends the schedule here.
    fn worker(&mut self, point: &Point<'_>) -> Option<WorkerId>;

    /// The value, below `of`, that the step is given; `None` ends the schedule here.
    fn value(&mut self, of: u32, tag: Tag) -> Option<u32>;

    /// The position of the message that is delivered; `None` ends the schedule here.
    fn delivery(&mut self, candidates: &[MessageId]) -> Option<usize> {
        let of = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
        self.value(of, Tag::Program).map(|index| index as usize)
    }

    /// Whether it wants to hear the events of steps. Asked once for each schedule; steps whose
    /// events nobody hears are faster.
    fn listens(&self) -> bool {
        false
    }

    /// An event of the present step, if the strategy listens.
    fn heard(&mut self, event: &Event<Text<'_>>) {
        let _ = event;
    }

    /// The schedule is over, and this is the state it ended in; `None` if there is none, since
    /// the program did not start. Called for every schedule begun, on the copy that ran it.
    ///
    /// What the schedule has taught is answered here and not kept: it comes back to every copy
    /// as [`Outcome::lesson`].
    fn end(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        let _ = last;
        None
    }

    /// Told at the end of a batch, before the next begins: what came of all its schedules, in
    /// order, whichever thread ran them. Every copy of the strategy is told the same.
    fn learn(&mut self, batch: &[Outcome]) {
        let _ = batch;
    }

    /// How many schedules a batch has at most, at least 1. Small batches bring lessons home soon
    /// and make threads wait for each other. Batches start small and grow to this.
    fn batch(&self) -> u64 {
        1_024
    }

    /// All that it has learnt so far, for another run to go on from; `None` if there is nothing
    /// that could be kept.
    fn learned(&self) -> Option<Vec<u8>> {
        None
    }

    /// Goes on from what the same strategy has learnt in another run. `false`, and nothing is
    /// taken over, if these are not its bytes.
    fn recall(&mut self, learned: &[u8]) -> bool {
        let _ = learned;
        false
    }

    /// Whether, from this point of the schedule on, no worker that can step waits for ever.
    /// A monitor's temperature rises only while this holds.
    fn is_fair(&self) -> bool {
        false
    }

    /// After how many choices it ends the present schedule by itself, at the latest.
    fn longest(&self) -> usize {
        usize::MAX
    }

    /// Whether schedules are drawn independently and all alike, but for those of the first batches,
    /// from which it may learn what programs are like. Only then do the schedules run so far
    /// say how likely the next one is to show something new.
    fn draws_alike(&self) -> bool {
        false
    }

    /// Whether each schedule depends on the one before, so that one thread must run them all.
    fn is_sequential(&self) -> bool {
        false
    }

    /// A copy that knows the same, for another thread.
    fn fork(&self) -> Box<dyn Strategy>;
}

impl Clone for Box<dyn Strategy> {
    fn clone(&self) -> Box<dyn Strategy> {
        self.fork()
    }
}

/// Where an execution stands when a worker is to be picked.
pub struct Point<'a> {
    /// The workers that can step, at least one, sorted by id.
    pub enabled: &'a [WorkerId],
    /// Who took the step before.
    pub last: Option<WorkerId>,
    /// How many steps the schedule has so far; every value chosen counts as one.
    pub step: usize,
    /// The execution itself, to look at pending operations and observations.
    pub system: &'a dyn System,
}

/// What a schedule has taught, in words that only the strategy that wrote them reads.
pub type Lesson = Arc<[u64]>;

/// What came of one schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Its number, from 0.
    pub schedule: u64,
    /// Its steps; every value chosen counts as one.
    pub steps: usize,
    /// How many of these steps were values.
    pub values: usize,
    /// The observation (inboxes, control states, pending operations) of the state it ended in.
    pub observation: u64,
    /// Whether it ran to its own end: it was neither cut by a bound nor by the strategy.
    pub complete: bool,
    /// Whether it showed a bug.
    pub bug: bool,
    /// What [`Strategy::end`] answered.
    pub lesson: Option<Lesson>,
}
