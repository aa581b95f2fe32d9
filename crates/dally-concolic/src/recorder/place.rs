//! Places of the program under test.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

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
