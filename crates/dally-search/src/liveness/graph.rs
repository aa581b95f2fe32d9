//! The states and transitions that a search has been through, kept so that cycles can be looked
//! for without taking a step twice.
//!
//! All threads of a search add to one graph, and read it while others add. What belongs to a state
//! is in arrays by its number; only to find or add a state takes a lock, one of many.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dally_core::{Acceptance, WorkerId};
use rustc_hash::FxHashMap;

use super::chunk::Chunk;
use super::fairness::Fairness;
use super::index::Index;
use super::labels::{Label, Labels, Lately, Look, Transition};
use crate::strata::Words;

/// The number of a state, in the order in which states were come to.
pub(crate) type Node = u32;

/// States and transitions, with all that decides whether a cycle of them counts.
pub(crate) struct Graph {
    /// Whether several threads use it.
    shared: bool,
    index: Index,
    /// How many states there are.
    len: OwnLine<AtomicU32>,
    /// [`RECORD`] halves for each state.
    states: Words,
    /// In how many places the search still has transitions of each state to take, if that is kept.
    open: Option<Words>,
    /// For each state as many halves as workers are enabled: where each leads, see [`Target`].
    targets: Words,
    targets_used: OwnLine<AtomicU64>,
    /// Transitions of which more is to be known than the worker: [`FURTHER`] halves each.
    further: Words,
    further_used: OwnLine<AtomicU64>,
    /// Whether a cycle may go through faults. If not, they are kept apart from the edges.
    faulty_cycles: bool,
    /// What there is of few states.
    apart: Mutex<Apart>,
    labels: Labels,
}

/// The halves of a state: two of its identity, its look, where its targets are, and a [`Mark`].
const RECORD: usize = 5;
const LOOK: usize = 2;
const TARGETS: usize = 3;
const MARK: usize = 4;

/// The halves of a further transition: its target, its label, and the [`Target`] that was there
/// before.
const FURTHER: u64 = 3;

/// Where a worker leads: 0 if that is not known; the number of a state plus 1, for a step without
/// values that no monitor minds; or, with this bit, the number of a further transition.
type Target = u32;
const IS_FURTHER: Target = 1 << 31;

/// The most states: their numbers fit in a [`Target`].
const MOST: u32 = IS_FURTHER - 2;

/// A value for [`Map`](super::map::Map), less than this bit; and this bit, if anything about the state
/// has changed since it was [seen](Graph::seen) last.
type Mark = u32;
const TOUCHED: Mark = 1 << 31;

/// What is kept apart from the edges of states.
#[derive(Default)]
struct Apart {
    /// Transitions that no cycle can go through.
    faults: FxHashMap<Node, Vec<Edge>>,
    /// What was done in a state and showed a bug, as strong fairness tells things apart.
    failed: FxHashMap<Node, Vec<u32>>,
}

/// A counter that all threads write, in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct OwnLine<T>(T);

/// What one thread keeps to add to a graph.
#[derive(Default)]
pub(crate) struct Writer {
    looks: Lately,
    /// Halves that it alone uses.
    targets: Chunk,
    further: Chunk,
}

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

impl Graph {
    /// An empty graph that so many threads use, within so many bytes. For strong fairness it keeps
    /// in mind which states are not complete.
    pub(crate) fn new(memory: u64, threads: usize, fairness: Fairness) -> Graph {
        Graph {
            shared: threads > 1,
            index: Index::new(memory, threads),
            len: OwnLine::default(),
            states: Words::new(memory),
            open: (fairness == Fairness::Strong).then(|| Words::new(memory)),
            targets: Words::new(memory),
            targets_used: OwnLine::default(),
            further: Words::new(memory),
            further_used: OwnLine::default(),
            faulty_cycles: fairness == Fairness::None,
            apart: Mutex::default(),
            labels: Labels::new(memory),
        }
    }

