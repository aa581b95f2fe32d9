//! PCT over chains of messages, with change points at races only.

use dally_core::{Event, MessageId, Op, System, Tag, Text, WorkerId};
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
/// nothing is known. A receipt can, unless inboxes have turned out to be queues: then its race was
/// over when the message was sent. Before the first batch is over, every step can. What the bound
/// of [`Pctcp`](crate::sampling::Pctcp) asks of a program this one asks too.
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
    /// Messages received so far.
    received: u64,
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
            received: 0,
        }
    }

    fn can_race(&self, op: Op, worker: WorkerId) -> bool {
        match op {
            Op::Local | Op::Create => false,
            // A message that waits in a queue has had its race when it was sent.
            Op::Receive => self.chains.mailbox() != Mailbox::Queue,
            Op::Unknown | Op::Fault => true,
            _ => self.races == 0 || self.contended.contains(&Spot::of(op, worker).to_bits()),
        }
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
        (self.met, self.received) = (0, 0);
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
            let op = point.system.pending(worker);
            if self.can_race(op, worker) && !self.fallen.contains(&number) {
                let met = self.met;
                self.met += 1;
                if let Some(level) = self.falls.iter().position(|&at| at == met) {
                    self.fallen.push(number);
                    self.chains.lower(chain, level as u64);
                    continue;
                }
            }
            self.received += u64::from(op == Op::Receive);
            self.profiler.step(worker, op);
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

    fn properties(&self) -> Properties {
        Properties { listens: true, draws_alike: true, ..Properties::default() }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.chains.heard(event);
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for TaPct {
    /// How many steps could race as far as was known, how many were receipts, what is known of
    /// mailboxes, then a profile.
    fn lesson(&mut self, _last: Option<&dyn System>) -> Option<Lesson> {
        let counts = [self.met, self.received, self.chains.mailbox().to_bits()];
        Some(counts.into_iter().chain(self.profiler.lesson().iter().copied()).collect())
    }

    fn learn(&mut self, batch: &[Outcome]) {
        let lessons = || batch.iter().filter_map(|outcome| outcome.lesson.as_deref());
        let before = self.mailbox;
        for lesson in lessons() {
            let mailbox = lesson.get(2).map_or(before, |&bits| Mailbox::from_bits(bits));
            self.mailbox = self.mailbox.max(mailbox);
        }
        // With nothing known before, what would have been met is counted afterwards.
        let recount = self.races == 0 || self.mailbox != before;
        let mut races = if recount { 1 } else { self.races };
        for lesson in lessons() {
            let [met, received, _, profile @ ..] = lesson else { continue };
            let contended = Profile::read(profile).contended();
            let receipts = if self.mailbox == Mailbox::Queue { 0 } else { *received };
            let touched = contended.iter().map(|&(_, count)| count).sum::<u64>();
            races = races.max(if recount { touched + receipts } else { *met });
            self.contended.extend(contended.iter().map(|(spot, _)| spot.to_bits()));
        }
        if !batch.is_empty() {
            self.races = races;
        }
    }
}
