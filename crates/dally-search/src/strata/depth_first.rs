//! Bounded depth-first search from one entry, which all searches by strata are made of (Desai,
//! Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive Systems", Fig. 5,
//! `DelayBoundedDFS`), with an explicit stack.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dally_core::{Bug, System};
use rustc_hash::FxHashSet;

use super::entry::{Entry, NextTransition, OpenState, Value};
use super::explorer_on_path::StepSummary;
use super::frame::Frame;
use super::identity::identity_of;
use super::sampler::SampleStart;
use super::shared_state::{SharedState, ThreadCounters};
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use super::visited::Visited;
use crate::choice_log::{Activity, ChoiceWriter};
use crate::deadline::MemoryWatch;
use crate::liveness::LogWriter;
use crate::prefix::SparePrefixes;

/// One thread of a search: a live state, and the stack of states that led there.
pub(crate) struct DepthFirstWorker<S: StateSpace, O: TransitionOrder> {
    pub(super) shared_state: Arc<SharedState<S, O>>,
    pub(super) slot: <S::Visited as Visited>::Slot,
    pub(super) space: S,
    pub(super) writer: ChoiceWriter,
    /// The stack is the first `depth` of these; the others are kept for their memory.
    pub(super) frames: Vec<Frame<S, O>>,
    pub(super) depth: usize,
    /// Whether the live state is the one on top of the stack.
    pub(super) at_top: bool,
    pub(super) looks_ahead: bool,
    /// Whether most states will be kept on the frontier.
    keeps_states: bool,
    /// After how many transitions to check next on other threads and the memory.
    look_at: u64,
    memory: MemoryWatch,
    answered: u64,
    /// The identities of the states on the path, if visited states may be forgotten.
    on_path: FxHashSet<u64>,
    pub(super) summary: StepSummary,
    pub(super) log_writer: LogWriter,
    /// Where the last step chose its values, as one hash.
    pub(super) places: u64,
    pub(super) prefixes: SparePrefixes,
    /// Completed states, kept for their memory, and how many bytes they take.
    pub(super) spare: Vec<Entry<S, O>>,
    pub(super) spare_bytes: u64,
    /// Entries that were taken from the frontier, for later.
    taken: VecDeque<Entry<S, O>>,
    /// The entries for the next stratum.
    pub(super) frontier: Vec<Entry<S, O>>,
    /// By how many bytes the frontier has become larger, since all threads were told.
    pub(super) frontier_change: i64,
    pub(super) counters: ThreadCounters,
    /// The states that samples start from.
    pub(super) starts: Vec<SampleStart<S, O>>,
}

pub(super) enum Pick {
    /// Take the next transition of the top frame.
    Step,
    Done,
    Unsound,
}

/// How many transitions are taken between two checks whether other threads need work.
const SHARE_EVERY: u64 = 64;

/// The transitions between unasked progress reports, which all threads write to one cache line.
const TELL_EVERY: u64 = 1024;

/// Which part of the memory completed states may take that are kept for theirs: many states of a
/// stratum are completed before others become new.
const SPARE: u64 = 32;

