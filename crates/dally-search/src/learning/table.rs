//! What is known of observations: how often each was made, and a value for each action taken.

use std::marker::PhantomData;

/// How many observations a table holds at most: 192 MiB with its index, if each has seen one action
/// and values are words. What comes later is not remembered, and is met as if for the first time.
const MOST: usize = 1 << 22;

/// What an action is worth, as words of a table.
pub(crate) trait Worth: Copy {
    /// How many words.
    const WORDS: usize;

    /// Writes it into as many words.
    fn write(self, words: &mut [u64]);

    /// Reads what was written.
    fn read(words: &[u64]) -> Self;

    /// Whether these words, which may be of any origin, are something that an action can be worth.
    fn is_sound(words: &[u64]) -> bool;
}

/// Observations with their visits and, for each action that was taken there, a value. Actions that
/// could have been taken and never were are not stored, which is most of them: whoever asks knows
/// what they are worth.
///
/// An observation and its actions are one record, so that whoever has found it need not wait for
/// memory again. Records are in the order in which they were made or last moved, so that those of
/// one schedule are mostly side by side. A small index by open addressing leads to them.
#[derive(Clone, Debug)]
pub(crate) struct Table<V> {
    /// A power of two of entries, at most 3/4 in use: half of a key, and a place plus 1; or 0.
    index: Vec<u64>,
    /// Records: an observation, its visits and the number of its actions, and the actions with
    /// their values, sorted, with [`room`] for some more. One that outgrows its room is copied to
    /// the end. What is left behind has no visits, and its first action is the new place; it is
    /// at most half of all.
    words: Vec<u64>,
    observations: usize,
    values: PhantomData<V>,
}

/// The place of an observation. It is the same in all copies of a table that have learnt the same,
/// and leads to the observation even after its record has moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct At(pub(super) u32);

impl At {
    /// Of an observation that is not known, or that the table has no room for.
    pub(crate) const NOWHERE: At = At(u32::MAX);
}

/// Where in a record its actions begin.
const HEAD: usize = 2;

/// How many actions a record has room for that has this many: one less than a power of two.
#[inline]
fn room(actions: usize) -> usize {
    (actions.max(1) + 1).next_power_of_two() - 1
}

impl<V> Default for Table<V> {
    fn default() -> Table<V> {
        Table { index: Vec::new(), words: Vec::new(), observations: 0, values: PhantomData }
    }
}

impl<V: Worth> Table<V> {
    /// How many words an action takes with its value.
    pub(crate) const ENTRY: usize = 1 + V::WORDS;

    /// Where an observation is, if it is known.
    #[inline]
    pub(crate) fn find(&self, observation: u64) -> Option<At> {
        if self.index.is_empty() {
            return None;
        }
        let (mut entry, half) = self.home(observation);
        loop {
            let found = self.index[entry];
            if found == 0 {
                return None;
            }
            let at = (found as u32 - 1) as usize;
            if found >> 32 == half && self.words[at] == observation {
                return Some(At(at as u32));
            }
            entry = (entry + 1) & (self.index.len() - 1);
        }
    }

    /// Where an observation is, if it is known, with a guess: what came after another one before
    /// is mostly beside it.
    #[inline]
    pub(crate) fn find_after(&self, before: At, observation: u64) -> Option<At> {
        if before != At::NOWHERE {
            let beside = before.0 as usize + Self::size(self.len(before.0 as usize));
            if self.words.get(beside) == Some(&observation) {
                return Some(At(beside as u32));
            }
        }
        self.find(observation)
    }

    /// Counts a visit. The observation may be known to be in this place.
    #[inline]
    pub(crate) fn visit(&mut self, observation: u64, known: At) -> At {
        let at = match self.record(known) {
            Some(at) if self.words[at] == observation => {
                if at != known.0 as usize {
                    // Whoever comes by the same way is there in one step.
                    self.words[known.0 as usize + HEAD] = at as u64;
                }
                At(at as u32)
            }
            _ => self.find(observation).unwrap_or_else(|| self.meet(observation)),
        };
        if at != At::NOWHERE {
            let head = &mut self.words[at.0 as usize + 1];
            *head += u64::from(*head >> 32 < u64::from(u32::MAX)) << 32;
        }
        at
    }

