//! What one thread takes of a list that all threads add to.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::strata::NumberList;

/// Numbers of a list that one thread alone uses: what is left of them.
#[derive(Default)]
pub(super) struct Chunk {
    start: u64,
    end: u64,
}

/// How many numbers a thread takes at once.
const MOST: u64 = 1 << 12;
const FEWEST: u64 = 96;

/// The size of a chunk is a multiple of this, since further transitions take as many.
const UNIT: u64 = 3;

impl Chunk {
    /// The first of so many numbers in a row that no other thread uses; a new chunk is taken if
    /// the present one has not that many. `None` if there is no room.
    #[inline]
    pub(super) fn take(&mut self, list: &NumberList, used: &AtomicU64, count: u64) -> Option<u64> {
        if self.end - self.start < count {
            self.refill(list, used, count)?;
        }
        let start = self.start;
        self.start += count;
        Some(start)
    }

    #[cold]
    fn refill(&mut self, list: &NumberList, used: &AtomicU64, count: u64) -> Option<()> {
        // Little while there is little.
        let end = |start: u64| {
            let size = count.max((start / 4).clamp(FEWEST, MOST));
            start + size.next_multiple_of(UNIT)
        };
        let more = |start: u64| {
            let fits = end(start) <= u64::from(u32::MAX) && list.has_room(end(start) as usize);
            fits.then(|| end(start))
        };
        let start = used.fetch_update(Relaxed, Relaxed, more).ok()?;
        // What one thread alone takes goes on where it was.
        if self.end != start {
            self.start = start;
        }
        self.end = end(start);
        Some(())
    }
}
