//! In which order a search takes the transitions out of a state, and what each of them costs.
//!
//! A stratum is what can be reached at a cost. With a delaying explorer the cost is in delays;
//! the other searches are the same loop under another price list.

use dally_core::{System, WorkerId, fingerprint};

use super::companion::{Companion, News};
use super::explorer::Explorer;

/// The order of transitions along one path. It is cloned where paths part.
pub(crate) trait Order: Clone + Send + 'static {
    /// Whether it wants to hear the events of steps.
    const LISTENS: bool;

    /// What the `k`-th value of a choice costs, for `k = 1`; the others cost in proportion.
    const VALUE: u32;

    /// Its name, for reports.
    fn name(&self) -> String;

    /// The path is at the first state of the program.
    fn begin(&mut self, system: &dyn System, seed: u64);

    /// What the `index`-th transition costs at a state where these workers can step. It does not
    /// fall as the index rises.
    fn cost(&self, index: u32, enabled: &[WorkerId]) -> u32;

    /// The worker of the `index`-th transition. Called once for each index, from 0, in turn.
    fn offer(&mut self, index: u32, enabled: &[WorkerId]) -> Option<WorkerId>;

    /// The worker stepped; those who could step before, the system now, and what was heard.
    fn stepped(
        &mut self,
        worker: WorkerId,
        before: &[WorkerId],
        system: &dyn System,
        news: &mut News,
    );

    /// A hash of all that decides on future offers.
    fn hash(&self) -> u64;

    /// About how many bytes it takes.
    fn bytes(&self) -> usize;
}

/// By a delaying explorer: each delay costs one.
pub(crate) struct Delayed<E: Explorer> {
    explorer: E,
    /// From the first state on.
    companion: Option<Companion<E>>,
}

impl<E: Explorer> Delayed<E> {
    pub(crate) fn new(explorer: E) -> Delayed<E> {
        Delayed { explorer, companion: None }
    }
}

impl<E: Explorer> Clone for Delayed<E> {
    fn clone(&self) -> Self {
        Delayed { explorer: self.explorer.clone(), companion: self.companion.clone() }
    }

    /// The explorer that all paths begin with is the same on all of them.
    fn clone_from(&mut self, source: &Self) {
        self.companion.clone_from(&source.companion);
    }
}

impl<E: Explorer> Order for Delayed<E> {
    const LISTENS: bool = true;
    const VALUE: u32 = 1;

    fn name(&self) -> String {
        self.explorer.name()
    }

    fn begin(&mut self, system: &dyn System, seed: u64) {
        self.explorer.reseed(seed);
        self.companion = Some(Companion::new(self.explorer.clone(), system));
    }

    #[inline]
    fn cost(&self, index: u32, _enabled: &[WorkerId]) -> u32 {
        index
    }

    #[inline]
    fn offer(&mut self, index: u32, enabled: &[WorkerId]) -> Option<WorkerId> {
        let companion = self.companion.as_mut()?;
        if index > 0 {
            companion.delay(enabled);
        }
        companion.next(enabled)
    }

    fn stepped(
        &mut self,
        worker: WorkerId,
        before: &[WorkerId],
        system: &dyn System,
        news: &mut News,
    ) {
        if let Some(companion) = &mut self.companion {
            companion.after(worker, before, system, news);
        }
    }

    fn hash(&self) -> u64 {
        self.companion.as_ref().map_or(0, |companion| companion.hash(&mut Vec::new()))
    }

    fn bytes(&self) -> usize {
        // What an explorer keeps is seldom more than a list of workers, and the companion keeps
        // another.
        size_of::<Self>() + self.companion.as_ref().map_or(0, |c| 16 * c.known().len())
    }
}

/// Preemption bounding: to leave a worker that could go on costs one, all else is free.
#[derive(Clone, Default)]
pub(crate) struct Preempting {
    last: Option<WorkerId>,
}

