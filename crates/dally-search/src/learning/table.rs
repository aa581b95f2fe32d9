//! The table of observations: how often each was made, and a value for each action taken there.

use std::marker::PhantomData;

use crate::prefetch::prefetch;

/// How many observations a table holds at most: 200 MiB with its index, if each has one action and
/// values are words. Later ones are not stored, and are new each time.
const MOST: usize = 1 << 22;

/// What an action is worth, stored as words of a table.
pub trait Worth: Copy {
    /// How many words.
    const WORDS: usize;
    /// Writes it into them.
    fn write(self, words: &mut [u64]);
    /// Reads what was written.
    fn read(words: &[u64]) -> Self;
    /// Whether these words, which may come from a damaged file, are a worth.
    fn is_sound(words: &[u64]) -> bool;
}

/// Observations with their visits and, for each action that was taken there, a value.
///
/// An observation and its actions are one record. An index by open addressing leads to it, but
/// whoever asks the index waits for memory, and for the record after that. So each action has the
/// place of the observation that it led to last: whoever takes the action prefetches what is there,
/// and mostly that is the next observation. Otherwise it is mostly one that was never made, and that
/// shows by the tags of the index, a byte each, which stay in the cache.
#[derive(Clone, Debug)]
pub(crate) struct Table<V> {
    /// A power of two of entries, at most 3/4 in use: of each a [`tag`], or 0, and in `index` the place.
    tags: Vec<u8>,
    index: Vec<u32>,
    /// Records: an observation, its visits and the number of its actions, the actions with their
    /// values and the places they led to, sorted, and [`room`] for more. A record that outgrows its
    /// room is copied to the end; what is left behind, at most half of all, has no visits and, as
    /// first action, the new place.
    words: Vec<u64>,
    observations: usize,
    values: PhantomData<V>,
}

/// The place of an observation, the same in equal tables and still valid when its record has moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RecordIndex(pub(super) u32);

impl RecordIndex {
    /// The place of an observation that the table does not have.
    pub(crate) const NOWHERE: RecordIndex = RecordIndex(u32::MAX);
}

/// An action that was taken at an observation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) action: u64,
    /// The place of the observation that it led to.
    pub(crate) led_to: RecordIndex,
}

/// The words of a record before its actions.
const HEAD: usize = 2;

/// The half of a word that is a place.
const LED_TO: u64 = u32::MAX as u64;

/// The actions that a record of this many has room for: one less than a power of two.
#[inline]
fn room(actions: usize) -> usize {
    (actions.max(1) + 1).next_power_of_two() - 1
}

impl<V> Default for Table<V> {
    fn default() -> Table<V> {
        let (tags, index, words) = (Vec::new(), Vec::new(), Vec::new());
        Table { tags, index, words, observations: 0, values: PhantomData }
    }
}

impl<V: Worth> Table<V> {
    /// The words of an action with its value and the place that it led to last. That takes half of a word;
    /// the other half of the first one in a record has the marks of all actions that were ever offered.
    const ENTRY: usize = 2 + V::WORDS;

    /// Where the marks are in a record, whether it has an action or not.
    const MARKS: usize = HEAD + 1 + V::WORDS;

    #[inline]
    pub(crate) fn find(&self, observation: u64) -> Option<RecordIndex> {
        if self.tags.is_empty() {
            return None;
        }
        let (mut entry, tag) = self.home(observation);
        loop {
            match self.tags[entry] {
                0 => return None,
                found if found == tag => {
                    let at = self.index[entry];
                    if self.words[at as usize] == observation {
                        return Some(RecordIndex(at));
                    }
                }
                _ => {}
            }
            entry = (entry + 1) & (self.tags.len() - 1);
        }
    }

    /// Where an observation is, if it is known; looks first in the place where it is `expected`.
    #[inline]
    pub(crate) fn find_at(&self, expected: RecordIndex, observation: u64) -> Option<RecordIndex> {
        if self.is_at(expected, observation) { Some(expected) } else { self.find(observation) }
    }

    /// Whether an observation is in this place, or was before its record moved.
    #[inline]
    pub(crate) fn is_at(&self, place: RecordIndex, observation: u64) -> bool {
        place != RecordIndex::NOWHERE && self.words[place.0 as usize] == observation
    }

    /// Where this action at an observation led when it was last taken. What is there is prefetched.
    #[inline]
    pub(crate) fn led_to(&self, at: RecordIndex, action: u64) -> RecordIndex {
        let Some(at) = self.record(at) else { return RecordIndex::NOWHERE };
        let known = &self.words[at + HEAD..at + HEAD + self.len(at) * Self::ENTRY];
        let entry = known.chunks_exact(Self::ENTRY).find(|entry| entry[0] == action);
        let next =
            entry.map_or(RecordIndex::NOWHERE, |entry| RecordIndex(entry[1 + V::WORDS] as u32));
        if let Some(first) = self.words.get(next.0 as usize) {
            prefetch(first);
        }
        next
    }

