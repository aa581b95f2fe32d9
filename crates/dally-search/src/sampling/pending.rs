//! The pending steps of the enabled workers, each with a random priority.

use dally_core::{Footprint, WorkerId};
use fastrand::Rng;

use crate::strategy::Point;

/// The pending steps of all workers that were enabled in this schedule.
///
/// What a step touches is asked for once, if that [lasts](dally_core::System::pending_lasts) and the worker was
/// enabled all the time since then; otherwise in every state in which somebody wants to know it.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingSteps {
    /// Sorted by worker. The first `known` are those of this schedule; the others are kept for their memory.
    steps: Vec<PendingStep>,
    known: usize,
    /// The places of the enabled workers among them, in the same order.
    enabled: Vec<usize>,
    /// The number of the present state, one more than that of the state one step before, and how many steps
    /// workers had taken there.
    state: u64,
    turns: usize,
    lasts: bool,
    /// The highest priority of an enabled worker, and the position of the last one that has it.
    highest: (u64, usize),
}

#[derive(Clone, Debug)]
struct PendingStep {
    worker: WorkerId,
    priority: u64,
    /// The state in which the worker was last enabled.
    seen: u64,
    /// Whether `touched` is that of this step, as is its [sieve](Footprint::sieve) if there is one.
    asked: bool,
    touched: Footprint,
    sieve: Option<u64>,
}

impl Default for PendingStep {
    fn default() -> PendingStep {
        let (worker, touched) = (WorkerId::FAULTS, Footprint::default());
        PendingStep { worker, priority: 0, seen: 0, asked: false, touched, sieve: None }
    }
}

impl PendingStep {
    #[inline]
    fn sieve(&mut self) -> u64 {
        *self.sieve.get_or_insert_with(|| self.touched.sieve())
    }
}

impl PendingSteps {
    /// Starts over, for a new schedule.
    pub(super) fn clear(&mut self) {
        self.known = 0;
    }

    /// Looks at a state. `false`, and it has to be looked at anew, if a worker was never enabled before.
    pub(super) fn look(&mut self, point: &Point<'_>) -> bool {
        self.begin(point);
        for &worker in point.enabled {
            let Ok(place) = self.find(worker) else { return false };
            self.see(place);
        }
        true
    }

    /// Looks at a state; workers that are new get a priority.
    pub(super) fn look_and_add(&mut self, point: &Point<'_>, rng: &mut Rng) {
        self.begin(point);
        for &worker in point.enabled {
            let place = self.find(worker).unwrap_or_else(|place| {
                self.insert(place, worker, PendingSteps::fresh(worker, rng));
                place
            });
            self.see(place);
        }
    }

    fn begin(&mut self, point: &Point<'_>) {
        self.enabled.clear();
        // Where an execution goes round a loop, steps are taken that nobody is asked for.
        let follows = point.turns == self.turns + 1;
        self.state += if follows { 1 } else { 2 };
        (self.turns, self.lasts) = (point.turns, point.system.pending_lasts());
        self.highest = (0, 0);
    }

    #[inline]
    fn see(&mut self, place: usize) {
        let step = &mut self.steps[place];
        step.asked &= step.seen + 1 == self.state;
        step.seen = self.state;
        if step.priority >= self.highest.0 {
            self.highest = (step.priority, self.enabled.len());
        }
        self.enabled.push(place);
    }

    /// The place of a worker that comes after those in `enabled`, or where it would be.
    #[inline]
    fn find(&self, worker: WorkerId) -> Result<usize, usize> {
        // Most workers come right after the one before.
        let next = self.enabled.last().map_or(0, |place| place + 1);
        let known = &self.steps[..self.known];
        match known.get(next) {
            Some(step) if step.worker == worker => Ok(next),
            _ => known.binary_search_by_key(&worker, |step| step.worker),
        }
    }

    fn insert(&mut self, place: usize, worker: WorkerId, priority: u64) {
        if self.known == self.steps.len() {
            self.steps.push(PendingStep::default());
        }
        let new = &mut self.steps[self.known];
        (new.worker, new.priority, new.seen, new.asked) = (worker, priority, 0, false);
        self.steps[place..=self.known].rotate_right(1);
        self.known += 1;
    }

    /// The enabled worker, by its position, whose step has the highest priority, if there is one.
    pub(super) fn highest(&self) -> Option<usize> {
        (!self.enabled.is_empty()).then_some(self.highest.1)
    }

    /// The same among those that are `free`.
    pub(super) fn highest_of(&self, free: impl Fn(WorkerId) -> bool) -> Option<usize> {
        let steps = self.enabled.iter().map(|&place| &self.steps[place]).enumerate();
        let free = steps.filter(|(_, step)| free(step.worker));
        free.max_by_key(|(_, step)| step.priority).map(|(at, _)| at)
    }

    /// What the next step of the enabled worker at this position touches.
    pub(super) fn touched(&mut self, at: usize, point: &Point<'_>) -> &Footprint {
        &self.asked(at, point).touched
    }

    #[inline]
    fn asked(&mut self, at: usize, point: &Point<'_>) -> &mut PendingStep {
        let step = &mut self.steps[self.enabled[at]];
        if !step.asked {
            point.system.pending(step.worker, &mut step.touched);
            (step.sieve, step.asked) = (None, self.lasts);
        }
        step
    }

    /// Draws a new priority for each step that races with that of the enabled worker at this position.
    pub(super) fn draw_racing(&mut self, picked: usize, point: &Point<'_>, rng: &mut Rng) {
        let (local, sieve) = {
            let step = self.asked(picked, point);
            (step.touched.is_local(), step.sieve())
        };
        for at in 0..self.enabled.len() {
            if at == picked {
                self.draw(at, rng);
            } else if !local && self.asked(at, point).sieve() & sieve != 0 {
                let [one, other] = [picked, at].map(|at| &self.steps[self.enabled[at]].touched);
                if one.races(other) {
                    self.renew(at, rng);
                }
            }
        }
    }

    /// The step of the enabled worker at this position is taken, and its next one gets a priority.
    pub(super) fn draw(&mut self, at: usize, rng: &mut Rng) {
        self.renew(at, rng);
        self.steps[self.enabled[at]].asked = false;
    }

    fn renew(&mut self, at: usize, rng: &mut Rng) {
        let step = &mut self.steps[self.enabled[at]];
        step.priority = PendingSteps::fresh(step.worker, rng);
    }

    /// A priority for a new pending step. Faults are scarce: one in eight gets a high one.
    fn fresh(worker: WorkerId, rng: &mut Rng) -> u64 {
        let priority = rng.u64(1..);
        if worker == WorkerId::FAULTS && rng.u8(..8) != 0 { 0 } else { priority }
    }
}