impl Preempting {
    /// Where the worker that stepped last is, if it can go on.
    fn going_on(&self, enabled: &[WorkerId]) -> Option<usize> {
        self.last?.place_in(enabled).ok()
    }
}

impl Order for Preempting {
    const LISTENS: bool = false;
    const VALUE: u32 = 0;

    fn name(&self) -> String {
        "preemption bounding".into()
    }

    fn begin(&mut self, _system: &dyn System, _seed: u64) {
        self.last = None;
    }

    fn cost(&self, index: u32, enabled: &[WorkerId]) -> u32 {
        u32::from(index > 0 && self.going_on(enabled).is_some())
    }

    fn offer(&mut self, index: u32, enabled: &[WorkerId]) -> Option<WorkerId> {
        let index = index as usize;
        let place = match self.going_on(enabled) {
            None => index,
            Some(last) if index == 0 => last,
            // The others keep their order.
            Some(last) if index <= last => index - 1,
            Some(_) => index,
        };
        enabled.get(place).copied()
    }

    fn stepped(&mut self, worker: WorkerId, _: &[WorkerId], _: &dyn System, _: &mut News) {
        self.last = Some(worker);
    }

    fn hash(&self) -> u64 {
        self.last.map_or(0, WorkerId::to_bits)
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

/// Depth bounding: every step costs one. In random order, or breadth first in the order of ids.
#[derive(Clone)]
pub(crate) struct Deepening {
    random: bool,
    path: u64,
    shuffled: Vec<WorkerId>,
}

impl Deepening {
    pub(crate) fn new(random: bool) -> Deepening {
        Deepening { random, path: 0, shuffled: Vec::new() }
    }
}

impl Order for Deepening {
    const LISTENS: bool = false;
    const VALUE: u32 = 0;

    fn name(&self) -> String {
        if self.random { "depth bounding, random order" } else { "breadth first" }.into()
    }

    fn begin(&mut self, _system: &dyn System, seed: u64) {
        self.path = seed;
    }

    fn cost(&self, _index: u32, _enabled: &[WorkerId]) -> u32 {
        1
    }

    fn offer(&mut self, index: u32, enabled: &[WorkerId]) -> Option<WorkerId> {
        if !self.random {
            return enabled.get(index as usize).copied();
        }
        // An order for each path: an entry of the frontier that is taken up again draws the same.
        if self.shuffled.len() != enabled.len() || index == 0 {
            self.shuffled.clear();
            self.shuffled.extend_from_slice(enabled);
            fastrand::Rng::with_seed(self.path).shuffle(&mut self.shuffled);
        }
        self.shuffled.get(index as usize).copied()
    }

    fn stepped(&mut self, worker: WorkerId, _: &[WorkerId], _: &dyn System, _: &mut News) {
        if self.random {
            self.path = fingerprint::mix(self.path, worker.to_bits());
            self.shuffled.clear();
        }
    }

    fn hash(&self) -> u64 {
        0
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + 8 * self.shuffled.capacity()
    }
}

/// Depth first: everything is free, in the order of ids.
#[derive(Clone, Default)]
pub(crate) struct Free;

impl Order for Free {
    const LISTENS: bool = false;
    const VALUE: u32 = 0;

    fn name(&self) -> String {
        "depth first".into()
    }

    fn begin(&mut self, _system: &dyn System, _seed: u64) {}

    #[inline]
    fn cost(&self, _index: u32, _enabled: &[WorkerId]) -> u32 {
        0
    }

    #[inline]
    fn offer(&mut self, index: u32, enabled: &[WorkerId]) -> Option<WorkerId> {
        enabled.get(index as usize).copied()
    }

    #[inline]
    fn stepped(&mut self, _: WorkerId, _: &[WorkerId], _: &dyn System, _: &mut News) {}

    fn hash(&self) -> u64 {
        0
    }

    fn bytes(&self) -> usize {
        0
    }
}