/// How many entries a thread takes from the frontier at once.
const BATCH: usize = 8;

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    pub(crate) fn new(
        shared_state: Arc<SharedState<S, O>>,
        space: S,
        writer: ChoiceWriter,
    ) -> DepthFirstWorker<S, O> {
        let mut searcher = DepthFirstWorker {
            slot: shared_state.visited.slot(),
            shared_state,
            space,
            writer,
            frames: Vec::new(),
            depth: 0,
            at_top: false,
            looks_ahead: false,
            keeps_states: false,
            look_at: 0,
            memory: MemoryWatch::default(),
            answered: 0,
            on_path: FxHashSet::default(),
            summary: StepSummary::default(),
            log_writer: LogWriter::default(),
            places: 0,
            prefixes: SparePrefixes::default(),
            spare: Vec::new(),
            spare_bytes: 0,
            taken: VecDeque::new(),
            frontier: Vec::new(),
            frontier_change: 0,
            counters: ThreadCounters::default(),
            starts: Vec::new(),
        };
        searcher.looks_ahead = searcher.can_look_ahead();
        searcher
    }

    /// The first state as an entry, or the bug of a program that fails to start.
    pub(crate) fn first(&mut self, mut order: O) -> Result<Entry<S, O>, Bug> {
        self.writer.rewind(0);
        self.space.start(&mut self.writer)?;
        let system = self.space.system();
        order.begin(system, self.shared_state.seed);
        let enabled = system.enabled().to_vec();
        let identity = self.identity(&order);
        let node = self.log_first(identity);
        if node.is_none() {
            self.remember(identity);
        }
        self.counters.states += 1;
        let sealed = self.shared_state.is_sealed(self.space.system(), &self.writer);
        if enabled.is_empty() {
            self.at_the_end();
        } else {
            self.counters.sealed += u64::from(sealed);
        }
        let node = node.unwrap_or_default();
        if sealed {
            self.log_gap(node);
        }
        self.writer.now(Activity::Nothing);
        let snapshot = Some(self.space.snapshot(&self.writer));
        let state =
            OpenState { snapshot, enabled, sealed, identity, node, ..OpenState::blank(order) };
        Ok(Box::new(state))
    }

    /// Takes entries from the frontier and searches from them within `bound`, until none is left.
    pub(crate) fn search_within(&mut self, bound: u32) {
        let shared_state = self.shared_state.clone();
        self.keeps_states = bound < u32::MAX;
        while let Some(entry) = self.next_entry() {
            self.frontier_change -= entry.bytes as i64;
            self.resume(entry, i64::from(bound));
            self.writer.now(Activity::Stepping);
            self.descend(i64::from(bound));
            // A thread that waits for work is not stuck in a step.
            self.writer.now(Activity::Nothing);
            shared_state.frontier.done();
        }
        self.tell_frontier_bytes();
    }

    /// The next entry of the frontier. Several are taken at once, so that memory is brought before it
    /// is needed: an entry has long left all caches.
    fn next_entry(&mut self) -> Option<Entry<S, O>> {
        let shared_state = self.shared_state.clone();
        if shared_state.is_halted() {
            for entry in self.taken.drain(..) {
                shared_state.frontier.push(entry);
                shared_state.frontier.done();
            }
        }
        let entry = match self.taken.pop_front() {
            Some(entry) => entry,
            None => shared_state.frontier.take(&|| shared_state.is_halted())?,
        };
        if self.taken.len() < BATCH {
            let before = self.taken.len();
            shared_state.frontier.take_more(BATCH, &mut self.taken);
            if before == 0 {
                self.taken.iter().take(BATCH / 2).for_each(|entry| entry.prefetch());
            }
        }
        if let Some(later) = self.taken.get(BATCH / 2) {
            later.prefetch();
        }
        if let Some(soon) = self.taken.get(BATCH / 4) {
            soon.prefetch_parts();
        }
        if let Some(next) = self.taken.get(1) {
            self.prefetch_targets(next);
        }
        Some(entry)
    }

    /// The entries for the next stratum, and what was counted since the last call.
    pub(crate) fn results(&mut self) -> (Vec<Entry<S, O>>, ThreadCounters) {
        self.shared_state.progress(&mut self.counters);
        (self.look_at, self.memory) = (0, MemoryWatch::default());
        (std::mem::take(&mut self.frontier), std::mem::take(&mut self.counters))
    }

    fn descend(&mut self, bound: i64) {
        while self.depth > 0 {
            if self.shared_state.is_halted() {
                self.abandon_stack();
                return;
            }
            if self.looks_ahead {
                self.pass_over(bound);
            }
            if self.counters.transitions >= self.look_at {
                self.look_around(bound);
            }
            let asked = self.shared_state.asked.times();
            if asked != self.answered {
                self.answered = asked;
                self.shared_state.progress(&mut self.counters);
            }
            match self.pick(bound) {
                Pick::Step => self.step(),
                Pick::Done => self.pop(),
                Pick::Unsound => self.abandon_stack(),
            }
        }
    }

    /// Checks whether other threads need work, and whether there is memory left.
    fn look_around(&mut self, bound: i64) {
        let transitions = self.counters.transitions;
        if self.counters.untold() >= TELL_EVERY {
            self.shared_state.progress(&mut self.counters);
        }
        if self.frontier_change != 0 {
            self.tell_frontier_bytes();
        }
        if self.shared_state.frontier.has_idle_threads() {
            self.share_work(bound);
        }
        if transitions >= self.memory.at {
            self.shared_state.look_at_memory(&mut self.memory, transitions);
        }
        let share_at = (transitions / SHARE_EVERY + 1) * SHARE_EVERY;
        self.look_at = share_at.min(self.memory.at);
    }

    /// Puts the state of an entry on the empty stack. If all its transitions within the bound lead
    /// to visited states, the search does not return to the state.
    fn resume(&mut self, entry: Entry<S, O>, bound: i64) {
        let frame = Frame::of(entry);
        if self.frames.is_empty() {
            self.frames.push(frame);
        } else {
            let Frame { mut state, .. } = std::mem::replace(&mut self.frames[0], frame);
            self.prefixes.recycle(state.prefix.take());
            state.bytes = state.bytes.max(size_of::<OpenState<S, O>>());
            let bytes = self.spare_bytes + state.bytes as u64;
            if bytes <= self.shared_state.memory / SPARE {
                self.spare_bytes = bytes;
                self.spare.push(state);
            }
        }
        self.depth = 1;
        self.at_top = false;
        let expected = self.expect_visited(0);
        self.log_visited(0, expected);
        self.pass_over_visited(0, bound);
        let frame = &self.frames[0];
        if !frame.ready && !frame.has_next_within(bound) {
            return;
        }
        let prefix = frame.state.prefix.clone();
        if self.shared_state.partial {
            self.on_path.clear();
            self.on_path.insert(self.shared_state.root.load(Ordering::Relaxed));
            let steps = prefix.iter().flat_map(|prefix| prefix.steps());
            self.on_path.extend(steps.map(|step| step.identity));
        }
        let before = self.writer.continue_from(prefix);
        self.prefixes.recycle(before);
    }

    /// Moves on to the next transition of the state on top; too costly ones go to the frontier.
    pub(super) fn pick(&mut self, bound: i64) -> Pick {
        let top = self.depth - 1;
        let frame = &mut self.frames[top];
        if std::mem::take(&mut frame.ready) {
            return Pick::Step;
        }
        while frame.values.len() > frame.fixed
            && let Some(&Value { index, of }) = frame.values.last()
        {
            if index + 1 >= of || frame.state.sealed {
                frame.values.pop();
                continue;
            }
            let transition_cost = frame.transition_cost() + frame.state.order.value_price();
            if let Some(last) = frame.values.last_mut() {
                last.index += 1;
            }
            if i64::from(transition_cost) <= bound {
                return Pick::Step;
            }
            let next = NextTransition::Values(frame.next - 1, frame.worker, frame.values.clone());
            frame.values.pop();
            self.postpone(top, next, false);
            return self.pick(bound);
        }
        if frame.next >= frame.end {
            return Pick::Done;
        }
        if !frame.has_next_within(bound) {
            let next = NextTransition::Worker(frame.next);
            self.postpone(top, next, true);
            return Pick::Done;
        }
        frame.base = frame.state.cost_of(frame.next);
        match frame.state.peek(frame.next) {
            Ok(place) => {
                frame.state.offered.add(place);
                frame.next += 1;
                (frame.worker, frame.place) = (frame.state.enabled[place], place);
                Pick::Step
            }
            Err(offer) => {
                let (offered, order) = (frame.state.offered.clone(), frame.state.order.clone());
                if self.at_top || self.return_to_top() {
                    self.unsound(offer, &offered, &order);
                }
                Pick::Unsound
            }
        }
    }

    /// Goes on from the state that a step has led to if it is new.
    pub(super) fn arrive(&mut self) {
        let depth = self.depth;
        if self.frames.len() == depth {
            let blank = OpenState::blank(self.frames[depth - 1].state.order.clone());
            let bytes = size_of::<Frame<S, O>>() + size_of::<OpenState<S, O>>();
            self.shared_state.stack_grows(bytes + self.space.snapshot_bytes());
            self.frames.push(Frame::of(Box::new(blank)));
        }
        let (below, above) = self.frames.split_at_mut(depth);
        let (parent, child) = (&below[depth - 1], &mut above[0].state);
        let with_order = self.shared_state.with_order;
        if with_order {
            child.order.clone_from(&parent.state.order);
            let (system, before) = (self.space.system(), &parent.state.enabled);
            child.order.stepped(parent.worker, before, system, &mut self.summary);
        }
        let identity = identity_of(&mut self.space, &child.order, with_order);
        if self.shared_state.partial && self.on_path.contains(&identity) {
            self.counters.cyclic = true;
            return;
        }
        let Some(node) = self.is_new(identity) else { return };
        self.counters.states += 1;
        if self.space.system().enabled().is_empty() {
            self.log_left(node);
            return self.at_the_end();
        }
        let length = self.writer.len();
        if length >= self.shared_state.limits.max_steps {
            self.log_left(node);
            return self.at_the_bound();
        }
        let child = &mut *self.frames[depth].state;
        let system = self.space.system();
        child.enabled.clear();
        child.enabled.extend_from_slice(system.enabled());
        child.sealed = self.shared_state.is_sealed(system, &self.writer);
        child.forget_offers();
        child.ahead.clear();
        let looks_at_once = self.looks_at_once(depth);
        if looks_at_once {
            // What tells whether the targets were visited is brought while the rest is done.
            self.foresee_all(depth);
        }
        if !with_order {
            let (below, above) = self.frames.split_at_mut(depth);
            let (parent, child) = (&below[depth - 1], &mut *above[0].state);
            let system = self.space.system();
            child.order.clone_from(&parent.state.order);
            child.order.stepped(parent.worker, &parent.state.enabled, system, &mut self.summary);
        }
        let expected = if looks_at_once { self.expect_visited(depth) } else { 0 };
        let (below, above) = self.frames.split_at_mut(depth);
        let (parent, frame) = (&below[depth - 1], &mut above[0]);
        let child = &mut *frame.state;
        self.space.snapshot_in(&self.writer, &mut child.snapshot, self.keeps_states);
        child.cost = parent.transition_cost();
        (child.path, child.identity) = (length, identity);
        self.prefixes.recycle(child.prefix.take());
        (child.node, child.bytes) = (node, 0);
        let sealed = child.sealed;
        (frame.next, frame.end) = (0, if sealed { 1 } else { child.enabled.len() as u32 });
        frame.values.clear();
        (frame.fixed, frame.ready) = (0, false);
        self.counters.sealed += u64::from(sealed);
        self.counters.deepest = self.counters.deepest.max(length);
        if self.shared_state.partial {
            self.on_path.insert(identity);
        }
        self.depth += 1;
        self.at_top = true;
        if sealed {
            self.log_gap(node);
        }
        if looks_at_once {
            self.log_visited(depth, expected);
        }
    }

    pub(super) fn pop(&mut self) {
        self.depth -= 1;
        self.log_left(self.frames[self.depth].state.node);
        self.at_top = false;
        if self.shared_state.partial {
            self.on_path.remove(&self.frames[self.depth].state.identity);
        }
        if self.looks_ahead {
            self.prepare_to_go_back();
        }
    }
}
