//! What is known of observations: how often each was made, and a value for each action taken.

/// How many observations a table holds at most: 128 MiB for values of eight bytes. What comes
/// later is not remembered, and is met as if for the first time.
const MOST: usize = 1 << 22;

/// Where nothing was done yet.
const NO_ACTION: u64 = u64::MAX;
/// No block, or no place.
const NONE: u32 = u32::MAX;

/// Observations with their visits and, for each action that was taken there, a value. Actions that
/// could have been taken and never were are not stored, which is most of them: whoever asks knows
/// what they are worth.
///
/// Observations are in the order in which they were first made, so that those of one schedule are
/// side by side, and what a schedule needs next is mostly at hand. A small index by open
/// addressing leads to them. Most have seen one action, and that is kept in place; where there are
/// several, they are in a block, sorted.
#[derive(Clone, Debug)]
pub(super) struct Table<V> {
    /// A power of two of entries, at most 3/4 in use: half of a key, and a place plus 1; or 0.
    index: Vec<u64>,
    places: Vec<Place<V>>,
    /// Blocks: a head, then room for as many actions as it says. A block that is outgrown is left
    /// behind, so at most half of them all is lost.
    blocks: Vec<(u64, V)>,
}

#[derive(Clone, Copy, Debug)]
struct Place<V> {
    observation: u64,
    /// The only action that was taken, if there is no block; otherwise how many the block has.
    action: u64,
    value: V,
    visits: u32,
    /// Where the block of actions begins.
    block: u32,
}

/// The place of an observation. It is the same in all copies of a table that have learnt the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At(pub(super) u32);

impl At {
    /// Of an observation that is not known, or that the table has no room for.
    pub(super) const NOWHERE: At = At(NONE);
}

impl<V: Copy + Default> Default for Table<V> {
    fn default() -> Table<V> {
        Table { index: Vec::new(), places: Vec::new(), blocks: Vec::new() }
    }
}

impl<V: Copy + Default> Table<V> {
    /// Where an observation is, if it is known.
    #[inline]
    pub(super) fn find(&self, observation: u64) -> Option<At> {
        if self.index.is_empty() {
            return None;
        }
        let (mut entry, half) = self.home(observation);
        loop {
            let found = self.index[entry];
            if found == 0 {
                return None;
            }
            let place = (found as u32 - 1) as usize;
            if found >> 32 == half && self.places[place].observation == observation {
                return Some(At(place as u32));
            }
            entry = (entry + 1) & (self.index.len() - 1);
        }
    }

    /// Where an observation is, if it is known, with a guess: what came after another one before
    /// is mostly beside it.
    #[inline]
    pub(super) fn find_after(&self, before: At, observation: u64) -> Option<At> {
        let guess = before.0.wrapping_add(1);
        match self.places.get(guess as usize) {
            Some(place) if place.observation == observation => Some(At(guess)),
            _ => self.find(observation),
        }
    }

    /// Counts a visit. The observation may be known to be in this place.
    #[inline]
    pub(super) fn visit(&mut self, observation: u64, known: At) -> At {
        let at = match self.places.get(known.0 as usize) {
            Some(place) if place.observation == observation => known,
            _ => self.find(observation).unwrap_or_else(|| self.meet(observation)),
        };
        if let Some(place) = self.places.get_mut(at.0 as usize) {
            place.visits = place.visits.saturating_add(1);
        }
        at
    }

    fn meet(&mut self, observation: u64) -> At {
        if self.places.len() >= MOST {
            return At::NOWHERE;
        }
        if (self.places.len() + 1) * 4 > self.index.len() * 3 {
            self.grow();
        }
        let at = self.places.len();
        let (action, value) = (NO_ACTION, V::default());
        self.places.push(Place { observation, action, value, visits: 0, block: NONE });
        self.enter(observation, at);
        At(at as u32)
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.index.len() * 2).max(64);
        self.index.clear();
        self.index.resize(size, 0);
        for at in 0..self.places.len() {
            self.enter(self.places[at].observation, at);
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

    /// How often an observation was made.
    #[inline]
    pub(super) fn visits(&self, at: At) -> u32 {
        self.places.get(at.0 as usize).map_or(1, |place| place.visits)
    }

    /// How many different actions were taken there.
    #[inline]
    pub(super) fn actions(&self, at: At) -> usize {
        match self.places.get(at.0 as usize) {
            Some(place) if place.block != NONE => place.action as usize,
            Some(place) if place.action != NO_ACTION => 1,
            _ => 0,
        }
    }

    /// The actions that were taken there, sorted, with their values.
    #[inline]
    pub(super) fn taken(&self, at: At) -> impl Iterator<Item = (u64, V)> + '_ {
        let (first, rest) = match self.places.get(at.0 as usize) {
            Some(place) if place.block != NONE => {
                let start = place.block as usize + 1;
                (None, &self.blocks[start..start + place.action as usize])
            }
            Some(place) if place.action != NO_ACTION => {
                (Some((place.action, place.value)), &self.blocks[..0])
            }
            _ => (None, &self.blocks[..0]),
        };
        first.into_iter().chain(rest.iter().copied())
    }

