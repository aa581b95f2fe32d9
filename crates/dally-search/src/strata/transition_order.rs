//! Which worker a search of states runs next, and what that costs.
//!
//! A stratum is what can be reached within a cost. Under a delaying explorer each delay costs one;
//! the other searches differ in their costs alone.

use dally_core::{System, WorkerId, fingerprint};

use super::explorer::Explorer;
use super::explorer_on_path::{ExplorerOnPath, StepSummary};
use crate::prefetch::prefetch_all;

/// The order of transitions along one path, which is cloned where paths part.
pub(crate) trait TransitionOrder: Clone + Send + 'static {
    /// Whether it needs the events of steps.
    const LISTENS: bool;

    fn name(&self) -> String;

    /// The cost of the second value of a choice; that of the `k`-th, from 0, is `k` times as much.
    fn value_price(&self) -> u32;

    /// Whether it is another order for each seed.
    fn is_random(&self) -> bool;

    /// Starts at the first state of the program.
    fn begin(&mut self, system: &dyn System, seed: u64);

    /// The cost of the `index`-th transition at this state. It does not fall as the index rises.
    fn cost(&self, index: u32, enabled: &[WorkerId]) -> u32;

    /// The worker of the `index`-th transition. Called for each index, from 0, in turn; the last one
    /// can be asked for any number of times.
    fn offer(&mut self, index: u32, enabled: &[WorkerId]) -> Option<WorkerId>;

    /// Whether it offers workers in the order of their ids, all at one cost.
    #[inline]
    fn is_by_id(&self) -> bool {
        false
    }

    /// Called after a step: with the workers enabled before it, the system, and what the step did.
    fn stepped(
        &mut self,
        worker: WorkerId,
        before: &[WorkerId],
        system: &dyn System,
        summary: &mut StepSummary,
    );

    /// A hash of all that decides future offers.
    fn hash(&self) -> u64;

    fn bytes(&self) -> usize;

    /// It will be asked soon: has brought what it refers to.
    #[inline]
    fn prefetch(&self) {}
}

/// The order of a delaying explorer: each delay costs one.
pub(crate) struct Delayed<E: Explorer> {
    explorer: E,
    /// The explorer from the first state on.
    on_path_explorer: Option<ExplorerOnPath<E>>,
    /// How many workers it has put off at the present state.
    put_off: u32,
}

impl<E: Explorer> Delayed<E> {
    pub(crate) fn new(explorer: E) -> Delayed<E> {
        Delayed { explorer, on_path_explorer: None, put_off: 0 }
    }
}

impl<E: Explorer> Clone for Delayed<E> {
    fn clone(&self) -> Self {
        let on_path_explorer = self.on_path_explorer.clone();
        Delayed { explorer: self.explorer.clone(), on_path_explorer, put_off: self.put_off }
    }

    /// The explorer that paths begin with is the same on all of them.
    fn clone_from(&mut self, source: &Self) {
        self.on_path_explorer.clone_from(&source.on_path_explorer);
        self.put_off = source.put_off;
    }
}

impl<E: Explorer> TransitionOrder for Delayed<E> {
    const LISTENS: bool = true;

    fn name(&self) -> String {
        self.explorer.name()
    }

    #[inline]
    fn value_price(&self) -> u32 {
        1
    }

    fn is_random(&self) -> bool {
        self.explorer.is_random()
    }

    fn begin(&mut self, system: &dyn System, seed: u64) {
        self.explorer.reseed(seed);
        self.on_path_explorer = Some(ExplorerOnPath::new(self.explorer.clone(), system));
        self.put_off = 0;
    }

    #[inline]
    fn cost(&self, index: u32, _enabled: &[WorkerId]) -> u32 {
        index
    }

    #[inline]
    fn offer(&mut self, index: u32, enabled: &[WorkerId]) -> Option<WorkerId> {
        let on_path_explorer = self.on_path_explorer.as_mut()?;
        if index > self.put_off {
            on_path_explorer.delay(enabled);
            self.put_off = index;
        }
        on_path_explorer.next(enabled)
    }

    fn stepped(
        &mut self,
        worker: WorkerId,
        before: &[WorkerId],
        system: &dyn System,
        summary: &mut StepSummary,
    ) {
        if let Some(on_path_explorer) = &mut self.on_path_explorer {
            on_path_explorer.after(worker, before, system, summary);
        }
        self.put_off = 0;
    }

    fn hash(&self) -> u64 {
        self.on_path_explorer
            .as_ref()
            .map_or(0, |on_path_explorer| on_path_explorer.hash(&mut Vec::new()))
    }

