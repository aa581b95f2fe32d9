//! The way of one schedule through observations, and the lesson that it is.

use dally_core::{Observe, System, WorkerId, fingerprint};

use super::table::{At, Table, Worth};
use crate::strategy::{Lesson, Point};

/// Writes down where a schedule comes by and what it does there.
///
/// The observation where a value is chosen is a hash of the observation before the step, the
/// worker and the values so far: the state in the middle of a step cannot be looked at.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    how: Observe,
    /// The observation where the next action is taken.
    here: u64,
    /// Where a table has this observation, if that is known.
    at: At,
    /// Where it has the one before.
    before: At,
    /// The worker whose step has begun, and in which no value was chosen yet.
    stepping: Option<WorkerId>,
    /// A record of three words for each action.
    words: Vec<u64>,
}

/// What was done at an observation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Move {
    /// Where.
    pub(crate) observation: u64,
    /// A worker by its bits, or a value.
    pub(crate) action: u64,
    /// How many actions there were to choose from.
    pub(crate) of: u32,
    /// Whether the action injected a fault.
    pub(crate) fault: bool,
}

impl Walk {
    pub(crate) fn new(how: Observe) -> Walk {
        Walk {
            how,
            here: 0,
            at: At::NOWHERE,
            before: At::NOWHERE,
            stepping: None,
            words: Vec::new(),
        }
    }

    pub(crate) fn begin(&mut self) {
        self.words.clear();
        self.before = At::NOWHERE;
    }

    /// A worker is to be picked: the observation there.
    #[inline]
    pub(crate) fn at(&mut self, point: &Point<'_>) -> u64 {
        self.here = point.system.observe(self.how).unwrap_or_default();
        self.here
    }

    /// A value is to be chosen, in the middle of a step.
    #[inline]
    pub(crate) fn inside(&mut self) {
        if let Some(worker) = self.stepping.take() {
            self.here = fingerprint::mix(self.here, worker.to_bits());
        }
    }

    /// Looks the observation where the next action is taken up in a table.
    #[inline]
    pub(crate) fn look_up<V: Worth>(&mut self, table: &Table<V>) -> Option<At> {
        let found = table.find_after(self.before, self.here);
        self.at = found.unwrap_or(At::NOWHERE);
        found
    }

    /// One of `of` workers was picked here.
    #[inline]
    pub(crate) fn step(&mut self, worker: WorkerId, of: usize) {
        self.write(worker.to_bits(), of as u32, worker == WorkerId::FAULTS);
        self.stepping = Some(worker);
    }

    /// One of `of` values was chosen here.
    #[inline]
    pub(crate) fn value(&mut self, index: u32, of: u32, fault: bool) {
        self.write(index.into(), of, fault);
        self.here = fingerprint::mix(self.here, index.into());
    }

    #[inline]
    fn write(&mut self, action: u64, of: u32, fault: bool) {
        let at = std::mem::replace(&mut self.at, At::NOWHERE);
        self.before = at;
        let rest = u64::from(at.0) << 32 | u64::from(of.min(u32::MAX >> 1)) << 1 | u64::from(fault);
        self.words.extend([self.here, action, rest]);
    }

    /// The lesson of a schedule that has ended in this state.
    pub(crate) fn end(&mut self, last: Option<&dyn System>) -> Lesson {
        let (observation, of) = match last {
            Some(system) => (system.observe(self.how).unwrap_or_default(), system.enabled().len()),
            None => (0, 0),
        };
        self.words.extend([observation, of as u64]);
        self.words.as_slice().into()
    }
}

/// Finds workers, which it is asked for in their order, in a list that is sorted too.
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

/// Finds values below `of`, which are their own places.
#[inline]
pub(crate) fn place_below(of: u32) -> impl FnMut(u64) -> Option<usize> {
    move |value| (value < u64::from(of)).then_some(value as usize)
}

/// The place of the `nth` action that is not among those taken, which are sorted by place.
#[inline]
pub(crate) fn untaken(nth: usize, taken: &[(usize, f64)]) -> usize {
    taken.iter().fold(nth, |place, &(other, _)| place + usize::from(other <= place))
}

/// A lesson of a walk, read back.
#[derive(Clone, Copy)]
pub(crate) struct Walked<'a> {
    moves: &'a [[u64; 3]],
    /// The observation that it ended in, and how many workers could have stepped there.
    pub(crate) last: (u64, u32),
}

impl<'a> Walked<'a> {
    /// `None` for words that no walk has written.
    pub(crate) fn read(lesson: &'a Lesson) -> Option<Walked<'a>> {
        let (moves, rest) = lesson.as_chunks();
        let &[observation, of] = rest else { return None };
        Some(Walked { moves, last: (observation, of as u32) })
    }

    pub(crate) fn len(self) -> usize {
        self.moves.len()
    }

    pub(crate) fn get(self, place: usize) -> Move {
        let [observation, action, rest] = self.moves[place];
        Move { observation, action, of: rest as u32 >> 1, fault: rest & 1 == 1 }
    }

    /// Visits all observations, from the first to the last, and writes down where they are.
    pub(crate) fn visit<V: Worth>(self, table: &mut Table<V>, places: &mut Vec<At>) {
        places.clear();
        places.extend(self.observations().map(|(observation, at)| table.visit(observation, at)));
    }

    /// All observations, from the first to the last, and where each is in the table if that is
    /// known.
    pub(crate) fn observations(self) -> impl Iterator<Item = (u64, At)> + 'a {
        let moves = self.moves.iter().map(|words| (words[0], At((words[2] >> 32) as u32)));
        moves.chain([(self.last.0, At::NOWHERE)])
    }
}
