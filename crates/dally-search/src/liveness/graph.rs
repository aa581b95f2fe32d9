//! The states and transitions that a search has been through, kept so that cycles can be looked
//! for without taking a step twice.
//!
//! All threads of a search add to one graph, and read it while others add. What belongs to a state
//! is in arrays by its number; only to find or add a state takes a lock, one of many.

mod edges;
mod marks;

use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicU64, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dally_core::{Acceptance, WorkerId};
use rustc_hash::FxHashMap;

use super::chunk::Chunk;
use super::fairness::Fairness;
use super::index::Index;
use super::labels::{Label, Labels, Lately, Look};
use crate::prefetch::prefetch;
use crate::strata::NumberList;
use edges::IS_FURTHER;
pub(crate) use edges::{Connected, Cursor, Edge};
use marks::Bits;
pub(crate) use marks::VALUE_BYTES;

/// The number of a state, in the order in which a thread came to its states.
pub(crate) type Node = u32;

/// States and transitions, with all that decides whether a cycle of them counts.
pub(crate) struct Graph {
    /// Whether several threads use it.
    shared: bool,
    index: Index,
    /// How many numbers of states are taken.
    len: OwnLine<AtomicU32>,
    /// The rests of the hashes of states' identities, see [`Index`]: asked for far more often than all
    /// else, and so close together.
    rests: NumberList,
    /// [`RECORD`] numbers for each state, in one cache line.
    states: NumberList,
    /// The values of states for a map.
    values: NumberList,
    /// The states that have changed since they were [seen](Graph::seen) last.
    touched: Bits,
    /// For nested search, the states on the stack.
    on_stack: Bits,
    /// In how many places the search still has transitions of each state to take, if that is kept.
    open: Option<NumberList>,
    /// For each state as many numbers as workers are enabled: where each leads, see
    /// [`edges::Target`].
    targets: NumberList,
    targets_used: OwnLine<AtomicU64>,
    /// Transitions of which more is to be known than the worker: [`edges::FURTHER`] numbers each.
    further: NumberList,
    further_used: OwnLine<AtomicU64>,
    /// Whether a cycle may go through faults. If not, they are kept apart from the edges.
    faulty_cycles: bool,
    /// What there is of few states.
    apart: Mutex<FaultsAndFailures>,
    labels: Labels,
}

/// The numbers of a state: its look, and where its targets are.
const RECORD: usize = 2;
const LOOK: usize = 0;
const TARGETS: usize = 1;

/// The most states: their numbers fit in a [`edges::Target`].
const MOST: u32 = IS_FURTHER - 2;

/// What is kept apart from the edges of states.
#[derive(Default)]
struct FaultsAndFailures {
    /// Transitions that no cycle can go through.
    faults: FxHashMap<Node, Vec<Edge>>,
    /// What was done in a state and showed a bug, as strong fairness tells things apart.
    failed: FxHashMap<Node, Vec<u32>>,
}

/// What all threads write, in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct OwnLine<T>(pub(super) T);

/// What one thread keeps to add to a graph.
#[derive(Default)]
pub(crate) struct Writer {
    looks: Lately,
    /// The numbers of states that it alone gives.
    nodes: Range<Node>,
    /// Places in the lists that it alone uses.
    targets: Chunk,
    further: Chunk,
}

/// How many numbers of states a thread takes at once, if there are several: neighbours are written
/// into the same cache lines.
const NODES: Node = 64;

