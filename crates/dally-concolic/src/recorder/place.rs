//! Places of the program under test.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// A place of the program under test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The file; `None` for the one file of a program in a language of its own.
    pub file: Option<&'static str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Place {
    /// A place in a file of another language. Names of files are kept for the life of the process,
    /// once each.
    pub fn in_file(file: &str, line: u32, column: u32) -> Place {
        static FILES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = files.get(file).copied();
        let file = known.unwrap_or_else(|| {
            let kept: &'static str = Box::leak(file.into());
            files.insert(kept);
            kept
        });
        Place { file: Some(file), line, column }
    }
}

impl From<&'static Location<'static>> for Place {
    fn from(at: &'static Location<'static>) -> Place {
        Place { file: Some(at.file()), line: at.line(), column: at.column() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file {
            Some(file) => write!(f, "{file}:{}", self.line),
            None => write!(f, "line {}", self.line),
        }
    }
}

/// A place by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PlaceNumber(u32);

impl PlaceNumber {
    /// For constraints that are no branches.
    pub(super) const NOWHERE: PlaceNumber = PlaceNumber(u32::MAX);
}

/// The places of branches, and which outcomes each has had.
#[derive(Debug, Default)]
pub(super) struct Places {
    seen: Vec<(Place, [bool; 2])>,
    numbers: BTreeMap<Place, PlaceNumber>,
    /// By the address of the name of the file, of which the compiler may have made several: no names are
    /// compared where a place is known.
    by_address: FxHashMap<(usize, u32, u32), PlaceNumber>,
}

impl Places {
    pub(super) fn number(&mut self, place: Place) -> PlaceNumber {
        let file = place.file.map_or(0, |file| file.as_ptr().addr());
        let Places { seen, numbers, by_address } = self;
        *by_address.entry((file, place.line, place.column)).or_insert_with(|| {
            *numbers.entry(place).or_insert_with(|| {
                seen.push((place, [false; 2]));
                PlaceNumber(seen.len() as u32 - 1)
            })
        })
    }

    /// An execution has this outcome; answers whether none had before.
    pub(super) fn see(&mut self, number: PlaceNumber, outcome: bool) -> bool {
        let known = &mut self.seen[number.0 as usize].1[usize::from(outcome)];
        !std::mem::replace(known, true)
    }

    pub(super) fn has_seen(&self, number: PlaceNumber, outcome: bool) -> bool {
        let known = self.seen.get(number.0 as usize);
        known.is_some_and(|(_, outcomes)| outcomes[usize::from(outcome)])
    }

    /// For each place, whether its branch was seen not to hold and to hold.
    pub(super) fn branches(&self) -> BTreeMap<Place, (bool, bool)> {
        self.seen.iter().map(|&(place, [no, yes])| (place, (no, yes))).collect()
    }
}