    fn bytes(&self) -> usize {
        // An explorer seldom has more than a list of workers, and its path has another.
        size_of::<Self>() + self.on_path_explorer.as_ref().map_or(0, |c| 16 * c.known().len())
    }

    #[inline]
    fn prefetch(&self) {
        if let Some(on_path_explorer) = &self.on_path_explorer {
            prefetch_all(on_path_explorer.known());
        }
    }
}

/// The orders without an explorer. One type for all, so that one search is compiled for them.
#[derive(Clone)]
pub(crate) enum Fixed {
    /// Depth first: everything is free, in the order of ids.
    Free,
    /// Breadth first: every step costs one, in the order of ids.
    Breadth,
    /// Depth bounding: every step costs one, in random order.
    Depth {
        /// A hash of the path that seeds the order, so that a resumed entry draws the same.
        path: u64,
        shuffled: Vec<WorkerId>,
    },
    /// Preemption bounding: to leave a worker that could go on costs one (Musuvathi and Qadeer,
    /// "Iterative Context Bounding for Systematic Testing of Multithreaded Programs"), and values
    /// cost what they cost under an explorer.
    Preempting {
        /// The worker that stepped last, if leaving it is a preemption: timers and the injector of
        /// faults preempt others and are not preempted.
        last: Option<WorkerId>,
        value_price: u32,
    },
}

impl TransitionOrder for Fixed {
    const LISTENS: bool = false;

    fn name(&self) -> String {
        match self {
            Fixed::Free => "depth first",
            Fixed::Breadth => "breadth first",
            Fixed::Depth { .. } => "random order",
            Fixed::Preempting { .. } => "by id",
        }
        .into()
    }

    #[inline]
    fn value_price(&self) -> u32 {
        match self {
            Fixed::Preempting { value_price, .. } => *value_price,
            Fixed::Free | Fixed::Breadth | Fixed::Depth { .. } => 0,
        }
    }

    fn is_random(&self) -> bool {
        matches!(self, Fixed::Depth { .. })
    }

    fn begin(&mut self, _system: &dyn System, seed: u64) {
        match self {
            Fixed::Depth { path, .. } => *path = seed,
            Fixed::Preempting { last, .. } => *last = None,
            Fixed::Free | Fixed::Breadth => {}
        }
    }

    #[inline]
    fn cost(&self, index: u32, enabled: &[WorkerId]) -> u32 {
        match self {
            Fixed::Free => 0,
            Fixed::Breadth | Fixed::Depth { .. } => 1,
            Fixed::Preempting { last, .. } => {
                u32::from(index > 0 && place(*last, enabled).is_some())
            }
        }
    }

    #[inline]
    fn offer(&mut self, index: u32, enabled: &[WorkerId]) -> Option<WorkerId> {
        let index = index as usize;
        let place = match self {
            Fixed::Free | Fixed::Breadth => index,
            Fixed::Depth { path, shuffled } => {
                if shuffled.len() != enabled.len() || index == 0 {
                    shuffled.clear();
                    shuffled.extend_from_slice(enabled);
                    fastrand::Rng::with_seed(*path).shuffle(shuffled);
                }
                return shuffled.get(index).copied();
            }
            Fixed::Preempting { last, .. } => match place(*last, enabled) {
                None => index,
                Some(last) if index == 0 => last,
                // The others keep their order.
                Some(last) if index <= last => index - 1,
                Some(_) => index,
            },
        };
        enabled.get(place).copied()
    }

    #[inline]
    fn is_by_id(&self) -> bool {
        matches!(self, Fixed::Free | Fixed::Breadth)
    }

    #[inline]
    fn stepped(&mut self, worker: WorkerId, _: &[WorkerId], _: &dyn System, _: &mut StepSummary) {
        match self {
            Fixed::Depth { path, shuffled } => {
                *path = fingerprint::mix(*path, worker.to_bits());
                shuffled.clear();
            }
            Fixed::Preempting { last, .. } => {
                *last = Some(worker).filter(|worker| !worker.is_environment());
            }
            Fixed::Free | Fixed::Breadth => {}
        }
    }

    fn hash(&self) -> u64 {
        match self {
            Fixed::Preempting { last, .. } => {
                last.map_or(0, |last| fingerprint::mix(1, last.to_bits()))
            }
            Fixed::Free | Fixed::Breadth | Fixed::Depth { .. } => 0,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Fixed::Depth { shuffled, .. } => 8 * shuffled.capacity(),
            _ => 0,
        }
    }
}

fn place(worker: Option<WorkerId>, enabled: &[WorkerId]) -> Option<usize> {
    worker?.place_in(enabled).ok()
}
