//! The states and transitions that a search has been through, kept so that cycles can be looked
//! for without taking a step twice.
//!
//! All threads of a search add to one graph, and read it while others add. What belongs to a state
//! is in arrays by its number; only to find or add a state takes a lock, one of many.

mod edges;
mod marks;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dally_core::{Acceptance, WorkerId};
use rustc_hash::FxHashMap;

use super::chunk::Chunk;
use super::fairness::Fairness;
pub(crate) use super::index::Guess;
use super::index::Index;
use super::labels::{Label, Labels, Lately, Look};
use crate::strata::Words;
use edges::IS_FURTHER;
pub(crate) use edges::{Connected, Cursor, Edge};

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
    /// For each state as many halves as workers are enabled: where each leads, see [`edges::Target`].
    targets: Words,
    targets_used: OwnLine<AtomicU64>,
    /// Transitions of which more is to be known than the worker: [`edges::FURTHER`] halves each.
    further: Words,
    further_used: OwnLine<AtomicU64>,
    /// Whether a cycle may go through faults. If not, they are kept apart from the edges.
    faulty_cycles: bool,
    /// What there is of few states.
    apart: Mutex<Apart>,
    labels: Labels,
}

/// The halves of a state: two of its identity, its look, where its targets are, and a
/// [`marks::Mark`].
const RECORD: usize = 5;
const LOOK: usize = 2;
const TARGETS: usize = 3;
const MARK: usize = 4;

/// The most states: their numbers fit in a [`edges::Target`].
const MOST: u32 = IS_FURTHER - 2;

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

    /// The bytes of states and edges, and of what is kept once for many of them.
    pub(crate) fn bytes(&self) -> u64 {
        let apart = self.apart();
        let apart = 32 * (apart.faults.len() + apart.failed.len());
        let state = 4 * (RECORD + usize::from(self.open.is_some()));
        let own = self.len() * state + self.labels.bytes() + apart;
        self.index.bytes() + own as u64 + self.edge_bytes()
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
    pub(crate) fn find(&self, identity: u64, guess: Guess) -> Option<Node> {
        match guess {
            Guess::Absent => None,
            Guess::Perhaps(node) if self.identity(node) == identity => Some(node),
            _ => self.index.find(identity, |node| self.identity(node)),
        }
    }

    /// This identity will be looked for soon: has the memory brought where its number is.
    #[inline]
    pub(crate) fn prefetch(&self, identity: u64) {
        self.index.prefetch(identity);
    }

    /// The same for what is kept of the state, which is where its number says.
    #[inline]
    pub(crate) fn guess(&self, identity: u64) -> Guess {
        let guess = self.index.guess(identity);
        if let Guess::Perhaps(node) = guess {
            self.states.prefetch(node as usize * RECORD / 2);
        }
        guess
    }

    fn apart(&self) -> MutexGuard<'_, Apart> {
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

    #[inline]
    fn identity(&self, node: Node) -> u64 {
        let at = node as usize * RECORD;
        u64::from(self.states.half(at + 1)) << 32 | u64::from(self.states.half(at))
    }
}
