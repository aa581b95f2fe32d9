//! A list of numbers that threads read and write at once, in one stretch of address space.

use super::memory::{BUCKET, Bucket, Memory, SLOTS};
use crate::prefetch::prefetch;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// The words of a list at first: searches of few states are many, and to reserve addresses takes
/// longer than to fill these.
const FIRST: usize = 128;

/// Words of 64 bits, or twice as many halves of 32, all 0 at first. Nothing moves when the list
/// is used further: addresses are reserved for all that it may become, and memory comes where it is
/// touched.
pub(crate) struct Words {
    first: Box<[AtomicU64; FIRST]>,
    memory: OnceLock<Option<Memory>>,
    /// The buckets to reserve.
    most: usize,
}

impl Words {
    /// A list that will never take more than `budget` bytes.
    pub(crate) fn new(budget: u64) -> Words {
        Words {
            first: Box::new([const { AtomicU64::new(0) }; FIRST]),
            memory: OnceLock::new(),
            most: usize::try_from(budget / BUCKET as u64).unwrap_or(usize::MAX),
        }
    }

    /// Whether it can have so many words.
    #[inline]
    pub(crate) fn has_room(&self, words: usize) -> bool {
        words <= FIRST || words - FIRST <= self.memory().map_or(0, |memory| memory.len() * SLOTS)
    }

    /// One of the words that there is room for.
    #[inline]
    pub(crate) fn word(&self, at: usize) -> &AtomicU64 {
        let Some(beyond) = at.checked_sub(FIRST) else { return &self.first[at] };
        let memory: &[Bucket] = self.memory().map_or(&[], |memory| memory);
        &memory[beyond / SLOTS].0[beyond % SLOTS]
    }

    /// One of the halves.
    #[inline]
    pub(crate) fn half(&self, at: usize) -> u32 {
        (self.word(at / 2).load(SeqCst) >> shift(at)) as u32
    }

    /// Writes a half, unless it is another than `old` by now. Without `shared` no other thread uses
    /// the list.
    #[inline]
    pub(crate) fn replace(&self, at: usize, old: u32, new: u32, shared: bool) -> bool {
        let word = self.word(at / 2);
        let change = u64::from(old ^ new) << shift(at);
        let mut now = word.load(SeqCst);
        loop {
            if (now >> shift(at)) as u32 != old {
                return false;
            }
            if !shared {
                word.store(now ^ change, std::sync::atomic::Ordering::Relaxed);
                return true;
            }
            match word.compare_exchange_weak(now, now ^ change, SeqCst, SeqCst) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
    }

    /// This word will be read soon.
    #[inline]
    pub(crate) fn prefetch(&self, at: usize) {
        prefetch(self.word(at));
    }

    #[inline]
    fn memory(&self) -> Option<&Memory> {
        self.memory.get_or_init(|| Memory::reserve(self.most)).as_ref()
    }
}

fn shift(at: usize) -> u32 {
    32 * (at as u32 & 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_written_by_many_threads_and_disturb_nobody() {
        const HALVES: usize = 10_000;
        let words = Words::new(1 << 20);
        assert!(words.has_room(HALVES / 2) && !words.has_room(FIRST + (1 << 17) + 1));
        std::thread::scope(|scope| {
            for start in 0..4 {
                let words = &words;
                scope.spawn(move || {
                    for at in (start..HALVES).step_by(4) {
                        assert!(words.replace(at, 0, at as u32 + 1, true));
                        assert!(!words.replace(at, 0, 1, true));
                    }
                });
            }
        });
        assert!((0..HALVES).all(|at| words.half(at) == at as u32 + 1));
        assert!(words.replace(7, 8, 9, false) && words.half(7) == 9 && words.half(6) == 7);
    }
}