impl Graph {
    /// An empty graph that so many threads use, within so many bytes. For strong fairness it keeps
    /// in mind which states are not complete.
    pub(crate) fn new(memory: u64, threads: usize, fairness: Fairness) -> Graph {
        Graph {
            shared: threads > 1,
            index: Index::new(memory, threads),
            len: OwnLine::default(),
            rests: NumberList::new(memory),
            values: NumberList::new(memory),
            states: NumberList::new(memory),
            touched: Bits::new(memory),
            on_stack: Bits::new(memory),
            open: (fairness == Fairness::Strong).then(|| NumberList::new(memory)),
            targets: NumberList::new(memory),
            targets_used: OwnLine::default(),
            further: NumberList::new(memory),
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

    /// All states have numbers below this. If several threads use the graph, some of these are of no
    /// state: nothing is hot in it, and no transition leads to it or out of it.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.0.load(Relaxed) as usize
    }

    /// The bytes of states and edges, and of what is kept once for many of them.
    pub(crate) fn bytes(&self) -> u64 {
        let apart = self.apart();
        let apart = 32 * (apart.faults.len() + apart.failed.len());
        let state = 4 * (RECORD + 1 + usize::from(self.open.is_some()));
        let own = self.len() * state + self.len() / 8 + self.labels.bytes() + apart;
        self.index.table_bytes() + own as u64 + self.edge_bytes()
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
        let add = |rest| self.add(writer, rest, enabled, acceptance.waiting());
        self.index.find_or_add(identity, |node| self.rest(node), add)
    }

    /// Adds a state where these monitors are hot.
    fn add(&self, writer: &mut Writer, rest: u32, enabled: &[WorkerId], hot: u64) -> Option<Node> {
        let targets =
            writer.targets.take(&self.targets, &self.targets_used.0, enabled.len() as u64)?;
        let look = self.labels.look(&mut writer.looks, enabled, hot)?;
        let node = match writer.nodes.next() {
            Some(node) => node,
            None => self.more_nodes(writer)?,
        };
        self.rests.set(node as usize, rest);
        let record = self.record(node);
        record[LOOK].store(look, Relaxed);
        record[TARGETS].store(targets as u32, Relaxed);
        if let Some(open) = &self.open {
            open.set(node as usize, 1);
        }
        Some(node)
    }

    /// The first of more numbers. A single thread takes one at a time, so that none is left over.
    fn more_nodes(&self, writer: &mut Writer) -> Option<Node> {
        let count = if self.shared { NODES } else { 1 };
        let has_room = |end: usize| {
            end <= MOST as usize
                && self.rests.has_room(end)
                && self.states.has_room(end * RECORD)
                && self.values.has_room(end)
                && self.touched.has_room(end)
                && self.on_stack.has_room(end)
                && self.open.as_ref().is_none_or(|open| open.has_room(end))
        };
        let more = |len: Node| has_room((len + count) as usize).then_some(len + count);
        let first = if self.shared {
            self.len.0.fetch_update(Relaxed, Relaxed, more).ok()?
        } else {
            let first = self.len.0.load(Relaxed);
            self.len.0.store(more(first)?, Relaxed);
            first
        };
        writer.nodes = first + 1..first + count;
        Some(first)
    }

    /// The state of this identity, if there is one; it may be hidden from a thread that asks while
    /// others add.
    #[inline]
    pub(crate) fn find(&self, identity: u64) -> Option<Node> {
        self.index.find(identity, |node| self.rest(node))
    }

    /// The same, before the whole identity is compared: mostly right, and always if there is none. Has
    /// the memory brought that [`Graph::confirm`] needs.
    #[inline]
    pub(crate) fn likely(&self, identity: u64) -> Option<Node> {
        let node = self.index.likely(identity)?;
        prefetch(self.rests.at(node as usize));
        Some(node)
    }

    /// The state of this identity, if there is one, which is likely to be this.
    #[inline]
    pub(crate) fn confirm(&self, identity: u64, likely: Node) -> Option<Node> {
        fence(Acquire);
        match self.rest(likely) == self.index.rest(identity) {
            true => Some(likely),
            false => self.find(identity),
        }
    }

    /// This identity will be looked for soon.
    #[inline]
    pub(crate) fn prefetch(&self, identity: u64) {
        self.index.prefetch(identity);
    }

    #[inline]
    fn record(&self, node: Node) -> &[AtomicU32; RECORD] {
        self.states.group(node as usize * RECORD)
    }

    #[inline]
    fn rest(&self, node: Node) -> u32 {
        self.rests.at(node as usize).load(Relaxed)
    }

    fn apart(&self) -> MutexGuard<'_, FaultsAndFailures> {
        self.apart.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The monitors that are hot in a state, and were so all through the transition that led there.
    #[inline]
    pub(crate) fn hot(&self, node: Node) -> u64 {
        self.labels.hot(self.look_number(node))
    }

    /// The number of a state's look: states with the same look alike.
    #[inline]
    pub(crate) fn look_number(&self, node: Node) -> u32 {
        self.record(node)[LOOK].load(Relaxed)
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
}
