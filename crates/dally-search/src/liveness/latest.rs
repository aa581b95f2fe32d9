//! Where in a log a hash was last.
//!
//! A log is asked for every state that is added to it, and most logs are short: so the table is
//! as small as the log, and stays in the cache however many logs there were before.

/// The places of a log by hash, the latest for each. The hashes themselves are in the log.
#[derive(Default)]
pub(super) struct Latest {
    /// Open addressing: the round in which a place was entered, and the place. What is of another
    /// round is empty.
    slots: Vec<(u32, u32)>,
    /// Only slots up to this one are in use: one less than a power of two.
    mask: usize,
    round: u32,
    /// How many slots are taken.
    taken: usize,
    /// Memory for places on their way to other slots.
    moved: Vec<u32>,
}

/// How many slots there are at first.
const SLOTS: usize = 64;

impl Latest {
    /// Forgets all places.
    pub(super) fn clear(&mut self) {
        if self.taken > 0 {
            self.begin_round(SLOTS);
        }
    }

    /// Enters a place with this hash. Answers the one that was the latest before; `hash_of` tells
    /// the hashes of places that have been entered.
    pub(super) fn insert(
        &mut self,
        hash: u64,
        place: u32,
        hash_of: &impl Fn(u32) -> u64,
    ) -> Option<u32> {
        if self.taken * 2 >= self.mask {
            self.grow(hash_of);
        }
        let mut at = hash as usize & self.mask;
        loop {
            let slot = &mut self.slots[at];
            if slot.0 != self.round {
                *slot = (self.round, place);
                self.taken += 1;
                return None;
            }
            if hash_of(slot.1) == hash {
                return Some(std::mem::replace(&mut slot.1, place));
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Has twice as many slots for the same places.
    #[cold]
    fn grow(&mut self, hash_of: &impl Fn(u32) -> u64) {
        let used = if self.taken > 0 { &self.slots[..=self.mask] } else { &[] };
        let mut moved = std::mem::take(&mut self.moved);
        moved.extend(used.iter().filter(|slot| slot.0 == self.round).map(|slot| slot.1));
        self.begin_round(((self.mask + 1) * 2).max(SLOTS));
        for place in moved.drain(..) {
            self.insert(hash_of(place), place, hash_of);
        }
        self.moved = moved;
    }

    fn begin_round(&mut self, slots: usize) {
        if self.slots.len() < slots {
            self.slots.resize(slots, (0, 0));
        }
        (self.mask, self.taken) = (slots - 1, 0);
        // Slots of round 0 are empty.
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.slots.fill((0, 0));
            1
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rustc_hash::FxHashMap;

    use super::*;

    proptest! {
        #[test]
        fn the_latest_place_is_that_of_a_map(
            logs in prop::collection::vec(prop::collection::vec(0..300u64, 0..400), 0..6),
        ) {
            let mut latest = Latest::default();
            for hashes in logs {
                latest.clear();
                let mut map = FxHashMap::default();
                for (place, &hash) in hashes.iter().enumerate() {
                    // Many begin to look in the same slot.
                    let spread = |hash: u64| hash << 3;
                    let hash_of = |at: u32| spread(hashes[at as usize]);
                    let before = latest.insert(spread(hash), place as u32, &hash_of);
                    prop_assert_eq!(before, map.insert(hash, place as u32));
                }
            }
        }
    }
}