    /// Counts a visit of an observation, which may be `known` to be in this place, and where actions
    /// with these marks were `offered`.
    #[inline]
    pub(crate) fn visit(
        &mut self,
        observation: u64,
        known: RecordIndex,
        offered: u32,
    ) -> RecordIndex {
        let at = match self.record(known) {
            Some(at) if self.words[at] == observation => {
                if at != known.0 as usize {
                    // The next lookup by the old place takes one step.
                    self.words[known.0 as usize + HEAD] = at as u64;
                }
                RecordIndex(at as u32)
            }
            _ => self.find(observation).unwrap_or_else(|| self.meet(observation)),
        };
        if at != RecordIndex::NOWHERE {
            let head = &mut self.words[at.0 as usize + 1];
            *head += u64::from(*head >> 32 < u64::from(u32::MAX)) << 32;
            self.words[at.0 as usize + Self::MARKS] |= u64::from(offered) << 32;
        }
        at
    }

    fn meet(&mut self, observation: u64) -> RecordIndex {
        let at = self.words.len();
        if self.observations >= MOST || at + Self::size(0) > u32::MAX as usize {
            return RecordIndex::NOWHERE;
        }
        self.observations += 1;
        if self.observations * 4 > self.tags.len() * 3 {
            self.grow();
        }
        self.words.push(observation);
        self.words.resize(at + Self::size(0), 0);
        self.enter(observation, at);
        RecordIndex(at as u32)
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.tags.len() * 2).max(64);
        self.tags.clear();
        self.tags.resize(size, 0);
        self.index.clear();
        self.index.resize(size, 0);
        let mut at = 0;
        while at < self.words.len() {
            if self.words[at + 1] >> 32 > 0 {
                self.enter(self.words[at], at);
            }
            at += Self::size(self.len(at));
        }
    }

    fn enter(&mut self, observation: u64, at: usize) {
        let (mut entry, tag) = self.home(observation);
        while self.tags[entry] != 0 {
            entry = (entry + 1) & (self.tags.len() - 1);
        }
        (self.tags[entry], self.index[entry]) = (tag, at as u32);
    }

    /// Where in the index the search for an observation begins, and the tag stored there.
    #[inline]
    fn home(&self, observation: u64) -> (usize, u8) {
        // The top bits of a product depend on all bits: observations may be weak hashes.
        let spread = observation.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let entry = spread >> (64 - self.tags.len().trailing_zeros());
        // Of the bits below those of the largest index, the highest; 0 is the tag of nothing.
        (entry as usize, ((spread >> 32) as u8).max(1))
    }

    #[inline]
    fn size(actions: usize) -> usize {
        HEAD + room(actions) * Self::ENTRY
    }

    #[inline]
    fn len(&self, at: usize) -> usize {
        self.words[at + 1] as u32 as usize
    }

    /// Where the record is now that is here or was.
    #[inline]
    fn record(&self, at: RecordIndex) -> Option<usize> {
        let mut at = (at != RecordIndex::NOWHERE).then_some(at.0 as usize)?;
        while self.words[at + 1] >> 32 == 0 {
            at = self.words[at + HEAD] as usize;
        }
        Some(at)
    }

    #[inline]
    pub(crate) fn visits(&self, at: RecordIndex) -> u32 {
        self.record(at).map_or(1, |at| (self.words[at + 1] >> 32) as u32)
    }

    #[inline]
    pub(crate) fn taken(&self, at: RecordIndex) -> impl ExactSizeIterator<Item = (u64, V)> + '_ {
        let words = match self.record(at) {
            Some(at) => &self.words[at + HEAD..at + HEAD + self.len(at) * Self::ENTRY],
            None => &[],
        };
        words.chunks_exact(Self::ENTRY).map(|entry| (entry[0], V::read(&entry[1..=V::WORDS])))
    }

    /// The marks of all actions that were ever offered at an observation.
    #[inline]
    pub(crate) fn offered(&self, at: RecordIndex) -> u32 {
        self.record(at).map_or(0, |at| (self.words[at + Self::MARKS] >> 32) as u32)
    }

    /// Changes the value of an action that was taken, `initial` if it never was before; returns where
    /// the observation is then. Does nothing if the table has no room.
    #[inline]
    pub(crate) fn change(
        &mut self,
        at: RecordIndex,
        Taken { action, led_to }: Taken,
        initial: V,
        change: impl FnOnce(V) -> V,
    ) -> RecordIndex {
        let Some(mut at) = self.record(at) else { return RecordIndex::NOWHERE };
        let len = self.len(at);
        let known = &self.words[at + HEAD..at + HEAD + len * Self::ENTRY];
        let here = known.chunks_exact(Self::ENTRY).take_while(|entry| entry[0] < action).count();
        let mut entry = at + HEAD + here * Self::ENTRY;
        if here == len || self.words[entry] != action {
            if len == room(len) {
                let Some(moved) = self.outgrow(at, len) else { return RecordIndex(at as u32) };
                (at, entry) = (moved, moved + HEAD + here * Self::ENTRY);
            }
            let end = at + HEAD + len * Self::ENTRY;
            let marks = self.words[at + Self::MARKS] & !LED_TO;
            self.words.copy_within(entry..end, entry + Self::ENTRY);
            self.words[at + 1] += 1;
            self.words[entry] = action;
            initial.write(&mut self.words[entry + 1..=entry + V::WORDS]);
            self.words[at + Self::MARKS] = marks | self.words[at + Self::MARKS] & LED_TO;
        }
        let value = &mut self.words[entry + 1..=entry + V::WORDS];
        change(V::read(value)).write(value);
        let last = &mut self.words[entry + 1 + V::WORDS];
        *last = *last & !LED_TO | u64::from(led_to.0);
        RecordIndex(at as u32)
    }

    /// Moves a full record of this many actions to the end, with room for as many again and one.
    #[cold]
    fn outgrow(&mut self, at: usize, len: usize) -> Option<usize> {
        let moved = self.words.len();
        if moved + Self::size(len + 1) > u32::MAX as usize {
            return None;
        }
        self.words.extend_from_within(at..at + HEAD + len * Self::ENTRY);
        self.words.resize(moved + Self::size(len + 1), 0);
        let (mut entry, tag) = self.home(self.words[at]);
        while self.tags[entry] != tag || self.index[entry] as usize != at {
            entry = (entry + 1) & (self.tags.len() - 1);
        }
        self.index[entry] = moved as u32;
        self.words[at + 1] = len as u64;
        self.words[at + HEAD] = moved as u64;
        Some(moved)
    }

    /// The settings, the number of schedules and the table as bytes: equal tables give equal bytes.
    /// Where actions led and what was offered with them is left out, since it is learnt again at once.
    pub(crate) fn write(&self, settings: [u64; 2], schedules: u64) -> Vec<u8> {
        let mut out = vec![settings[0], settings[1], schedules, self.observations as u64];
        let mut at = 0;
        while at < self.words.len() {
            let len = self.len(at);
            if self.words[at + 1] >> 32 > 0 {
                out.extend_from_slice(&self.words[at..at + HEAD]);
                let actions = &self.words[at + HEAD..at + HEAD + len * Self::ENTRY];
                let entries = actions.chunks_exact(Self::ENTRY);
                entries.for_each(|entry| out.extend_from_slice(&entry[..=V::WORDS]));
            }
            at += Self::size(len);
        }
        out.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Reads what [`Table::write`] wrote; `None` for other settings and for damaged bytes.
    pub(crate) fn read(settings: [u64; 2], bytes: &[u8]) -> Option<(u64, Table<V>)> {
        let (words, []) = bytes.as_chunks::<8>() else { return None };
        let mut words = words.iter().map(|&word| u64::from_le_bytes(word));
        let [one, other, schedules, observations] = next(&mut words)?;
        if [one, other] != settings {
            return None;
        }
        let mut table = Table::default();
        for _ in 0..observations {
            let [observation, counts] = next(&mut words)?;
            let at = table.visit(observation, RecordIndex::NOWHERE, 0);
            if at != RecordIndex::NOWHERE {
                // A record without visits would count as moved.
                let head = &mut table.words[at.0 as usize + 1];
                *head = (counts >> 32).max(1) << 32 | u64::from(*head as u32);
            }
            for _ in 0..counts as u32 {
                let action = words.next()?;
                let value: Vec<u64> = words.by_ref().take(V::WORDS).collect();
                if value.len() < V::WORDS || !V::is_sound(&value) {
                    return None;
                }
                let taken = Taken { action, led_to: RecordIndex::NOWHERE };
                table.change(at, taken, V::read(&value), |value| value);
            }
        }
        words.next().is_none().then_some((schedules, table))
    }
}

