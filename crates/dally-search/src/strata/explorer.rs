//! The contract of delaying explorers.

use std::hash::Hash;

use dally_core::WorkerId;

/// A delaying explorer: a deterministic scheduler that a search delays (Desai, Qadeer and Seshia,
/// "Systematic Testing of Asynchronous Reactive Systems", section 2 and Fig. 8).
///
/// It orders the workers that can step; [`Explorer::next`] is the first of them, and each
/// [`Explorer::delay`] puts that one off. A search that spends few delays stays close to the
/// explorer's own order, so a good explorer runs first what its author thinks dangerous.
///
/// An explorer is *sound* if at every state with `k` workers that can step, `next` and `k - 1`
/// delays offer all of them. The search checks this and reports an explorer that is not sound,
/// since it would miss states.
///
/// An explorer that always prefers the youngest worker:
///
/// ```
/// use dally_core::WorkerId;
/// use dally_search::strata::Explorer;
///
/// #[derive(Clone, Hash)]
/// struct Youngest {
///     order: Vec<WorkerId>, // the next one last
/// }
///
/// impl Explorer for Youngest {
///     fn name(&self) -> String {
///         "youngest".into()
///     }
///     fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
///         self.order.iter().rev().copied().find(|worker| enabled.contains(worker))
///     }
///     fn delay(&mut self, enabled: &[WorkerId]) {
///         if let Some(late) = self.next(enabled) {
///             self.order.retain(|&worker| worker != late);
///             self.order.insert(0, late);
///         }
///     }
///     fn started(&mut self, worker: WorkerId, _name: &str) {
///         self.order.push(worker);
///     }
///     fn finished(&mut self, worker: WorkerId) {
///         self.order.retain(|&other| other != worker);
///     }
/// }
/// ```
///
/// `Clone`, because a search returns to a state with the explorer as it was there. `Hash`, for
/// searches that store the explorer beside the state; leave out generators of random numbers.
pub trait Explorer: Clone + Hash + Send + 'static {
    /// Its name with its parameters.
    fn name(&self) -> String;

    /// The worker that it would run: one of the enabled, which are sorted by id and not empty.
    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId>;

    /// Puts off the worker that [`Explorer::next`] gives: another one is next, if there is one.
    fn delay(&mut self, enabled: &[WorkerId]);

    /// A worker can step for the first time: a machine or task was created, a timer armed. Those
    /// that the program starts with come in the order of their ids, timers and the injector of
    /// faults after all others.
    fn started(&mut self, worker: WorkerId, name: &str);

    /// A worker will not step again.
    fn finished(&mut self, worker: WorkerId) {
        let _ = worker;
    }

    /// Called after a step, and after [`Explorer::started`] and [`Explorer::finished`] for the
    /// workers that the step started and finished.
    fn stepped(&mut self, step: &Stepped<'_>) {
        let _ = step;
    }

    /// Whether its order is drawn at random, and not a function of what it hashes: then no search
    /// can show that a finding takes as few delays as possible.
    fn is_random(&self) -> bool {
        false
    }

    /// Starts over with this seed.
    fn reseed(&mut self, seed: u64) {
        let _ = seed;
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug)]
pub struct Stepped<'a> {
    /// The worker that stepped.
    pub worker: WorkerId,
    /// The workers that can step now, sorted by id.
    pub enabled: &'a [WorkerId],
    /// The receivers of the messages sent, in order.
    pub sent: &'a [WorkerId],
    /// The workers that can step now and could not before, new ones too, sorted by id.
    pub woken: &'a [WorkerId],
    /// The workers that could step before and cannot now, sorted by id.
    pub blocked: &'a [WorkerId],
    /// What the program told the explorer: the words of its `hint` calls, in order.
    pub hints: &'a [String],
}
