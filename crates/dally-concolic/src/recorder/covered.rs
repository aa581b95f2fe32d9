//! What executions have covered, by places of the program.

use std::collections::BTreeMap;
use std::fmt;

use super::Place;

/// Why numbers were kept at their observed values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pinned {
    /// The program asked for the plain number.
    Asked,
    /// The number was hashed.
    Hashed,
    /// The term became too large.
    Large,
    /// The execution had too many branches.
    ManyBranches,
    /// An input was used as a plain number.
    Plain,
}

impl fmt::Display for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pinned::Asked => "pinned",
            Pinned::Hashed => "hashed",
            Pinned::Large => "a term that is too large",
            Pinned::ManyBranches => "too many branches in one execution",
            Pinned::Plain => "an input used as a plain number",
        })
    }
}

/// What a search has covered, by places of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Covered {
    /// For each branch, whether it was seen not to hold and to hold.
    pub branches: BTreeMap<Place, (bool, bool)>,
    /// How often numbers were kept at their observed values, and why.
    pub pinned: BTreeMap<(Place, Pinned), u64>,
}

impl Covered {
    /// Adds what another search has covered.
    pub fn merge(&mut self, other: &Covered) {
        for (&place, &(no, yes)) in &other.branches {
            let known = self.branches.entry(place).or_default();
            *known = (known.0 | no, known.1 | yes);
        }
        for (&why, &times) in &other.pinned {
            *self.pinned.entry(why).or_default() += times;
        }
    }
}
