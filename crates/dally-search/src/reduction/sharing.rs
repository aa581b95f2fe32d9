//! The parts of a reduced search, shared by its threads.
//!
//! Parts have an order, that in which one thread explores them: below, beside, afterwards. Where a bug
//! ends the search, what comes later in this order does not count, whichever thread has explored it. So
//! neither figures nor findings depend on threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dally_core::Bug;

use super::estimate::Estimate;
use super::outcome::Outcome;
use super::part::{Division, Part, Rest};
use crate::batch::Shared;
use crate::choice_log::ChoiceWriter;
use crate::confirm::RawFinding;

/// How long a thread without work waits until it looks whether the search was ended.
const LOOK: Duration = Duration::from_millis(20);

/// The parts of one search. `N` and `A` are the snapshots and the assignments of its nodes.
pub(crate) struct Parts<N, A> {
    shared: Arc<Shared>,
    /// After so many executions the search ends.
    most: u64,
    inside: Mutex<PartQueue<N, A>>,
    changed: Condvar,
    /// How often estimates were asked for.
    asked: AtomicU64,
}

struct PartQueue<N, A> {
    /// The one that comes first is last.
    ready: Vec<Job<N, A>>,
    /// Those whose parts below and beside are not both explored.
    waiting: Vec<Waiting<N, A>>,
    running: Vec<(u64, Arc<AtomicBool>)>,
    /// All parts, in their order.
    log: Vec<Entry>,
    next: u64,
    /// The bug that kept the program from starting.
    failed: Option<Bug>,
}

/// A part to be explored.
pub(crate) struct Job<N, A> {
    id: u64,
    /// `None`: everything, from the first state.
    pub(crate) part: Option<Part<N, A>>,
    /// Who waits for it.
    then: Option<(u64, Side)>,
    /// Set when it is not wanted any more.
    pub(crate) unwanted: Arc<AtomicBool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Beside,
}

struct Waiting<N, A> {
    job: Job<N, A>,
    below: Option<Rest<N, A>>,
    beside: Option<Rest<N, A>>,
    /// The leaves below when the part was divided, and what was expected beside then.
    leaves: u64,
    expected: Estimate,
}

struct Entry {
    /// `None` for parts that were explored.
    id: Option<u64>,
    expected: Estimate,
    outcome: Outcome,
}

impl<N, A: Clone> Parts<N, A> {
    pub(crate) fn new(shared: Arc<Shared>, most: Option<u64>) -> Parts<N, A> {
        let mut inside = PartQueue {
            ready: Vec::new(),
            waiting: Vec::new(),
            running: Vec::new(),
            log: Vec::new(),
            next: 0,
            failed: None,
        };
        let first = inside.job(None, None);
        inside.log.push(Entry::new(first.id, Estimate::default()));
        inside.ready.push(first);
        let (inside, asked) = (Mutex::new(inside), AtomicU64::new(0));
        let most = most.unwrap_or(u64::MAX);
        Parts { shared, most, inside, changed: Condvar::new(), asked }
    }

