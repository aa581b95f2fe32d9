//! The wall clock and the memory of the process: the one place that reads them.
//!
//! Time decides when a run ends, when a step counts as stuck and what the progress shows; memory
//! decides when a search of states ends. Neither decides what a schedule does.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Measures how long a run takes.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// From now on.
    #[allow(clippy::disallowed_methods, reason = "time limits, the watchdog and progress only")]
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// How long it has been since then.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Whether it has been as long as this.
    pub fn is_past(self, limit: Duration) -> bool {
        self.elapsed() >= limit
    }
}

/// When the time of something is up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) clock: Stopwatch,
    /// How long after the start of the clock.
    pub(crate) limit: Duration,
}

impl Deadline {
    pub(crate) fn is_past(self) -> bool {
        self.clock.is_past(self.limit)
    }

    pub(crate) fn left(self) -> Duration {
        self.limit.saturating_sub(self.clock.elapsed())
    }
}

/// The bytes that a search may take, counted until this is dropped.
///
/// A search cannot count what the program's own values hold on the heap. So all searches of the
/// process together may make the process grow by their bytes together, and by a fifth more for what
/// is lost between allocations.
pub(crate) struct MemoryBudget(u64);

/// The bytes of all searches together, and those of the process when the first of them began.
static BUDGETS: Mutex<(u64, u64)> = Mutex::new((0, 0));

/// The process may always grow by this much: other tests may need it.
const UNNOTICED: u64 = 48 << 20;

impl MemoryBudget {
    /// For a search that begins and may take so many bytes.
    pub(crate) fn new(bytes: u64) -> MemoryBudget {
        let mut budgets = BUDGETS.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, before) = *budgets;
        let before = if all == 0 { resident().unwrap_or(0) } else { before };
        *budgets = (all.saturating_add(bytes), before);
        MemoryBudget(bytes)
    }

    /// The bytes that the process has grown by, and those left to all searches, if known.
    pub(crate) fn grown(&self) -> Option<(u64, u64)> {
        let (all, before) = *BUDGETS.lock().unwrap_or_else(PoisonError::into_inner);
        let grown = resident()?.saturating_sub(before);
        let limit = all.saturating_add(all / 5).max(UNNOTICED);
        Some((grown, limit.saturating_sub(grown)))
    }
}

impl Drop for MemoryBudget {
    fn drop(&mut self) {
        let mut budgets = BUDGETS.lock().unwrap_or_else(PoisonError::into_inner);
        let (all, before) = *budgets;
        let others = all.saturating_sub(self.0);
        // The allocator may keep what this search had: that is not taken from the others.
        let kept = resident().unwrap_or(0).saturating_sub(others);
        *budgets = (others, before.max(kept));
    }
}

/// When a thread of a search checks the memory next: the more its steps take, the sooner.
#[derive(Debug, Default)]
pub(crate) struct MemoryWatch {
    /// The transitions taken and the bytes of the process at the last check.
    last: (u64, u64),
    /// After how many transitions the next check is due.
    pub(crate) at: u64,
}

impl MemoryWatch {
    /// Checks after so many transitions; the bytes that the process has grown by if none are left.
    pub(crate) fn is_full(&mut self, budget: &MemoryBudget, transitions: u64) -> Option<u64> {
        /// The most transitions between two checks; a check takes as long as some ten.
        const SELDOM: u64 = 4096;
        let Some((grown, left)) = budget.grown() else {
            self.at = u64::MAX;
            return None;
        };
        let taken = transitions.saturating_sub(self.last.0).max(1);
        let each = grown.saturating_sub(self.last.1).div_ceil(taken);
        let wait = (left / 8).checked_div(each).unwrap_or(SELDOM).min(2 * taken).clamp(1, SELDOM);
        (self.last, self.at) = ((transitions, grown), transitions + wait);
        (left == 0).then_some(grown)
    }
}

/// The bytes of the process that are in memory.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn resident() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: it only asks for a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * u64::try_from(page).ok()?)
}

#[cfg(not(target_os = "linux"))]
fn resident() -> Option<u64> {
    None
}
