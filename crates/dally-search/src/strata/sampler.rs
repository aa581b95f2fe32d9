//! Stratified sampling: executions with exactly so many delays, each with a chance of at least one
//! in `L` to the power of its delays (Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous
//! Reactive Systems", Fig. 7).
//!
//! The paper runs an execution to its end, picks one of its positions, and runs it again up to
//! there. Here the position is picked while the execution runs (a reservoir of one) and a snapshot
//! is kept, so nothing runs twice where the system can be copied. Positions at which a delay would
//! change nothing are left out, which only raises the chances of the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dally_core::report::{Ended, Samples, States};
use dally_core::{Program, System, WorkerId, fingerprint};

use super::depth_first::DepthFirstWorker;
use super::entry::{Entry, NextTransition, OpenState, Value};
use super::plan::Plan;
use super::search_pool::SearchPool;
use super::shared_state::ThreadCounters;
use super::state_space::StateSpace;
use super::states::add;
use super::transition::Taken;
use super::transition_order::TransitionOrder;
use crate::choice_log::Activity;
use crate::options::Reached;
use crate::runner::Run;

/// Samples with one delay, then two, and so on (Fig. 7, `SS`), from these states or the first one.
pub(super) fn sample<P: Program + 'static, S: StateSpace, O: TransitionOrder>(
    run: &mut Run<P>,
    pool: &mut SearchPool<S, O>,
    plan: &Plan,
    from: Vec<Entry<S, O>>,
    order: &O,
    states: &mut States,
) {
    let from_frontier = from.len() as u64;
    let threads = pool.size().max(1);
    let mut shares: Vec<_> = (0..threads).map(|_| (from_frontier > 0).then(Vec::new)).collect();
    for (number, entry) in from.into_iter().enumerate() {
        shares[number % threads].get_or_insert_default().push(entry);
    }
    pool.all(
        run,
        |_| false,
        |place| {
            let (share, order) = (std::mem::take(&mut shares[place]), order.clone());
            |searcher: &mut DepthFirstWorker<S, O>| searcher.start_samples(share, order)
        },
    );
    let executions = Arc::new(AtomicU64::new(run.options.schedules));
    let mut drawn = ThreadCounters::default();
    // A sample from a frontier starts by spending one delay.
    let mut delays = if from_frontier > 0 { 0 } else { 1 };
    let mut completed = 0;
    while run.ended.is_none() && !pool.shared_state.is_halted() {
        let (c1, c2) = plan.samples;
        let of = c1.saturating_add(c2.saturating_pow(delays)).max(1);
        let executions = executions.clone();
        let samples = Arc::new(SampleQuota { delays, of, from_frontier, threads, executions });
        run.reached = Some(Reached { bound: delays, ..run.reached.unwrap_or_default() });
        let more = pool.all(
            run,
            |run| run.ended.is_some(),
            |place| {
                let samples = samples.clone();
                move |searcher: &mut DepthFirstWorker<S, O>| searcher.draw(&samples, place)
            },
        );
        more.iter().for_each(|more| drawn.add(more));
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
    add(states, &drawn);
    let mut samples = Samples::default();
    samples.samples = drawn.samples;
    samples.executions = drawn.executions;
    samples.delays = completed;
    samples.longest = drawn.deepest;
    samples.from_frontier = from_frontier;
    samples.random_order = from_frontier == 0 && order.is_random();
    states.samples = Some(samples);
}

/// The samples of one stratum.
struct SampleQuota {
    delays: u32,
    /// How many samples there are.
    of: u64,
    /// How many entries there are to start from; 0 for the first state.
    from_frontier: u64,
    /// How many threads there are, each of which has every such entry in turn.
    threads: usize,
    /// How many executions all strata together may still run.
    executions: Arc<AtomicU64>,
}

impl SampleQuota {
    /// Which of the thread's states a sample starts from; `None` if another thread has it. An entry
    /// has the same chance whichever thread holds it and however fast the threads are.
    fn start_of(&self, number: u64, place: usize, rng: &mut fastrand::Rng) -> Option<usize> {
        let drawn = rng.u64(..self.from_frontier.max(1));
        let threads = self.threads as u64;
        let (turn, start) =
            if self.from_frontier > 0 { (drawn, drawn / threads) } else { (number, 0) };
        (turn % threads == place as u64).then_some(start as usize)
    }

    fn are_left(&self) -> bool {
        self.executions.load(Ordering::Relaxed) > 0
    }

    fn ran(&self) {
        let less = |left: u64| left.checked_sub(1);
        let _ = self.executions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

pub(crate) struct SampleStart<S: StateSpace, O: TransitionOrder> {
    entry: Entry<S, O>,
    /// Whether it is the first state: then the explorer is seeded anew for each sample.
    first: bool,
}

/// A transition about to be taken, at a position where a delay may land.
struct SamplePosition<S: StateSpace, O: TransitionOrder> {
    /// Its order is as it was after the worker was offered.
    state: Entry<S, O>,
    /// How many workers were delayed at this state.
    index: u32,
    worker: WorkerId,
    /// The values decided so far; the last of them is the position, if there is one.
    values: Vec<Value>,
}

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Sets the states that samples start from; without entries, the first state.
    fn start_samples(&mut self, entries: Option<Vec<Entry<S, O>>>, order: O) {
        let first = entries.is_none();
        let entries = entries.unwrap_or_else(|| self.first(order).into_iter().collect());
        self.starts = entries.into_iter().map(|entry| SampleStart { entry, first }).collect();
    }

    fn draw(&mut self, samples: &SampleQuota, place: usize) -> ThreadCounters {
        let starts = std::mem::take(&mut self.starts);
        let mut drawn = ThreadCounters::default();
        self.writer.now(Activity::Stepping);
        let of = if starts.is_empty() { 0 } else { samples.of };
        for number in 0..of {
            if !samples.are_left() || self.shared_state.is_halted() {
                break;
            }
            let salt = fingerprint::mix(u64::from(samples.delays), number);
            let seed = fingerprint::mix(self.shared_state.seed, salt);
            let mut rng = fastrand::Rng::with_seed(seed);
            let start = samples.start_of(number, place, &mut rng).and_then(|at| starts.get(at));
            if let Some(start) = start {
                self.sample(start, seed, samples, &mut rng, &mut drawn);
                drawn.samples += 1;
            }
        }
        self.writer.now(Activity::Nothing);
        self.starts = starts;
        self.results();
        drawn
    }

    fn sample(
        &mut self,
        start: &SampleStart<S, O>,
        seed: u64,
        samples: &SampleQuota,
        rng: &mut fastrand::Rng,
        drawn: &mut ThreadCounters,
    ) {
        let Some(mut position) = self.set_out(start, seed) else { return };
        let mut delays = 0;
        loop {
            let chosen = self.follow(position, rng, drawn);
            drawn.executions += 1;
            drawn.deepest = drawn.deepest.max(self.writer.len());
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

    /// Goes to where a sample starts, before its first transition.
    fn set_out(&mut self, start: &SampleStart<S, O>, seed: u64) -> Option<SamplePosition<S, O>> {
        let state = &start.entry;
        self.writer.continue_from(state.prefix.clone());
        let (state, worker) = (state.copy(state.next.clone())?, WorkerId::FAULTS);
        let mut position = SamplePosition { state, index: 0, worker, values: Vec::new() };
        if !self.go_to(position.state.snapshot.as_ref()?) {
            return None;
        }
        if start.first {
            position.state.order.begin(self.space.system(), seed);
            position.state.peeked = None;
        }
        match &start.entry.next {
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
        self.writer.truncate(position.state.path);
        if !self.go_to(position.state.snapshot.as_ref()?) {
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

    /// Has the explorer offer the transition of the position's index; `false` if it is not sound.
    fn offer(&mut self, position: &mut SamplePosition<S, O>) -> bool {
        if position.state.enabled.is_empty() {
            return false;
        }
        match position.state.offer(position.index) {
            Ok(worker) => position.worker = worker,
            Err(offer) => {
                self.unsound(offer, &position.state.offered, &position.state.order);
                return false;
            }
        }
        true
    }

    /// Runs an execution to its end in the explorer's own order, from a transition that is about to
    /// be taken at the live state. Picks one of the positions on the way, each with the same
    /// chance, from the first on.
    fn follow(
        &mut self,
        first: SamplePosition<S, O>,
        rng: &mut fastrand::Rng,
        drawn: &mut ThreadCounters,
    ) -> Option<SamplePosition<S, O>> {
        // Positions before the one of the last delay do not count.
        let mut skip = first.values.len();
        let mut positions = 0;
        let (mut position, mut chosen, mut spare) = (first, None, None);
        loop {
            let mut values = std::mem::take(&mut position.values);
            let taken = self.take(position.worker, &mut values);
            drawn.transitions += 1;
            let pick = position.pick(&values, skip, &mut positions, rng);
            values.truncate(pick.unwrap_or(0));
            position.values = values;
            let next = match taken {
                Taken::Stepped => self.arrive_by(&position, spare.take(), drawn),
                Taken::Failed | Taken::Redundant | Taken::Cut => None,
            };
            let unused = if pick.is_some() { chosen.replace(position) } else { Some(position) };
            spare = unused;
            match next {
                Some(next) => position = next,
                None => return chosen,
            }
            skip = 0;
        }
    }

    /// The next transition at the state that a step has led to, if any, in the memory of `spare`.
    fn arrive_by(
        &mut self,
        taken: &SamplePosition<S, O>,
        old: Option<SamplePosition<S, O>>,
        drawn: &mut ThreadCounters,
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
        let mut next = old.unwrap_or_else(|| SamplePosition {
            state: Box::new(OpenState::blank(taken.state.order.clone())),
            index: 0,
            worker: taken.worker,
            values: Vec::new(),
        });
        let state = &mut *next.state;
        state.order.clone_from(&taken.state.order);
        state.order.stepped(taken.worker, &taken.state.enabled, system, &mut self.summary);
        state.enabled.clear();
        state.enabled.extend_from_slice(enabled);
        state.sealed = self.shared_state.is_sealed(system, &self.writer);
        self.space.snapshot_in(&self.writer, &mut state.snapshot, false);
        state.forget_offers();
        state.path = path;
        next.values.clear();
        next.index = 0;
        self.offer(&mut next).then_some(next)
    }
}

impl<S: StateSpace, O: TransitionOrder> SamplePosition<S, O> {
    /// Draws among the positions of this step, without the first `skip`: 0 is its worker, `n` its
    /// `n`-th value. `positions` counts those drawn from before.
    fn pick(
        &self,
        values: &[Value],
        skip: usize,
        positions: &mut u64,
        rng: &mut fastrand::Rng,
    ) -> Option<usize> {
        if self.state.sealed {
            return None;
        }
        let at_worker = skip == 0 && (self.index as usize) + 1 < self.state.enabled.len();
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
