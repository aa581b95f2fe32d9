//! Reinforcement learning with an exploration bonus that is passed on by its maximum.

use dally_core::{Input, Observe, System, Tag, WorkerId};
use fastrand::Rng;

use crate::learning::knowledge;
use crate::learning::table::{self, At, Table};
use crate::learning::walk::{Walk, Walked, place_among, place_below, untaken};
use crate::sampling::Random;
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};

/// BonusMaxRL (Borgarelli, Enea, Majumdar and Nagendra, OOPSLA 2024): follows the actions of the
/// greatest value, one time in twenty a random one. Every action is worth 1 at first; when it has
/// been taken it is worth the greater of its own novelty, 1 / visits, and 0.95 times the best
/// that follows, moved by 0.2 towards that.
///
/// So what is new far ahead is seen from here, and an action whose whole future is known wears
/// off. It promises nothing about a single schedule, and is not fair.
#[derive(Clone, Debug)]
pub struct BonusMax {
    seed: u64,
    rng: Rng,
    walk: Walk,
    table: Table<Worth>,
    /// How many schedules were learnt from, and how many of these before this run.
    schedules: u64,
    before: u64,
    /// The actions that were taken where the next is to be picked: places and values.
    taken: Vec<(usize, f64)>,
    places: Vec<At>,
}

/// What is known of an action.
#[derive(Clone, Copy, Debug)]
struct Worth {
    value: f64,
    visits: u32,
}

impl table::Worth for Worth {
    const WORDS: usize = 2;

    fn write(self, words: &mut [u64]) {
        words[0] = self.value.to_bits();
        words[1] = self.visits.into();
    }

    fn read(words: &[u64]) -> Worth {
        Worth { value: f64::from_bits(words[0]), visits: words[1] as u32 }
    }

    fn is_sound(words: &[u64]) -> bool {
        (0.0..=1.0).contains(&f64::from_bits(words[0])) && u32::try_from(words[1]).is_ok()
    }
}

const NEW: Worth = Worth { value: 1.0, visits: 0 };
const ALPHA: f64 = 0.2;
const GAMMA: f64 = 0.95;
const EPSILON: f64 = 0.05;

/// What a table was learnt with.
const RATES: [u64; 2] = [ALPHA.to_bits(), GAMMA.to_bits()];

impl BonusMax {
    /// With this seed.
    pub fn new(seed: u64) -> BonusMax {
        BonusMax {
            seed,
            rng: Rng::with_seed(seed),
            walk: Walk::new(Observe::Control),
            table: Table::default(),
            schedules: 0,
            before: 0,
            taken: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The best of `of` actions, which `place` finds, or now and then any.
    fn pick(&mut self, of: usize, mut place: impl FnMut(u64) -> Option<usize>) -> usize {
        if of <= 1 {
            return 0;
        }
        let any = self.rng.usize(..of);
        if self.rng.f64() < EPSILON {
            return any;
        }
        let Some(at) = self.walk.look_up(&self.table) else { return any };
        self.taken.clear();
        let known = self.table.taken(at);
        self.taken.extend(known.filter_map(|(action, worth)| Some((place(action)?, worth.value))));
        let left = of - self.taken.len();
        if left > 0 {
            // What was never done is worth most.
            return untaken(self.rng.usize(..left), &self.taken);
        }
        let best = self.taken.iter().fold(0.0, |best: f64, &(_, value)| best.max(value));
        self.taken.retain(|&(_, value)| value == best);
        self.taken[self.rng.usize(..self.taken.len())].0
    }

    fn study(&mut self, walked: Walked<'_>) {
        let BonusMax { table, places, .. } = self;
        walked.visit(table, places);
        // Nothing follows the end of a schedule.
        let mut next = 0.0;
        for place in (0..walked.len()).rev() {
            let done = walked.get(place);
            let at = table.change(places[place], done.action, NEW, |Worth { value, visits }| {
                let visits = visits.saturating_add(1);
                let novelty = 1.0 / f64::from(visits);
                Worth { value: value + ALPHA * (novelty.max(GAMMA * next) - value), visits }
            });
            next = best(table, at, done.of);
        }
    }
}

/// The greatest value of the actions of an observation, of which there are `of`.
fn best(table: &Table<Worth>, at: At, of: u32) -> f64 {
    if table.actions(at) < of as usize {
        return NEW.value;
    }
    table.taken(at).fold(0.0, |best, (_, worth)| best.max(worth.value))
}

impl Strategy for BonusMax {
    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
        self.table = Table::default();
        (self.schedules, self.before) = (0, 0);
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, self.before + schedule);
        self.walk.begin();
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.walk.at(point);
        let enabled = point.enabled;
        let place = place_among(enabled);
        let worker = *enabled.get(self.pick(enabled.len(), place)).ok_or(EndSchedule::Cut)?;
        self.walk.step(worker, enabled.len());
        Ok(worker)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        self.walk.inside();
        let index = self.pick(of as usize, place_below(of)) as u32;
        self.walk.value(index, of, tag == Tag::Fault && index > 0);
        Ok(index)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::number(&mut self.rng, asked))
    }

    fn properties(&self) -> Properties {
        Properties { batch: 4, varies_inputs: true, ..Properties::default() }
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for BonusMax {
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
        Some(knowledge::write(RATES, self.schedules, &self.table))
    }

    fn recall(&mut self, learned: &[u8]) -> bool {
        let Some((schedules, table)) = knowledge::read(RATES, learned) else { return false };
        (self.schedules, self.before, self.table) = (schedules, schedules, table);
        true
    }
}
