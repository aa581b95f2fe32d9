//! Byte strings, each kept once.

use super::table::{Lookup, Table};
use std::sync::atomic::Ordering;

/// The bits of an address: 16 for the chunk, 20 for the place in it.
const ADDRESS: u32 = 36;
const PLACE: u32 = 20;

/// The size of a chunk: less while there are few strings, more for one longer string.
const CHUNK: usize = 1 << PLACE;
const CHUNKS: usize = 1 << (ADDRESS - PLACE);

/// A set of byte strings, compared byte by byte.
///
/// They lie in chunks that never move: a length, the bytes, and, if strings are `numbered`, the
/// number in order of appearance. A table finds them by the first 28 bits of their hashes.
pub(super) struct ByteStrings {
    table: Table<ADDRESS>,
    chunks: Vec<Vec<u8>>,
    allocated: usize,
    numbered: bool,
    len: u64,
}

pub(super) struct Interned {
    pub(super) number: u32,
    pub(super) new: bool,
}

impl ByteStrings {
    pub(super) fn new(numbered: bool, budget: u64, sets: usize) -> ByteStrings {
        let table = Table::new(budget, sets);
        ByteStrings { table, chunks: Vec::new(), allocated: 0, numbered, len: 0 }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn bytes(&self) -> u64 {
        self.table.bytes() + self.allocated as u64
    }

    pub(super) fn find(&self, hash: u64, string: &[u8]) -> Option<u32> {
        match self.slot(key(hash), string) {
            Lookup::Word(word) => Some(self.number(word, string.len())),
            _ => None,
        }
    }

    /// Finds or adds a string, using at most `room` bytes. `None` if that is not enough.
    pub(super) fn intern(&mut self, hash: u64, string: &[u8], room: u64) -> Option<Interned> {
        let key = key(hash);
        if let Lookup::Word(word) = self.slot(key, string) {
            return Some(Interned { number: self.number(word, string.len()), new: false });
        }
        let number = u32::try_from(self.len).ok()?;
        let before = self.bytes();
        if self.len >= self.table.limit(false) {
            // At most half of the room: the strings need some as well.
            let grown = self.table.grow(self.table.bytes() + room / 2);
            if !grown && self.len >= self.table.limit(true) {
                return None;
            }
        }
        let address = self.append(string, number, room.saturating_sub(self.bytes() - before))?;
        let Lookup::Free(slot) = self.table.find(key, usize::MAX, |_| false) else { return None };
        slot.store(key | address, Ordering::Relaxed);
        self.len += 1;
        Some(Interned { number, new: true })
    }

    fn slot(&self, key: u64, string: &[u8]) -> Lookup<'_> {
        self.table.find(key, usize::MAX, |word| {
            let (length, rest) = read(self.at(word));
            length == string.len() as u64 && rest.starts_with(string)
        })
    }

    fn at(&self, word: u64) -> &[u8] {
        let address = (word ^ Table::<ADDRESS>::key(word)) as usize;
        &self.chunks[address >> PLACE][address % CHUNK..]
    }

    fn number(&self, word: u64, length: usize) -> u32 {
        if !self.numbered {
            return 0;
        }
        let (_, rest) = read(self.at(word));
        read(&rest[length..]).0 as u32
    }

    /// Writes a string where there is room, and returns its address.
    fn append(&mut self, string: &[u8], number: u32, room: u64) -> Option<u64> {
        let size = width(string.len() as u64)
            + string.len()
            + if self.numbered { width(number.into()) } else { 0 };
        let fits = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() >= size;
        if !self.chunks.last().is_some_and(fits) {
            let chunk = (self.allocated / 8).clamp(256, CHUNK).max(size);
            let chunk = chunk.min(usize::try_from(room).unwrap_or(usize::MAX));
            if chunk < size || self.chunks.len() == CHUNKS {
                return None;
            }
            self.chunks.push(Vec::with_capacity(chunk));
            self.allocated += chunk;
        }
        let place = self.chunks.len() - 1;
        let chunk = &mut self.chunks[place];
        let address = place << PLACE | chunk.len();
        write(string.len() as u64, chunk);
        chunk.extend_from_slice(string);
        if self.numbered {
            write(number.into(), chunk);
        }
        Some(address as u64)
    }
}

/// The first bits of a hash, which may be weak; never 0.
fn key(hash: u64) -> u64 {
    let key = Table::<ADDRESS>::key(hash.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    if key == 0 { 1 << ADDRESS } else { key }
}

/// Appends a number, 7 bits a byte, so that no number is the beginning of another.
pub(super) fn write(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number, and returns what follows it.
fn read(bytes: &[u8]) -> (u64, &[u8]) {
    let mut number = 0;
    for (place, &byte) in bytes.iter().enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return (number, &bytes[place + 1..]);
        }
    }
    (number, &[])
}

fn width(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}
