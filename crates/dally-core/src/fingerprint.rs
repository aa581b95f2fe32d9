//! Hashes of states: specified algorithms, the same on every run.

use std::hash::{Hash, Hasher};
use std::panic::Location;

/// A hash of the whole state of a captured system, for caching.
///
/// It is a sum over the parts of the state (see [`part`]), so it does not depend on the order
/// in which workers were created and can be updated for the parts that changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// Of a state that is one value.
    pub fn of<T: Hash + ?Sized>(state: &T) -> Fingerprint {
        let mut bytes = Vec::new();
        Encoder::encode(state, &mut bytes);
        Fingerprint(of_bytes(&bytes))
    }
}

/// Collects the bytes that a value feeds to its `Hash`. Derived `Hash` writes lengths and
/// discriminants, so this encoding is injective where `Hash` covers what `Eq` compares.
///
/// ```
/// use dally_core::fingerprint::Encoder;
///
/// let mut bytes = Vec::new();
/// Encoder::encode(&("ab", "c"), &mut bytes);
/// let mut other = Vec::new();
/// Encoder::encode(&("a", "bc"), &mut other);
/// assert_ne!(bytes, other);
/// ```
pub struct Encoder<'a>(&'a mut Vec<u8>);

impl Encoder<'_> {
    /// Appends the encoding of `value` to `out`.
    pub fn encode<T: Hash + ?Sized>(value: &T, out: &mut Vec<u8>) {
        value.hash(&mut Encoder(out));
    }
}

impl Hasher for Encoder<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        of_bytes(self.0)
    }
}

/// The hash of a byte string: rapidhash, version 3, fixed seed.
pub fn of_bytes(bytes: &[u8]) -> u64 {
    rapidhash::v3::rapidhash_v3(bytes)
}

/// Mixes two words into one: a bijection in each operand, neither commutative nor associative.
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    scramble(scramble(a ^ 0x9e37_79b9_7f4a_7c15).wrapping_add(b))
}

/// The finaliser of MurmurHash3 with the constants of splitmix64: a bijection that avalanches.
#[inline]
fn scramble(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// The share of one part (a worker, a monitor) in a fingerprint: parts are added up, wrapping.
#[inline]
pub fn part(name: u64, hash: u64) -> u64 {
    mix(name, hash)
}

/// A place of a source, as [`Env::place`](crate::Env::place) tells it: the same in every run of a build.
pub fn place(at: &Location<'_>) -> u64 {
    mix(of_bytes(at.file().as_bytes()), u64::from(at.line()) << 32 | u64::from(at.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_has_no_fixed_absorbing_operand() {
        for a in [0, 1, 0x9e37_79b9_7f4a_7c15, u64::MAX] {
            assert_ne!(mix(a, 1), mix(a, 2), "{a:x}");
            assert_ne!(mix(1, a), mix(2, a), "{a:x}");
        }
    }
}
