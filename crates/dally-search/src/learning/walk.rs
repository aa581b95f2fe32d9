//! The observations of a schedule and its actions, which are its lesson.

use dally_core::{Observe, System, WorkerId, fingerprint};

use super::table::{RecordIndex, Table, Worth};
use crate::strategy::{Lesson, Point};

/// Records the observations of a schedule, and the action taken at each.
///
/// The state in the middle of a step cannot be observed, so the observation where a value is chosen
/// is a hash of the observation before the step, the worker and the values so far.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    how: Observe,
    /// The present observation.
    here: u64,
    /// Its place in the table, if that is known.
    at: RecordIndex,
    /// Where the next observation is if the last action leads to what it led to before.
    expected: RecordIndex,
    /// The worker whose step has begun, until it chooses a value.
    stepping: Option<WorkerId>,
    /// Three words for each action.
    words: Vec<u64>,
}

/// An action that was taken at an observation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Move {
    /// A worker by its bits, or a value.
    pub(crate) action: u64,
    /// The [`mark`]s of the actions that there were to choose from.
    pub(crate) offered: u32,
    pub(crate) fault: bool,
}

impl Default for Walk {
    fn default() -> Walk {
        Walk::new(Observe::Control)
    }
}

impl Walk {
    pub(crate) fn new(how: Observe) -> Walk {
        let (at, expected) = (RecordIndex::NOWHERE, RecordIndex::NOWHERE);
        Walk { how, here: 0, at, expected, stepping: None, words: Vec::new() }
    }

    pub(crate) fn begin(&mut self) {
        self.words.clear();
        self.expected = RecordIndex::NOWHERE;
    }

    /// Observes the state in which a worker is to be picked.
    #[inline]
    pub(crate) fn at(&mut self, point: &Point<'_>) -> u64 {
        self.judge_last(point.system);
        self.here = point.system.observe(self.how).unwrap_or_default();
        self.here
    }

    /// Makes the observation for a value that is to be chosen in the middle of a step.
    #[inline]
    pub(crate) fn inside(&mut self) {
        if let Some(worker) = self.stepping.take() {
            self.here = fingerprint::mix(self.here, worker.to_bits());
        }
    }

    #[inline]
    pub(crate) fn look_up<V: Worth>(&mut self, table: &Table<V>) -> Option<RecordIndex> {
        let found = table.find_at(self.expected, self.here);
        self.at = found.unwrap_or(RecordIndex::NOWHERE);
        found
    }

    /// Notes where the observation is if it is where it is expected: where there is nothing to pick,
    /// no more need be known of it.
    #[inline]
    pub(crate) fn glance<V: Worth>(&mut self, table: &Table<V>) {
        if table.is_at(self.expected, self.here) {
            self.at = self.expected;
        }
    }

    /// Prefetches what an action at this observation led to when it was last taken.
    #[inline]
    pub(crate) fn expect<V: Worth>(&mut self, table: &Table<V>, action: u64) {
        self.expected = table.led_to(self.at, action);
    }

    #[inline]
    pub(crate) fn step(&mut self, worker: WorkerId, offered: u32) {
        self.write(worker.to_bits(), offered, worker == WorkerId::FAULTS);
        self.stepping = Some(worker);
    }

    #[inline]
    pub(crate) fn value(&mut self, index: u32, of: u32, fault: bool) {
        self.write(index.into(), marks_below(of), fault);
        self.here = fingerprint::mix(self.here, index.into());
    }

    #[inline]
    fn write(&mut self, action: u64, offered: u32, fault: bool) {
        let at = std::mem::replace(&mut self.at, RecordIndex::NOWHERE);
        let rest = u64::from(at.0) << 32 | u64::from(offered) << 1 | u64::from(fault);
        self.words.extend([self.here, action, rest]);
    }

    /// Marks the last action as a fault if the program calls what it has done rare.
    #[inline]
    fn judge_last(&mut self, system: &dyn System) {
        if system.rare()
            && let Some(last) = self.words.last_mut()
        {
            *last |= 1;
        }
    }

    pub(crate) fn end(&mut self, last: Option<&dyn System>) -> Lesson {
        if let Some(system) = last {
            self.judge_last(system);
        }
        let observed = last.and_then(|system| system.observe(self.how));
        self.words.push(observed.unwrap_or_default());
        self.words.as_slice().into()
    }
}

/// One of 31 bits that stands for an action among those of an observation. Two actions may share one.
#[inline]
pub(crate) fn mark(action: u64) -> u32 {
    // The ids of workers are large numbers, values mostly are not.
    let spread = action.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59;
    1 << if action < 31 { action } else { spread.min(30) }
}

/// The marks of these workers.
#[inline]
pub(crate) fn marks(workers: &[WorkerId]) -> u32 {
    workers.iter().fold(0, |marks, worker| marks | mark(worker.to_bits()))
}

/// The marks of the values below `of`.
#[inline]
fn marks_below(of: u32) -> u32 {
    (1 << of.min(31)) - 1
}

/// Finds the places of workers in a sorted list. They must be asked for in this order, too.
#[inline]
pub(crate) fn place_among(enabled: &[WorkerId]) -> impl FnMut(u64) -> Option<usize> + '_ {
    let mut place = 0;
    move |worker| {
        while enabled.get(place)?.to_bits() < worker {
            place += 1;
        }
        (enabled[place].to_bits() == worker).then_some(place)
    }
}

/// Finds the places of values below `of`: the values themselves.
#[inline]
pub(crate) fn place_below(of: u32) -> impl FnMut(u64) -> Option<usize> {
    move |value| (value < u64::from(of)).then_some(value as usize)
}

/// The place of the `nth` action that is not among those taken, which are sorted by place.
#[inline]
pub(crate) fn untaken(nth: usize, taken: &[(usize, f64)]) -> usize {
    taken.iter().fold(nth, |place, &(other, _)| place + usize::from(other <= place))
}

#[derive(Clone, Copy)]
pub(crate) struct Walked<'a> {
    moves: &'a [[u64; 3]],
    /// The last observation, at which nothing was picked.
    last: u64,
}

impl<'a> Walked<'a> {
    /// Reads a lesson; `None` for words that no walk has written.
    pub(crate) fn read(lesson: &'a Lesson) -> Option<Walked<'a>> {
        let (moves, rest) = lesson.as_chunks();
        let &[last] = rest else { return None };
        Some(Walked { moves, last })
    }

    pub(crate) fn len(self) -> usize {
        self.moves.len()
    }

    pub(crate) fn get(self, place: usize) -> Move {
        let [_, action, rest] = self.moves[place];
        Move { action, offered: rest as u32 >> 1, fault: rest & 1 == 1 }
    }

    /// All observations in order, each with its place in the table if that is known.
    pub(crate) fn observations(self) -> impl Iterator<Item = (u64, RecordIndex)> + 'a {
        let moves = self.moves.iter().map(|words| (words[0], RecordIndex((words[2] >> 32) as u32)));
        moves.chain([(self.last, RecordIndex::NOWHERE)])
    }
}
