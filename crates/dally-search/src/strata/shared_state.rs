//! What all threads of a search share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dally_core::report::CachePolicy;
use dally_core::words::bytes;
use dally_core::{Bug, Cause, Stop, System, panics};
use rustc_hash::FxHashMap;

use super::entry::Entry;
use super::frontier::{Frontier, WorkQueue};
use super::plan::{Plan, SearchKind};
use super::search_failure::SearchFailure;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use super::visited::Visited;
use crate::batch::{self, Shared};
use crate::choice_log::ChoiceWriter;
use crate::confirm::RawFinding;
use crate::deadline::{MemoryBudget, MemoryWatch};
use crate::executor::Limits;
use crate::liveness::CycleSearch;

pub(crate) struct SharedState<S: StateSpace, O: TransitionOrder> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) limits: Limits,
    pub(crate) seed: u64,
    pub(crate) visited: S::Visited,
    /// Keeps transitions, and states with them, in a search for cycles.
    pub(crate) log: Option<Arc<CycleSearch>>,
    /// Whether a state counts as visited only together with its order of transitions.
    pub(crate) with_order: bool,
    pub(crate) exact: bool,
    /// Whether visited states may be forgotten: then paths are kept from going in circles.
    pub(crate) partial: bool,
    pub(crate) root: AtomicU64,
    pub(crate) frontier: Box<dyn Frontier<Entry<S, O>>>,
    pub(crate) memory: u64,
    budget: MemoryBudget,
    /// The growth of the process when it became too large.
    overgrown: AtomicU64,
    visible_hashes: Mutex<FxHashMap<u64, u64>>,
    pub(crate) progress: Progress,
    pub(crate) asked: ProgressRequests,
    bugs: Mutex<Vec<FoundBug>>,
    fault: Mutex<Option<SearchFailure>>,
    full: AtomicBool,
    /// Whether threads that stop put their unfinished work on the frontier.
    pub(crate) keeps_unfinished: bool,
    pub(crate) inputs: AtomicBool,
    /// Whether bugs are not reported, since another search has found them.
    pub(crate) ignores_bugs: bool,
}

/// What all threads have counted so far. All of them write here now and then, so it has cache lines
/// of its own: threads that read constant fields do not wait for these writes.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Progress {
    states: AtomicU64,
    transitions: AtomicU64,
    pub(crate) frontier_bytes: AtomicU64,
    stack_bytes: AtomicU64,
}

/// How often the supervisor has asked all threads for their progress. Threads read it before each
/// transition, so that slow ones answer too; it is written seldom, so reading it is cheap.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct ProgressRequests(AtomicU64);

