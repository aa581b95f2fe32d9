//! Hashes of values and machines.

/// The fractional part of the golden ratio: odd, with no pattern in its bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The fractional part of the square root of 3, for the other factor.
const OTHER: u64 = 0xbb67_ae85_84ca_a73b;

/// A hash over words, with one multiplication for each word or pair. Its time is the latency of these
/// multiplications, each of which waits for the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    #[inline]
    pub(crate) fn new(seed: u64) -> Digest {
        // Zero would stay zero under a first word of zero.
        Digest(seed ^ FACTOR)
    }

    #[inline]
    pub(crate) fn word(&mut self, word: u64) {
        self.multiply(word, FACTOR);
    }

    /// Takes two words, each in one of the factors, as in the loop of wyhash.
    #[inline]
    pub(crate) fn pair(&mut self, one: u64, other: u64) {
        self.multiply(one, other ^ OTHER);
    }

    /// Takes the words of a list. The caller makes lists of different lengths distinguishable.
    #[inline]
    pub(crate) fn all<T>(&mut self, items: &[T], word: impl Fn(&T) -> u64) {
        let (pairs, rest) = items.as_chunks::<2>();
        pairs.iter().for_each(|[one, other]| self.pair(word(one), word(other)));
        rest.iter().for_each(|last| self.word(word(last)));
    }

    #[inline]
    fn multiply(&mut self, word: u64, factor: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(factor);
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
