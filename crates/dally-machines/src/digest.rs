//! Hashes of parts of a state, made while walking through them.

use std::hash::{Hash, Hasher};

use dally_core::fingerprint;

/// Hashes what a value feeds to its `Hash`, word by word: one multiplication for each, and no
/// bytes in between. Every number counts as a word, whatever its width.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u64);

/// The fractional part of the golden ratio: odd, with no pattern in its bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// That of the square root of two: where values start. The digest of a value goes into others,
/// which start elsewhere, or else they could cancel each other out.
const VALUE: u64 = 0x6a09_e667_f3bc_c909;

impl Digest {
    #[inline]
    pub(crate) fn new(seed: u64) -> Digest {
        // Away from zero, which a first word of zero would leave as it is.
        Digest(seed ^ FACTOR)
    }

    /// For what is at this place of a queue.
    #[inline]
    pub(crate) fn at(queue: u64, place: usize) -> Digest {
        Digest::new(queue ^ (place as u64).wrapping_mul(FACTOR))
    }

    /// The digest of one value: what is hashed next cannot be mistaken for a part of it.
    #[inline]
    pub(crate) fn of<T: Hash + ?Sized>(value: &T) -> u64 {
        let mut digest = Digest(VALUE);
        value.hash(&mut digest);
        digest.0
    }

    #[inline]
    pub(crate) fn word(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }

    #[inline]
    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

impl Hasher for Digest {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.word(fingerprint::of_bytes(bytes));
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.word(u64::from(number));
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.word(u64::from(number));
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.word(u64::from(number));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.word(number);
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.word(number as u64);
        self.word((number >> 64) as u64);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.word(number as u64);
    }

    // The default of the signed ones is to write the unsigned number with the same bits.

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