fn next<const N: usize>(words: &mut impl Iterator<Item = u64>) -> Option<[u64; N]> {
    words.take(N).collect::<Vec<_>>().try_into().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_table_knows_what_a_map_of_maps_knows() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut table: Table<u64> = Table::default();
        let mut map: BTreeMap<u64, (u32, BTreeMap<u64, u64>)> = BTreeMap::new();
        // Where each observation was at first: its record may have moved since then.
        let mut first: BTreeMap<u64, RecordIndex> = BTreeMap::new();
        let (mut last, mut offered) = (RecordIndex::NOWHERE, BTreeMap::new());
        for step in 0..20_000 {
            let (observation, action) = (rng.u64(1..3_000), rng.u64(..12));
            let known = first.get(&observation).copied().filter(|_| rng.bool());
            let mark = 1 << (step % 31);
            let at = table.visit(observation, known.unwrap_or(RecordIndex::NOWHERE), mark);
            let before = *first.entry(observation).or_insert(at);
            let taken = Taken { action, led_to: last };
            let now = table.change(before, taken, 0, |value| value + step);
            assert_eq!(table.find(observation), Some(now));
            assert_eq!(table.led_to(before, action), last);
            last = now;
            *offered.entry(observation).or_insert(0) |= mark;
            let known = map.entry(observation).or_default();
            known.0 += 1;
            *known.1.entry(action).or_default() += step;
        }
        assert_eq!(table.observations, map.len());
        for (&observation, (visits, actions)) in &map {
            for at in [table.find(observation).unwrap(), first[&observation]] {
                assert_eq!(table.visits(at), *visits);
                assert!(
                    table.taken(at).eq(actions.iter().map(|(&action, &value)| (action, value)))
                );
                assert_eq!(table.offered(at), offered[&observation]);
            }
        }
        assert!(table.find(3_001).is_none());
    }

    #[test]
    fn what_an_action_led_to_is_found_without_the_index() {
        let mut table: Table<u64> = Table::default();
        let places = [7, 8, 9].map(|observation| table.visit(observation, RecordIndex::NOWHERE, 0));
        let taken = |action, led_to| Taken { action, led_to };
        table.change(places[0], taken(3, places[1]), 0, |_| 1);
        for action in 0..5 {
            table.change(places[1], taken(action, places[2]), 0, |_| action);
        }
        // The place before the move is as good; the index has that after it.
        assert_eq!(table.led_to(places[0], 3), places[1]);
        assert_eq!(table.find_at(places[1], 8), Some(places[1]));
        assert_ne!(table.find(8), Some(places[1]));
        assert_eq!(table.taken(places[1]).len(), 5);
        assert_eq!(table.led_to(places[1], 4), places[2]);
        // Another observation than last time, an action that was never taken, one unknown.
        assert_eq!(table.find_at(places[1], 7), Some(places[0]));
        assert_eq!(table.led_to(places[0], 4), RecordIndex::NOWHERE);
        assert_eq!(table.led_to(RecordIndex::NOWHERE, 4), RecordIndex::NOWHERE);
        assert_eq!(table.find_at(places[2], 10), None);
    }

    fn some() -> Vec<u8> {
        let mut table = Table::<f64>::default();
        let at = [7, 9].map(|observation| table.visit(observation, RecordIndex::NOWHERE, 3))[0];
        for (action, value) in [(1, -0.5), (2, -4.0)] {
            table.change(at, Taken { action, led_to: at }, value, |value| value);
        }
        table.write([1, 2], 40)
    }

    #[test]
    fn what_no_table_has_written_is_refused_as_a_whole() {
        let good = some();
        let read = |bytes: &[u8]| Table::<f64>::read([1, 2], bytes);
        let (schedules, table) = read(&good).unwrap();
        assert_eq!(table.write([1, 2], schedules), good);
        assert!(Table::<f64>::read([1, 3], &good).is_none());
        for length in 0..good.len() {
            assert!(read(&good[..length]).is_none(), "{length}");
        }
        assert!(read(&[&good[..], &[0; 8]].concat()).is_none());
        // The record that came last has moved to the end, for want of room.
        let value = good.len() - 24;
        for wrong in [0.5, f64::NAN, f64::NEG_INFINITY] {
            let bytes = [&good[..value], &wrong.to_le_bytes(), &good[value + 8..]].concat();
            assert!(read(&bytes).is_none(), "{wrong}");
        }
    }

    #[test]
    fn an_observation_that_is_said_to_have_no_visits_has_one() {
        let mut never = some();
        let visits = never.len() - 36..never.len() - 32;
        never[visits].fill(0);
        let (_, table) = Table::<f64>::read([1, 2], &never).unwrap();
        let at = table.find(7).unwrap();
        assert_eq!((table.visits(at), table.taken(at).len()), (1, 2));
    }
}
