//! Identities of workers.

use std::fmt;
use std::str::FromStr;

use crate::fingerprint;
use crate::written::written_as_text;

/// The identity of a worker: the path from the root of the creation tree.
///
/// An id derives from (parent, n-th child) and never from a global counter, so a worker has the
/// same id in every schedule in which it exists. Ids order like their paths, parents before
/// children, timers of a worker before its children; [`WorkerId::FAULTS`] is the smallest.
///
/// ```
/// use dally_core::WorkerId;
///
/// let first = WorkerId::root(0);
/// let second_child = first.child(1);
/// assert_eq!(second_child.to_string(), "0.1");
/// assert_eq!("0.1".parse(), Ok(second_child));
/// assert!(first < first.child(0) && first.child(0) < second_child);
/// ```
///
/// The path is packed into 64 bits, nibble by nibble from the top: `0` ends it, `1` marks the
/// next ordinal as a timer's, `2..=11` are the ordinals 0 to 9, and `12`, `13`, `14` announce 1, 2
/// and 7 further digits (base 15, written 1 to 15) of a larger ordinal. That keeps packed order
/// equal to path order. A path that does not fit (deeper than about 16) becomes a hash of
/// (parent, ordinal) whose top nibble is `15`, which no path has: still stable, no longer
/// readable, and behind all paths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(u64);

const TIMER: u64 = 1;
const SMALL: u64 = 2;
/// Longer ordinals: (marker nibble, further digits, the first ordinal of this form).
const LONG: [(u64, u32, u32); 3] = [(12, 1, 10), (13, 2, 25), (14, 7, 250)];
/// The top nibble of a hashed id.
const HASHED: u64 = 15;
/// The workers that go by a name.
const NAMED: [(&str, WorkerId); 2] = [("faults", WorkerId::FAULTS), ("outside", WorkerId::OUTSIDE)];

impl WorkerId {
    /// The injector of faults: a worker of the engine whose steps crash and restart machines.
    pub const FAULTS: WorkerId = WorkerId((TIMER << 60) | (SMALL << 56));

    /// The world outside the machines of a production host, which sends them events.
    pub const OUTSIDE: WorkerId = WorkerId((TIMER << 60) | ((SMALL + 1) << 56));

    /// The `n`-th worker that a program starts with.
    pub fn root(n: u32) -> WorkerId {
        WorkerId(0).extended(false, n)
    }

    /// The `n`-th worker that this one creates.
    #[must_use]
    pub fn child(self, n: u32) -> WorkerId {
        self.extended(false, n)
    }

    /// The `n`-th timer of this worker: timers are workers whose step is to fire.
    #[must_use]
    pub fn timer(self, n: u32) -> WorkerId {
        self.extended(true, n)
    }

    /// Whether it stands for the surroundings of the program: a timer, the injector of faults. Of
    /// a hashed id that can no longer be told, and the answer is no.
    pub fn is_environment(self) -> bool {
        // Explorers ask this in their innermost loop, so the path is not allocated.
        let mut rest = if self.is_hashed() { 0 } else { self.0 };
        let mut timer = false;
        while rest != 0 {
            timer = rest >> 60 == TIMER;
            rest <<= 4 * u32::from(timer);
            let further = LONG.iter().find(|form| form.0 == rest >> 60).map_or(0, |form| form.1);
            rest <<= 4 * (1 + further);
        }
        timer
    }

    /// Its place in a sorted list, or the place where it would be inserted. Short lists are counted
    /// through, which is faster than halving: no branch depends on their entries.
    #[inline]
    pub fn place_in(self, sorted: &[WorkerId]) -> Result<usize, usize> {
        const SHORT: usize = 8;
        if sorted.len() > SHORT {
            return sorted.binary_search(&self);
        }
        let place = sorted.iter().filter(|&&worker| worker < self).count();
        if sorted.get(place) == Some(&self) { Ok(place) } else { Err(place) }
    }

    /// The first byte of the path, which few workers of most programs share: a table indexed by it
    /// finds the first workers and their first children without a search.
    #[inline(always)]
    pub fn beginning(self) -> u8 {
        (self.0 >> 56) as u8
    }

    /// The bits of the id, for hashing and compact tables.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// The id with these bits; any bits make an id, most belong to no worker.
    pub const fn from_bits(bits: u64) -> WorkerId {
        WorkerId(bits)
    }

    fn is_hashed(self) -> bool {
        self.0 >> 60 == HASHED
    }

    fn extended(self, timer: bool, n: u32) -> WorkerId {
        self.packed(timer, n).unwrap_or_else(|| {
            let salt = u64::from(n) | u64::from(timer) << 32;
            WorkerId(HASHED << 60 | fingerprint::mix(self.0, salt) >> 4)
        })
    }

    fn packed(self, timer: bool, n: u32) -> Option<WorkerId> {
        if self.is_hashed() {
            return None;
        }
        let mut bits = self.0;
        let mut free = if bits == 0 { 64 } else { bits.trailing_zeros() / 4 * 4 };
        let mut push = |nibble: u64| -> Option<()> {
            free = free.checked_sub(4)?;
            bits |= nibble << free;
            Some(())
        };
        if timer {
            push(TIMER)?;
        }
        match LONG.iter().rev().find(|form| n >= form.2) {
            None => push(SMALL + u64::from(n))?,
            Some(&(marker, digits, first)) => {
                push(marker)?;
                let rest = n - first;
                if rest >= 15u32.pow(digits) {
                    return None;
                }
                for place in (0..digits).rev() {
                    push(u64::from(rest / 15u32.pow(place) % 15 + 1))?;
                }
            }
        }
        Some(WorkerId(bits))
    }

