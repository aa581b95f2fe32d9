//! What a search has covered, and what it has not, in words.

use std::collections::BTreeMap;

use dally_core::words::{count, grouped};

use crate::recorder::{Covered, Pinned};
use crate::solver::Statistics;

/// What a search has covered so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Branches both ways, and what was kept at observed values.
    pub covered: Covered,
    /// How the questions for inputs were answered.
    pub solved: Statistics,
    /// How many outcomes were not tried because the solver did not find out whether they are feasible.
    pub unknown: u64,
    /// What executions with drawn orders were, if orders were drawn.
    pub drawn: Option<Drawn>,
}

/// Executions whose orders were drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Drawn {
    /// How many were different: in a path, or in the order of steps that are not independent.
    pub different: u64,
    /// How many paths they took.
    pub paths: u64,
    /// How many inputs were solved for.
    pub solved: u64,
    /// How many took another path than the solver said.
    pub strayed: u64,
    /// How many had branches that are not turned round, because too many of others wait for it.
    pub dropped: u64,
}

impl Coverage {
    /// What was covered, as the end of a sentence.
    pub(crate) fn stated(&self) -> String {
        let branches = &self.covered.branches;
        let both = branches.values().filter(|&&(no, yes)| no && yes).count();
        let of_branches = match branches.len() {
            0 => "no branch depends on inputs".to_owned(),
            all => {
                format!("{} on inputs, {both} taken both ways", counted(all, "branch", "branches"))
            }
        };
        match self.drawn {
            None => of_branches,
            Some(Drawn { different, paths, .. }) => format!(
                "{} by the order of steps or the path, {}, {of_branches}",
                counted(different as usize, "different one", "different ones"),
                counted(paths as usize, "path", "paths"),
            ),
        }
    }

    /// What was not explored, a sentence each.
    pub(crate) fn holes(&self) -> Vec<String> {
        let mut holes = Vec::new();
        let mut by_reason: BTreeMap<Pinned, (u64, Vec<String>)> = BTreeMap::new();
        for (&(place, why), &times) in &self.covered.pinned {
            let known = by_reason.entry(why).or_default();
            known.0 += times;
            known.1.push(place.to_string());
        }
        for (why, (times, mut places)) in by_reason {
            places.dedup();
            let further = places.len().saturating_sub(MOST_PLACES);
            places.truncate(MOST_PLACES);
            let mut at = match why {
                Pinned::Plain => String::new(),
                _ => format!(" at {}", places.join(", ")),
            };
            if further > 0 {
                at += &format!(" and {}", count(further as u64, "further place"));
            }
            let numbers = count(times, "number");
            let were = if times == 1 { "was" } else { "were" };
            holes.push(format!("{numbers} {were} followed for the observed value only: {why}{at}"));
        }
        if self.unknown > 0 {
            holes.push(format!(
                "{} not tried: the solver did not find out whether inputs lead there{}",
                match self.unknown {
                    1 => "1 outcome of a branch was".to_owned(),
                    many => format!("{many} outcomes of branches were"),
                },
                why_not_z3(),
            ));
        }
        let Drawn { strayed, dropped, .. } = self.drawn.unwrap_or_default();
        if strayed > 0 {
            holes.push(format!(
                "{} another path than was solved for: the program depends on inputs in a way that is not \
                 followed",
                counted(strayed as usize, "execution took", "executions took"),
            ));
        }
        if dropped > 0 {
            holes.push(format!(
                "{} not turned round further: too many branches of others waited for it",
                counted(dropped as usize, "execution was", "executions were"),
            ));
        }
        holes
    }
}

/// Why z3 did not help, if it could have.
fn why_not_z3() -> String {
    #[cfg(feature = "z3")]
    if let Some(why) = crate::z3::why_not() {
        return format!(" (and z3 could not be asked: {why})");
    }
    String::new()
}

fn counted(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {many}", grouped(number as u64)) }
}

/// More places than this are counted and not named.
const MOST_PLACES: usize = 5;
