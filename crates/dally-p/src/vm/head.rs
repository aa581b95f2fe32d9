//! The cached facts of compound values, and the limits on the size of values.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::value::Value;

/// Facts of a compound value that need no look at its elements.
#[derive(Debug)]
pub(crate) struct Head {
    /// The hash of its identity; zero if unknown.
    hash: AtomicU64,
    /// How many values it consists of, including itself.
    pub(super) weight: u32,
    pub(super) depth: u32,
    /// The names of its positions, as an index into the shapes of the code; 0 without names.
    pub(super) shape: u32,
}

impl Clone for Head {
    fn clone(&self) -> Head {
        Head { hash: AtomicU64::new(self.hash.load(Relaxed)), ..*self }
    }
}

impl Default for Head {
    fn default() -> Head {
        Head { hash: AtomicU64::new(0), weight: 1, depth: 1, shape: 0 }
    }
}

/// The greatest number of values that a value consists of, with a string counted as one for every 16
/// bytes. A larger value means that the program grows without end.
pub(super) const MAX_WEIGHT: u32 = 1 << 20;

/// The bound on the length of a string that follows from [`MAX_WEIGHT`].
pub(super) const MAX_TEXT: usize = 16 * MAX_WEIGHT as usize;

/// The greatest depth of a value: only `any` and `data` can nest without end.
pub(super) const MAX_DEPTH: u32 = 200;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLarge;

impl Head {
    pub(super) fn hash(&self, compute: impl FnOnce() -> u64) -> u64 {
        match self.hash.load(Relaxed) {
            0 => {
                let hash = compute().max(1);
                self.hash.store(hash, Relaxed);
                hash
            }
            known => known,
        }
    }

    /// Called before the value changes.
    #[inline]
    pub(super) fn changes(&mut self) {
        *self.hash.get_mut() = 0;
    }

    #[inline]
    pub(super) fn add(&mut self, element: &Value) -> Result<(), TooLarge> {
        if element.is_plain() {
            self.weight = self.weight.saturating_add(1);
            return self.check();
        }
        self.weight = self.weight.saturating_add(element.weight());
        self.depth = self.depth.max(element.depth() + 1);
        self.check()
    }

    #[inline]
    fn check(&self) -> Result<(), TooLarge> {
        if self.weight > MAX_WEIGHT || self.depth > MAX_DEPTH { Err(TooLarge) } else { Ok(()) }
    }

    /// Accounts for a removed element; `deep` is [`depth_of`] the others.
    #[inline]
    pub(super) fn remove(&mut self, element: &Value, deep: impl FnOnce() -> u32) {
        self.weight = self.weight.saturating_sub(element.weight()).max(1);
        if element.depth() > 0 && element.depth() + 1 == self.depth {
            self.depth = deep();
        }
    }

    /// Accounts for an element that was changed in place, from one size to another; `deep` is
    /// [`depth_of`] all elements.
    #[inline]
    pub(super) fn changed(
        &mut self,
        before: Size,
        now: Size,
        deep: impl FnOnce() -> u32,
    ) -> Result<(), TooLarge> {
        self.weight = self.weight.saturating_sub(before.weight).saturating_add(now.weight);
        if now.is_shallower_than(before) && before.depth + 1 == self.depth {
            self.depth = deep();
        }
        self.depth = self.depth.max(now.depth + 1);
        self.check()
    }
}

#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) weight: u32,
    pub(super) depth: u32,
}

impl Size {
    pub(super) fn is_shallower_than(self, other: Size) -> bool {
        self.depth < other.depth
    }
}

pub(super) fn depth_of<'v>(elements: impl Iterator<Item = &'v Value>) -> u32 {
    elements.map(|element| element.depth() + 1).max().unwrap_or(1)
}
