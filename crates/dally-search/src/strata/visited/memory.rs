//! Buckets in one range of addresses, of which the system backs only what is touched.
#![allow(unsafe_code)]

use memmap2::{MmapOptions, MmapRaw};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// The slots of a bucket: one cache line, so that most lookups miss the cache once.
pub(super) const SLOTS: usize = 8;

pub(super) const BUCKET: usize = 64;

/// Slots of a table, all 0 at first.
#[repr(C, align(64))]
pub(super) struct Bucket(pub(super) [AtomicU64; SLOTS]);

/// What memory can be a list of.
///
/// # Safety
///
/// The type is nothing but atomic numbers without padding, of at most [`BUCKET`] bytes, a power of
/// two, and so is its alignment.
pub(super) unsafe trait Element {}

// SAFETY: it is an array of atomic numbers; its size and alignment are asserted below.
unsafe impl Element for Bucket {}

// SAFETY: it is an atomic number of four bytes.
unsafe impl Element for AtomicU32 {}

/// The bytes of a huge page. Those before the first huge page are small: most of the many tables
/// are, and none shall take much more than it uses.
#[cfg(any(target_os = "linux", test))]
const HUGE: usize = 1 << 21;

/// The least number of buckets: a system without a page of them has no room at all.
const LEAST: usize = 64;

/// A fixed number of buckets, or of other elements that fill as many. Those that were never written
/// take no memory.
///
/// All but the first lie in huge pages, if the system has some: a table is read at random, and with
/// small pages most reads would also wait for the translation of the address.
pub(super) struct Memory<T = Bucket> {
    map: MmapRaw,
    bytes: usize,
    elements: PhantomData<T>,
}

impl<T: Element> Memory<T> {
    /// Reserves this many buckets, or half as many if the system lacks the addresses, and so on.
    pub(super) fn reserve(buckets: usize) -> Option<Memory<T>> {
        let half = |&more: &usize| Some(more / 2).filter(|&fewer| fewer >= LEAST);
        std::iter::successors(Some(buckets), half).find_map(Memory::exactly)
    }

    fn exactly(buckets: usize) -> Option<Memory<T>> {
        let bytes = buckets.checked_mul(BUCKET)?;
        // No swap is set aside for what may never be touched.
        let map = MmapOptions::new().len(bytes).no_reserve_swap().map_anon().ok()?;
        let map = MmapRaw::from(map);
        #[cfg(target_os = "linux")]
        if bytes >= 2 * HUGE {
            // The advice need not be taken.
            let _ = map.advise_range(memmap2::Advice::HugePage, HUGE, bytes - HUGE);
        }
        let is_aligned = (map.as_ptr() as usize).is_multiple_of(BUCKET);
        assert!(
            is_aligned && map.len() >= bytes,
            "a mapping begins a page and is as long as asked"
        );
        Some(Memory { map, bytes, elements: PhantomData })
    }
}

impl<T: Element> Deref for Memory<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: by the assertion in `exactly`, the one place where a `Memory` is made, `bytes`
        // from its start lie within the mapping and are aligned for a bucket, and so for every
        // `Element`. The mapping is as long as `self`, can be read and written, and belongs to no
        // file, so nobody else changes it; its length is at most `isize::MAX`, or it would not have
        // been made. An element is nothing but atomic numbers without padding, for which all bytes
        // are valid, and the system gives zeroes. All access is through shared references to
        // atomics, and all of one size, since a memory has one type of elements.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.bytes / size_of::<T>()) }
    }
}

const _: () = assert!(size_of::<Bucket>() == BUCKET && align_of::<Bucket>() == BUCKET);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn all_slots_are_zero_at_first_and_keep_what_is_written() {
        for buckets in [1, 63, 1024, 2 * HUGE / BUCKET - 1, 3 * HUGE / BUCKET + 5] {
            let memory = Memory::<Bucket>::reserve(buckets).unwrap();
            assert_eq!(memory.len(), buckets);
            let slots = || memory.iter().flat_map(|bucket| &bucket.0);
            assert!(slots().all(|slot| slot.load(Relaxed) == 0));
            std::thread::scope(|scope| {
                for odd in 0..2 {
                    let some = slots().enumerate().skip(odd).step_by(2);
                    scope.spawn(|| some.for_each(|(n, slot)| slot.store(n as u64 + 1, Relaxed)));
                }
            });
            assert!(slots().enumerate().all(|(n, slot)| slot.load(Relaxed) == n as u64 + 1));
        }
    }

    #[test]
    fn numbers_fill_as_many_buckets() {
        let memory = Memory::<AtomicU32>::reserve(100).unwrap();
        assert_eq!(memory.len(), 100 * BUCKET / 4);
        memory.iter().zip(1..).for_each(|(number, n)| number.store(n, Relaxed));
        assert!(memory.iter().zip(1..).all(|(number, n)| number.load(Relaxed) == n));
    }

    #[test]
    fn more_than_there_are_addresses_is_halved_until_it_fits() {
        for buckets in [usize::MAX, usize::MAX / BUCKET] {
            let memory = Memory::<Bucket>::reserve(buckets).unwrap();
            assert!(memory.len() < buckets && memory.len() >= LEAST);
            memory[memory.len() - 1].0[SLOTS - 1].store(1, Relaxed);
        }
    }
}
