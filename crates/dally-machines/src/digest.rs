//! Hashes of parts of a state, made while walking through them.

use std::hash::{Hash, Hasher};

use dally_core::fingerprint;

/// Hashes what a value feeds to its `Hash` by one multiplication per number, without a byte buffer.
/// Numbers of every width count as one word.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u64);

/// The fractional part of the golden ratio: odd, with no pattern in its bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The fractional part of the square root of two, where the digest of a value starts. The digests
/// that it goes into start elsewhere, or else they could cancel each other out.
const VALUE: u64 = 0x6a09_e667_f3bc_c909;

impl Digest {
    #[inline]
    pub(crate) fn new(seed: u64) -> Digest {
        // Zero would stay zero under a first word of zero.
        Digest(seed ^ FACTOR)
    }

    #[inline]
    pub(crate) fn at(queue: u64, place: usize) -> Digest {
        Digest::new(queue ^ (place as u64).wrapping_mul(FACTOR))
    }

    /// The digest of one value, finished, so that no later word can be mistaken for a part of it.
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

macro_rules! words {
    ($($write:ident $number:ident)*) => {$(
        #[inline]
        fn $write(&mut self, number: $number) {
            self.word(number as u64);
        }
    )*};
}

impl Hasher for Digest {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.word(fingerprint::of_bytes(bytes));
    }

    // The default methods for signed numbers call the unsigned ones.
    words! { write_u8 u8 write_u16 u16 write_u32 u32 write_u64 u64 write_usize usize }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.word(number as u64);
        self.word((number >> 64) as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