    /// Whether several threads use it.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> usize {
        self.len.0.load(Relaxed) as usize
    }

    /// How many edges there are, counted.
    pub(crate) fn edge_count(&self) -> u64 {
        (0..self.len() as Node).map(|node| self.edges(node).count() as u64).sum()
    }

    /// The bytes of states and edges, and of what is kept once for many of them.
    pub(crate) fn bytes(&self) -> u64 {
        let apart = self.apart();
        let apart = 32 * (apart.faults.len() + apart.failed.len());
        let state = 4 * (RECORD + usize::from(self.open.is_some()));
        let own = self.len() * state + self.labels.bytes() + apart;
        self.index.bytes() + own as u64 + self.edge_bytes()
    }

    /// The bytes of all edges.
    pub(crate) fn edge_bytes(&self) -> u64 {
        4 * (self.targets_used.0.load(Relaxed) + self.further_used.0.load(Relaxed))
    }

    /// Finds or adds a state. `None` if there is no room.
    #[inline]
    pub(crate) fn state(
        &self,
        writer: &mut Writer,
        identity: u64,
        enabled: &[WorkerId],
        acceptance: Acceptance,
    ) -> Option<(Node, bool)> {
        self.index.find_or_add(
            identity,
            |node| self.identity(node),
            || self.add(writer, identity, enabled, acceptance.waiting()),
        )
    }

    /// Adds a state where these monitors are hot.
    fn add(
        &self,
        writer: &mut Writer,
        identity: u64,
        enabled: &[WorkerId],
        hot: u64,
    ) -> Option<Node> {
        let targets =
            writer.targets.take(&self.targets, &self.targets_used.0, enabled.len() as u64)?;
        let has_room =
            |node: Node| node < MOST && self.states.has_room((node as usize + 2) * RECORD / 2);
        let more = |len: Node| has_room(len).then_some(len + 1);
        let node = self.len.0.fetch_update(Relaxed, Relaxed, more).ok()?;
        let look = self.labels.look(&mut writer.looks, enabled, hot);
        let halves = [identity as u32, (identity >> 32) as u32, look, targets as u32];
        for (place, half) in halves.into_iter().enumerate() {
            self.states.replace(node as usize * RECORD + place, 0, half, self.shared);
        }
        if let Some(open) = &self.open {
            open.replace(node as usize, 0, 1, self.shared);
        }
        Some(node)
    }

    /// The state of this identity, if there is one; it may be hidden from a thread that asks while
    /// others add.
    #[inline]
    pub(crate) fn find(&self, identity: u64) -> Option<Node> {
        self.index.find(identity, |node| self.identity(node))
    }

    /// This identity will be looked for soon: has the memory brought where its number is.
    #[inline]
    pub(crate) fn prefetch(&self, identity: u64) {
        self.index.prefetch(identity);
    }

    /// The same for what is kept of the state, which is where its number says.
    #[inline]
    pub(crate) fn prefetch_state(&self, identity: u64) {
        if let Some(node) = self.index.guess(identity) {
            self.states.prefetch(node as usize * RECORD / 2);
        }
    }

    fn apart(&self) -> MutexGuard<'_, Apart> {
        self.apart.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// The monitors that are hot in a state, and were so all through the transition that led there.
    #[inline]
    pub(crate) fn hot(&self, node: Node) -> u64 {
        self.labels.hot(self.look_number(node))
    }

    /// The number of a state's look: states with the same look alike.
    #[inline]
    pub(crate) fn look_number(&self, node: Node) -> u32 {
        self.states.half(node as usize * RECORD + LOOK)
    }

    #[inline]
    pub(crate) fn look_of(&self, node: Node) -> &Look {
        self.labels.look_of(self.look_number(node))
    }

    #[inline]
    pub(crate) fn label_of(&self, edge: Edge) -> &Label {
        self.labels.get(edge.label)
    }

    /// How many actions strong fairness tells apart.
    pub(crate) fn action_count(&self) -> usize {
        self.labels.action_count()
    }

    /// The search will take some transitions of this state in another place.
    pub(crate) fn opened(&self, node: Node) {
        self.change_open(node, |open| open + 1);
    }

    /// The search has left this state in one place.
    pub(crate) fn closed(&self, node: Node) {
        if self.change_open(node, |open| open.saturating_sub(1)) == Some(0) {
            self.touch(node);
        }
    }

    /// Whether all transitions of this state have been taken, of a graph that keeps that in mind.
    pub(crate) fn is_complete(&self, node: Node) -> bool {
        self.open.as_ref().is_some_and(|open| open.half(node as usize) == 0)
    }

    fn change_open(&self, node: Node, change: impl Fn(u32) -> u32) -> Option<u32> {
        let open = self.open.as_ref()?;
        loop {
            let now = open.half(node as usize);
            if open.replace(node as usize, now, change(now), self.shared) {
                return Some(change(now));
            }
        }
    }

    /// Whether a transition was added to this state, its value raised or its last transition
    /// taken, since it was [seen](Graph::seen).
    pub(crate) fn is_touched(&self, node: Node) -> bool {
        self.mark(node) & TOUCHED != 0
    }

    /// Something about this state has changed.
    #[inline]
    pub(crate) fn touch(&self, node: Node) {
        while !self.is_touched(node) {
            let mark = self.mark(node);
            self.replace_mark(node, mark, mark | TOUCHED);
        }
    }

    /// All that there is was looked at.
    pub(crate) fn seen(&self) {
        for node in 0..self.len() as Node {
            let mark = self.mark(node);
            if mark & TOUCHED != 0 {
                self.replace_mark(node, mark, mark ^ TOUCHED);
            }
        }
    }

    /// The value of a state for the map that has its values here.
    #[inline]
    pub(crate) fn value(&self, node: Node) -> u32 {
        self.mark(node) & !TOUCHED
    }

    /// Raises that value from an old one, unless it is another by now, and touches the state.
    #[inline]
    pub(crate) fn replace_value(&self, node: Node, old: u32, new: u32) -> bool {
        let mark = self.mark(node);
        mark & !TOUCHED == old && self.replace_mark(node, mark, new | TOUCHED)
    }

    #[inline]
    fn mark(&self, node: Node) -> Mark {
        self.states.half(node as usize * RECORD + MARK)
    }

    #[inline]
    fn replace_mark(&self, node: Node, old: Mark, new: Mark) -> bool {
        self.states.replace(node as usize * RECORD + MARK, old, new, self.shared)
    }

    #[inline]
    fn identity(&self, node: Node) -> u64 {
        let at = node as usize * RECORD;
        u64::from(self.states.half(at + 1)) << 32 | u64::from(self.states.half(at))
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
