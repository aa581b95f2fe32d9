//! The contract of strategies, which pick the choices of schedules.

use std::cell::Cell;
use std::sync::Arc;

use dally_core::{Event, Input, MessageId, System, Tag, Text, WorkerId};

/// Picks the choices of one schedule after another.
///
/// Three methods make a strategy. This one always runs the first worker that can step, and answers
/// every question with the first value:
///
/// ```
/// use dally_core::{Tag, WorkerId};
/// use dally_search::{EndSchedule, Point, Strategy};
///
/// #[derive(Clone)]
/// struct First;
///
/// impl Strategy for First {
///     fn begin(&mut self, schedule: u64) -> bool {
///         schedule == 0 // there is only one such schedule
///     }
///     fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
///         Ok(point.enabled[0])
///     }
///     fn value(&mut self, _of: u32, _tag: Tag) -> Result<u32, EndSchedule> {
///         Ok(0)
///     }
/// }
///
/// assert_eq!(First.name(), "first");
/// ```
///
/// Schedule number `i` may depend on the seed, on `i` and on what [`Learner::learn`] was told,
/// and on nothing else: then a run gives the same report with any number of threads, each of which
/// has a copy. A strategy that goes from one schedule to the next by itself, as depth-first search
/// does, is [`sequential`](Properties::sequential) and runs on one thread.
///
/// Not every step is asked for: where an execution has closed a loop while a monitor waits, it goes
/// round again by itself to see whether the loop repeats. If not, the strategy is asked again from
/// there on. This never happens to a sequential strategy.
pub trait Strategy: Fork + Send {
    /// Prepares for schedule number `schedule`, from 0. `false`: there is nothing left to try.
    fn begin(&mut self, schedule: u64) -> bool;

    /// The worker, one of the enabled, that takes the next step.
    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule>;

    /// The value, below `of`, that the step is given.
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule>;

    /// The position of the message that is delivered: by default a value.
    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        let of = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
        self.value(of, Tag::Program).map(|index| index as usize)
    }

    /// The number from outside that the step is given, within the range that is asked for: by
    /// default the given one. A strategy that picks others [says so](Properties::varies_inputs).
    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(asked.given)
    }

    /// Its name with its parameters, such as `pct(3)`: by default that of its type, in kebab case.
    fn name(&self) -> String {
        name_of_type(std::any::type_name::<Self>())
    }

    /// Starts over with the seed of the options. Called once, before the first schedule.
    fn reseed(&mut self, seed: u64) {
        let _ = seed;
    }

    /// The schedules of this run begin with number `first`: it goes on from earlier ones. Called once, after
    /// [`Strategy::reseed`] and [`Learner::recall`]; without it they begin with 0.
    fn start_at(&mut self, first: u64) {
        let _ = first;
    }

    /// The group of a schedule of the present batch. Schedules of one group are alike for the processor and its
    /// caches, so one thread that runs a batch runs them one after another, in their order.
    fn group(&mut self, schedule: u64) -> usize {
        let _ = schedule;
        0
    }

    /// What it promises and needs. Asked before the first schedule and after [`Strategy::begin`].
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// An event of the present step, if the strategy [`listens`](Properties::listens).
    fn heard(&mut self, event: &Event<Text<'_>>) {
        let _ = event;
    }

    /// What the schedules of the run have covered, as the end of a sentence that begins with how
    /// many there were: such as `every order of steps that race`. Asked after the last schedule.
    fn coverage(&self) -> Option<String> {
        None
    }

    /// The part that learns from the schedules of a run, if the strategy learns.
    fn learner(&mut self) -> Option<&mut dyn Learner> {
        None
    }
}

/// What a strategy promises and what it needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties {
    /// No worker that can step waits for ever. Only then does a monitor's temperature rise. A
    /// strategy that becomes fair later says so by [`Point::fair_from_here`].
    pub fair: bool,
    /// Each schedule depends on the one before, so that one thread must run them all.
    pub sequential: bool,
    /// It needs the events of the present schedule. Steps whose events nobody hears are faster.
    pub listens: bool,
    /// Schedules are drawn independently and all alike, but for those of the first batches. Only
    /// then do the schedules run so far say how likely the next one is to show something new.
    pub draws_alike: bool,
    /// It picks other inputs than the given ones. A report says if no strategy did.
    pub varies_inputs: bool,
    /// How many schedules a batch has at most, at least 1: batches start small and grow to this.
    /// With small ones a strategy learns early, and threads wait for each other.
    pub batch: u64,
    /// After how many choices it ends the present schedule by itself, at the latest.
    pub longest: usize,
}