impl ProgressRequests {
    pub(crate) fn ask(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn times(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The cause of a bug, and the bug itself if it is the first of its cause.
pub(crate) type FoundBug = (Cause, Option<Box<RawFinding>>);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ThreadCounters {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    /// Executions that came to their own end; all of those that were sampled.
    pub(crate) executions: u64,
    pub(crate) samples: u64,
    /// States from which the step bound kept the search from going on.
    pub(crate) cut: u64,
    pub(crate) sealed: u64,
    pub(crate) deepest: usize,
    /// Whether a path came back to one of its own states.
    pub(crate) cyclic: bool,
    /// States and transitions that the progress already has.
    told: (u64, u64),
}

impl ThreadCounters {
    pub(crate) fn add(&mut self, other: &ThreadCounters) {
        self.states += other.states;
        self.transitions += other.transitions;
        self.executions += other.executions;
        self.samples += other.samples;
        self.cut += other.cut;
        self.sealed += other.sealed;
        self.deepest = self.deepest.max(other.deepest);
        self.cyclic |= other.cyclic;
    }

    /// How many transitions the progress does not have yet.
    pub(crate) fn untold(&self) -> u64 {
        self.transitions - self.told.1
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: StateSpace, O: TransitionOrder> SharedState<S, O> {
    pub(crate) fn new(plan: &Plan, seed: u64, threads: usize, shared: Arc<Shared>) -> Self {
        SharedState {
            limits: shared.description.limits,
            shared,
            seed,
            visited: S::visited(plan, threads),
            log: None,
            with_order: plan.with_explorer,
            exact: plan.exact,
            partial: plan.cache != CachePolicy::All,
            root: AtomicU64::new(0),
            frontier: Box::new(WorkQueue::default()),
            memory: plan.memory,
            budget: MemoryBudget::new(plan.memory),
            overgrown: AtomicU64::new(0),
            visible_hashes: Mutex::default(),
            progress: Progress::default(),
            asked: ProgressRequests::default(),
            bugs: Mutex::default(),
            fault: Mutex::default(),
            full: AtomicBool::new(false),
            keeps_unfinished: plan.keep_frontier || plan.search == SearchKind::Hybrid,
            inputs: AtomicBool::new(false),
            ignores_bugs: false,
        }
    }

    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        self.shared.halt.load(Ordering::Relaxed)
    }

    pub(crate) fn stop(&self) {
        self.shared.halt.store(true, Ordering::Relaxed);
    }

    pub(crate) fn resume(&self) {
        self.shared.halt.store(false, Ordering::Relaxed);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.shares().iter().sum()
    }

    /// The bytes of visited states, of the frontier, and of stacks.
    fn shares(&self) -> [u64; 3] {
        let visible_hashes = (lock(&self.visible_hashes).capacity() * 17) as u64;
        let visited =
            self.visited.bytes() + self.log.as_ref().map_or(0, |log| log.bytes()) + visible_hashes;
        let [frontier, stacks] = [&self.progress.frontier_bytes, &self.progress.stack_bytes]
            .map(|bytes| bytes.load(Ordering::Relaxed));
        [visited, frontier, stacks]
    }

    /// What the memory was full of, in words.
    pub(crate) fn fullness(&self) -> String {
        let what = if self.log.is_some() { "states and transitions" } else { "visited states" };
        let grow = if self.full.load(Ordering::Relaxed) { " and had no room to grow" } else { "" };
        let [visited, frontier, stacks] = self.shares().map(bytes);
        let overgrown = match self.overgrown.load(Ordering::Relaxed) {
            0 => String::new(),
            all => format!("the process grew by {}, by Dally's count ", bytes(all)),
        };
        let grow = if overgrown.is_empty() { grow } else { "" };
        format!(
            "The memory of {} was full: {overgrown}{what} took {visited}{grow}, the frontier \
             {frontier}, stacks {stacks}. Raise it with `--memory`, `memory` of a test or `DALLY_MEMORY`.",
            bytes(self.memory),
        )
    }

    pub(crate) fn stack_grows(&self, bytes: usize) {
        self.progress.stack_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed) || self.bytes() > self.memory
    }

    /// Whether nine tenths of the memory are used up.
    pub(crate) fn is_nearly_full(&self) -> bool {
        self.full.load(Ordering::Relaxed) || self.bytes() > self.memory / 10 * 9
    }

    /// Stops the search if the process has grown by more than searches may take.
    pub(crate) fn look_at_memory(&self, watch: &mut MemoryWatch, transitions: u64) {
        if let Some(grown) = watch.is_full(&self.budget, transitions) {
            self.overgrown.store(grown, Ordering::Relaxed);
            self.memory_is_full();
        }
    }

    /// Stops the search because its memory is used up.
    pub(crate) fn memory_is_full(&self) {
        self.full.store(true, Ordering::Relaxed);
        self.stop();
    }

    /// Whether all states of this identity have had this visible hash.
    pub(crate) fn is_visibly_same(&self, identity: u64, visible: u64, new: bool) -> bool {
        let mut visible_hashes = lock(&self.visible_hashes);
        if new {
            visible_hashes.insert(identity, visible);
            return true;
        }
        visible_hashes.get(&identity).is_none_or(|&first| first == visible)
    }

    /// Adds what was counted since the last call to the progress.
    pub(crate) fn progress(&self, counters: &mut ThreadCounters) {
        let (states, transitions) = counters.told;
        counters.told = (counters.states, counters.transitions);
        self.progress.states.fetch_add(counters.states - states, Ordering::Relaxed);
        self.progress.transitions.fetch_add(counters.transitions - transitions, Ordering::Relaxed);
    }

    /// Counts a sampled execution of so many steps.
    pub(crate) fn sampled(&self, steps: usize) {
        self.shared.schedules.fetch_add(1, Ordering::Relaxed);
        self.shared.steps.fetch_add(steps as u64, Ordering::Relaxed);
    }

    pub(crate) fn reached(&self) -> (u64, u64) {
        let Progress { states, transitions, .. } = &self.progress;
        (states.load(Ordering::Relaxed), transitions.load(Ordering::Relaxed))
    }

    /// Reports a bug, to which the choices in the log lead. If it is a loop, they lead once round
    /// it, and `stem` steps of workers lead to it.
    pub(crate) fn found(&self, bug: Bug, stem: Option<usize>, writer: &ChoiceWriter) {
        if self.ignores_bugs {
            return;
        }
        let mut bugs = lock(&self.bugs);
        if !self.shared.keep_going && !bugs.is_empty() {
            // Another thread or loop was first, and one bug is enough.
            return;
        }
        let cause = bug.cause();
        let number = match self.shared.schedules.load(Ordering::Relaxed) {
            0 => self.progress.states.load(Ordering::Relaxed).saturating_sub(1),
            sampled => sampled,
        };
        let raw = RawFinding { stem, searched: true, ..RawFinding::new(bug, number) };
        let raw = batch::keep(raw, writer, &self.shared);
        bugs.push((cause, raw));
        if !self.shared.keep_going {
            self.stop();
        }
    }

    pub(crate) fn has_bugs(&self) -> bool {
        !lock(&self.bugs).is_empty()
    }

    pub(crate) fn take_bugs(&self) -> Vec<FoundBug> {
        std::mem::take(&mut *lock(&self.bugs))
    }

    /// Ends the search for this reason, unless it ends for another.
    pub(crate) fn fault(&self, fault: SearchFailure) {
        lock(&self.fault).get_or_insert(fault);
        self.stop();
    }

    pub(crate) fn has_fault(&self) -> bool {
        lock(&self.fault).is_some()
    }

    pub(crate) fn take_fault(&self) -> Option<SearchFailure> {
        lock(&self.fault).take()
    }

    /// Whether the program has sealed this state. If its code panics, the search ends.
    pub(crate) fn is_sealed(&self, system: &impl System, writer: &ChoiceWriter) -> bool {
        match panics::catch(|| system.sealed()) {
            Ok(sealed) => sealed,
            Err(Stop::Bug(bug)) => {
                self.fault(SearchFailure::Seal { bug, choices: writer.choices() });
                false
            }
            Err(Stop::Cut) => false,
        }
    }
}
