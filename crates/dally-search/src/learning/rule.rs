//! Strategies that pick by what actions are worth, and learn it by a rule.

use dally_core::{Observe, System, Tag, WorkerId};
use fastrand::Rng;

use super::table::{RecordIndex, Table, Taken, Worth};
use super::walk::{Walk, Walked, mark, marks, place_among, place_below};
use crate::sampling::{Random, Sampler};
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, name_of_type};

/// What actions are worth, and which one is picked. An action is a step of a worker or a value.
pub trait Rule: Clone + Send + 'static {
    /// What is stored of an action.
    type Worth: Worth + Into<f64> + Send + 'static;

    /// The worth of an action that was never taken: the greatest there is.
    const NEW: Self::Worth;

    /// The worth of what follows the end of a schedule; `None` for that of the last observation.
    const LAST: Option<f64>;

    /// Its name with its parameters.
    fn name(&self) -> String {
        name_of_type(std::any::type_name::<Self>())
    }

    /// What is observed.
    fn observes(&self) -> Observe {
        Observe::Control
    }

    /// Whether values are learnt; they are random otherwise.
    fn learns_values(&self) -> bool {
        true
    }

    /// How many schedules a batch has.
    fn batch(&self) -> u64 {
        4
    }

    /// The learning rate and the discount: what was learnt with others cannot be used.
    fn rates(&self) -> [f64; 2];

    /// Picks one of `of` actions, more than one. `taken` gives the values of those that were taken
    /// here, sorted by place; `None` if the observation is new.
    fn pick<'t>(
        &self,
        of: usize,
        taken: impl FnOnce() -> Option<&'t mut Vec<(usize, f64)>>,
        rng: &mut Rng,
    ) -> usize;

    /// The worth of an action after it was taken: `visits` are those of the observation that it led
    /// to, `next` is the greatest worth of an action there.
    fn update(&self, worth: Self::Worth, visits: u32, fault: bool, next: f64) -> Self::Worth;
}

/// Learns what actions are worth by a `Rule`, from the end of each schedule to its start. Not fair.
///
/// Actions that were never taken are not stored: while one that could be taken at an observation never
/// was, it has the greatest worth, `Rule::NEW`. Observations do not tell workers of one kind apart, so
/// which ones can step may differ from visit to visit; all that ever could are remembered by a mark of
/// 31 each, which is exact but where two share one.
#[derive(Clone, Debug)]
pub struct Learning<R: Rule> {
    rule: R,
    pub(super) table: Table<R::Worth>,
    walk: Walk,
    /// How many schedules were learnt from, and, in `before`, how many of these in earlier runs.
    schedules: u64,
    before: u64,
    /// The actions that were taken at the present observation, by place. Kept for its memory.
    taken: Vec<(usize, f64)>,
    /// The places of the observations of a lesson. Kept for its memory.
    places: Vec<RecordIndex>,
}

impl<R: Rule> Learning<R> {
    /// A strategy that learns by this rule.
    pub fn by(rule: R) -> Learning<R> {
        let (table, walk) = (Table::default(), Walk::new(rule.observes()));
        let (taken, places) = (Vec::new(), Vec::new());
        Learning { rule, table, walk, schedules: 0, before: 0, taken, places }
    }

    /// Picks one of `of` actions; `place` gives the places of stored ones.
    #[inline]
    fn pick(
        &mut self,
        of: usize,
        mut place: impl FnMut(u64) -> Option<usize>,
        rng: &mut Rng,
    ) -> usize {
        if of <= 1 {
            self.walk.glance(&self.table);
            return 0;
        }
        let Learning { rule, table, walk, taken, .. } = self;
        let look_up = || {
            let known = table.taken(walk.look_up(table)?);
            taken.clear();
            for (action, worth) in known {
                if let Some(place) = place(action) {
                    taken.push((place, worth.into()));
                }
            }
            Some(taken)
        };
        rule.pick(of, look_up, rng)
    }

    fn study(&mut self, walked: Walked<'_>) {
        let Learning { rule, table, places, .. } = self;
        places.clear();
        for (place, (seen, at)) in walked.observations().enumerate() {
            let expected = match (at, place.checked_sub(1)) {
                (RecordIndex::NOWHERE, Some(before)) => {
                    table.led_to(places[before], walked.get(before).action)
                }
                _ => at,
            };
            // Nothing was offered at the last one.
            let offered = if place < walked.len() { walked.get(place).offered } else { 0 };
            places.push(table.visit(seen, expected, offered));
        }
        let mut after = places[walked.len()];
        let mut next = R::LAST.unwrap_or_else(|| best::<R>(table, after));
        for place in (0..walked.len()).rev() {
            let done = walked.get(place);
            let visits = table.visits(after);
            let taken = Taken { action: done.action, led_to: after };
            after = table.change(places[place], taken, R::NEW, |worth| {
                rule.update(worth, visits, done.fault, next)
            });
            next = best::<R>(table, after);
        }
    }
}

#[inline]
fn best<R: Rule>(table: &Table<R::Worth>, at: RecordIndex) -> f64 {
    let (mut best, mut taken) = (f64::NEG_INFINITY, 0);
    for (action, worth) in table.taken(at) {
        taken |= mark(action);
        let worth = worth.into();
        best = if worth > best { worth } else { best };
    }
    if taken == 0 || table.offered(at) & !taken != 0 { R::NEW.into() } else { best }
}

impl<R: Rule> Sampler for Learning<R> {
    fn name(&self) -> String {
        self.rule.name()
    }

    fn restart(&mut self, _seed: u64) {
        *self = Learning::by(self.rule.clone());
    }

    fn before(&self) -> u64 {
        self.before
    }

    fn begin(&mut self, _schedule: u64, _rng: &mut Rng) {
        self.walk.begin();
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        self.walk.at(point);
        let enabled = point.enabled;
        let picked = self.pick(enabled.len(), place_among(enabled), rng);
        let worker = *enabled.get(picked).ok_or(EndSchedule::Cut)?;
        self.walk.expect(&self.table, worker.to_bits());
        self.walk.step(worker, marks(enabled));
        Ok(worker)
    }

    fn value(&mut self, of: u32, tag: Tag, rng: &mut Rng) -> u32 {
        if !self.rule.learns_values() {
            return Random::value(of, tag, rng);
        }
        self.walk.inside();
        let index = self.pick(of as usize, place_below(of), rng) as u32;
        self.walk.expect(&self.table, index.into());
        self.walk.value(index, of, tag == Tag::Fault && index > 0);
        index
    }

    fn properties(&self) -> Properties {
        Properties { batch: self.rule.batch(), draws_alike: false, ..Properties::DRAWN }
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl<R: Rule> Learner for Learning<R> {
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        Some(self.walk.end(last))
    }

    fn learn(&mut self, batch: &[Outcome]) {
        self.schedules += batch.len() as u64;
        for walked in batch.iter().filter_map(|outcome| Walked::read(outcome.lesson.as_ref()?)) {
            self.study(walked);
        }
    }

    fn learned(&mut self) -> Option<Vec<u8>> {
        let rates = self.rule.rates().map(f64::to_bits);
        Some(self.table.write(rates, self.schedules))
    }

    fn recall(&mut self, learned: &[u8]) -> bool {
        let rates = self.rule.rates().map(f64::to_bits);
        let Some((schedules, table)) = Table::read(rates, learned) else { return false };
        (self.schedules, self.before, self.table) = (schedules, schedules, table);
        true
    }
}
