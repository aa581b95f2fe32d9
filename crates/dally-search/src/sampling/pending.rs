//! The pending steps of the enabled workers, each with a random priority.

use dally_core::{Footprint, WorkerId};
use fastrand::Rng;

use crate::strategy::Point;

/// The pending steps of all workers that were enabled in this schedule.
///
/// Most workers that can step in a state could step in the one before. Only the part of the list of enabled
/// workers that differs is looked up, and what a step touches is asked for once, if that
/// [lasts](dally_core::System::pending_lasts) and the worker was enabled all the time since then.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingSteps {
    /// The enabled workers, sorted.
    enabled: Vec<Enabled>,
    /// The first `known` are of this schedule, in the order in which their workers were met; the others are
    /// kept for their memory.
    steps: Vec<PendingStep>,
    known: usize,
    /// The place of each worker that was met among `steps`, sorted by worker.
    places: Vec<(WorkerId, u32)>,
    /// The positions of the enabled workers that have no priority yet.
    new: Vec<usize>,
    /// How many steps workers had taken in the state that was last looked at.
    turns: usize,
    /// Workers are held back whose [`Enabled::held`] is this.
    hold: u32,
    /// Kept for its memory.
    spare: Vec<Enabled>,
}

/// An enabled worker with all that is needed of it in every state.
#[derive(Clone, Copy, Debug)]
struct Enabled {
    worker: WorkerId,
    priority: u64,
    /// What is known of what the step touches, by [`PendingSteps::fact`]; 0 if it was not asked for.
    fact: u64,
    place: u32,
    held: u32,
}

/// The next step of a worker; `priority` and `held` are up to date only while it is not enabled.
#[derive(Clone, Debug, Default)]
struct PendingStep {
    touched: Footprint,
    priority: u64,
    held: u32,
}

impl PendingSteps {
    /// Starts over, for a new schedule.
    pub(super) fn clear(&mut self) {
        self.enabled.clear();
        self.places.clear();
        self.new.clear();
        (self.known, self.hold) = (0, 1);
    }

    /// Looks at a state. `false` if some worker was never enabled before: it needs a [priority](PendingSteps::add).
    #[inline]
    pub(super) fn look(&mut self, point: &Point<'_>) -> bool {
        // Where an execution goes round a loop, steps are taken that nobody is asked for.
        if point.turns != self.turns + 1 || !point.system.pending_lasts() {
            self.enabled.iter_mut().for_each(|enabled| enabled.fact = 0);
        }
        self.turns = point.turns;
        let same = self.enabled.iter().zip(point.enabled);
        let same = same.take_while(|(known, worker)| known.worker == **worker).count();
        if same < self.enabled.len() || same < point.enabled.len() {
            self.change(same, point.enabled);
        }
        self.new.is_empty()
    }

    /// Looks up the workers from position `from` on.
    fn change(&mut self, from: usize, now: &[WorkerId]) {
        let before = self.enabled.len();
        let same = self.enabled[from..].iter().rev().zip(now[from..].iter().rev());
        let same = same.take_while(|(known, worker)| known.worker == **worker).count();
        let to = now.len() - same;
        let mut old = std::mem::take(&mut self.spare);
        old.clear();
        old.extend_from_slice(&self.enabled[from..before - same]);
        if now.len() > before {
            self.enabled.resize(now.len(), Enabled::NOBODY);
        }
        self.enabled.copy_within(before - same..before, to);
        self.enabled.truncate(now.len());
        let mut left = &old[..];
        for (at, &worker) in now.iter().enumerate().take(to).skip(from) {
            while let [first, rest @ ..] = left
                && first.worker < worker
            {
                self.leave(*first);
                left = rest;
            }
            self.enabled[at] = match left {
                [first, rest @ ..] if first.worker == worker => {
                    left = rest;
                    *first
                }
                _ => self.enter(worker, at),
            };
        }
        left.iter().for_each(|&gone| self.leave(gone));
        self.spare = old;
    }

    fn leave(&mut self, gone: Enabled) {
        let step = &mut self.steps[gone.place as usize];
        (step.priority, step.held) = (gone.priority, gone.held);
    }

