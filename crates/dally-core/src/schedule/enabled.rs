//! Enabled sets as changes to the set before: what all written forms store.

use std::collections::BTreeSet;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::Schedule;
use crate::worker::WorkerId;

/// The most entries that the enabled sets of one schedule may have in total. The written forms
/// store changes, so a small text can stand for sets of any size: this bounds what reading one
/// allocates (128 MiB). Larger sets are not written; a replay then checks less.
pub(super) const MOST: usize = 1 << 24;

/// How an enabled set differs from the one before.
#[derive(Default, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub added: Vec<WorkerId>,
    pub removed: Vec<WorkerId>,
}

impl Change {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// Both sets are sorted and without doubles.
    fn between(mut before: &[WorkerId], mut after: &[WorkerId]) -> Change {
        let same = before.iter().zip(after).take_while(|(one, other)| one == other).count();
        (before, after) = (&before[same..], &after[same..]);
        let mut change = Change::default();
        loop {
            match (before, after) {
                ([gone, rest @ ..], [new, ..]) if gone < new => {
                    change.removed.push(*gone);
                    before = rest;
                }
                ([gone, ..], [new, rest @ ..]) if new < gone => {
                    change.added.push(*new);
                    after = rest;
                }
                ([_, gone @ ..], [_, new @ ..]) => (before, after) = (gone, new),
                (gone, new) => {
                    change.removed.extend(gone);
                    change.added.extend(new);
                    return change;
                }
            }
        }
    }
}

/// The enabled sets of a schedule, step by step, sorted and without doubles whatever the
/// schedule holds; all empty where there are none or too many to write.
pub(super) struct Sets<'a> {
    schedule: &'a Schedule,
    written: bool,
    step: usize,
    set: Vec<WorkerId>,
}

impl<'a> Sets<'a> {
    pub fn new(schedule: &'a Schedule) -> Sets<'a> {
        let total = schedule.enabled.iter().map(Vec::len).fold(0, usize::saturating_add);
        Sets { schedule, written: total <= MOST, step: 0, set: Vec::new() }
    }

    /// Goes to the next step: its set, and how it differs from the one before. It is the same, or nearly, in most
    /// steps, and may have thousands of workers in each.
    pub fn advance(&mut self) -> (&[WorkerId], Change) {
        let recorded: &[WorkerId] = match self.written {
            true => self.schedule.enabled_at(self.step),
            false => &[],
        };
        self.step += 1;
        if *recorded == *self.set {
            return (&self.set, Change::default());
        }
        let mut next = recorded.to_vec();
        if !next.is_sorted_by(|one, other| one < other) {
            next.sort_unstable();
            next.dedup();
        }
        let change = Change::between(&self.set, &next);
        self.set = next;
        (&self.set, change)
    }
}

/// Builds enabled sets from changes.
#[derive(Default)]
pub(super) struct Builder {
    current: BTreeSet<WorkerId>,
    all: Vec<Vec<WorkerId>>,
    total: usize,
}

/// The enabled sets have more than [`MOST`] entries.
pub(super) struct TooLarge;

impl Builder {
    pub fn add(&mut self, worker: WorkerId) -> bool {
        self.current.insert(worker)
    }

    pub fn remove(&mut self, worker: WorkerId) -> bool {
        self.current.remove(&worker)
    }

    pub fn clear(&mut self) {
        self.current.clear();
    }

    /// Completes the set of the next step.
    pub fn push(&mut self) -> Result<(), TooLarge> {
        self.total += self.current.len();
        if self.total > MOST {
            return Err(TooLarge);
        }
        self.all.push(self.current.iter().copied().collect());
        Ok(())
    }

    /// All sets; none if every one is empty, since then they were not recorded.
    pub fn finish(self) -> Vec<Vec<WorkerId>> {
        if self.total == 0 { Vec::new() } else { self.all }
    }
}

/// The changes as JSON has them.
pub(super) fn changes(schedule: &Schedule) -> Vec<Vec<String>> {
    let mut sets = Sets::new(schedule);
    let steps = if sets.written { schedule.enabled.len() } else { 0 };
    let change = |_| {
        let (_, Change { added, removed }) = sets.advance();
        let added = added.iter().map(|worker| format!("+{worker}"));
        added.chain(removed.iter().map(|worker| format!("-{worker}"))).collect()
    };
    (0..steps).map(change).collect()
}

pub(super) fn read_changes<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<Vec<WorkerId>>, D::Error> {
    let mut builder = Builder::default();
    for change in Vec::<Vec<String>>::deserialize(from)? {
        for change in change {
            let worker = |name: &str| name.parse().map_err(D::Error::custom);
            let changes = match (change.strip_prefix('+'), change.strip_prefix('-')) {
                (Some(name), _) => builder.add(worker(name)?),
                (_, Some(name)) => builder.remove(worker(name)?),
                _ => false,
            };
            if !changes {
                return Err(D::Error::custom(format!("`{change}` changes no set of workers")));
            }
        }
        builder.push().map_err(|_| D::Error::custom("the sets of workers are too large"))?;
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_what_one_set_has_and_the_other_lacks() {
        let mut rng = fastrand::Rng::with_seed(0);
        for _ in 0..5_000 {
            let mut set = || -> BTreeSet<WorkerId> {
                (0..rng.u32(0..8)).map(|_| WorkerId::root(rng.u32(0..10))).collect()
            };
            let (before, after) = (set(), set());
            let lacking = |one: &BTreeSet<WorkerId>, other: &BTreeSet<WorkerId>| {
                one.difference(other).copied().collect::<Vec<_>>()
            };
            let expected =
                Change { added: lacking(&after, &before), removed: lacking(&before, &after) };
            let [before, after] = [before, after].map(|set| set.into_iter().collect::<Vec<_>>());
            assert_eq!(Change::between(&before, &after), expected, "{before:?} {after:?}");
        }
    }
}
