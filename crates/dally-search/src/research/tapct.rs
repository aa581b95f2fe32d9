//! PCT over chains of messages, with change points at races only.

use dally_core::{Event, Footprint, MessageId, System, Text, WorkerId};
use fastrand::Rng;
use rustc_hash::FxHashSet;

use crate::learning::words;
use crate::sampling::chains::Chains;
use crate::sampling::profile::{Profile, ProfileKey, Profiler};
use crate::sampling::{Pct, Sampler};
use crate::strategy::{EndSchedule, Learner, Lesson, Outcome, Point, Properties};

/// Trace-aware PCT (Kulahcioglu Ozkan, Majumdar and Oraee, "Trace aware random testing for
/// distributed systems", OOPSLA 2019): like [`Pctcp`](crate::sampling::Pctcp), and the `d` steps
/// that make their chains fall are drawn among steps that can race.
///
/// A bug of depth `d + 1` whose steps race shows in each schedule with a probability of at least `1
/// / (w^2 r^d)`, where `r` counts the racing steps only. A step can race if it touches what several
/// workers touched in a schedule of an earlier batch (sends to the same inbox, a lock or an object
/// in common), or if nothing is known of it. A receipt can race where the inbox is no queue; in a
/// queue its race was over when the message was sent. During the first batch, every step that
/// others can notice can race. The bound asks of a program what that of
/// [`Pctcp`](crate::sampling::Pctcp) asks.
#[derive(Clone, Debug, Default)]
pub struct TaPct {
    d: u32,
    /// The most racing steps of a schedule.
    races: u64,
    contended: FxHashSet<u64>,
    chains: Chains,
    profiler: Profiler,
    /// The racing steps that were about to be taken so far.
    met: u64,
    touched: Footprint,
}

impl TaPct {
    /// With `d` steps at which priorities change.
    pub fn new(d: u32) -> TaPct {
        TaPct { d, ..TaPct::default() }
    }
}

impl Sampler for TaPct {
    fn name(&self) -> String {
        format!("tapct({})", self.d)
    }

    fn begin(&mut self, schedule: u64, rng: &mut Rng) {
        self.chains.begin(self.d, Pct::length(self.races, schedule), rng);
        self.profiler.clear();
        self.met = 0;
    }

    fn worker(&mut self, point: &Point<'_>, rng: &mut Rng) -> Result<WorkerId, EndSchedule> {
        let TaPct { races, contended, met, touched, .. } = self;
        let worker = self.chains.pick(point, rng, |worker, _, has_fallen| {
            point.system.pending(worker, touched);
            let can_race = ProfileKey::of(touched).any(|spot| {
                *races == 0 || spot == ProfileKey::UNKNOWN || contended.contains(&spot.to_bits())
            });
            *met += u64::from(can_race && !has_fallen);
            (can_race && !has_fallen).then(|| *met - 1)
        })?;
        self.profiler.step(worker, point);
        Ok(worker)
    }

    fn delivery(&mut self, candidates: &[MessageId], _rng: &mut Rng) -> usize {
        self.chains.delivery(candidates)
    }

    fn properties(&self) -> Properties {
        Properties { listens: true, ..Properties::DRAWN }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.chains.heard(event);
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for TaPct {
    /// The number of steps that could race, what is known of mailboxes, then a profile.
    fn lesson(&mut self, _last: Option<&dyn System>) -> Option<Lesson> {
        let [_, mailbox] = self.chains.lesson();
        Some(
            [self.met, mailbox].into_iter().chain(self.profiler.lesson().iter().copied()).collect(),
        )
    }

    fn learn(&mut self, batch: &[Outcome]) {
        // If nothing was known before, the racing steps are counted now.
        let recount = self.races == 0;
        for lesson in batch.iter().filter_map(|outcome| outcome.lesson.as_deref()) {
            let [met, mailbox, profile @ ..] = lesson else { continue };
            self.chains.learn(*mailbox);
            let contended = Profile::read(profile).contended;
            let touched = contended.iter().map(|&(_, count)| count).sum::<u64>();
            self.races = self.races.max(if recount { touched } else { *met });
            self.contended.extend(contended.iter().map(|(spot, _)| spot.to_bits()));
        }
        self.races = self.races.max(u64::from(!batch.is_empty()));
    }

    fn learned(&mut self) -> Option<Vec<u8>> {
        let mut contended: Vec<u64> = self.contended.iter().copied().collect();
        contended.sort_unstable();
        Some(words::written([self.races, self.chains.learnt()].into_iter().chain(contended)))
    }

    fn recall(&mut self, learned: &[u8]) -> bool {
        let words = words::read(learned);
        let Some([races, mailbox, contended @ ..]) = words.as_deref() else { return false };
        self.races = *races;
        self.chains.learn(*mailbox);
        self.contended = contended.iter().copied().collect();
        true
    }
}
