//! Hashes of values and machines, made while walking through them.

/// The fractional part of the golden ratio: odd, with no pattern in its bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash that takes word after word, one multiplication for each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    #[inline]
    pub(crate) fn new(seed: u64) -> Digest {
        // Away from zero, which a first word of zero would leave as it is.
        Digest(seed ^ FACTOR)
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

impl std::hash::Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        self.word(dally_core::fingerprint::of_bytes(bytes));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
