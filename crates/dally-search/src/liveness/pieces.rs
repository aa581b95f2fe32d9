//! A list that grows without moving what is in it.

use std::ops::{Index, IndexMut};

/// The logarithm of a piece's length.
const PIECE: u32 = 14;

/// A list in pieces of equal length. Nothing is copied when it grows, so it never takes twice
/// its memory, and what it takes is known.
pub(crate) struct Pieces<T> {
    pieces: Vec<Vec<T>>,
    len: usize,
}

impl<T> Pieces<T> {
    pub(crate) fn new() -> Pieces<T> {
        Pieces { pieces: Vec::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> u64 {
        ((self.pieces.len() * size_of::<T>()) << PIECE) as u64
    }

    pub(crate) fn push(&mut self, thing: T) {
        if self.len >> PIECE == self.pieces.len() {
            self.pieces.push(Vec::with_capacity(1 << PIECE));
        }
        if let Some(last) = self.pieces.last_mut() {
            last.push(thing);
            self.len += 1;
        }
    }
}

impl<T> Index<u32> for Pieces<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: u32) -> &T {
        &self.pieces[(at >> PIECE) as usize][(at & ((1 << PIECE) - 1)) as usize]
    }
}

impl<T> IndexMut<u32> for Pieces<T> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.pieces[(at >> PIECE) as usize][(at & ((1 << PIECE) - 1)) as usize]
    }
}
