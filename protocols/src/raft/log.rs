//! The replicated log of one server.

use super::cluster::Request;

/// An entry: a request, and the term in which a leader took it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Entry {
    pub term: u32,
    pub request: Request,
}

/// A place in a log: after so many entries, the last of which is of this term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Position {
    pub length: usize,
    pub term: u32,
}

/// The entries, of which the first few are committed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Log {
    entries: Vec<Entry>,
    committed: usize,
}

impl Log {
    pub fn end(&self) -> Position {
        self.position(self.entries.len())
    }

    /// The place after `length` entries; the term before the first entry is 0.
    pub fn position(&self, length: usize) -> Position {
        let last = self.entries[..length].last();
        Position { length, term: last.map_or(0, |entry| entry.term) }
    }

    pub fn committed(&self) -> usize {
        self.committed
    }

    pub fn entries_after(&self, length: usize) -> Vec<Entry> {
        self.entries[length..].to_vec()
    }

    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Takes over the entries that follow `previous` in the leader's log. Answers up to which
    /// length the logs now agree, or nothing if they differ at `previous`.
    pub fn replicate(&mut self, previous: Position, entries: Vec<Entry>) -> Option<usize> {
        let known = previous.length <= self.entries.len();
        if !known || self.position(previous.length) != previous {
            return None;
        }
        let mut length = previous.length;
        for entry in entries {
            // A late message must not cut off what came after it: only a conflict does.
            if self.entries.get(length) != Some(&entry) {
                self.entries.truncate(length);
                self.entries.push(entry);
            }
            length += 1;
        }
        Some(length)
    }

    /// Commits the first `length` entries and answers those that were not committed before.
    pub fn commit(&mut self, length: usize) -> &[Entry] {
        let before = self.committed;
        self.committed = before.max(length.min(self.entries.len()));
        &self.entries[before..self.committed]
    }
}
