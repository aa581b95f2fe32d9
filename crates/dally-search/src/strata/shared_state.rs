//! What all threads of a search share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dally_core::report::CachePolicy;
use dally_core::words::bytes;
use dally_core::{Bug, Cause, Stop, System, panics};
use rustc_hash::FxHashMap;

use super::entry::Entry;
use super::frontier::{Frontier, WorkQueue};
use super::plan::Plan;
use super::search_failure::SearchFailure;
use super::state_space::StateSpace;
use super::transition_log::TransitionLog;
use super::transition_order::TransitionOrder;
use super::visited::Visited;
use crate::batch::{self, Shared};
use crate::choice_log::ChoiceWriter;
use crate::confirm::RawFinding;
use crate::executor::Limits;

/// What all threads of a search share.
pub(crate) struct SharedState<S: StateSpace, O: TransitionOrder> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) limits: Limits,
    pub(crate) seed: u64,
    pub(crate) visited: S::Visited,
    /// Where transitions are kept, and states with them, if they are.
    pub(crate) log: Option<Arc<dyn TransitionLog>>,
    /// Whether a state counts as visited only together with the order it is left in.
    pub(crate) with_order: bool,
    pub(crate) exact: bool,
    /// Whether visited states may be forgotten: then paths are kept from going in circles.
    pub(crate) partial: bool,
    /// The identity of the first state.
    pub(crate) root: AtomicU64,
    pub(crate) frontier: Box<dyn Frontier<Box<Entry<S, O>>>>,
    /// The bytes of all entries that wait.
    pub(crate) frontier_bytes: AtomicU64,
    /// The bytes of all stacks.
    stack_bytes: AtomicU64,
    memory: u64,
    visible_hashes: Mutex<FxHashMap<u64, u64>>,
    progress: Progress,
    /// How often all threads were asked for their progress.
    pub(crate) asked: ProgressRequests,
    bugs: Mutex<Vec<FoundBug>>,
    fault: Mutex<Option<SearchFailure>>,
    full: AtomicBool,
    keep_unfinished: AtomicBool,
    /// Whether a step asked for an input.
    pub(crate) inputs: AtomicBool,
    /// Whether bugs are not reported: another search has found them already.
    ignores_bugs: bool,
}

/// What all threads have counted so far. All of them write here now and then, so it has cache lines
/// of its own: a thread that reads fields which never change does not wait for these writes.
#[derive(Default)]
#[repr(align(128))]
struct Progress {
    states: AtomicU64,
    transitions: AtomicU64,
}

/// How many times the supervisor has asked all threads for their progress. Threads read it before
/// each transition, so that slow ones answer too; it is written seldom, so reading it is cheap.
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

/// What one thread counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ThreadCounters {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    /// Executions that came to their own end.
    pub(crate) executions: u64,
    /// States from which the step bound kept the search from going on.
    pub(crate) cut: u64,
    pub(crate) sealed: u64,
    /// The most choices that led to a state.
    pub(crate) deepest: usize,
    /// Whether a path came back to one of its own states.
    pub(crate) cyclic: bool,
    /// States and transitions that have been told to the progress already.
    told: (u64, u64),
}

impl ThreadCounters {
    pub(crate) fn add(&mut self, other: &ThreadCounters) {
        self.states += other.states;
        self.transitions += other.transitions;
        self.executions += other.executions;
        self.cut += other.cut;
        self.sealed += other.sealed;
        self.deepest = self.deepest.max(other.deepest);
        self.cyclic |= other.cyclic;
    }