    fn enter(&mut self, worker: WorkerId, at: usize) -> Enabled {
        let place = match self.places.binary_search_by_key(&worker, |known| known.0) {
            Ok(found) => self.places[found].1,
            Err(found) => {
                let place = self.known as u32;
                self.places.insert(found, (worker, place));
                self.known += 1;
                if self.known > self.steps.len() {
                    self.steps.push(PendingStep::default());
                }
                self.steps[place as usize].held = 0;
                self.new.push(at);
                place
            }
        };
        let PendingStep { priority, held, .. } = self.steps[place as usize];
        Enabled { worker, priority, fact: 0, place, held }
    }

    /// Draws a priority for each worker that is new.
    pub(super) fn add(&mut self, rng: &mut Rng) {
        for at in self.new.drain(..) {
            let new = &mut self.enabled[at];
            new.priority = fresh(new.worker, rng);
        }
    }

    /// The enabled worker, by its position, of the highest priority of those that are not held back.
    #[inline]
    pub(super) fn highest(&self) -> Option<usize> {
        let (mut highest, mut found) = (0, usize::MAX);
        for (at, enabled) in self.enabled.iter().enumerate() {
            let higher = (enabled.priority >= highest) & (enabled.held != self.hold);
            // Which one is the highest cannot be predicted.
            highest = std::hint::select_unpredictable(higher, enabled.priority, highest);
            found = std::hint::select_unpredictable(higher, at, found);
        }
        (found != usize::MAX).then_some(found)
    }

    /// Holds back the enabled worker at this position.
    pub(super) fn hold_back(&mut self, at: usize) {
        self.enabled[at].held = self.hold;
    }

    /// Holds back nobody any more.
    pub(super) fn hold_nobody(&mut self) {
        self.hold += 1;
    }

    /// A fact other than 0 about what the next step of the enabled worker at this position touches.
    #[inline]
    pub(super) fn fact(
        &mut self,
        at: usize,
        point: &Point<'_>,
        of: impl FnOnce(&Footprint) -> u64,
    ) -> u64 {
        let enabled = &mut self.enabled[at];
        if enabled.fact == 0 {
            let touched = &mut self.steps[enabled.place as usize].touched;
            point.system.pending(enabled.worker, touched);
            enabled.fact = of(touched);
        }
        enabled.fact
    }

    /// Draws a new priority for each step that races with that of the enabled worker at this position.
    #[inline]
    pub(super) fn draw_racing(&mut self, picked: usize, point: &Point<'_>, rng: &mut Rng) {
        let sieve = self.fact(picked, point, Footprint::sieve);
        if self.touched(picked).is_local() {
            return self.draw(picked, rng);
        }
        for at in 0..self.enabled.len() {
            if at == picked {
                self.draw(at, rng);
            } else if self.fact(at, point, Footprint::sieve) & sieve != 0
                && self.touched(picked).races(self.touched(at))
            {
                let enabled = &mut self.enabled[at];
                enabled.priority = fresh(enabled.worker, rng);
            }
        }
    }

    fn touched(&self, at: usize) -> &Footprint {
        &self.steps[self.enabled[at].place as usize].touched
    }

    /// The step of the enabled worker at this position is taken, and its next one gets a priority.
    #[inline]
    pub(super) fn draw(&mut self, at: usize, rng: &mut Rng) {
        let enabled = &mut self.enabled[at];
        (enabled.priority, enabled.fact) = (fresh(enabled.worker, rng), 0);
    }
}

impl Enabled {
    const NOBODY: Enabled =
        Enabled { worker: WorkerId::FAULTS, priority: 0, fact: 0, place: 0, held: 0 };
}

/// A priority for a new pending step. Faults are scarce: one in eight gets a high one.
#[inline]
fn fresh(worker: WorkerId, rng: &mut Rng) -> u64 {
    let priority = rng.u64(1..);
    if worker == WorkerId::FAULTS && rng.u8(..8) != 0 { 0 } else { priority }
}