    /// The value of an action there, for an action taken for the first time `initial`; to be
    /// changed. `None` if the table has no room for the observation.
    #[inline]
    pub(super) fn value(&mut self, at: At, action: u64, initial: V) -> Option<&mut V> {
        let place = self.places.get_mut(at.0 as usize)?;
        if place.block == NONE && place.action == NO_ACTION {
            (place.action, place.value) = (action, initial);
        }
        if place.block == NONE && place.action == action {
            return Some(&mut self.places[at.0 as usize].value);
        }
        Some(self.value_in_block(at, action, initial))
    }

    fn value_in_block(&mut self, at: At, action: u64, initial: V) -> &mut V {
        let place = &mut self.places[at.0 as usize];
        if place.block == NONE {
            place.block = self.blocks.len() as u32;
            self.blocks.extend([(3, V::default()), (place.action, place.value)]);
            self.blocks.extend([(NO_ACTION, V::default()); 2]);
            place.action = 1;
        }
        let (block, len) = (place.block as usize, place.action as usize);
        let known = &self.blocks[block + 1..block + 1 + len];
        let here = known.iter().take_while(|known| known.0 < action).count();
        if known.get(here).is_none_or(|known| known.0 != action) {
            let room = self.blocks[block].0 as usize;
            let block = if len < room { block } else { self.move_block(at, block, len) };
            self.places[at.0 as usize].action += 1;
            let start = block + 1;
            self.blocks.copy_within(start + here..start + len, start + here + 1);
            self.blocks[start + here] = (action, initial);
            return &mut self.blocks[start + here].1;
        }
        &mut self.blocks[block + 1 + here].1
    }

    /// Gives a full block twice the room, at the end of all blocks.
    fn move_block(&mut self, at: At, block: usize, len: usize) -> usize {
        let moved = self.blocks.len();
        self.places[at.0 as usize].block = moved as u32;
        let room = 2 * len + 1;
        self.blocks.push((room as u64, V::default()));
        self.blocks.extend_from_within(block + 1..block + 1 + len);
        self.blocks.resize(moved + 1 + room, (NO_ACTION, V::default()));
        moved
    }

    /// All that is known, in the order in which it was met: observation, visits, and the actions
    /// with their values.
    pub(super) fn all(&self) -> impl Iterator<Item = (u64, u32, Vec<(u64, V)>)> + '_ {
        let places = self.places.iter().enumerate();
        places.map(|(at, place)| {
            (place.observation, place.visits, self.taken(At(at as u32)).collect())
        })
    }

    /// Takes over what [`Table::all`] told of an observation.
    pub(super) fn put(&mut self, observation: u64, visits: u32, actions: &[(u64, V)]) {
        let at = self.visit(observation, At::NOWHERE);
        if let Some(place) = self.places.get_mut(at.0 as usize) {
            place.visits = visits;
        }
        for &(action, value) in actions {
            self.value(at, action, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_table_knows_what_a_map_of_maps_knows() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut table = Table::default();
        let mut map: BTreeMap<u64, (u32, BTreeMap<u64, u64>)> = BTreeMap::new();
        for step in 0..20_000 {
            let (observation, action) = (rng.u64(1..3_000), rng.u64(..12));
            let at = table.visit(observation, At::NOWHERE);
            *table.value(at, action, 0).unwrap() += step;
            let known = map.entry(observation).or_default();
            known.0 += 1;
            *known.1.entry(action).or_default() += step;
        }
        assert_eq!(table.all().count(), map.len());
        for (&observation, (visits, actions)) in &map {
            let at = table.find(observation).unwrap();
            assert_eq!(table.visits(at), *visits);
            assert!(table.taken(at).eq(actions.iter().map(|(&action, &value)| (action, value))));
            assert_eq!(table.actions(at), actions.len());
        }
        assert!(table.find(3_001).is_none());
    }

    #[test]
    fn a_copy_from_what_a_table_tells_knows_the_same() {
        let mut rng = fastrand::Rng::with_seed(2);
        let mut table: Table<u64> = Table::default();
        for _ in 0..2_000 {
            let at = table.visit(rng.u64(..500), At::NOWHERE);
            *table.value(at, rng.u64(..3), 7).unwrap() += 1;
        }
        let mut copy = Table::default();
        for (observation, visits, actions) in table.all() {
            copy.put(observation, visits, &actions);
        }
        assert!(copy.all().eq(table.all()));
    }
}
