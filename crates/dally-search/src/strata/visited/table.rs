//! Words in open addressing: the table under fingerprints and under exact storage.

use super::memory::{BUCKET, Bucket, Memory, SLOTS};
use crate::prefetch::{prefetch, prefetch_to_write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The buckets of a new table: small searches need no reserved addresses.
const FIRST: usize = 8;

/// A table of fewer buckets doubles when it grows.
const SMALL: usize = 1024;

/// A set of words other than 0, found by linear probing over buckets. Their slots are taken in
/// order and never become free.
///
/// A word's key is the word without its low `PAYLOAD` bits. Its home is the key scaled to the
/// number of buckets: so the number can be any, and homes keep the order of the keys. When the
/// table grows every home moves up or stays, so words can be moved *in place*, from the last to the
/// first. A table that outgrows its first 512 bytes moves once, to where the addresses for its
/// largest size are reserved. So growing never needs a second table.
pub(crate) struct Table<const PAYLOAD: u32> {
    first: OnceLock<Box<[Bucket]>>,
    /// The table after its first buckets. Those stay: another thread may be reading them.
    memory: OnceLock<Memory>,
    most: usize,
    buckets: AtomicUsize,
    /// Below so many buckets it doubles.
    doubling: usize,
}

pub(crate) enum Lookup<'a> {
    /// The word is there.
    Word(u64),
    /// The word is not there, and belongs into this slot.
    Free(&'a AtomicU64),
    /// The word is not within reach, and no slot is free there.
    Full,
}

impl<const PAYLOAD: u32> Table<PAYLOAD> {
    /// An empty table of at most `budget` bytes, one of `tables` that grow alike.
    pub(crate) fn new(budget: u64, tables: usize) -> Table<PAYLOAD> {
        Table {
            first: OnceLock::new(),
            memory: OnceLock::new(),
            most: buckets_in(budget),
            buckets: AtomicUsize::new(0),
            doubling: SMALL / tables,
        }
    }

    pub(crate) fn key(word: u64) -> u64 {
        word >> PAYLOAD << PAYLOAD
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.buckets() * BUCKET) as u64
    }

    /// How many words it holds before it should grow; `last` if it cannot grow.
    pub(crate) fn limit(&self, last: bool) -> u64 {
        let slots = (self.buckets() * SLOTS) as u64;
        slots - slots / if last { 16 } else { 8 }
    }

    /// Looks for a word with this key for which `same` holds, from its home over `reach` buckets.
    ///
    /// Other threads may add words meanwhile. A thread that takes the free slot by
    /// compare-and-exchange has seen all words before it.
    #[inline]
    pub(crate) fn find(
        &self,
        key: u64,
        reach: usize,
        mut same: impl FnMut(u64) -> bool,
    ) -> Lookup<'_> {
        let table = self.in_use();
        let mut at = home(key, table.len());
        for _ in 0..reach.min(table.len()) {
            let bucket = &table[at];
            // Without branches: a mispredicted position would cost another wait for memory.
            let (mut hits, mut used) = (0_u32, 0);
            for (place, slot) in bucket.0.iter().enumerate() {
                let word = slot.load(Relaxed);
                hits |= u32::from(Self::key(word) == key) << place;
                used += usize::from(word != 0);
            }
            while hits != 0 {
                let word = bucket.0[hits.trailing_zeros() as usize].load(Relaxed);
                if same(word) {
                    return Lookup::Word(word);
                }
                hits &= hits - 1;
            }
            if let Some(slot) = bucket.0.get(used) {
                return Lookup::Free(slot);
            }
            at = next(at, table.len());
        }
        Lookup::Full
    }

    /// A word with this key for which `same` holds, if it is there; the same as [`Table::find`] for
    /// who adds nothing. A word that another thread moves meanwhile may not be found.
    #[inline]
    pub(crate) fn get(&self, key: u64, mut same: impl FnMut(u64) -> bool) -> Option<u64> {
        let table = self.in_use();
        let mut at = home(key, table.len());
        for _ in 0..table.len() {
            let bucket = &table[at];
            let mut hits = 0_u32;
            for (place, slot) in bucket.0.iter().enumerate() {
                hits |= u32::from((slot.load(Relaxed) ^ key) >> PAYLOAD == 0) << place;
            }
            while hits != 0 {
                let word = bucket.0[hits.trailing_zeros() as usize].load(Relaxed);
                if word != 0 && same(word) {
                    return Some(word);
                }
                hits &= hits - 1;
            }
            if bucket.0[SLOTS - 1].load(Relaxed) == 0 {
                return None;
            }
            at = next(at, table.len());
        }
        None
    }

    /// Whether this word is there. A word that another thread moves meanwhile may not be found.
    #[inline]
    pub(super) fn holds(&self, word: u64) -> bool {
        let table = self.in_use();
        let mut at = home(Self::key(word), table.len());
        for _ in 0..table.len() {
            let bucket = &table[at];
            let found = bucket.0.iter().any(|slot| slot.load(Relaxed) == word);
            if found || bucket.0[SLOTS - 1].load(Relaxed) == 0 {
                return found;
            }
            at = next(at, table.len());
        }
        false
    }

    #[inline]
    pub(crate) fn prefetch(&self, word: u64) {
        let table = self.in_use();
        if let Some(bucket) = table.get(home(Self::key(word), table.len())) {
            prefetch(bucket);
        }
    }

    #[inline]
    pub(super) fn prefetch_to_write(&self, word: u64) {
        let table = self.in_use();
        if let Some(bucket) = table.get(home(Self::key(word), table.len())) {
            prefetch_to_write(bucket);
        }
    }

    /// A slot in the home of this key, of a table that is not empty.
    pub(crate) fn slot(&self, key: u64) -> &AtomicU64 {
        let place = (key >> 32) as usize % SLOTS;
        let table = self.in_use();
        &table[home(key, table.len())].0[place]
    }

    /// Grows by a factor that suits its size, to at most `budget` bytes; `false` if it cannot, or
    /// not by enough. No other thread may use the table meanwhile.
    pub(crate) fn grow(&self, budget: u64) -> bool {
        let old = self.buckets();
        // With 7/8 of the slots taken before, 3/2 is 14 bytes a word, and 4/3 is 12.5.
        let wanted = match old {
            0 => FIRST,
            _ if old < self.doubling => 2 * old,
            _ if old < 256 * self.doubling => old + old / 2,
            _ => old + old / 3,
        };
        let wanted = wanted.min(self.most).min(buckets_in(budget));
        // Moving everything is not worth it for a little more.
        let enough = old + old / 16 + 1;
        if wanted < enough {
            return false;
        }
        let size = wanted.min(self.room(wanted).len());
        if size < enough {
            return false;
        }
        self.buckets.store(size, Relaxed);
        Rehash::<PAYLOAD>::new(self.in_use()).spread(old);
        true
    }

    /// Room for so many buckets, or for as many as there can be, which has the words in it.
    fn room(&self, wanted: usize) -> &[Bucket] {
        if wanted <= FIRST {
            let empty = |_| Bucket([const { AtomicU64::new(0) }; SLOTS]);
            return self.first.get_or_init(|| (0..wanted).map(empty).collect());
        }
        if self.memory.get().is_none()
            && let Some(memory) = Memory::reserve(self.most)
        {
            let slots = |buckets| <[Bucket]>::iter(buckets).flat_map(|bucket| &bucket.0);
            for (from, to) in slots(self.in_use()).zip(slots(&memory)) {
                to.store(from.load(Relaxed), Relaxed);
            }
            self.memory.get_or_init(|| memory);
        }
        self.memory.get().map_or(&[], |memory| memory)
    }

    /// The buckets in use. A thread that looks while the table grows may get fewer.
    #[inline]
    fn in_use(&self) -> &[Bucket] {
        match self.memory.get() {
            Some(memory) => &memory[..self.buckets()],
            None => self.first.get().map_or(&[], |first| first),
        }
    }

    #[inline]
    fn buckets(&self) -> usize {
        self.buckets.load(Relaxed)
    }
}

