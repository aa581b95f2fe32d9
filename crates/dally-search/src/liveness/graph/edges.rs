//! The transitions of a graph: how they are added, and how the lists of them are read.

use std::sync::atomic::Ordering::Relaxed;

use dally_core::WorkerId;

use super::{Graph, MOST, Node, TARGETS, Writer};
use crate::liveness::labels::Transition;
use crate::prefetch::prefetch;

/// A transition, from the state whose list it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) to: Node,
    pub(crate) label: u32,
}

/// What became of a transition.
pub(crate) enum Connected {
    /// It is an edge.
    Added,
    /// No cycle can go through it, since it is a fault: of these there are finitely many in an
    /// execution.
    FaultsAndFailures,
    NoRoom,
}

/// The numbers of a further transition: its target plus 1, its label, and the [`Target`] that was
/// there before.
pub(super) const FURTHER: u64 = 3;

/// Where a worker leads: 0 if that is not known; the number of a state plus 1, for a step without
/// values that no monitor minds; or, with this bit, the number of a further transition.
pub(super) type Target = u32;
pub(super) const IS_FURTHER: Target = 1 << 31;

impl Graph {
    /// How many edges there are, counted.
    pub(crate) fn edge_count(&self) -> u64 {
        let is_edge = |target: Target| u64::from(target != 0 && target & IS_FURTHER == 0);
        let targets = 0..self.targets_used.0.load(Relaxed) as usize;
        let further = (0..self.further_used.0.load(Relaxed) as usize).step_by(FURTHER as usize);
        let of_workers = targets.map(|at| is_edge(self.targets.get(at))).sum::<u64>();
        let others = further.map(|at| match self.further.get(at) {
            0 => 0,
            _ => 1 + is_edge(self.further.get(at + 2)),
        });
        of_workers + others.sum::<u64>()
    }

    /// The bytes of all edges.
    pub(crate) fn edge_bytes(&self) -> u64 {
        4 * (self.targets_used.0.load(Relaxed) + self.further_used.0.load(Relaxed))
    }

    /// Adds a transition of the worker of this place among the enabled.
    #[inline]
    pub(crate) fn connect(
        &self,
        writer: &mut Writer,
        from: Node,
        place: usize,
        to: Node,
        transition: Transition<'_>,
    ) -> Connected {
        let at = self.targets_of(from) as usize + place;
        let Transition { values, choices, visits, .. } = transition;
        let owed = transition.worker != WorkerId::FAULTS || self.faulty_cycles;
        if values.is_empty()
            && choices.is_empty()
            && visits == 0
            && owed
            && self.targets.replace(at, 0, to + 1, self.shared)
        {
            return Connected::Added;
        }
        let label = self.labels.number(transition);
        if !self.faulty_cycles && self.labels.get(label).action.is_none() {
            self.apart().faults.entry(from).or_default().push(Edge { to, label });
            return Connected::FaultsAndFailures;
        }
        let edge = Edge { to, label };
        self.connect_further(writer, at, edge).map_or(Connected::NoRoom, |()| Connected::Added)
    }

    /// Puts a further transition before the target at this place; `None` if there is no room.
    fn connect_further(&self, writer: &mut Writer, at: usize, edge: Edge) -> Option<()> {
        let Edge { to, label } = edge;
        let number = writer.further.take(&self.further, &self.further_used.0, FURTHER)?;
        let start = number as usize;
        let target = IS_FURTHER | Target::try_from(number / FURTHER).ok().filter(|&n| n < MOST)?;
        self.further.set(start, to + 1);
        self.further.set(start + 1, label);
        loop {
            let now = self.targets.get(at);
            self.further.set(start + 2, now);
            if self.targets.replace(at, now, target, self.shared) {
                return Some(());
            }
        }
    }

    /// A transition has shown a bug and leads nowhere. That it can be taken matters to strong
    /// fairness all the same.
    pub(crate) fn failed(&self, from: Node, transition: Transition<'_>) {
        self.touch(from);
        let label = self.labels.number(transition);
        if let Some(action) = self.labels.get(label).action {
            let mut apart = self.apart();
            let actions = apart.failed.entry(from).or_default();
            // A step that fails is logged whenever it is taken, by each thread and in each stratum.
            if !actions.contains(&action) {
                actions.push(action);
            }
        }
    }

