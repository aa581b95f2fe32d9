//! Words in open addressing: the table under fingerprints and under exact storage.

use super::prefetch::prefetch;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Slots of a bucket: one cache line, so that most searches miss the cache once.
const SLOTS: usize = 8;

/// The bytes of a bucket.
const BUCKET: u64 = 64;

/// The logarithm of the pieces of equal size before they double: four.
const EQUAL: u32 = 2;

/// The logarithm of the buckets of the first pieces.
const FIRST: u32 = 3;

/// The buckets of the first four pieces. If counting begins there, four pieces of a size begin
/// at a power of two.
const OFFSET: usize = 1 << (FIRST + EQUAL);

/// Below so many buckets a table doubles: fast and wasteful.
const SMALL: usize = 1024;

#[repr(align(64))]
struct Bucket([AtomicU64; SLOTS]);

/// A set of words other than 0, found by linear probing over buckets. Their slots are taken in
/// order and never become free.
///
/// A word's key is what remains without its low `PAYLOAD` bits. Its home is the key scaled to
/// the number of buckets: so the number can be any, and homes keep the order of the keys. When
/// the table grows every home moves up or stays, which lets words be spread *in place*, from the
/// last to the first. And memory comes in pieces that stay where they are: at first 512 bytes,
/// after every four pieces twice as much. So growing needs no second table, not even for a moment.
pub(crate) struct Table<const PAYLOAD: u32> {
    pieces: Box<[OnceLock<Box<[Bucket]>>]>,
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
        let most = (budget / BUCKET) as usize;
        let pieces = most.checked_sub(1).map_or(0, |last| piece(last).0 + 1);
        Table {
            pieces: (0..pieces).map(|_| OnceLock::new()).collect(),
            buckets: AtomicUsize::new(0),
            doubling: SMALL / tables,
        }
    }

    /// The key of a word.
    pub(crate) fn key(word: u64) -> u64 {
        word >> PAYLOAD << PAYLOAD
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.buckets() as u64 * BUCKET
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
        let buckets = self.buckets();
        let mut at = home(key, buckets);
        for _ in 0..reach.min(buckets) {
            let bucket = self.bucket(at);
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
            at = next(at, buckets);
        }
        Found::Full
    }

    /// Whether this word is there. Others may use the table as they like meanwhile: then a word
    /// that they move may not be found.
    #[inline]
    pub(super) fn holds(&self, word: u64) -> bool {
        let buckets = self.buckets();
        let mut at = home(Self::key(word), buckets);
        for _ in 0..buckets {
            let Some(bucket) = self.get(at) else { return false };
            let found = bucket.0.iter().any(|slot| slot.load(Relaxed) == word);
            if found || bucket.0[SLOTS - 1].load(Relaxed) == 0 {
                return found;
            }
            at = next(at, buckets);
        }
        false
    }

    /// Has the memory brought that [`Table::holds`] will look at.
    #[inline]
    pub(super) fn prefetch(&self, word: u64) {
        if let Some(bucket) = self.get(home(Self::key(word), self.buckets())) {
            prefetch(bucket);
        }
    }

    /// One of the slots in the home of this key, of a table that has any.
    pub(crate) fn slot(&self, key: u64) -> &AtomicU64 {
        let place = (key >> 32) as usize % SLOTS;
        &self.bucket(home(key, self.buckets())).0[place]
    }

    /// Grows by what suits its size, to at most `budget` bytes. False if it cannot, or not by
    /// enough. Nobody else may use the table meanwhile.
    pub(crate) fn grow(&self, budget: u64) -> bool {
        let old = self.buckets();
        let most = (budget / BUCKET) as usize;
        // With 7/8 of the slots taken before, 3/2 is 14 bytes a word, and 4/3 is 12.5: with a
        // little more, as pieces are not quite half or a third of what there is.
        let wanted = old / 32
            + match old {
                _ if old < self.doubling => 2 * old,
                _ if old < 256 * self.doubling => old + old / 2,
                _ => old + old / 3,
            };
        let mut size = old;
        // A piece that was cut short to the budget was the last.
        while let (number, 0) = piece(size) {
            let whole = size + length(number);
            if size > old && whole > wanted {
                break;
            }
            let end = whole.min(most);
            // A little more is not worth moving everything.
            if end <= size + old / 16 || number >= self.pieces.len() {
                break;
            }
            let empty = || Bucket([const { AtomicU64::new(0) }; SLOTS]);
            self.pieces[number].get_or_init(|| (size..end).map(|_| empty()).collect());
            size = end;
        }
        if size > old {
            self.buckets.store(size, Relaxed);
            self.spread(old, size);
        }
        size > old
    }

    /// Moves the words of the first `old` buckets to their homes among all of them.
    ///
    /// A run is a bucket with all the full ones right before it: what is in it has its home in
    /// it. Taken from the last to the first, the words of a run find only words that have
    /// moved from the start of the run onward. The first run may hold words that went round the
    /// end of the table, so it is put aside until all others have moved.
    fn spread(&self, old: usize, buckets: usize) {
        let (mut first, mut run) = (Vec::new(), Vec::new());
        let mut start = 0;
        while start < old && self.bucket(start).take(&mut first) == SLOTS {
            start += 1;
        }
        for at in (start + 1..old).rev() {
            self.bucket(at).take(&mut run);
            if self.bucket(at - 1).used() < SLOTS {
                run.drain(..).for_each(|word| self.settle(word, buckets));
            }
        }
        first.into_iter().for_each(|word| self.settle(word, buckets));
    }

    /// Puts a word that is not there into a table that is not full.
    fn settle(&self, word: u64, buckets: usize) {
        let mut at = home(Self::key(word), buckets);
        loop {
            let bucket = self.bucket(at);
            if let Some(slot) = bucket.0.get(bucket.used()) {
                return slot.store(word, Relaxed);
            }
            at = next(at, buckets);
        }
    }

    #[inline]
    fn bucket(&self, at: usize) -> &Bucket {
        self.get(at).expect("a bucket of the table")
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&Bucket> {
        let (number, place) = piece(at);
        self.pieces.get(number)?.get()?.get(place)
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

/// The number of a bucket's piece and its place there.
#[inline]
fn piece(at: usize) -> (usize, usize) {
    let at = at + OFFSET;
    let size = at.ilog2() - EQUAL;
    let number = (((size - FIRST) as usize) << EQUAL) + (at >> size) - (1 << EQUAL);
    (number, at & ((1 << size) - 1))
}

/// The buckets of a piece.
fn length(number: usize) -> usize {
    1 << (FIRST as usize + (number >> EQUAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_each_other_and_double_after_every_four() {
        let mut at = 0;
        for number in 0..40 {
            assert_eq!(piece(at), (number, 0));
            at += length(number);
            assert_eq!(piece(at - 1), (number, length(number) - 1));
        }
        assert_eq!([0, 3, 4, 39].map(length), [8, 8, 16, 4096]);
    }
}