/// Moves words to their homes after the table has grown in place.
struct Rehash<'a, const PAYLOAD: u32> {
    table: &'a [Bucket],
    /// Words that must wait until all others have moved.
    aside: Vec<u64>,
    /// The buckets that words went to last, and how many of their slots are taken: counting those
    /// would wait for what was just written. Neighbours have different places here.
    last: [(usize, usize); 4],
}

impl<'a, const PAYLOAD: u32> Rehash<'a, PAYLOAD> {
    fn new(table: &'a [Bucket]) -> Rehash<'a, PAYLOAD> {
        Rehash { table, aside: Vec::new(), last: [(usize::MAX, 0); 4] }
    }

    /// Moves the words of the first `old` buckets to their new homes, from the last bucket on.
    ///
    /// A word whose new home is behind its bucket moves at once: there are only words that have
    /// moved. That is so for nearly all, since homes move up the further the higher they are. The
    /// others wait for the rest of their *run*, a bucket with all the full ones right before it:
    /// the words of a run have their homes in it, so from its start on they meet only moved words.
    ///
    /// The first run may hold words that went round the end of the table, so it is put aside until
    /// all others have moved; and so are words that would go round the new end.
    fn spread(mut self, old: usize) {
        let (table, mut run) = (self.table, Vec::new());
        let mut start = 0;
        while start < old {
            let (words, used) = table[start].take();
            self.aside.extend_from_slice(&words[..used]);
            if used < SLOTS {
                break;
            }
            start += 1;
        }
        for at in (start + 1..old).rev() {
            let (words, used) = table[at].take();
            for &word in &words[..used] {
                let to = self.home(word);
                if to > at { self.settle(word, to) } else { run.push(word) }
            }
            // The bucket at `start` is empty.
            if !run.is_empty() && table[at - 1].used() < SLOTS {
                run.drain(..).for_each(|word| self.settle(word, self.home(word)));
            }
        }
        for word in self.aside {
            let (before, after) = table.split_at(home(Table::<PAYLOAD>::key(word), table.len()));
            let added = after.iter().chain(before).any(|bucket| bucket.add(word));
            assert!(added, "a table that has grown is not full");
        }
    }

    fn home(&self, word: u64) -> usize {
        home(Table::<PAYLOAD>::key(word), self.table.len())
    }

    #[inline]
    fn settle(&mut self, word: u64, home: usize) {
        let last = &mut self.last[home % 4];
        if last.0 != home {
            *last = (home, self.table[home].used());
        }
        match self.table[home].0.get(last.1) {
            Some(slot) => {
                slot.store(word, Relaxed);
                last.1 += 1;
            }
            None => self.settle_behind(word, home),
        }
    }

    /// Puts a word into the first bucket with room after its home, which is full.
    fn settle_behind(&mut self, word: u64, home: usize) {
        let behind = home + 1;
        let Some(more) = self.table[behind..].iter().position(|bucket| bucket.add(word)) else {
            return self.aside.push(word);
        };
        let last = &mut self.last[(behind + more) % 4];
        if last.0 == behind + more {
            last.1 += 1;
        }
    }
}

impl Bucket {
    /// How many slots are taken, by binary search: they are taken in order.
    #[inline]
    fn used(&self) -> usize {
        let taken = |place: usize| usize::from(self.0[place].load(Relaxed) != 0);
        let mut used = 4 * taken(3);
        used += 2 * taken(used + 1);
        used += taken(used);
        used + taken(7)
    }

