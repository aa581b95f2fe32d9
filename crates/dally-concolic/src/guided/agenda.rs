//! The branches that are still to be turned round, the best first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use dally_core::Choice;
use rustc_hash::FxHashSet;

use crate::driver::{Assignment, ConcolicInputs, Key, with};
use crate::recorder::{Branch, Taken};
use crate::terms::Atom;

/// More branches, choices and inputs than this are not kept: some hundred megabytes.
const MOST_KEPT: usize = 1 << 21;

/// After so many that cannot be turned round, the next schedule is drawn.
const TRIES: u32 = 256;

/// An execution that is over.
pub(super) struct Ended {
    /// The first branch to turn round: those before it are turned round in the execution that this one
    /// began like.
    pub(super) from: usize,
    /// How many outcomes of branches it was the first to have.
    pub(super) brought: u32,
    pub(super) taken: Taken,
    /// Its choices and its inputs, each with how long the path was then.
    pub(super) choices: Vec<(Choice, usize)>,
    pub(super) inputs: Vec<(Key, i64, usize)>,
}

/// What an execution begins with, so that a branch comes out otherwise.
pub(super) struct Begin {
    pub(super) choices: Vec<Choice>,
    pub(super) inputs: Arc<Assignment>,
    /// The branch.
    pub(super) branch: usize,
    /// The execution in which it came out as it did.
    from: Arc<Ended>,
}

impl Ended {
    /// How much is kept of it.
    fn size(&self) -> usize {
        self.taken.path.len() + self.taken.values() + self.choices.len() + self.inputs.len()
    }
}

impl Begin {
    /// Whether this path is that of the execution before up to the branch, which came out otherwise.
    pub(super) fn is_followed_by(&self, path: &[Branch]) -> bool {
        let before = &self.from.taken.path[..=self.branch];
        let Some((turned, same)) = before.split_last() else { return true };
        let holds = |branch: &Branch| -> Atom { branch.holds };
        path.len() > self.branch
            && path[..self.branch].iter().map(holds).eq(same.iter().map(holds))
            && path[self.branch].holds == turned.holds.negated()
    }
}

/// Executions by what they brought, those that brought most first, and then in their order.
type Rank = (Reverse<u32>, u64);

#[derive(Default)]
pub(super) struct Agenda {
    /// Branches whose other outcome no execution had had when they were taken.
    fresh: VecDeque<(Arc<Ended>, Rank, usize)>,
    /// For each execution the branch that is turned round next.
    others: BTreeMap<Rank, (Arc<Ended>, usize)>,
    /// Branches that were fresh and turned round before it was their turn.
    tried: FxHashSet<(u64, usize)>,
    executions: u64,
    kept: usize,
    dropped: u64,
}

impl Agenda {
    pub(super) fn add(&mut self, ended: Ended) {
        let path = &ended.taken.path;
        let open = (ended.from..path.len()).filter(|&branch| path[branch].is_open());
        if open.clone().next().is_none() {
            return;
        }
        if self.kept + ended.size() > MOST_KEPT {
            self.dropped += 1;
            return;
        }
        let fresh: Vec<usize> = open.filter(|&branch| is_fresh(&path[branch])).collect();
        self.kept += ended.size();
        let rank = (Reverse(ended.brought), self.executions);
        self.executions += 1;
        let from = ended.from;
        let ended = Arc::new(ended);
        self.fresh.extend(fresh.into_iter().map(|branch| (Arc::clone(&ended), rank, branch)));
        self.others.insert(rank, (ended, from));
    }

    /// What the next execution begins with; `None` if nothing was found.
    pub(super) fn next(&mut self, driver: &mut ConcolicInputs) -> Option<Begin> {
        for _ in 0..TRIES {
            let (from, branch) = self.pop()?;
            let answer = with(|recorder| recorder.flip_in(&from.taken, branch));
            // What was asked for later on is asked for again.
            let known = from.inputs.iter().filter(|&&(_, _, at)| at <= branch);
            let inputs = known.map(|&(key, value, _)| (key, value)).collect();
            if let Some(inputs) = driver.changed(answer, inputs) {
                let choices = from.choices.iter().filter(|&&(_, at)| at <= branch);
                return Some(Begin {
                    choices: choices.map(|&(choice, _)| choice).collect(),
                    inputs: Arc::new(inputs),
                    branch,
                    from,
                });
            }
        }
        None
    }

    fn pop(&mut self) -> Option<(Arc<Ended>, usize)> {
        while let Some((ended, rank, branch)) = self.fresh.pop_front() {
            if self.others.contains_key(&rank) && is_fresh(&ended.taken.path[branch]) {
                self.tried.insert((rank.1, branch));
                return Some((ended, branch));
            }
        }
        loop {
            let mut first = self.others.first_entry()?;
            let number = first.key().1;
            let (ended, next) = first.get_mut();
            let path = &ended.taken.path;
            let waits =
                |&branch: &usize| path[branch].is_open() && !self.tried.contains(&(number, branch));
            if let Some(branch) = (*next..path.len()).find(waits) {
                *next = branch + 1;
                return Some((Arc::clone(ended), branch));
            }
            self.kept -= ended.size();
            for branch in ended.from..path.len() {
                self.tried.remove(&(number, branch));
            }
            first.remove();
        }
    }

    /// Whether nothing waits, and nothing was dropped.
    pub(super) fn is_complete(&self) -> bool {
        self.others.is_empty() && self.dropped == 0
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Whether no execution has had the other outcome of a branch.
fn is_fresh(branch: &Branch) -> bool {
    let Branch { place, outcome, .. } = *branch;
    outcome.is_some_and(|outcome| !with(|recorder| recorder.has_seen(place, !outcome)))
}
