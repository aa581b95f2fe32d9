//! A livelock hunted by one search, with one seed after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use dally::contract::BugKind;
use dally::contract::words::grouped;
use dally::report::text;
use dally::search::liveness::Fairness;
use dally::search::strata::{self, Cycles, Explorer, ExplorerKind, Plan, SearchKind, States};
use dally::search::{Ended, Options, Progress, Sink};

use super::Arguments;
use super::by_age::ByAge;
use super::livelocks::Livelock;
use crate::table::mebibytes;

/// One cell of the table before it is measured.
#[derive(Clone, Copy)]
pub struct Hunt<'a> {
    pub livelock: &'static Livelock,
    pub size: usize,
    pub search: Search,
    pub fairness: Fairness,
    pub arguments: &'a Arguments,
}

/// A search for cycles.
#[derive(Clone, Copy)]
pub struct Search {
    pub kind: SearchKind,
    /// In whose order; without one the oldest worker first.
    pub explorer: Option<ExplorerKind>,
    pub threads: usize,
}

/// What a search took until it found the livelock.
#[derive(Clone, Debug)]
pub struct Figures {
    pub states: u64,
    pub time: Duration,
    pub cycles: Cycles,
}

/// What a search came to.
#[derive(Debug)]
enum Outcome {
    Found(Figures),
    GaveUp,
    /// It came to its end, or to something else, and not to the livelock.
    Wrong(String),
}

/// What a search came to with each seed.
#[derive(Debug)]
pub struct Hunts(Vec<Outcome>);

/// No search is to end at a bound on steps: in depth first order, states can be very far away.
const MAX_STEPS: usize = 10_000_000;

impl Hunt<'_> {
    /// With all seeds. The searches take turns: what a machine does besides, and what is warm when
    /// the first of them begins, is then in the times of all.
    pub fn all<const SEARCHES: usize>(hunts: [Self; SEARCHES]) -> [Hunts; SEARCHES] {
        let mut all = [const { Hunts(Vec::new()) }; SEARCHES];
        for seed in 0..hunts.iter().map(Hunt::seeds).max().unwrap_or_default() {
            for (hunt, hunts) in hunts.iter().zip(&mut all) {
                if seed < hunt.seeds() {
                    hunts.0.push(hunt.one(seed));
                }
            }
        }
        all
    }

    /// One is enough where nothing is drawn.
    fn seeds(&self) -> u64 {
        let explorer = self.search.explorer;
        let is_random = explorer.is_some_and(|explorer| explorer.build(0).is_random());
        if is_random { self.arguments.seeds } else { 1 }
    }

    fn one(self, seed: u64) -> Outcome {
        let Hunt { livelock, size, search, fairness, arguments } = self;
        let Search { kind, explorer, threads } = search;
        let program = Arc::new((livelock.program)(size));
        let plan = Plan { search: kind, memory: arguments.memory, ..Plan::default() };
        let options = Options {
            seed,
            threads,
            time: Some(arguments.time),
            fairness,
            max_steps: MAX_STEPS,
            // To judge a large graph takes long, and the step that leads to it with it.
            step_time: arguments.time,
            shrink: false,
            repeat_check: false,
            ..Options::default()
        };
        let order = explorer.map_or("age".into(), |explorer| explorer.to_string());
        let what = format!("{kind} by {order}, seed {seed}, threads {threads}");
        let event_sink =
            EventSink { what: format!("{}, {what}", livelock.name), told: AtomicU64::new(0) };
        let event_sink = Arc::new(event_sink);
        let report = match explorer {
            None => strata::explore(program, ByAge::default(), plan, options, event_sink),
            Some(kind) => strata::explore(program, kind.build(seed), plan, options, event_sink),
        };
        let wrong = |found: &str| Outcome::Wrong(format!("{what}: {found}"));
        let Some(finding) = report.findings.first() else {
            return match report.ended {
                Ended::Memory | Ended::Time => Outcome::GaveUp,
                ended => wrong(&format!("found nothing, ended as {ended:?}")),
            };
        };
        let bug = &finding.bug;
        if bug.kind() != BugKind::Livelock || bug.culprit.as_deref() != Some(livelock.monitor) {
            return wrong(&text::line(bug));
        }
        let Some((states, cycles)) = report.states.and_then(|states| {
            let explored = explored(kind, &states);
            Some((explored, states.cycles?))
        }) else {
            return wrong("counted no states");
        };
        Outcome::Found(Figures { states, time: report.elapsed, cycles })
    }
}

/// How many states were explored. A search that starts again for every bound may end soon the last
/// time; what it took to get there are the states of the bound before.
fn explored(search: SearchKind, states: &States) -> u64 {
    match search {
        SearchKind::IterativeNdfs => {
            states.strata.iter().map(|stratum| stratum.states).max().unwrap_or_default()
        }
        _ => states.states,
    }
}

impl Hunts {
    /// The median of one figure, `*` if most seeds gave up.
    pub fn cell<T: Ord>(&self, figure: fn(&Figures) -> T, text: fn(T) -> String) -> String {
        if self.wrong().next().is_some() {
            return "wrong".into();
        }
        self.median(figure).map_or("*".into(), text)
    }

    /// The median of one figure, if most seeds did not give up.
    pub fn median<T: Ord>(&self, figure: fn(&Figures) -> T) -> Option<T> {
        let mut found: Vec<T> = self.found().map(figure).collect();
        found.sort_unstable();
        // A hunt in vain is longer than any other, so that the median of all hunts stays honest.
        found.into_iter().nth(self.0.len() / 2)
    }

    fn found(&self) -> impl Iterator<Item = &Figures> {
        self.0.iter().filter_map(|outcome| match outcome {
            Outcome::Found(figures) => Some(figures),
            Outcome::GaveUp | Outcome::Wrong(_) => None,
        })
    }

    /// What was found that was not looked for.
    pub fn wrong(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|outcome| match outcome {
            Outcome::Wrong(what) => Some(what.as_str()),
            Outcome::Found(_) | Outcome::GaveUp => None,
        })
    }
}

/// Tells how far a long search is.
struct EventSink {
    what: String,
    /// How many times it has told.
    told: AtomicU64,
}

const EVERY: Duration = Duration::from_secs(10);

impl Sink for EventSink {
    fn progress(&self, progress: &Progress) {
        let due = progress.elapsed.as_secs() / EVERY.as_secs();
        let Some(reached) = progress.reached else { return };
        if self.told.swap(due, Relaxed) < due {
            eprintln!(
                "{}: {} s, {} states, bound {}, {}",
                self.what,
                progress.elapsed.as_secs(),
                grouped(reached.states),
                grouped(reached.bound.into()),
                mebibytes(reached.bytes),
            );
        }
    }
}
