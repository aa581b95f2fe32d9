//! Batches of schedules, one after the other, and their results.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use dally_core::Program;
use dally_core::report::{Ended, Report, Sightings};

use super::threads::ScheduleThreads;
use super::{Run, count_bug};
use crate::batch::{BatchCommand, BatchMessage, Ran, Results, ScheduleQueue};
use crate::confirm::RawFinding;
use crate::learning::file;
use crate::options::Phase;
use crate::strategy::{Outcome, Properties};
use crate::supervisor::LeaveBehind;

/// The size of the first batch: small, so that strategies learn early. Later ones are as large as
/// the strategy likes, so that threads seldom wait for each other.
const FIRST_BATCH: u64 = 16;

/// How many batches of at most [`SMALL`] schedules a thread that works alone is given at once.
const ALONE: u64 = 64;

/// A batch that takes hardly longer than to hand it to a thread: those of strategies that learn early.
const SMALL: u64 = 64;

/// How long a strategy may take to tell what it has learnt.
const TELLING: Duration = Duration::from_secs(60);

impl<P: Program + 'static> Run<P> {
    /// Runs batches from this schedule on until the run ends.
    pub(super) fn all_schedules(&mut self, first: u64) {
        let Properties { sequential, batch: largest, draws_alike, .. } =
            self.options.strategy.properties();
        let largest = largest.max(1);
        let threads = if sequential { 1 } else { self.options.threads.clamp(1, 1024) };
        self.report.threads = threads;
        let mut threads = self.started(threads);
        *self.shared.sightings.write().unwrap_or_else(PoisonError::into_inner) =
            Sightings::starting_at(first);
        let (mut next, last) = (first, first.saturating_add(self.options.schedules));
        let mut size = FIRST_BATCH.min(largest);
        let mut learn = Vec::new();
        while next < last {
            self.check_limits();
            self.show_progress(Phase::Searching);
            if threads.is_empty() {
                self.end(Ended::Failed);
            }
            if self.ended.is_some() {
                break;
            }
            let alone = (threads.len() == 1 && largest <= SMALL).then_some(size);
            let batches = if alone.is_some() && size == largest { ALONE } else { 1 };
            let end = last.min(next.saturating_add(size * batches));
            let batch = Arc::new(ScheduleQueue {
                next: AtomicU64::new(next),
                end: AtomicU64::new(end),
                learn: std::mem::take(&mut learn),
                alone,
                unlearnt: AtomicU64::new(next),
                results: (0..threads.len()).map(|_| Results::default()).collect(),
            });
            threads.command_all(|place| BatchCommand::Run(batch.clone(), place));
            self.supervise(&mut threads, LeaveBehind::Busy, |_| {}, |_, _| {});
            let mut ran = Vec::new();
            for results in &batch.results {
                let mut more = results.take();
                // One thread alone has all of them, and none is moved.
                if ran.is_empty() { ran = more } else { ran.append(&mut more) }
            }
            ran.sort_by_key(|ran| ran.outcome.schedule);
            let wanted = batch.end.load(Ordering::Acquire);
            ran.retain(|ran| ran.outcome.schedule < wanted);
            let raws;
            (learn, raws) = self.merge(ran);
            let unlearnt = batch.unlearnt.load(Ordering::Acquire);
            learn.retain(|outcome| outcome.schedule >= unlearnt);
            if !raws.is_empty() && !self.options.keep_going {
                self.ended = self.ended.filter(|&ended| ended != Ended::Time).or(Some(Ended::Bug));
            } else if wanted < end {
                self.ended = self.ended.or(Some(Ended::Exhausted));
            }
            for raw in raws {
                self.confirm(&mut threads, raw);
            }
            let full = self.is_full();
            self.shared.full.store(full, Ordering::Relaxed);
            next = end;
            size = size.saturating_mul(2).min(largest);
        }
        // Only the strategy knows whether the schedule that it has run last was the last one.
        let next = (self.ended.is_none() && sequential).then_some(next);
        self.ask_strategy(&mut threads, learn, next);
        let sightings = self.shared.sightings.read().unwrap_or_else(PoisonError::into_inner);
        self.report.novelty = Some(sightings.novelty(draws_alike));
        drop(sightings);
        threads.finish();
    }

    /// Starts this many threads, or as many as the system allows.
    fn started(&mut self, count: usize) -> ScheduleThreads {
        let mut threads = self.supervisor();
        while threads.len() < count && self.start_thread(&mut threads) {}
        threads
    }

    /// Adds up the results of a batch, in the order of its schedules. Returns the outcomes that the
    /// strategy learns from, if it does, and the bugs with new causes.
    fn merge(&mut self, ran: Vec<Ran>) -> (Vec<Outcome>, Vec<RawFinding>) {
        let mut raws = Vec::new();
        let learns = self.options.strategy.learner().is_some();
        let mut outcomes = Vec::with_capacity(if learns { ran.len() } else { 0 });
        let mut sightings = self.shared.sightings.write().unwrap_or_else(PoisonError::into_inner);
        for Ran { outcome, bug, shown, whole, notes, given_inputs, census } in ran {
            self.report.schedules += 1;
            self.report.steps += outcome.steps as u64;
            self.report.longest = self.report.longest.max(outcome.steps);
            self.report.given_inputs |= given_inputs;
            self.report.redundant += u64::from(outcome.redundant);
            if let Some(census) = census {
                self.report.census.get_or_insert_default().add(&census);
            }
            let cut = !(outcome.complete || outcome.redundant || outcome.bug);
            self.report.cut += u64::from(cut);
            for note in notes {
                if !self.report.notes.contains(&note) {
                    self.report.notes.push(note);
                }
            }
            sightings.add(shown, whole || self.options.observe_every == 0);
            if let Some((cause, raw)) = bug {
                raws.extend(count_bug(&mut self.groups, cause, raw));
            }
            outcomes.extend(learns.then_some(outcome));
        }
        self.report.observations = sightings.distinct();
        (outcomes, raws)
    }

    /// Asks the strategy of one thread what it has covered, once it has learnt from these outcomes,
    /// and whether there would be a `next` schedule; writes what it has learnt to the file.
    fn ask_strategy(
        &mut self,
        threads: &mut ScheduleThreads,
        outcomes: Vec<Outcome>,
        next: Option<u64>,
    ) {
        let path = self.options.learned.as_deref();
        let tell = BatchCommand::Tell { outcomes, next, learned: path.is_some() || self.keeps };
        let (exhausted, coverage, learned) = match threads.ask_first(tell, TELLING) {
            Some(BatchMessage::Told { exhausted, coverage, learned }) => {
                (exhausted, coverage, learned)
            }
            _ => (false, None, None),
        };
        self.ended = self.ended.or(exhausted.then_some(Ended::Exhausted));
        self.report.stated = coverage;
        let Some(path) = path else {
            self.learned = learned;
            return;
        };
        let kept = match learned {
            Some(learned) => {
                let Report { program, strategy, granularity, .. } = &self.report;
                let settings = &self.options.settings;
                let key = file::Key::new(program, settings, granularity, strategy);
                file::save(path, &key, &learned)
            }
            None => Err("What was learnt is lost: the strategy did not tell it.".into()),
        };
        self.report.notes.extend(kept.err());
    }
}
