//! A list of numbers that threads read and write at once, in one stretch of address space.

use super::memory::{BUCKET, Memory};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed, Ordering::SeqCst};

/// Numbers of 32 bits, all 0 at first. Nothing moves when the list is used further: addresses are
/// reserved for all that it may become, and memory comes where it is touched.
pub(crate) struct NumberList {
    first: Box<[AtomicU32; NumberList::FIRST]>,
    memory: OnceLock<Option<Memory<AtomicU32>>>,
    /// The buckets to reserve.
    most: usize,
}

impl NumberList {
    /// The numbers that need no reserved addresses: searches of few states are many, and to reserve
    /// addresses takes longer than to fill these.
    pub(crate) const FIRST: usize = 256;

    /// A list that will never take more than `budget` bytes.
    pub(crate) fn new(budget: u64) -> NumberList {
        NumberList {
            first: Box::new([const { AtomicU32::new(0) }; NumberList::FIRST]),
            memory: OnceLock::new(),
            most: usize::try_from(budget / BUCKET as u64).unwrap_or(usize::MAX),
        }
    }

    /// Whether it can have so many numbers.
    #[inline]
    pub(crate) fn has_room(&self, numbers: usize) -> bool {
        numbers <= Self::FIRST || numbers - Self::FIRST <= self.reserve()
    }

    /// Reserves the addresses, if that was not done; for how many more numbers.
    fn reserve(&self) -> usize {
        let memory = self.memory.get_or_init(|| Memory::reserve(self.most));
        memory.as_ref().map_or(0, |memory| memory.len())
    }

    /// One of the numbers that there is room for.
    #[inline]
    pub(crate) fn at(&self, at: usize) -> &AtomicU32 {
        let Some(beyond) = at.checked_sub(Self::FIRST) else { return &self.first[at] };
        let memory: &[AtomicU32] = match self.memory.get() {
            Some(Some(memory)) => memory,
            _ => &[],
        };
        &memory[beyond]
    }

    /// So many numbers in a row; whether they lie in the first ones or beyond is the same for all of them
    /// if `at` is a multiple of `N`, a power of two.
    #[inline]
    pub(crate) fn group<const N: usize>(&self, at: usize) -> &[AtomicU32; N] {
        const { assert!(N.is_power_of_two() && N <= Self::FIRST) };
        let from: &[AtomicU32] = match at.checked_sub(Self::FIRST) {
            None => &self.first[at..],
            Some(beyond) => match self.memory.get() {
                Some(Some(memory)) => &memory[beyond..],
                _ => &[],
            },
        };
        from.first_chunk().expect("there is room for the group")
    }

    /// A number, read in one order of all threads with [`NumberList::replace`].
    #[inline]
    pub(crate) fn get(&self, at: usize) -> u32 {
        self.at(at).load(SeqCst)
    }

    /// Writes a number that no other thread writes, nor reads before it is told of it.
    #[inline]
    pub(crate) fn set(&self, at: usize, number: u32) {
        self.at(at).store(number, Relaxed);
    }

    /// Writes a number, unless it is another than `old` by now. Without `shared` no other thread uses
    /// the list.
    #[inline]
    pub(crate) fn replace(&self, at: usize, old: u32, new: u32, shared: bool) -> bool {
        let number = self.at(at);
        if shared {
            return number.compare_exchange(old, new, SeqCst, SeqCst).is_ok();
        }
        let same = number.load(Relaxed) == old;
        if same {
            number.store(new, Relaxed);
        }
        same
    }

    /// Raises a number; what it was before. Without `shared` no other thread uses the list.
    #[inline]
    pub(crate) fn raise(&self, at: usize, to: u32, shared: bool) -> u32 {
        let number = self.at(at);
        if shared {
            return number.fetch_max(to, SeqCst);
        }
        let before = number.load(Relaxed);
        number.store(before.max(to), Relaxed);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_by_many_threads_and_disturb_nobody() {
        const NUMBERS: usize = 10_000;
        let list = NumberList::new(1 << 20);
        assert!(list.has_room(NUMBERS) && !list.has_room(NumberList::FIRST + (1 << 18) + 1));
        std::thread::scope(|scope| {
            for start in 0..4 {
                let list = &list;
                scope.spawn(move || {
                    for at in (start..NUMBERS).step_by(4) {
                        assert!(list.replace(at, 0, at as u32 + 1, true));
                        assert!(!list.replace(at, 0, 1, true));
                    }
                });
            }
        });
        assert!((0..NUMBERS).all(|at| list.get(at) == at as u32 + 1));
        assert!(list.replace(7, 8, 9, false) && list.get(7) == 9 && list.get(6) == 7);
    }

    #[test]
    fn what_threads_raise_becomes_the_maximum() {
        let list = NumberList::new(1 << 20);
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let list = &list;
                scope.spawn(move || {
                    for to in 0..1_000 {
                        assert!(list.raise(3, 4 * to + thread, true) <= 4_000);
                    }
                });
            }
        });
        assert_eq!((list.get(3), list.get(2), list.get(4)), (3_999, 0, 0));
        assert_eq!((list.raise(3, 5, false), list.raise(3, 4_000, false)), (3_999, 3_999));
        assert_eq!(list.get(3), 4_000);
    }
}