    pub(crate) fn keeps_going(&self) -> bool {
        self.shared.keep_going
    }

    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        self.shared.halt.load(Ordering::Relaxed)
    }

    /// How often estimates were asked for.
    #[inline]
    pub(crate) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// An execution has come to its end, with so many steps since the last one.
    pub(crate) fn executed(&self, steps: u64, writer: &ChoiceWriter) {
        if self.shared.schedules.fetch_add(1, Ordering::Relaxed) + 1 >= self.most {
            self.shared.halt.store(true, Ordering::Relaxed);
        }
        self.shared.steps.fetch_add(steps, Ordering::Relaxed);
        if self.shared.sink.wants_executions() {
            self.shared.sink.executed(&writer.choices());
        }
    }

    /// Tells the sink of a bug, unless its cause is known.
    pub(crate) fn found(&self, raw: &RawFinding) {
        let mut first = self.shared.first.lock().unwrap_or_else(PoisonError::into_inner);
        if self.shared.full.load(Ordering::Relaxed) || first.contains_key(&raw.bug.cause()) {
            return;
        }
        first.insert(raw.bug.cause(), raw.schedule);
        drop(first);
        self.shared.sink.found(&raw.finding(&self.shared.description));
    }

    /// The next part to be explored, when there is one; `None` if there will be none.
    pub(crate) fn next(&self) -> Option<Job<N, A>> {
        let mut inside = self.lock();
        loop {
            if self.is_halted() {
                return None;
            }
            if let Some(job) = inside.ready.pop() {
                inside.running.push((job.id, job.unwanted.clone()));
                return Some(job);
            }
            if inside.running.is_empty() {
                self.changed.notify_all();
                return None;
            }
            let waited = self.changed.wait_timeout(inside, LOOK);
            inside = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A part was divided: the job goes on below.
    pub(crate) fn divided(&self, job: &mut Job<N, A>, division: Division<N, A>) {
        let Division { beside, afterwards, leaves, expected } = division;
        let mut inside = self.lock();
        let Some(place) = inside.place(job.id) else { return };
        let afterwards = inside.job(Some(afterwards), job.then);
        job.then = Some((afterwards.id, Side::Below));
        let beside = inside.job(Some(beside), Some((afterwards.id, Side::Beside)));
        let entries =
            [Entry::new(beside.id, expected), Entry::new(afterwards.id, Estimate::default())];
        inside.log.splice(place + 1..place + 1, entries);
        inside.ready.push(beside);
        let (below, rest) = (None, None);
        inside.waiting.push(Waiting { job: afterwards, below, beside: rest, leaves, expected });
        self.changed.notify_one();
    }

    /// A part was explored, or given up if nothing is left of it.
    pub(crate) fn explored(
        &self,
        job: Job<N, A>,
        (outcome, expected): (Outcome, Estimate),
        rest: Option<Rest<N, A>>,
    ) {
        let mut inside = self.lock();
        inside.running.retain(|running| running.0 != job.id);
        if let Some(place) = inside.place(job.id) {
            let stopped = outcome.stopped;
            let entry = &mut inside.log[place];
            entry.expected = expected;
            (entry.id, entry.outcome) = (None, outcome);
            if stopped {
                let later = inside.expected_after(job.then);
                inside.log[place].expected.add(later);
                inside.log.truncate(place + 1);
                inside.forget_unwanted();
            } else if let (Some((waiting, side)), Some(rest)) = (job.then, rest) {
                inside.settle(waiting, side, rest);
            }
            inside.merge(place);
        }
        self.changed.notify_all();
    }

    /// What is expected of a part that is explored.
    pub(crate) fn expect(&self, job: &Job<N, A>, expected: Estimate) {
        let mut inside = self.lock();
        if let Some(place) = inside.place(job.id) {
            inside.log[place].expected = expected;
        }
    }

    /// The program could not be started: the search ends.
    pub(crate) fn failed(&self, bug: Bug) {
        self.lock().failed.get_or_insert(bug);
        self.shared.halt.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Asks for estimates, and answers the sum of those that are known.
    pub(crate) fn ask(&self) -> Estimate {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.lock().estimate()
    }

    /// What came of the whole, the estimate of how many leaves it has, and the bug that kept the program
    /// from starting.
    pub(crate) fn take(&self) -> (Outcome, Estimate, Option<Bug>) {
        let mut inside = self.lock();
        let estimate = inside.estimate();
        let mut all = Outcome::default();
        for entry in std::mem::take(&mut inside.log) {
            all.unfinished |= entry.id.is_some();
            all.append(entry.outcome);
        }
        (all, estimate, inside.failed.take())
    }

    fn lock(&self) -> MutexGuard<'_, PartQueue<N, A>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn new(id: u64, expected: Estimate) -> Entry {
        Entry { id: Some(id), expected, outcome: Outcome::default() }
    }
}

impl<N, A: Clone> PartQueue<N, A> {
    fn job(&mut self, part: Option<Part<N, A>>, then: Option<(u64, Side)>) -> Job<N, A> {
        self.next += 1;
        Job { id: self.next, part, then, unwanted: Arc::default() }
    }

    /// The place of a part in the order; `None` if it does not count any more.
    fn place(&self, id: u64) -> Option<usize> {
        self.log.iter().position(|entry| entry.id == Some(id))
    }

    /// What a part has left goes to the one that waits for it.
    fn settle(&mut self, waiting: u64, side: Side, rest: Rest<N, A>) {
        let waits = |one: &Waiting<N, A>| one.job.id == waiting;
        let Some(place) = self.waiting.iter().position(waits) else { return };
        let waiting = &mut self.waiting[place];
        match side {
            Side::Below => waiting.below = Some(rest),
            Side::Beside => waiting.beside = Some(rest),
        }
        if let (Some(_), Some(_)) = (&waiting.below, &waiting.beside)
            && let Waiting { mut job, below: Some(below), beside: Some(beside), leaves, .. } =
                self.waiting.swap_remove(place)
        {
            if let Some(part) = &mut job.part {
                part.follow(below, beside, leaves);
            }
            self.ready.push(job);
        }
    }

    /// What is expected beside the parts that a part is below of: one thread has not begun with it when
    /// it explores the part.
    fn expected_after(&self, mut then: Option<(u64, Side)>) -> Estimate {
        let mut sum = Estimate::default();
        while let Some((id, side)) = then
            && let Some(waiting) = self.waiting.iter().find(|waiting| waiting.job.id == id)
        {
            if side == Side::Below {
                sum.add(waiting.expected);
            }
            then = waiting.job.then;
        }
        sum
    }

    /// What comes after a bug that ends the search is not explored.
    fn forget_unwanted(&mut self) {
        let wanted: Vec<u64> = self.log.iter().filter_map(|entry| entry.id).collect();
        self.ready.retain(|job| wanted.contains(&job.id));
        self.waiting.retain(|waiting| wanted.contains(&waiting.job.id));
        for (id, unwanted) in &self.running {
            unwanted.store(!wanted.contains(id), Ordering::Relaxed);
        }
    }

    /// Adds up what came of neighbouring parts.
    fn merge(&mut self, place: usize) {
        let is_explored = |entry: Option<&Entry>| entry.is_some_and(|entry| entry.id.is_none());
        for place in [place + 1, place] {
            if place > 0 && is_explored(self.log.get(place)) && is_explored(self.log.get(place - 1))
            {
                let Entry { expected, outcome, .. } = self.log.remove(place);
                let before = &mut self.log[place - 1];
                before.expected.add(expected);
                before.outcome.append(outcome);
            }
        }
    }

    fn estimate(&self) -> Estimate {
        let mut sum = Estimate::default();
        self.log.iter().for_each(|entry| sum.add(entry.expected));
        sum
    }
}