    /// Adds a word if there is room. No other thread may use the bucket meanwhile.
    #[inline]
    fn add(&self, word: u64) -> bool {
        let slot = self.0.get(self.used());
        slot.inspect(|slot| slot.store(word, Relaxed)).is_some()
    }

    /// Empties it; returns its words, and how many there were.
    #[inline]
    fn take(&self) -> ([u64; SLOTS], usize) {
        let words = std::array::from_fn(|place| self.0[place].load(Relaxed));
        self.0.iter().for_each(|slot| slot.store(0, Relaxed));
        (words, words.iter().filter(|&&word| word != 0).count())
    }
}

#[inline]
fn home(key: u64, buckets: usize) -> usize {
    ((u128::from(key) * buckets as u128) >> 64) as usize
}

fn next(at: usize, buckets: usize) -> usize {
    if at + 1 == buckets { 0 } else { at + 1 }
}

fn buckets_in(bytes: u64) -> usize {
    usize::try_from(bytes / BUCKET as u64).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Words with homes anywhere, next to each other, or at the end of the table.
    fn words() -> impl Strategy<Value = Vec<u64>> {
        let word = prop_oneof![
            1..=u64::MAX,
            (0..4_u64, 1..400_u64).prop_map(|(place, low)| (place << 62) + low),
            (0..400_u64).prop_map(|low| u64::MAX - low),
            (0..400_u64).prop_map(|low| u64::MAX - (low << 50)),
        ];
        prop::collection::vec(word, 0..2000)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn words_are_found_once_wherever_they_go_when_a_table_grows(
            words in words(),
            tables in prop_oneof![Just(1), Just(1024)],
        ) {
            let table = Table::<0>::new(1 << 20, tables);
            let mut added = BTreeSet::new();
            for word in words {
                if added.len() as u64 >= table.limit(false) {
                    prop_assert!(table.grow(1 << 20));
                    for &word in &added {
                        prop_assert!(table.holds(word));
                    }
                }
                match table.find(word, usize::MAX, |_| true) {
                    Lookup::Word(_) => prop_assert!(!added.insert(word)),
                    Lookup::Full => prop_assert!(false, "a table below its limit is not full"),
                    Lookup::Free(slot) => {
                        prop_assert!(added.insert(word));
                        slot.store(word, Relaxed);
                    }
                }
            }
            let slots = table.in_use().iter().flat_map(|bucket| &bucket.0);
            let stored: Vec<u64> = slots.map(|slot| slot.load(Relaxed)).filter(|&w| w != 0).collect();
            prop_assert_eq!(stored.len(), added.len());
            prop_assert_eq!(stored.into_iter().collect::<BTreeSet<_>>(), added);
        }
    }
}
