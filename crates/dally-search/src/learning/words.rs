//! What strategies have learnt, as bytes: words of 64 bits, the least byte first.

/// These words as bytes.
pub(crate) fn written(words: impl IntoIterator<Item = u64>) -> Vec<u8> {
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// The words of these bytes, if they are words.
pub(crate) fn read(bytes: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| words.iter().map(|&word| u64::from_le_bytes(word)).collect())
}
