//! Words in open addressing: the table under fingerprints and under exact storage.

use super::memory::{BUCKET, Bucket, Memory, SLOTS};
use super::prefetch::prefetch;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The buckets of a table at first: small searches are many, and to reserve addresses takes longer
/// than to fill these.
const FIRST: usize = 8;

/// Below so many buckets a table doubles: fast and wasteful.
const SMALL: usize = 1024;

/// A set of words other than 0, found by linear probing over buckets. Their slots are taken in
/// order and never become free.
///
/// A word's key is what remains without its low `PAYLOAD` bits. Its home is the key scaled to
/// the number of buckets: so the number can be any, and homes keep the order of the keys. When
/// the table grows every home moves up or stays, which lets words be spread *in place*, from the
/// last to the first. And when a table outgrows its first 512 bytes it moves, for once, to where
/// the addresses for all that it may become are reserved. So growing needs no second table, not
/// even for a moment.
pub(crate) struct Table<const PAYLOAD: u32> {
    first: OnceLock<Box<[Bucket]>>,
    /// Where the table is after its first buckets, which stay: somebody may be reading them.
    memory: OnceLock<Memory>,
    /// The most buckets.
    most: usize,
    /// How many are in use.
    buckets: AtomicUsize,
    /// The buckets up to which it doubles.
    doubling: usize,
}

/// The outcome of looking for a word.
pub(crate) enum Found<'a> {
    /// It is there.
    Word(u64),
    /// It is not, and this slot is where it belongs.
    Free(&'a AtomicU64),
    /// It is not within reach, and no slot is free there.
    Full,
}

impl<const PAYLOAD: u32> Table<PAYLOAD> {
    /// An empty table, one of `tables` that grow alike, which will never take more than `budget`
    /// bytes.
    pub(crate) fn new(budget: u64, tables: usize) -> Table<PAYLOAD> {
        Table {
            first: OnceLock::new(),
            memory: OnceLock::new(),
            most: buckets_in(budget),
            buckets: AtomicUsize::new(0),
            doubling: SMALL / tables,
        }
    }

    /// The key of a word.
    pub(crate) fn key(word: u64) -> u64 {
        word >> PAYLOAD << PAYLOAD
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.buckets() * BUCKET) as u64
    }

    /// How many words it holds before it should grow; `last` for a table that cannot.
    pub(crate) fn limit(&self, last: bool) -> u64 {
        let slots = (self.buckets() * SLOTS) as u64;
        slots - slots / if last { 16 } else { 8 }
    }

    /// Looks for a word with this key for which `same` holds, from its home over `reach` buckets.
    ///
    /// Others may add words meanwhile. Who then takes the free slot by comparing and exchanging
    /// has seen all words before it.
    #[inline]
    pub(crate) fn find(
        &self,
        key: u64,
        reach: usize,
        mut same: impl FnMut(u64) -> bool,
    ) -> Found<'_> {
        let table = self.in_use();
        let mut at = home(key, table.len());
        for _ in 0..reach.min(table.len()) {
            let bucket = &table[at];
            // All slots at once, without branches: which one it is cannot be predicted, and a
            // wrong guess would cost another wait for memory.
            let (mut hits, mut used) = (0_u32, 0);
            for (place, slot) in bucket.0.iter().enumerate() {
                let word = slot.load(Relaxed);
                hits |= u32::from(Self::key(word) == key) << place;
                used += usize::from(word != 0);
            }
            while hits != 0 {
                let word = bucket.0[hits.trailing_zeros() as usize].load(Relaxed);
                if same(word) {
                    return Found::Word(word);
                }
                hits &= hits - 1;
            }
            if let Some(slot) = bucket.0.get(used) {
                return Found::Free(slot);
            }
            at = next(at, table.len());
        }
        Found::Full
    }

    /// Whether this word is there. Others may use the table as they like meanwhile: then a word
    /// that they move may not be found.
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

    /// Has the memory brought that [`Table::holds`] will look at.
    #[inline]
    pub(super) fn prefetch(&self, word: u64) {
        let table = self.in_use();
        if let Some(bucket) = table.get(home(Self::key(word), table.len())) {
            prefetch(bucket);
        }
    }

    /// One of the slots in the home of this key, of a table that has any.
    pub(crate) fn slot(&self, key: u64) -> &AtomicU64 {
        let place = (key >> 32) as usize % SLOTS;
        let table = self.in_use();
        &table[home(key, table.len())].0[place]
    }

    /// Grows by what suits its size, to at most `budget` bytes. False if it cannot, or not by
    /// enough. Nobody else may use the table meanwhile.
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
        // A little more is not worth moving everything.
        let enough = old + old / 16 + 1;
        if wanted < enough {
            return false;
        }
        let size = wanted.min(self.room(wanted).len());
        if size < enough {
            return false;
        }
        self.buckets.store(size, Relaxed);
        Self::spread(self.in_use(), old);
        true
    }

    /// Moves the words of the first `old` buckets to their homes among all of them.
    ///
    /// A run is a bucket with all the full ones right before it: what is in it has its home in
    /// it. Taken from the last to the first, the words of a run find only words that have
    /// moved from the start of the run onward. The first run may hold words that went round the
    /// end of the table, so it is put aside until all others have moved.
    fn spread(table: &[Bucket], old: usize) {
        let (mut first, mut run) = (Vec::new(), Vec::new());
        let mut start = 0;
        while start < old && table[start].take(&mut first) == SLOTS {
            start += 1;
        }
        for at in (start + 1..old).rev() {
            table[at].take(&mut run);
            if table[at - 1].used() < SLOTS {
                run.drain(..).for_each(|word| Self::settle(table, word));
            }
        }
        first.into_iter().for_each(|word| Self::settle(table, word));
    }

    /// Puts a word that is not there into a table that is not full.
    fn settle(table: &[Bucket], word: u64) {
        let mut at = home(Self::key(word), table.len());
        loop {
            let bucket = &table[at];
            if let Some(slot) = bucket.0.get(bucket.used()) {
                return slot.store(word, Relaxed);
            }
            at = next(at, table.len());
        }
    }

    /// Room for so many buckets, or for as many as there can be. The words are in it.
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

    /// The buckets in use. Who looks while the table grows may get fewer.
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

impl Bucket {
    /// How many slots are taken, by halving: they are taken in order.
    fn used(&self) -> usize {
        let taken = |place: usize| usize::from(self.0[place].load(Relaxed) != 0);
        let mut used = 4 * taken(3);
        used += 2 * taken(used + 1);
        used += taken(used);
        used + taken(7)
    }

    /// Empties it; says how many words it had.
    fn take(&self, into: &mut Vec<u64>) -> usize {
        let used = self.used();
        for slot in &self.0[..used] {
            into.push(slot.load(Relaxed));
            slot.store(0, Relaxed);
        }
        used
    }
}

/// Scales a key to the number of buckets.
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