    /// What strong fairness says can be done in a state.
    pub(crate) fn actions(&self, node: Node) -> impl Iterator<Item = u32> + use<'_> {
        let failed = self.apart().failed.get(&node).cloned().unwrap_or_default();
        self.edges(node).filter_map(|edge| self.label_of(edge).action).chain(failed)
    }

    /// The transitions out of a state that no cycle can go through.
    pub(crate) fn faults(&self, from: Node) -> Vec<Edge> {
        self.apart().faults.get(&from).cloned().unwrap_or_default()
    }

    /// The transitions out of a state that were taken so far and that cycles can go through.
    #[inline]
    pub(crate) fn edges(&self, from: Node) -> Edges<'_> {
        Edges { graph: self, labels: &self.look_of(from).labels, cursor: self.cursor(from) }
    }

    /// The beginning of the list of a state's edges.
    #[inline]
    pub(crate) fn cursor(&self, from: Node) -> Cursor {
        let next = self.targets_of(from);
        let enabled = self.labels.enabled(self.look_number(from));
        Cursor { next, end: next + enabled, rest: 0 }
    }

    /// Where the edges of the worker of this place among the enabled lead.
    #[inline]
    pub(crate) fn targets_at(&self, from: Node, place: usize) -> impl Iterator<Item = Node> {
        let next = self.targets_of(from) + place as u32;
        let mut cursor = Cursor { next, end: next + 1, rest: 0 };
        std::iter::from_fn(move || self.next_target(&mut cursor))
    }

    /// Where the targets of a state's workers are.
    #[inline]
    fn targets_of(&self, node: Node) -> u32 {
        self.record(node)[TARGETS].load(Relaxed)
    }

    /// What is known of the states that the edges of a list lead to is needed soon: has it brought, and
    /// tells of each.
    #[inline]
    pub(crate) fn prefetch_targets(&self, of: &Cursor, mut also: impl FnMut(Node)) {
        for at in of.next..of.end {
            let target = self.targets.at(at as usize).load(Relaxed);
            if target != 0 && target & IS_FURTHER == 0 {
                prefetch(self.record(target - 1));
                also(target - 1);
            }
        }
    }

    /// Where the next edge of a state's list leads.
    #[inline]
    pub(crate) fn next_target(&self, at: &mut Cursor) -> Option<Node> {
        Some(self.next(at)?.0)
    }

    /// The same, with the monitors that allow the transition only finitely often.
    #[inline]
    pub(crate) fn next_visits(&self, at: &mut Cursor) -> Option<(Node, u64)> {
        let (to, label) = self.next(at)?;
        // A transition of a worker that is no further one visits nothing.
        Some((to, label.map_or(0, |label| self.labels.get(label).visits)))
    }

    /// Where the next edge leads, and its label if it is a further one.
    #[inline]
    fn next(&self, at: &mut Cursor) -> Option<(Node, Option<u32>)> {
        loop {
            let target = if at.rest == 0 {
                if at.next == at.end {
                    return None;
                }
                at.next += 1;
                self.targets.get(at.next as usize - 1)
            } else {
                std::mem::take(&mut at.rest)
            };
            if target & IS_FURTHER != 0 {
                let start = (target ^ IS_FURTHER) as usize * FURTHER as usize;
                at.rest = self.further.get(start + 2);
                return Some((self.further.get(start) - 1, Some(self.further.get(start + 1))));
            }
            if target != 0 {
                return Some((target - 1, None));
            }
        }
    }
}

/// A place in the list of a state's edges.
#[derive(Clone, Copy)]
pub(crate) struct Cursor {
    /// Where the target of the next worker is, and where there are no more.
    next: u32,
    end: u32,
    /// What is left of the worker's before it.
    rest: Target,
}

/// The edges of a state.
pub(crate) struct Edges<'a> {
    graph: &'a Graph,
    labels: &'a [u32],
    cursor: Cursor,
}

impl Iterator for Edges<'_> {
    type Item = Edge;

    #[inline]
    fn next(&mut self) -> Option<Edge> {
        let (to, label) = self.graph.next(&mut self.cursor)?;
        let left = (self.cursor.end - self.cursor.next) as usize;
        let label = label.unwrap_or_else(|| self.labels[self.labels.len() - left - 1]);
        Some(Edge { to, label })
    }
}
