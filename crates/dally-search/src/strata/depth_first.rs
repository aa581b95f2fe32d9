//! Bounded depth-first search from one entry, which all searches by strata are made of (Desai,
//! Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive Systems", Fig. 5,
//! `DelayBoundedDFS`), with an explicit stack.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dally_core::{Bug, System};
use rustc_hash::FxHashSet;

use super::entry::{Entry, NextTransition, Offered, Value};
use super::explorer_on_path::StepSummary;
use super::frame::Frame;
use super::identity::identity_of;
use super::look_ahead::LookAhead;
use super::shared_state::{SharedState, ThreadCounters};
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use super::visited::Visited;
use crate::choice_log::{Activity, ChoiceWriter};

/// One thread's part in a search: a live state, and the stack of states that led there.
pub(crate) struct DepthFirstWorker<S: StateSpace, O: TransitionOrder> {
    pub(super) shared_state: Arc<SharedState<S, O>>,
    pub(super) slot: <S::Visited as Visited>::Slot,
    pub(super) space: S,
    pub(super) writer: ChoiceWriter,
    /// The stack, of which the first `depth` count; the memory of the others is used again.
    pub(super) frames: Vec<Frame<S, O>>,
    pub(super) depth: usize,
    /// Whether the live state is the one on top of the stack.
    pub(super) at_top: bool,
    /// Whether transitions are tried before they are taken.
    pub(super) looks_ahead: bool,
    /// After how many transitions to look next whether other threads need work.
    share_at: u64,
    /// How many requests for its progress it has answered.
    answered: u64,
    /// The identities of the states on the path, where not all visited states are remembered.
    on_path: FxHashSet<u64>,
    pub(super) summary: StepSummary,
    /// An order that is no longer used; the next one is made in its memory.
    pub(super) spare: Option<O>,
    /// What is left for the next stratum.
    pub(super) frontier: Vec<Box<Entry<S, O>>>,
    pub(super) counters: ThreadCounters,
}

/// What to do next.
pub(super) enum Pick {
    /// Take the transition that the frame on top stands before.
    Step,
    /// Leave the state on top.
    Done,
    /// The explorer is not sound.
    Unsound,
}

/// How many transitions are taken between two looks at whether other threads need work.
const SHARE_EVERY: u64 = 64;