impl Properties {
    /// Of a strategy that draws its schedules alike, with values and inputs.
    pub const DRAWN: Properties =
        Properties { draws_alike: true, varies_inputs: true, ..Properties::NONE };

    const NONE: Properties = Properties {
        fair: false,
        sequential: false,
        listens: false,
        draws_alike: false,
        varies_inputs: false,
        batch: 1_024,
        longest: usize::MAX,
    };
}

impl Default for Properties {
    fn default() -> Properties {
        Properties::NONE
    }
}

/// Why a strategy ends a schedule before the program does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
// As large as a worker's id, so that the answer of `Strategy::worker` is returned in registers.
#[repr(u64)]
pub enum EndSchedule {
    /// It goes no further, as at a depth bound: what would have followed is not covered.
    Cut,
    /// Whatever would follow is covered by other schedules: going on would show nothing new.
    Redundant,
}

/// What a strategy learns from the schedules of a run.
///
/// A copy of a strategy never learns while a schedule runs. All lessons of a batch reach all
/// copies in the order of schedules before the next batch begins, whatever the number of threads.
pub trait Learner {
    /// What the schedule has taught; every copy gets it back as [`Outcome::lesson`]. Called for
    /// every schedule begun, on the copy that ran it, with its last state, if the program started.
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        let _ = last;
        None
    }

    /// Called between batches on every copy of the strategy, with the outcomes of all schedules of
    /// the batch in order, whichever thread ran them.
    fn learn(&mut self, batch: &[Outcome]);

    /// All that it has learnt so far, for another run to go on from; `None` if nothing can be kept.
    fn learned(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Goes on from what the same strategy has learnt in another run. `false`, and nothing is taken
    /// over, if these bytes are not its own.
    fn recall(&mut self, learned: &[u8]) -> bool {
        let _ = learned;
        false
    }
}

/// Copies of strategies, for other threads. Every strategy that is [`Clone`] has them.
pub trait Fork {
    /// A copy that has learnt the same.
    fn fork(&self) -> Box<dyn Strategy>;
}

impl<S: Strategy + Clone + 'static> Fork for S {
    fn fork(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Strategy> {
    fn clone(&self) -> Box<dyn Strategy> {
        (**self).fork()
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
    /// How many of these steps were steps of workers. Not all of them were asked for: see [`Strategy`].
    pub turns: usize,
    /// The execution itself, to look at pending operations and observations.
    pub system: &'a dyn System,
    fair: Cell<bool>,
}

impl<'a> Point<'a> {
    /// After `step` steps, `turns` of them by workers, the last of these by `last`.
    #[inline]
    pub fn new(
        enabled: &'a [WorkerId],
        last: Option<WorkerId>,
        [step, turns]: [usize; 2],
        system: &'a dyn System,
    ) -> Point<'a> {
        Point { enabled, last, step, turns, system, fair: Cell::new(false) }
    }

    /// Says that the strategy is fair from this point of the schedule on: no worker that can step
    /// waits for ever. It is enough to call this once.
    pub fn fair_from_here(&self) {
        self.fair.set(true);
    }

    /// Whether [`Point::fair_from_here`] was called.
    pub fn is_fair(&self) -> bool {
        self.fair.get()
    }
}

/// What a schedule has taught, as words that only the strategy which wrote them reads.
pub type Lesson = Arc<[u64]>;

/// What came of one schedule.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Its number, from 0.
    pub schedule: u64,
    /// Its steps; every value chosen counts as one.
    pub steps: usize,
    /// How many of these steps were values.
    pub values: usize,
    /// The observation (inboxes, control states, pending operations) of the state it ended in.
    pub observation: u64,
    /// Whether it ran to its own end: it was neither cut by a bound nor ended by the strategy.
    pub complete: bool,
    /// Whether the strategy ended it as [redundant](EndSchedule::Redundant).
    pub redundant: bool,
    /// Whether it showed a bug.
    pub bug: bool,
    /// What [`Learner::lesson`] answered.
    pub lesson: Option<Lesson>,
}

pub(crate) fn name_of_type(path: &str) -> String {
    let path = path.split('<').next().unwrap_or(path);
    let last = path.rsplit("::").next().unwrap_or(path);
    let mut name = String::with_capacity(last.len() + 4);
    for char in last.chars() {
        if char.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(char.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_are_named_by_their_types_unless_they_say_otherwise() {
        assert_eq!(name_of_type("app::tests::NewestFirst"), "newest-first");
        assert_eq!(name_of_type("app::Delaying<app::order::ByAge>"), "delaying");
        assert_eq!(name_of_type("Dfs"), "dfs");
    }
}
