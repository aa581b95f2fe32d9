//! What can keep a comparison from being made.

use std::fmt;
use std::path::PathBuf;

/// Why a comparison could not be made, in words that say what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A file cannot be read or written.
    File {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file of trials holds something else at this line.
    Foreign {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is there.
        found: String,
        /// What should be.
        wanted: String,
    },
    /// A run failed for a reason that is not the program's.
    Run {
        /// Which run, in words.
        which: String,
        /// What the run said.
        notes: Vec<String>,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::File { path, why } => {
                write!(f, "`{}` cannot be used: {why}", path.display())
            }
            Problem::Foreign { path, line, found, wanted } => write!(
                f,
                "`{}` is of another comparison: line {line} begins\n    {found}\n  and here it \
                 would be\n    {wanted}\n  Programs, strategies with their parameters, seed, budgets \
                 and the version of Dally must be the same for a comparison to go on (only runs may \
                 be more). Give another directory, or remove this file.",
                path.display()
            ),
            Problem::Run { which, notes } => {
                write!(f, "the run of {which} failed")?;
                notes.iter().try_for_each(|note| write!(f, "\n  {note}"))
            }
        }
    }
}

impl std::error::Error for Problem {}
