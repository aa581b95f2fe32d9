//! PCT over chains of messages, with change points at races only.

use dally_core::{Event, Footprint, Input, MessageId, System, Tag, Text, WorkerId};
use fastrand::Rng;
use rustc_hash::FxHashSet;

use crate::sampling::chains::{Chains, Mailbox};
use crate::sampling::profile::{Profile, Profiler, Spot};
use crate::sampling::{Pct, Random};
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};

/// Trace-aware PCT (Kulahcioglu Ozkan, Majumdar and Oraee, "Trace aware random testing for
/// distributed systems", OOPSLA 2019): like [`Pctcp`](crate::sampling::Pctcp), and the `d` steps that make
/// their chains fall are drawn among steps that can race.
///
/// A bug of depth `d + 1` whose steps race shows in each schedule with a probability of at least
/// `1 / (w^2 r^d)`, where `r` counts the racing steps only: the order of the others makes no
/// difference. A step can race if it touches what several workers touched in a schedule of an
/// earlier batch: sends to the same inbox, a lock or an object in common; and so can one of which
/// nothing is known. A receipt can where an inbox is no queue; in a queue its race was over when the
/// message was sent. Before the first batch is over, every step can that others can notice. What
/// the bound of [`Pctcp`](crate::sampling::Pctcp) asks of a program this one asks too.
#[derive(Clone, Debug)]
pub struct TaPct {
    seed: u64,
    d: u32,
    rng: Rng,
    /// The most racing steps of a schedule.
    races: u64,
    contended: FxHashSet<u64>,
    mailbox: Mailbox,
    chains: Chains,
    profiler: Profiler,
    /// The racing steps that make their chains fall; the place is the level they fall to.
    falls: Vec<u64>,
    /// Racing steps that were about to be taken so far, and the numbers of those that fell.
    met: u64,
    fallen: Vec<u64>,
    /// What a step touches.
    touched: Footprint,
}

impl TaPct {
    /// With `d` steps at which priorities change, and this seed.
    pub fn new(seed: u64, d: u32) -> TaPct {
        TaPct {
            seed,
            d,
            rng: Rng::with_seed(seed),
            races: 0,
            contended: FxHashSet::default(),
            mailbox: Mailbox::default(),
            chains: Chains::default(),
            profiler: Profiler::default(),
            falls: Vec::new(),
            met: 0,
            fallen: Vec::new(),
            touched: Footprint::default(),
        }
    }

    /// Whether the step that was looked at can race.
    fn can_race(&self) -> bool {
        let races = |spot: Spot| {
            self.races == 0 || spot == Spot::UNKNOWN || self.contended.contains(&spot.to_bits())
        };
        Spot::of(&self.touched).any(races)
    }
}

impl Strategy for TaPct {
    fn name(&self) -> String {
        format!("tapct({})", self.d)
    }

    fn reseed(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn begin(&mut self, schedule: u64) -> bool {
        self.rng = Random::generator(self.seed, schedule);
        self.chains.clear(self.mailbox);
        self.profiler.clear();
        self.fallen.clear();
        self.met = 0;
        let races = Pct::length(self.races, schedule);
        self.falls.clear();
        self.falls.extend((0..self.d).map(|_| self.rng.u64(..races)));
        true
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.chains.catch_up(point, &mut self.rng);
        loop {
            let (worker, step) = self.chains.highest(point).ok_or(EndSchedule::Cut)?;
            let (chain, number) = (step.chain, step.number);
            point.system.pending(worker, &mut self.touched);
            if self.can_race() && !self.fallen.contains(&number) {
                let met = self.met;
                self.met += 1;
                if let Some(level) = self.falls.iter().position(|&at| at == met) {
                    self.fallen.push(number);
                    self.chains.lower(chain, level as u64);
                    continue;
                }
            }
            self.profiler.step(worker, point);
            self.chains.step(worker);
            return Ok(worker);
        }
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        Ok(Random::choose(&mut self.rng, of, tag))
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        Ok(self.chains.delivery(candidates))
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        Ok(Random::number(&mut self.rng, asked))
    }

    fn properties(&self) -> Properties {
        Properties {
            listens: true,
            draws_alike: true,
            varies_inputs: true,
            ..Properties::default()
        }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.chains.heard(event);
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for TaPct {
    /// How many steps could race as far as was known, what is known of mailboxes, then a profile.
    fn lesson(&mut self, _last: Option<&dyn System>) -> Option<Lesson> {
        let counts = [self.met, self.chains.mailbox().to_bits()];
        Some(counts.into_iter().chain(self.profiler.lesson().iter().copied()).collect())
    }

    fn learn(&mut self, batch: &[Outcome]) {
        let lessons = || batch.iter().filter_map(|outcome| outcome.lesson.as_deref());
        // With nothing known before, what would have been met is counted afterwards.
        let recount = self.races == 0;
        let mut races = self.races.max(1);
        for lesson in lessons() {
            let [met, mailbox, profile @ ..] = lesson else { continue };
            self.mailbox = self.mailbox.max(Mailbox::from_bits(*mailbox));
            let contended = Profile::read(profile).contended();
            let touched = contended.iter().map(|&(_, count)| count).sum::<u64>();
            races = races.max(if recount { touched } else { *met });
            self.contended.extend(contended.iter().map(|(spot, _)| spot.to_bits()));
        }
        if !batch.is_empty() {
            self.races = races;
        }
    }
}
