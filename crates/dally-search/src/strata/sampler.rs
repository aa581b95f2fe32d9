//! Stratified sampling: executions with exactly so many delays, each with a chance of at least one
//! in `L` to the power of its delays (Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous
//! Reactive Systems", Fig. 7).
//!
//! The paper runs an execution to its end, picks one of its positions, and runs it again up to
//! there. Here the position is picked while the execution runs (a reservoir of one) and marked
//! where it is, so nothing runs twice where the system can be copied. Positions at which a delay
//! would change nothing are left out, which only raises the chances of the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dally_core::report::{Ended, Samples, States};
use dally_core::{Program, System, WorkerId, fingerprint};

use super::depth_first::DepthFirstWorker;
use super::entry::{Entry, NextTransition, Offered, Value};
use super::plan::Plan;
use super::search_pool::SearchPool;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use crate::choice_log::Activity;
use crate::options::Reached;
use crate::runner::Run;

/// Samples with one delay, then with two, and so on (Desai, Qadeer and Seshia, "Systematic Testing
/// of Asynchronous Reactive Systems", Fig. 7, `SS`), from these states of a frontier, or else from
/// the first state.
pub(super) fn sample<P: Program + 'static, S: StateSpace, O: TransitionOrder>(
    run: &mut Run<P>,
    pool: &mut SearchPool<S, O>,
    plan: &Plan,
    from: Vec<Box<Entry<S, O>>>,
    order: &O,
    states: &mut States,
) {
    let from_frontier = from.len() as u64;
    pool.start(run, from, order);
    let executions = Arc::new(AtomicU64::new(run.options.schedules));
    let mut drawn = SampleCounters::default();
    // From a frontier, one delay is spent by setting out.
    let mut delays = if from_frontier > 0 { 0 } else { 1 };
    let mut completed = 0;
    while run.ended.is_none() && !pool.shared_state.is_halted() {
        let (c1, c2) = plan.samples;
        let of = c1.saturating_add(c2.saturating_pow(delays)).max(1);
        let (taken, executions) = (AtomicU64::new(0), executions.clone());
        let samples = Arc::new(SampleQuota { delays, of, taken, executions });
        run.reached = Some(Reached { bound: delays, ..run.reached.unwrap_or_default() });
        drawn.add(&pool.sample(run, &samples));
        if samples.executions.load(Ordering::Relaxed) == 0 {
            run.ended = run.ended.or(Some(Ended::Schedules));
        } else if !pool.shared_state.is_halted() {
            completed = delays;
            if delays >= plan.delays.unwrap_or(u32::MAX) {
                run.ended = run.ended.or(Some(Ended::Bound));
            }
        }
        run.check_limits();
        delays += 1;
    }
    states.transitions += drawn.transitions;
    states.executions += drawn.executions;
    states.cut += drawn.cut;
    states.deepest = states.deepest.max(drawn.longest);
    let mut samples = Samples::default();
    samples.samples = drawn.samples;
    samples.executions = drawn.executions;
    samples.delays = completed;
    samples.longest = drawn.longest;
    samples.from_frontier = from_frontier;
    states.samples = Some(samples);
}

/// The samples of one stratum, taken one by one by all threads.
pub(crate) struct SampleQuota {
    /// The delays of each.
    pub(crate) delays: u32,
    /// How many there are, and how many have been taken.
    pub(crate) of: u64,
    pub(crate) taken: AtomicU64,
    /// How many executions may still be run, by all strata together.
    pub(crate) executions: Arc<AtomicU64>,
}

impl SampleQuota {
    /// The number of the next sample that no thread has taken.
    fn take(&self) -> Option<u64> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        (number < self.of && self.executions.load(Ordering::Relaxed) > 0).then_some(number)
    }

    /// One more execution was run.
    fn ran(&self) {
        let less = |left: u64| left.checked_sub(1);
        let _ = self.executions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

/// What sampling counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SampleCounters {
    pub(crate) samples: u64,
    pub(crate) executions: u64,
    pub(crate) transitions: u64,
    /// Executions that the step bound ended.
    pub(crate) cut: u64,
    pub(crate) longest: usize,
}

impl SampleCounters {
    pub(crate) fn add(&mut self, other: &SampleCounters) {
        self.samples += other.samples;
        self.executions += other.executions;
        self.transitions += other.transitions;
        self.cut += other.cut;
        self.longest = self.longest.max(other.longest);
    }
}

