//! What is known of observations: how often each was made, and a value for each action taken.

/// How many observations a table holds at most: 128 MiB for values of eight bytes. What comes
/// later is not remembered, and is met as if for the first time.
const MOST: usize = 1 << 22;

/// Where nothing was done yet.
const NO_ACTION: u64 = u64::MAX;
/// The end of a list of actions.
const NONE: u32 = u32::MAX;

/// Observations with their visits and, for each action that was taken there, a value. Actions that
/// could have been taken and never were are not stored, which is most of them: whoever asks knows
/// what they are worth.
///
/// Open addressing with linear probing. Most observations have seen one action, so the first is
/// kept in place and the others in lists.
#[derive(Clone, Debug)]
pub(super) struct Table<V> {
    /// A power of two of them, at most 3/4 in use.
    places: Vec<Place<V>>,
    used: usize,
    /// Further actions.
    more: Vec<More<V>>,
}

#[derive(Clone, Copy, Debug)]
struct Place<V> {
    /// Zero where the place is free.
    key: u64,
    action: u64,
    value: V,
    visits: u32,
    /// The next action, in `more`.
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct More<V> {
    action: u64,
    value: V,
    next: u32,
}

/// The place of an observation, until the table grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct At(u32);

impl At {
    /// Of an observation that the table has no room for.
    const NOWHERE: At = At(NONE);
}

impl<V: Copy + Default> Default for Table<V> {
    fn default() -> Table<V> {
        Table { places: Vec::new(), used: 0, more: Vec::new() }
    }
}

impl<V: Copy + Default> Table<V> {
    /// The number of observations in it.
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Where an observation is, if it is known.
    #[inline]
    pub(super) fn find(&self, observation: u64) -> Option<At> {
        if self.places.is_empty() {
            return None;
        }
        let key = key(observation);
        let mut place = self.home(key);
        loop {
            let found = self.places[place].key;
            if found == key {
                return Some(At(place as u32));
            }
            if found == 0 {
                return None;
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    /// Makes room for so many observations, so that places stay where they are.
    pub(super) fn reserve(&mut self, more: usize) {
        let wanted = (self.used + more).min(MOST);
        if wanted * 4 <= self.places.len() * 3 {
            return;
        }
        let size = (wanted * 4 / 3 + 1).next_power_of_two().max(64);
        let free = Place { key: 0, action: 0, value: V::default(), visits: 0, next: 0 };
        let old = std::mem::replace(&mut self.places, vec![free; size]);
        for place in old.into_iter().filter(|place| place.key != 0) {
            let at = self.free_place(place.key);
            self.places[at] = place;
        }
    }

    /// Counts a visit, for which room was reserved.
    #[inline]
    pub(super) fn visit(&mut self, observation: u64) -> At {
        self.visits_at(observation, 1)
    }

    /// Adds so many visits.
    fn visits_at(&mut self, observation: u64, visits: u32) -> At {
        match self.find(observation) {
            Some(at) => {
                let place = &mut self.places[at.0 as usize];
                place.visits = place.visits.saturating_add(visits);
                at
            }
            None if self.used >= MOST => At::NOWHERE,
            None => {
                let key = key(observation);
                let at = self.free_place(key);
                let value = V::default();
                self.places[at] = Place { key, action: NO_ACTION, value, visits, next: NONE };
                self.used += 1;
                At(at as u32)
            }
        }
    }

    /// How often an observation was made.
    #[inline]
    pub(super) fn visits(&self, at: At) -> u32 {
        self.places.get(at.0 as usize).map_or(1, |place| place.visits)
    }

    /// The actions that were taken there, with their values.
    #[inline]
    pub(super) fn taken(&self, at: At) -> impl Iterator<Item = (u64, V)> + '_ {
        let place = self.places.get(at.0 as usize).filter(|place| place.action != NO_ACTION);
        let mut next = place.map_or(NONE, |place| place.next);
        let first = place.map(|place| (place.action, place.value));
        first.into_iter().chain(std::iter::from_fn(move || {
            let more = self.more.get(next as usize)?;
            next = more.next;
            Some((more.action, more.value))
        }))
    }

    /// The value of an action there, for an action taken for the first time `initial`; to be
    /// changed. `None` if the table has no room for the observation.
    #[inline]
    pub(super) fn value(&mut self, at: At, action: u64, initial: V) -> Option<&mut V> {
        let place = self.places.get_mut(at.0 as usize)?;
        if place.action == NO_ACTION {
            (place.action, place.value) = (action, initial);
        }
        if place.action == action {
            return Some(&mut place.value);
        }
        let mut found = place.next;
        while let Some(more) = self.more.get(found as usize)
            && more.action != action
        {
            found = more.next;
        }
        if found == NONE {
            found = self.more.len() as u32;
            self.more.push(More { action, value: initial, next: place.next });
            place.next = found;
        }
        Some(&mut self.more[found as usize].value)
    }

    /// All that is known, by place: observation, visits, and the actions with their values. The
    /// same lessons in the same order leave the same places behind.
    pub(super) fn all(&self) -> impl Iterator<Item = (u64, u32, Vec<(u64, V)>)> + '_ {
        let known = self.places.iter().enumerate().filter(|(_, place)| place.key != 0);
        known.map(|(at, place)| (place.key, place.visits, self.taken(At(at as u32)).collect()))
    }

    /// Takes over what [`Table::all`] told of an observation.
    pub(super) fn put(&mut self, observation: u64, visits: u32, actions: &[(u64, V)]) {
        self.reserve(1);
        let at = self.visits_at(observation, visits);
        for &(action, value) in actions {
            self.value(at, action, value);
        }
    }

    fn home(&self, key: u64) -> usize {
        // The top bits of a product depend on all bits of the key: hashes of programs may be weak.
        let spread = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> (64 - self.places.len().trailing_zeros())) as usize
    }

    fn free_place(&self, key: u64) -> usize {
        let mut place = self.home(key);
        while self.places[place].key != 0 {
            place = (place + 1) & (self.places.len() - 1);
        }
        place
    }
}

/// Zero marks free places.
#[inline]
fn key(observation: u64) -> u64 {
    observation.max(1)
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
            let (observation, action) = (rng.u64(1..3_000), rng.u64(..5));
            table.reserve(1);
            let at = table.visit(observation);
            *table.value(at, action, 0).unwrap() += step;
            let known = map.entry(observation).or_default();
            known.0 += 1;
            *known.1.entry(action).or_default() += step;
        }
        assert_eq!(table.len(), map.len());
        for (&observation, (visits, actions)) in &map {
            let at = table.find(observation).unwrap();
            assert_eq!(table.visits(at), *visits);
            assert_eq!(table.taken(at).collect::<BTreeMap<u64, u64>>(), *actions);
        }
        assert!(table.find(3_001).is_none());
    }

    #[test]
    fn a_copy_from_what_a_table_tells_knows_the_same() {
        let mut rng = fastrand::Rng::with_seed(2);
        let mut table: Table<u64> = Table::default();
        for _ in 0..2_000 {
            table.reserve(1);
            let at = table.visit(rng.u64(..500));
            *table.value(at, rng.u64(..3), 7).unwrap() += 1;
        }
        let mut copy = Table::default();
        for (observation, visits, actions) in table.all() {
            copy.put(observation, visits, &actions);
        }
        let sorted = |table: &Table<u64>| {
            let mut all: Vec<_> = table.all().collect();
            all.iter_mut().for_each(|(_, _, actions)| actions.sort_unstable());
            all.sort_unstable();
            all
        };
        assert_eq!(sorted(&copy), sorted(&table));
    }
}
