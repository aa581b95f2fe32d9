//! The transitions of a graph: how they are added, and how the lists of them are read.

use std::iter;
use std::sync::atomic::Ordering::Relaxed;

use dally_core::WorkerId;

use super::{Graph, MOST, Node, RECORD, TARGETS, Writer};
use crate::liveness::labels::Transition;

/// A transition, from the state whose list it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) to: Node,
    pub(crate) label: u32,
}

/// What became of a transition.
pub(crate) enum Connected {
    /// It is this edge.
    By(Edge),
    /// No cycle can go through it, since it is a fault: of these there are finitely many in an
    /// execution.
    Apart,
    NoRoom,
}

/// The halves of a further transition: its target, its label, and the [`Target`] that was there
/// before.
pub(super) const FURTHER: u64 = 3;

/// Where a worker leads: 0 if that is not known; the number of a state plus 1, for a step without
/// values that no monitor minds; or, with this bit, the number of a further transition.
pub(super) type Target = u32;
pub(super) const IS_FURTHER: Target = 1 << 31;

impl Graph {
    /// How many edges there are, counted.
    pub(crate) fn edge_count(&self) -> u64 {
        let count = |node| {
            let mut cursor = self.cursor(node);
            iter::from_fn(|| self.next_target(&mut cursor)).count() as u64
        };
        (0..self.len() as Node).map(count).sum()
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
        self.touch(from);
        let at = self.states.half(from as usize * RECORD + TARGETS) as usize + place;
        let Transition { values, choices, visits, .. } = transition;
        let owed = transition.worker != WorkerId::FAULTS || self.faulty_cycles;
        if values.is_empty()
            && choices.is_empty()
            && visits == 0
            && owed
            && self.targets.replace(at, 0, to + 1, self.shared)
        {
            return Connected::By(Edge { to, label: self.look_of(from).labels[place] });
        }
        let label = self.labels.number(transition);
        if !self.faulty_cycles && self.labels.get(label).action.is_none() {
            self.apart().faults.entry(from).or_default().push(Edge { to, label });
            return Connected::Apart;
        }
        let edge = Edge { to, label };
        self.connect_further(writer, at, edge).map_or(Connected::NoRoom, |()| Connected::By(edge))
    }

    /// Puts a further transition before the target at this place; `None` if there is no room.
    fn connect_further(&self, writer: &mut Writer, at: usize, edge: Edge) -> Option<()> {
        let Edge { to, label } = edge;
        let number = writer.further.take(&self.further, &self.further_used.0, FURTHER)?;
        let start = number as usize;
        let target = IS_FURTHER | Target::try_from(number / FURTHER).ok().filter(|&n| n < MOST)?;
        self.further.replace(start, 0, to, self.shared);
        self.further.replace(start + 1, 0, label, self.shared);
        let mut before = 0;
        loop {
            let now = self.targets.half(at);
            self.further.replace(start + 2, before, now, self.shared);
            if self.targets.replace(at, now, target, self.shared) {
                return Some(());
            }
            before = now;
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
        let next = self.states.half(from as usize * RECORD + TARGETS);
        let enabled = self.labels.enabled(self.look_number(from));
        Cursor { next, end: next + enabled, rest: 0 }
    }

    /// Where the next edge of a state's list leads.
    #[inline]
    pub(crate) fn next_target(&self, at: &mut Cursor) -> Option<Node> {
        Some(self.next(at)?.0)
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
                self.targets.half(at.next as usize - 1)
            } else {
                std::mem::take(&mut at.rest)
            };
            if target & IS_FURTHER != 0 {
                let start = (target ^ IS_FURTHER) as usize * FURTHER as usize;
                at.rest = self.further.half(start + 2);
                return Some((self.further.half(start), Some(self.further.half(start + 1))));
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