/// A state from which samples start.
pub(crate) struct SampleStart<S: StateSpace, O: TransitionOrder> {
    entry: Box<Entry<S, O>>,
    /// Whether it is the first state: then the explorer starts anew for each sample.
    first: bool,
}

impl<S: StateSpace, O: TransitionOrder> SampleStart<S, O> {
    /// The first state of the program.
    pub(crate) fn first(entry: Box<Entry<S, O>>) -> SampleStart<S, O> {
        SampleStart { entry, first: true }
    }

    /// A state of a frontier.
    pub(crate) fn frontier(entry: Box<Entry<S, O>>) -> SampleStart<S, O> {
        SampleStart { entry, first: false }
    }
}

/// A transition about to be taken, at a position where a delay may land.
struct SamplePosition<S: StateSpace, O: TransitionOrder> {
    snapshot: Option<S::Snapshot>,
    /// After the worker was offered.
    order: O,
    enabled: Vec<WorkerId>,
    /// How many workers were put off at this state.
    index: u32,
    offered: Offered,
    sealed: bool,
    worker: WorkerId,
    /// Its values as far as they are decided: the last of them is the position, if there is one.
    values: Vec<Value>,
    path: usize,
}

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Draws samples until all are taken.
    pub(crate) fn draw(
        &mut self,
        starts: &[SampleStart<S, O>],
        samples: &SampleQuota,
    ) -> SampleCounters {
        let mut drawn = SampleCounters::default();
        self.writer.now(Activity::Stepping);
        while !starts.is_empty() && !self.shared_state.is_halted() {
            let Some(number) = samples.take() else { break };
            let salt = fingerprint::mix(u64::from(samples.delays), number);
            let seed = fingerprint::mix(self.shared_state.seed, salt);
            let mut rng = fastrand::Rng::with_seed(seed);
            let start = &starts[rng.usize(..starts.len())];
            self.sample(start, seed, samples, &mut rng, &mut drawn);
            drawn.samples += 1;
        }
        self.writer.now(Activity::Nothing);
        drawn
    }

    fn sample(
        &mut self,
        start: &SampleStart<S, O>,
        seed: u64,
        samples: &SampleQuota,
        rng: &mut fastrand::Rng,
        drawn: &mut SampleCounters,
    ) {
        let Some(mut position) = self.set_out(start, seed) else { return };
        let mut delays = 0;
        loop {
            let chosen = self.follow(position, rng, drawn);
            drawn.executions += 1;
            drawn.longest = drawn.longest.max(self.writer.len());
            samples.ran();
            self.shared_state.sampled(self.writer.len());
            if delays == samples.delays || self.shared_state.is_halted() {
                return;
            }
            let Some(next) = chosen.and_then(|position| self.delay(position)) else { return };
            position = next;
            delays += 1;
        }
    }

    /// Goes to where a sample starts, and stands before its first transition.
    fn set_out(&mut self, start: &SampleStart<S, O>, seed: u64) -> Option<SamplePosition<S, O>> {
        let Entry { snapshot, order, enabled, next, offered, sealed, prefix, .. } = &*start.entry;
        self.leave();
        self.writer.continue_from(prefix.clone());
        let mut position = SamplePosition {
            snapshot: Some(S::copy(snapshot)),
            order: order.clone(),
            enabled: enabled.clone(),
            index: 0,
            offered: *offered,
            sealed: *sealed,
            worker: WorkerId::FAULTS,
            values: Vec::new(),
            path: self.writer.len(),
        };
        if !self.go_to(position.snapshot.as_ref()?) {
            return None;
        }
        if start.first {
            position.order.begin(self.space.system(), seed);
        }
        match next {
            NextTransition::Worker(index) => {
                position.index = *index;
                self.offer(&mut position).then_some(position)
            }
            NextTransition::Values(index, worker, values) => {
                (position.index, position.worker) = (*index, *worker);
                position.values.clone_from(values);
                Some(position)
            }
        }
    }

    /// Spends one more delay at a position, and goes there.
    fn delay(&mut self, mut position: SamplePosition<S, O>) -> Option<SamplePosition<S, O>> {
        self.leave();
        self.writer.truncate(position.path);
        if !self.go_to(position.snapshot.as_ref()?) {
            return None;
        }
        match position.values.last_mut() {
            Some(last) => last.index += 1,
            None => {
                position.index += 1;
                if !self.offer(&mut position) {
                    return None;
                }
            }
        }
        Some(position)
    }

    /// Asks the explorer for the transition of the position's index; `false` if it is not sound.
    fn offer(&mut self, position: &mut SamplePosition<S, O>) -> bool {
        if position.enabled.is_empty() {
            return false;
        }
        let offer = position.order.offer(position.index, &position.enabled);
        let place = offer.and_then(|worker| worker.place_in(&position.enabled).ok());
        if let (Some(worker), Some(place)) = (offer, place)
            && position.offered.add(place)
        {
            position.worker = worker;
            return true;
        }
        self.unsound(offer, position.offered, &position.order);
        false
    }

    /// Runs an execution to its end in the explorer's own order, from a transition that is about
    /// to be taken at the live state. Picks one of the positions on the way, each with the
    /// same chance, the first among them.
    fn follow(
        &mut self,
        first: SamplePosition<S, O>,
        rng: &mut fastrand::Rng,
        drawn: &mut SampleCounters,
    ) -> Option<SamplePosition<S, O>> {
        // Positions before the one of the last delay do not count.
        let mut skip = first.values.len();
        let mut positions = 0;
        let (mut position, mut chosen, mut spare) = (first, None, None);
        loop {
            let mut values = std::mem::take(&mut position.values);
            let stepped = self.take(position.worker, &mut values);
            drawn.transitions += 1;
            let pick = position.pick(&values, skip, &mut positions, rng);
            values.truncate(pick.unwrap_or(0));
            position.values = values;
            let next = if stepped { self.arrive_by(&position, spare.take(), drawn) } else { None };
            let unused = if pick.is_some() { chosen.replace(position) } else { Some(position) };
            spare = unused;
            match next {
                Some(next) => position = next,
                None => return chosen,
            }
            skip = 0;
        }
    }

    /// The transition that comes next at the state that a step has led to, if there is one. It is
    /// made in the memory of an old one.
    fn arrive_by(
        &mut self,
        taken: &SamplePosition<S, O>,
        old: Option<SamplePosition<S, O>>,
        drawn: &mut SampleCounters,
    ) -> Option<SamplePosition<S, O>> {
        if self.shared_state.is_halted() {
            return None;
        }
        let system = self.space.system();
        let enabled = system.enabled();
        if enabled.is_empty() {
            self.at_the_end();
            return None;
        }
        let path = self.writer.len();
        if path >= self.shared_state.limits.max_steps {
            drawn.cut += 1;
            self.at_the_bound();
            return None;
        }
        let mut next = match old {
            Some(mut old) => {
                old.order.clone_from(&taken.order);
                old
            }
            None => SamplePosition {
                snapshot: None,
                order: taken.order.clone(),
                enabled: Vec::new(),
                index: 0,
                offered: Offered::default(),
                sealed: false,
                worker: taken.worker,
                values: Vec::new(),
                path,
            },
        };
        next.order.stepped(taken.worker, &taken.enabled, system, &mut self.summary);
        next.enabled.clear();
        next.enabled.extend_from_slice(enabled);
        next.sealed = self.shared_state.is_sealed(system, &self.writer);
        self.space.snapshot_in(&self.writer, &mut next.snapshot);
        next.values.clear();
        (next.index, next.offered, next.path) = (0, Offered::default(), path);
        self.offer(&mut next).then_some(next)
    }
}

impl<S: StateSpace, O: TransitionOrder> SamplePosition<S, O> {
    /// Draws among the positions of this step, of which the first `skip` do not count: 0 is its
    /// worker, `n` its `n`-th value. `positions` is how many there have been before.
    fn pick(
        &self,
        values: &[Value],
        skip: usize,
        positions: &mut u64,
        rng: &mut fastrand::Rng,
    ) -> Option<usize> {
        if self.sealed {
            return None;
        }
        let at_worker = skip == 0 && (self.index as usize) + 1 < self.enabled.len();
        let at_values = (values.iter().enumerate().skip(skip.saturating_sub(1)))
            .filter(|(_, value)| value.index + 1 < value.of)
            .map(|(place, _)| place + 1);
        let mut pick = None;
        for position in at_worker.then_some(0).into_iter().chain(at_values) {
            *positions += 1;
            if rng.u64(..*positions) == 0 {
                pick = Some(position);
            }
        }
        pick
    }
}
