//! Things that are alike, each kept once and numbered.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

/// Things of which many are alike. They stay where they are, so that threads read them without a
/// lock; only to add one takes a lock.
pub(crate) struct Interner<T> {
    /// List `k` holds `FIRST << k` things.
    lists: [OnceLock<List<T>>; 32],
    /// The last number of each hash, and how many there are.
    numbers: Mutex<FxHashMap<u64, u32>>,
    len: AtomicUsize,
    /// About what all this takes.
    bytes: AtomicUsize,
}

type List<T> = Box<[OnceLock<Interned<T>>]>;

struct Interned<T> {
    thing: T,
    /// The number before of the same hash.
    before: Option<u32>,
}

/// The length of the first list.
const FIRST: usize = 16;

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner {
            lists: [const { OnceLock::new() }; 32],
            numbers: Mutex::default(),
            len: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        }
    }
}

impl<T> Interner<T> {
    /// How many things there are.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Relaxed)
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// The thing of this number, which some thread was told.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &T {
        &self.interned(number).thing
    }

    #[inline]
    fn interned(&self, number: u32) -> &Interned<T> {
        let (list, at) = place(number);
        let interned = self.lists[list].get().and_then(|list| list[at].get());
        interned.expect("a number is told when its thing is there")
    }

    /// The number of a thing, which is made, with so many bytes that it owns, if there is none that is
    /// the `same`.
    pub(crate) fn number(
        &self,
        hash: u64,
        same: impl Fn(&T) -> bool,
        make: impl FnOnce() -> (T, usize),
    ) -> u32 {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let last = numbers.get(&hash).copied();
        let mut known = last;
        while let Some(number) = known {
            let interned = self.interned(number);
            if same(&interned.thing) {
                return number;
            }
            known = interned.before;
        }
        let number = self.len() as u32;
        let (thing, owned) = make();
        let (list, at) = place(number);
        let list =
            self.lists[list].get_or_init(|| (0..FIRST << list).map(|_| OnceLock::new()).collect());
        list[at].get_or_init(|| Interned { thing, before: last });
        numbers.insert(hash, number);
        self.len.store(number as usize + 1, Relaxed);
        // Lists and tables that double are three quarters full in the mean.
        let own = (size_of::<OnceLock<Interned<T>>>() + size_of::<(u64, u32)>()) * 4 / 3;
        self.bytes.fetch_add(owned + own, Relaxed);
        number
    }
}

/// The list of a number, and its place there.
#[inline]
fn place(number: u32) -> (usize, usize) {
    let number = number as usize + FIRST;
    let list = number.ilog2() - FIRST.ilog2();
    (list as usize, number - (FIRST << list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_add_the_same_things_get_the_same_numbers() {
        let interner = Interner::default();
        let number = |thing: u32| {
            // Many have the same hash.
            interner.number(u64::from(thing % 7), |&one| one == thing, || (thing, 0))
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    (0..500).for_each(|thing| assert_eq!(*interner.get(number(thing)), thing))
                });
            }
        });
        assert_eq!(interner.len(), 500);
        assert!((0..500).all(|thing| *interner.get(number(thing)) == thing));
        assert_eq!(interner.len(), 500);
    }
}