    /// The path as (is a timer, ordinal) pairs; `None` for a hashed id.
    fn path(self) -> Option<Vec<(bool, u32)>> {
        if self.is_hashed() {
            return None;
        }
        let mut nibbles = (0..16).rev().map(|i| self.0 >> (4 * i) & 15).take_while(|&n| n != 0);
        let mut path = Vec::new();
        while let Some(first) = nibbles.next() {
            let timer = first == TIMER;
            let marker = if timer { nibbles.next()? } else { first };
            let ordinal = match LONG.iter().find(|form| form.0 == marker) {
                None => u32::try_from(marker.checked_sub(SMALL)?).ok()?,
                Some(&(_, digits, start)) => {
                    let mut rest = 0;
                    for _ in 0..digits {
                        rest = rest * 15 + u32::try_from(nibbles.next()? - 1).ok()?;
                    }
                    start + rest
                }
            };
            path.push((timer, ordinal));
        }
        Some(path)
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMED.iter().find(|named| named.1 == *self) {
            return f.write_str(name);
        }
        let Some(path) = self.path() else {
            return write!(f, "~{:015x}", self.0 & (u64::MAX >> 4));
        };
        for (i, (timer, ordinal)) in path.into_iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            let mark = if timer { "t" } else { "" };
            write!(f, "{dot}{mark}{ordinal}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not the name of a worker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a worker is written as a path such as `0`, `0.2` or `0.2.t1`")]
pub struct NotAWorker;

impl FromStr for WorkerId {
    type Err = NotAWorker;

    fn from_str(text: &str) -> Result<WorkerId, NotAWorker> {
        if let Some(&(_, worker)) = NAMED.iter().find(|named| named.0 == text) {
            return Ok(worker);
        }
        if let Some(hash) = text.strip_prefix('~') {
            let hash = u64::from_str_radix(hash, 16).map_err(|_| NotAWorker)?;
            let id = WorkerId(HASHED << 60 | hash);
            return if id.to_string() == text { Ok(id) } else { Err(NotAWorker) };
        }
        let mut id = WorkerId(0);
        for part in text.split('.') {
            let (timer, digits) = match part.strip_prefix('t') {
                Some(digits) => (true, digits),
                None => (false, part),
            };
            let ordinal: u32 = digits.parse().map_err(|_| NotAWorker)?;
            id = id.packed(timer, ordinal).ok_or(NotAWorker)?;
        }
        if id.to_string() == text { Ok(id) } else { Err(NotAWorker) }
    }
}

written_as_text!(WorkerId);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Path = Vec<(bool, u32)>;

    fn id(path: &Path) -> WorkerId {
        path.iter().fold(WorkerId(0), |id, &(timer, n)| id.extended(timer, n))
    }

    fn paths() -> impl Strategy<Value = Path> {
        let ordinal = prop_oneof![0..12u32, 20..30u32, 245..255u32, 50_870..50_880u32];
        prop::collection::vec((any::<bool>(), ordinal), 1..9)
    }

    proptest! {
        #[test]
        fn text_round_trips(path in paths()) {
            prop_assert_eq!(id(&path).to_string().parse(), Ok(id(&path)));
        }

        #[test]
        fn readable_ids_order_like_their_paths(a in paths(), b in paths()) {
            let key = |p: &Path| p.iter().map(|&(t, n)| (!t, n)).collect::<Vec<_>>();
            if !id(&a).is_hashed() && !id(&b).is_hashed() {
                prop_assert_eq!(id(&a).cmp(&id(&b)), key(&a).cmp(&key(&b)));
            }
        }

        #[test]
        fn the_environment_ends_in_a_timer(path in paths()) {
            let last = path.last().unwrap().0;
            prop_assert_eq!(id(&path).is_environment(), last && !id(&path).is_hashed());
        }

        #[test]
        fn any_text_is_a_worker_or_an_error(text in "[0-9t.~a-f]{0,20}") {
            if let Ok(id) = text.parse::<WorkerId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }

    #[test]
    fn a_path_too_deep_for_64_bits_is_hashed_and_stays_distinct() {
        let mut deep = WorkerId::root(0);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            deep = deep.child(3);
            assert!(seen.insert(deep) && seen.insert(deep.timer(3)));
        }
        assert!(deep.to_string().starts_with('~'));
        assert_eq!(deep.to_string().parse(), Ok(deep));
        assert!(WorkerId::FAULTS < WorkerId::root(0) && WorkerId::root(4_000_000) < deep);
    }

    #[test]
    fn the_fault_injector_and_the_outside_have_names() {
        for (name, worker) in [("faults", WorkerId::FAULTS), ("outside", WorkerId::OUTSIDE)] {
            assert_eq!((worker.to_string(), name.parse()), (name.to_owned(), Ok(worker)));
        }
    }

    #[test]
    fn timers_and_faults_are_the_environment() {
        let machine = WorkerId::root(3).child(12);
        assert!(WorkerId::FAULTS.is_environment() && machine.timer(0).is_environment());
        assert!(!machine.is_environment() && !machine.timer(0).child(1).is_environment());
    }
}