/// How many transitions are taken before the thread reports its progress unasked. All threads write
/// it to the same cache line, so they do it seldom.
const TELL_EVERY: u64 = 1024;

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
            share_at: 0,
            answered: 0,
            on_path: FxHashSet::default(),
            summary: StepSummary::default(),
            spare: None,
            frontier: Vec::new(),
            counters: ThreadCounters::default(),
        };
        searcher.looks_ahead = searcher.can_look_ahead();
        searcher
    }

    /// The first state as an entry; a program that fails to start is a bug.
    pub(crate) fn first(&mut self, mut order: O) -> Result<Box<Entry<S, O>>, Bug> {
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
        self.writer.now(Activity::Nothing);
        Ok(Box::new(Entry {
            snapshot: self.space.snapshot(&self.writer),
            order,
            enabled,
            cost: 0,
            next: NextTransition::Worker(0),
            offered: Offered::default(),
            ahead: LookAhead::default(),
            sealed,
            prefix: None,
            identity,
            node,
            bytes: 0,
        }))
    }

    /// Takes entries from the queue, and goes through all that can be reached from them at no more
    /// than `bound`, until there is nothing left.
    pub(crate) fn search_within(&mut self, bound: u32) {
        let shared_state = self.shared_state.clone();
        while let Some(entry) = shared_state.frontier.take(&|| shared_state.is_halted()) {
            shared_state.frontier_bytes.fetch_sub(entry.bytes as u64, Ordering::Relaxed);
            self.resume(*entry);
            self.writer.now(Activity::Stepping);
            self.descend(i64::from(bound));
            // A thread that waits for work is not stuck in a step.
            self.writer.now(Activity::Nothing);
            shared_state.frontier.done();
        }
    }

    /// What is left for the next stratum, and what was counted since the last time.
    pub(crate) fn results(&mut self) -> (Vec<Box<Entry<S, O>>>, ThreadCounters) {
        self.shared_state.progress(&mut self.counters);
        self.share_at = 0;
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
            if self.counters.transitions >= self.share_at {
                self.share_at = (self.counters.transitions / SHARE_EVERY + 1) * SHARE_EVERY;
                if self.counters.untold() >= TELL_EVERY {
                    self.shared_state.progress(&mut self.counters);
                }
                if self.shared_state.frontier.has_idle_threads() {
                    self.share_work(bound);
                }
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

    /// Puts the state of an entry on the empty stack.
    fn resume(&mut self, entry: Entry<S, O>) {
        self.writer.continue_from(entry.prefix.clone());
        if self.shared_state.partial {
            self.on_path.clear();
            self.on_path.insert(self.shared_state.root.load(Ordering::Relaxed));
            let steps = entry.prefix.iter().flat_map(|prefix| prefix.steps());
            self.on_path.extend(steps.map(|step| step.identity));
        }
        let frame = Frame::of(entry, self.writer.len());
        if self.frames.is_empty() {
            self.frames.push(frame);
        } else {
            self.spare = Some(std::mem::replace(&mut self.frames[0], frame).order);
        }
        self.depth = 1;
        self.at_top = false;
    }

    /// Moves on to the next transition of the state on top; what costs too much is put on the
    /// frontier.
    pub(super) fn pick(&mut self, bound: i64) -> Pick {
        let top = self.depth - 1;
        let frame = &mut self.frames[top];
        if std::mem::take(&mut frame.ready) {
            return Pick::Step;
        }
        while frame.values.len() > frame.fixed
            && let Some(&Value { index, of }) = frame.values.last()
        {
            if index + 1 >= of || frame.sealed {
                frame.values.pop();
                continue;
            }
            let transition_cost = frame.transition_cost() + O::VALUE;
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
        let transition_cost = frame.cost + frame.order.cost(frame.next, &frame.enabled);
        if i64::from(transition_cost) > bound {
            let next = NextTransition::Worker(frame.next);
            self.postpone(top, next, true);
            return Pick::Done;
        }
        let offer = frame.order.offer(frame.next, &frame.enabled);
        let place = offer.and_then(|worker| match frame.enabled.get(frame.next as usize) {
            // Most orders offer workers nearly in the order of ids, so this guess is often right.
            Some(&same) if same == worker => Some(frame.next as usize),
            _ => worker.place_in(&frame.enabled).ok(),
        });
        match (offer, place) {
            (Some(worker), Some(place)) if frame.offered.add(place) => {
                frame.next += 1;
                (frame.worker, frame.place, frame.base) = (worker, place, transition_cost);
                Pick::Step
            }
            _ => {
                let (offered, order) = (frame.offered, frame.order.clone());
                if self.at_top || self.return_to_top() {
                    self.unsound(offer, offered, &order);
                }
                Pick::Unsound
            }
        }
    }

    /// Looks at the state that a step has led to, and goes on from there if it is new.
    pub(super) fn arrive(&mut self) {
        let depth = self.depth;
        if self.frames.len() == depth {
            let blank = Frame::blank(self.frames[depth - 1].order.clone());
            self.shared_state.stack_grows(size_of::<Frame<S, O>>() + self.space.snapshot_bytes());
            self.frames.push(blank);
        }
        let (below, above) = self.frames.split_at_mut(depth);
        let (parent, child) = (&below[depth - 1], &mut above[0]);
        let with_order = self.shared_state.with_order;
        if with_order {
            child.order.clone_from(&parent.order);
            let (system, before) = (self.space.system(), &parent.enabled);
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
        let (below, above) = self.frames.split_at_mut(depth);
        let (parent, child) = (&below[depth - 1], &mut above[0]);
        if !with_order {
            let system = self.space.system();
            child.order.clone_from(&parent.order);
            child.order.stepped(parent.worker, &parent.enabled, system, &mut self.summary);
        }
        self.space.snapshot_in(&self.writer, &mut child.snapshot);
        let system = self.space.system();
        let enabled = system.enabled();
        child.enabled.clear();
        child.enabled.extend_from_slice(enabled);
        child.sealed = self.shared_state.is_sealed(system, &self.writer);
        (child.next, child.offered) = (0, Offered::default());
        child.end = if child.sealed { 1 } else { enabled.len() as u32 };
        child.cost = parent.transition_cost();
        child.values.clear();
        child.fixed = 0;
        child.ahead.clear();
        (child.path, child.identity, child.prefix) = (length, identity, None);
        child.node = node;
        let sealed = child.sealed;
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
    }

    pub(super) fn pop(&mut self) {
        self.depth -= 1;
        self.log_left(self.frames[self.depth].node);
        self.at_top = false;
        if self.shared_state.partial {
            self.on_path.remove(&self.frames[self.depth].identity);
        }
        if self.looks_ahead {
            self.prepare_to_go_back();
        }
    }
}