    fn meet(&mut self, observation: u64) -> At {
        let at = self.words.len();
        if self.observations >= MOST || at + Self::size(0) > u32::MAX as usize {
            return At::NOWHERE;
        }
        self.observations += 1;
        if self.observations * 4 > self.index.len() * 3 {
            self.grow();
        }
        self.words.push(observation);
        self.words.resize(at + Self::size(0), 0);
        self.enter(observation, at);
        At(at as u32)
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.index.len() * 2).max(64);
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
        let (mut entry, half) = self.home(observation);
        while self.index[entry] != 0 {
            entry = (entry + 1) & (self.index.len() - 1);
        }
        self.index[entry] = half << 32 | (at as u64 + 1);
    }

    /// Where in the index the search for an observation begins, and the half that is kept there.
    #[inline]
    fn home(&self, observation: u64) -> (usize, u64) {
        // The top bits of a product depend on all bits of the key: hashes of programs may be weak.
        let spread = observation.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((spread >> (64 - self.index.len().trailing_zeros())) as usize, spread & 0xffff_ffff)
    }

    /// How many words a record takes that has this many actions.
    #[inline]
    fn size(actions: usize) -> usize {
        HEAD + room(actions) * Self::ENTRY
    }

    /// How many actions the record here has.
    #[inline]
    fn len(&self, at: usize) -> usize {
        self.words[at + 1] as u32 as usize
    }

    /// Where the record is that is here or was.
    #[inline]
    fn record(&self, at: At) -> Option<usize> {
        let mut at = (at != At::NOWHERE).then_some(at.0 as usize)?;
        while self.words[at + 1] >> 32 == 0 {
            at = self.words[at + HEAD] as usize;
        }
        Some(at)
    }

    /// How often an observation was made.
    #[inline]
    pub(crate) fn visits(&self, at: At) -> u32 {
        self.record(at).map_or(1, |at| (self.words[at + 1] >> 32) as u32)
    }

    /// How many different actions were taken there.
    #[inline]
    pub(crate) fn actions(&self, at: At) -> usize {
        self.record(at).map_or(0, |at| self.len(at))
    }

    /// The actions that were taken there, sorted, with their values.
    #[inline]
    pub(crate) fn taken(&self, at: At) -> impl Iterator<Item = (u64, V)> + '_ {
        let words = match self.record(at) {
            Some(at) => &self.words[at + HEAD..at + HEAD + self.len(at) * Self::ENTRY],
            None => &[],
        };
        words.chunks_exact(Self::ENTRY).map(|entry| (entry[0], V::read(&entry[1..])))
    }

    /// Changes the value of an action there, which is `initial` for an action that was never
    /// taken; and tells where the observation is then. Does nothing if the table has no room.
    #[inline]
    pub(crate) fn change(
        &mut self,
        at: At,
        action: u64,
        initial: V,
        change: impl FnOnce(V) -> V,
    ) -> At {
        let Some(mut at) = self.record(at) else { return At::NOWHERE };
        let len = self.len(at);
        let known = &self.words[at + HEAD..at + HEAD + len * Self::ENTRY];
        let here = known.chunks_exact(Self::ENTRY).take_while(|entry| entry[0] < action).count();
        let mut entry = at + HEAD + here * Self::ENTRY;
        if here == len || self.words[entry] != action {
            if len == room(len) {
                let Some(moved) = self.outgrow(at, len) else { return At(at as u32) };
                (at, entry) = (moved, moved + HEAD + here * Self::ENTRY);
            }
            let end = at + HEAD + len * Self::ENTRY;
            self.words.copy_within(entry..end, entry + Self::ENTRY);
            self.words[at + 1] += 1;
            self.words[entry] = action;
            initial.write(&mut self.words[entry + 1..entry + Self::ENTRY]);
        }
        let value = &mut self.words[entry + 1..entry + Self::ENTRY];
        change(V::read(value)).write(value);
        At(at as u32)
    }

    /// Moves a full record of this many actions to the end, where it has room for as many again
    /// and one.
    #[cold]
    fn outgrow(&mut self, at: usize, len: usize) -> Option<usize> {
        let moved = self.words.len();
        if moved + Self::size(len + 1) > u32::MAX as usize {
            return None;
        }
        self.words.extend_from_within(at..at + HEAD + len * Self::ENTRY);
        self.words.resize(moved + Self::size(len + 1), 0);
        let (mut entry, half) = self.home(self.words[at]);
        while self.index[entry] as u32 as usize != at + 1 {
            entry = (entry + 1) & (self.index.len() - 1);
        }
        self.index[entry] = half << 32 | (moved as u64 + 1);
        self.words[at + 1] = len as u64;
        self.words[at + HEAD] = moved as u64;
        Some(moved)
    }

    /// How many observations are known.
    pub(crate) fn observations(&self) -> usize {
        self.observations
    }

    /// All that is known: observation, visits, and the actions with their values as words.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, u32, &[u64])> + '_ {
        let mut next = 0;
        let records = std::iter::from_fn(move || {
            let at = (next < self.words.len()).then_some(next)?;
            next += Self::size(self.len(at));
            Some(at)
        });
        let records = records.map(|at| (at, (self.words[at + 1] >> 32) as u32));
        records.filter(|&(_, visits)| visits > 0).map(|(at, visits)| {
            let actions = &self.words[at + HEAD..at + HEAD + self.len(at) * Self::ENTRY];
            (self.words[at], visits, actions)
        })
    }

    /// Takes over what [`Table::all`] told of an observation. `false` if an
    /// action cannot be worth what these words say.
    pub(crate) fn put(&mut self, observation: u64, visits: u32, actions: &[u64]) -> bool {
        let at = self.visit(observation, At::NOWHERE);
        if at != At::NOWHERE {
            // No visits are the mark of a record that has moved.
            let head = &mut self.words[at.0 as usize + 1];
            *head = u64::from(visits.max(1)) << 32 | u64::from(*head as u32);
        }
        actions.chunks_exact(Self::ENTRY).all(|entry| {
            let sound = V::is_sound(&entry[1..]);
            if sound {
                let value = V::read(&entry[1..]);
                self.change(at, entry[0], value, |_| value);
            }
            sound
        })
    }
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
        let mut first: BTreeMap<u64, At> = BTreeMap::new();
        for step in 0..20_000 {
            let (observation, action) = (rng.u64(1..3_000), rng.u64(..12));
            let known = first.get(&observation).copied().filter(|_| rng.bool());
            let at = table.visit(observation, known.unwrap_or(At::NOWHERE));
            let before = *first.entry(observation).or_insert(at);
            let now = table.change(before, action, 0, |value| value + step);
            assert_eq!(table.find(observation), Some(now));
            let known = map.entry(observation).or_default();
            known.0 += 1;
            *known.1.entry(action).or_default() += step;
        }
        assert_eq!((table.observations(), table.all().count()), (map.len(), map.len()));
        for (&observation, (visits, actions)) in &map {
            for at in [table.find(observation).unwrap(), first[&observation]] {
                assert_eq!(table.visits(at), *visits);
                assert!(
                    table.taken(at).eq(actions.iter().map(|(&action, &value)| (action, value)))
                );
                assert_eq!(table.actions(at), actions.len());
            }
        }
        assert!(table.find(3_001).is_none());
    }

    #[test]
    fn what_was_met_after_another_is_found_beside_it() {
        let mut table: Table<u64> = Table::default();
        let places = [7, 8, 9].map(|observation| table.visit(observation, At::NOWHERE));
        for action in 0..5 {
            table.change(places[1], action, 0, |_| action);
        }
        // Where it was at first, which only the guess knows; the index has the record that moved.
        assert_eq!(table.find_after(places[0], 8), Some(places[1]));
        assert_ne!(table.find(8), Some(places[1]));
        assert_eq!(table.actions(places[1]), 5);
        assert_eq!(table.find_after(places[1], 9), Some(places[2]));
        assert_eq!(table.find_after(places[1], 7), Some(places[0]));
        assert_eq!(table.find_after(At::NOWHERE, 9), Some(places[2]));
        assert_eq!(table.find_after(places[2], 10), None);
    }

    #[test]
    fn a_copy_from_what_a_table_tells_knows_the_same() {
        let mut rng = fastrand::Rng::with_seed(2);
        let mut table: Table<u64> = Table::default();
        for _ in 0..2_000 {
            let at = table.visit(rng.u64(..500), At::NOWHERE);
            table.change(at, rng.u64(..3), 7, |value| value + 1);
        }
        let mut copy: Table<u64> = Table::default();
        for (observation, visits, actions) in table.all() {
            assert!(copy.put(observation, visits, actions));
        }
        assert!(copy.all().eq(table.all()));
    }
}