    /// How many transitions have not been told to the progress.
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
            limits: shared.heading.limits,
            shared,
            seed,
            visited: S::visited(plan, threads),
            log: None,
            with_order: plan.with_explorer,
            exact: plan.exact,
            partial: plan.cache != CachePolicy::All,
            root: AtomicU64::new(0),
            frontier: Box::new(WorkQueue::default()),
            frontier_bytes: AtomicU64::new(0),
            stack_bytes: AtomicU64::new(0),
            memory: plan.memory,
            visible_hashes: Mutex::default(),
            progress: Progress::default(),
            asked: ProgressRequests::default(),
            bugs: Mutex::default(),
            fault: Mutex::default(),
            full: AtomicBool::new(false),
            keep_unfinished: AtomicBool::new(false),
            inputs: AtomicBool::new(false),
            ignores_bugs: false,
        }
    }

    /// Has bugs not be reported: another search has found them already.
    pub(crate) fn ignore_bugs(&mut self) {
        self.ignores_bugs = true;
    }

    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        self.shared.halt.load(Ordering::Relaxed)
    }

    /// No thread goes on.
    pub(crate) fn stop(&self) {
        self.shared.halt.store(true, Ordering::Relaxed);
    }

    /// Threads may go on again.
    pub(crate) fn resume(&self) {
        self.shared.halt.store(false, Ordering::Relaxed);
    }

    /// Has threads that stop put what they leave undone on the frontier.
    pub(crate) fn keep_unfinished(&self) {
        self.keep_unfinished.store(true, Ordering::Relaxed);
    }

    pub(crate) fn keeps_unfinished(&self) -> bool {
        self.keep_unfinished.load(Ordering::Relaxed)
    }

    /// Visited states, frontier and stacks in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.shares().iter().sum()
    }

    /// The bytes of visited states, of the frontier, and of stacks.
    fn shares(&self) -> [u64; 3] {
        let visible_hashes = (lock(&self.visible_hashes).capacity() * 17) as u64;
        let visited =
            self.visited.bytes() + self.log.as_ref().map_or(0, |log| log.bytes()) + visible_hashes;
        let [frontier, stacks] =
            [&self.frontier_bytes, &self.stack_bytes].map(|bytes| bytes.load(Ordering::Relaxed));
        [visited, frontier, stacks]
    }

    /// What the memory was full of.
    pub(crate) fn fullness(&self) -> String {
        let what = if self.log.is_some() { "states and transitions" } else { "visited states" };
        let grow = if self.full.load(Ordering::Relaxed) { " and had no room to grow" } else { "" };
        let [visited, frontier, stacks] = self.shares().map(bytes);
        format!(
            "The memory of {} was full: {what} took {visited}{grow}, the frontier {frontier}, \
             stacks {stacks}. Raise it with `--memory`, `memory` of a test or `DALLY_MEMORY`.",
            bytes(self.memory),
        )
    }

    pub(crate) fn stack_grows(&self, bytes: usize) {
        self.stack_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Whether what is kept takes all the memory it may.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed) || self.bytes() > self.memory
    }

    /// Whether it takes nine tenths of the memory it may.
    pub(crate) fn is_nearly_full(&self) -> bool {
        self.full.load(Ordering::Relaxed) || self.bytes() > self.memory / 10 * 9
    }

    /// The visited states no longer fit.
    pub(crate) fn memory_is_full(&self) {
        self.full.store(true, Ordering::Relaxed);
        self.stop();
    }

    /// Whether all states of this identity have looked like this.
    pub(crate) fn is_visibly_same(&self, identity: u64, visible: u64, new: bool) -> bool {
        let mut visible_hashes = lock(&self.visible_hashes);
        if new {
            visible_hashes.insert(identity, visible);
            return true;
        }
        visible_hashes.get(&identity).is_none_or(|&first| first == visible)
    }

    /// Tells the progress what was counted since the last time.
    pub(crate) fn progress(&self, counters: &mut ThreadCounters) {
        let (states, transitions) = counters.told;
        counters.told = (counters.states, counters.transitions);
        self.progress.states.fetch_add(counters.states - states, Ordering::Relaxed);
        self.progress.transitions.fetch_add(counters.transitions - transitions, Ordering::Relaxed);
    }

    /// An execution of so many steps was sampled.
    pub(crate) fn sampled(&self, steps: usize) {
        self.shared.schedules.fetch_add(1, Ordering::Relaxed);
        self.shared.steps.fetch_add(steps as u64, Ordering::Relaxed);
    }

    /// States and transitions so far.
    pub(crate) fn reached(&self) -> (u64, u64) {
        let Progress { states, transitions } = &self.progress;
        (states.load(Ordering::Relaxed), transitions.load(Ordering::Relaxed))
    }

    /// A bug, to which the choices in the choice log lead.
    pub(crate) fn found(&self, bug: Bug, writer: &ChoiceWriter) {
        self.found_with(bug, None, writer);
    }

    /// A loop that can be gone round for ever, once round which the choices in the choice log lead; so
    /// many steps of workers lead to it.
    pub(crate) fn found_loop(&self, bug: Bug, stem: usize, writer: &ChoiceWriter) {
        self.found_with(bug, Some(stem), writer);
    }

    fn found_with(&self, bug: Bug, stem: Option<usize>, writer: &ChoiceWriter) {
        if self.ignores_bugs {
            return;
        }
        let mut bugs = lock(&self.bugs);
        if !self.shared.keep_going && !bugs.is_empty() {
            // Another thread was faster, or another loop was found first, and one is enough.
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

    /// The search cannot go on. The first reason is told.
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

    /// Whether the program has sealed this state, to which the choices in the choice log lead. If its
    /// code does not say so but panics, the search is over.
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
