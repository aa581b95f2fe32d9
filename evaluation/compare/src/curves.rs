//! How much a strategy sees as schedules go by, and what it does: Figs. 4, 5 and 11 of Mukherjee et
//! al., "Learning-Based Controlled Concurrency Testing".

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use dally::contract::{Event, MessageId, Observe, Tag, Text, WorkerId};
use dally::search::{EndSchedule, Learner, Options, Point, Properties, Strategy};
use rustc_hash::FxHashSet;

use crate::crew::spread;
use crate::plan::{Case, Contestant, Plan};

/// What one strategy saw of one program, and did, as schedules went by.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its place in [`Plan::cases`].
    pub case: usize,
    /// Its place in [`Plan::contestants`].
    pub contestant: usize,
    /// After so many schedules so many distinct observations of states that it went on from.
    pub coverage: Vec<(u64, u64)>,
    /// For each interval, named by the schedule it ends with, how often each action was taken: a
    /// message was received, by its type, or, in programs without messages, a worker stepped, by
    /// its name.
    pub actions: Vec<(u64, BTreeMap<String, u64>)>,
}

/// The number of intervals of a curve.
const POINTS: u64 = 50;

/// Runs so many schedules of every program under every strategy, whatever bugs they show, and
/// observes every state. These runs are apart from all trials: to look costs time, and a trial
/// ends at its first bug. There is no curve of a search, which observes nothing.
pub fn curves(plan: &Plan, schedules: u64, stop: &Arc<AtomicBool>) -> Vec<Curve> {
    let pairs = plan.pairs().enumerate();
    let pairs: Vec<_> = pairs.filter(|(_, (_, by))| by.searches().is_none()).collect();
    let all = plan.contestants.len();
    let mut done = BTreeMap::new();
    let watched = |pair: usize| {
        let (pair, (case, contestant)) = pairs[pair];
        let Seen { coverage, actions, .. } = watch(plan, case, contestant, schedules, stop);
        Curve { case: pair / all, contestant: pair % all, coverage, actions }
    };
    let each = |pair, curve| {
        done.insert(pair, curve);
        Ok::<(), Infallible>(())
    };
    let Ok(()) = spread(plan.threads, 0..pairs.len(), stop, watched, each);
    done.into_values().collect()
}

fn watch(
    plan: &Plan,
    case: &Case,
    contestant: &Contestant,
    schedules: u64,
    stop: &Arc<AtomicBool>,
) -> Seen {
    // No run of the plan has this number.
    let seed = plan.seed_of(case, contestant, u64::MAX);
    let options = plan.options(case, contestant, seed);
    let interval = schedules.div_ceil(POINTS).max(1);
    let seen = Arc::new(Mutex::new(Seen { interval, ..Seen::default() }));
    let strategy = Box::new(Watched { inner: options.strategy, seen: seen.clone() });
    let run = Options {
        strategy,
        schedules,
        keep_going: true,
        observe_every: 0,
        threads: 1,
        stop: stop.clone(),
        ..options
    };
    let report = case.run(run, None);
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    seen.mark(report.schedules);
    std::mem::take(&mut *seen)
}

/// What was seen so far.
#[derive(Default)]
struct Seen {
    interval: u64,
    observations: FxHashSet<u64>,
    received: BTreeMap<String, u64>,
    stepped: BTreeMap<String, u64>,
    coverage: Vec<(u64, u64)>,
    actions: Vec<(u64, BTreeMap<String, u64>)>,
}

impl Seen {
    /// Ends an interval after so many schedules, unless it has ended there already.
    fn mark(&mut self, schedules: u64) {
        if schedules == 0 || self.coverage.last().is_some_and(|last| last.0 >= schedules) {
            return;
        }
        self.coverage.push((schedules, self.observations.len() as u64));
        let (received, stepped) =
            (std::mem::take(&mut self.received), std::mem::take(&mut self.stepped));
        self.actions.push((schedules, if received.is_empty() { stepped } else { received }));
    }
}

/// A strategy that is looked at while it works. Nothing that it does depends on that.
#[derive(Clone)]
struct Watched {
    inner: Box<dyn Strategy>,
    seen: Arc<Mutex<Seen>>,
}

impl Watched {
    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Strategy for Watched {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn reseed(&mut self, seed: u64) {
        self.inner.reseed(seed);
    }

    fn begin(&mut self, schedule: u64) -> bool {
        {
            let mut seen = self.seen();
            if schedule.is_multiple_of(seen.interval) {
                seen.mark(schedule);
            }
        }
        self.inner.begin(schedule)
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        let worker = self.inner.worker(point);
        let mut seen = self.seen();
        seen.observations.extend(point.system.observe(Observe::Control));
        if let Ok(worker) = worker {
            *seen.stepped.entry(point.system.name(worker)).or_default() += 1;
        }
        drop(seen);
        worker
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        self.inner.value(of, tag)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        self.inner.delivery(candidates)
    }

    fn properties(&self) -> Properties {
        Properties { listens: true, ..self.inner.properties() }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        if let Event::Received { payload, .. } = event {
            let text = payload.to_string();
            let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
            *self.seen().received.entry(text[..end].to_owned()).or_default() += 1;
        }
        if self.inner.properties().listens {
            self.inner.heard(event);
        }
    }

    fn coverage(&self) -> Option<String> {
        self.inner.coverage()
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        self.inner.learner()
    }
}
