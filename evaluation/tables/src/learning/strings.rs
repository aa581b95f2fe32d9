//! Table 1 of Mukherjee et al., "Learning-Based Controlled Concurrency Testing": which share of all
//! schedules spells a string.

use clap::Args;
use dally::contract::{Observe, System, Tag, WorkerId};
use dally::search::learning::{Learning, Ql};
use dally::search::sampling::{Sampler, Seeded};
use dally::search::{EndSchedule, Learner, Lesson, Outcome, Point, Properties, Strategy};
use dally_compare::table::aligned;
use dally_compare::{Case, Contestant, Plan, Problem, shares};
use dally_protocols::messaging::{INBOX, PROTOCOL};

use super::contestant;

/// What `strings` can be told.
#[derive(Args, Debug)]
pub struct Arguments {
    /// How many runs each strategy makes of each string.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// How many schedules a run has.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    schedules: u64,
    /// How many runs go on at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=256))]
    threads: u64,
}

/// Prints the tables.
pub fn print(arguments: &Arguments) -> Result<(), Problem> {
    let mut contestants: Vec<Contestant> = ["random", "pct:3", "ql-c", "ql"].map(contestant).into();
    contestants.insert(3, Contestant::new("afresh", |seed, _| Box::new(Afresh::new(seed))));
    println!(
        "Schedules that spell the string, in percent of {} in each of {} runs",
        arguments.schedules, arguments.runs
    );
    for protocol in [&PROTOCOL, &INBOX] {
        let cases = protocol.bugs.iter().map(|bug| Case::bundled(protocol, Some(bug.name)));
        let plan = Plan {
            cases: cases.collect(),
            contestants: contestants.clone(),
            runs: arguments.runs,
            schedules: arguments.schedules,
            threads: arguments.threads as usize,
            observe_every: 0,
            ..Plan::default()
        };
        let shares = shares(&plan)?;
        let names = plan.contestants.iter().map(|contestant| contestant.name.clone());
        let mut rows: Vec<Vec<String>> =
            vec![[protocol.name.to_owned()].into_iter().chain(names).collect()];
        for (case, row) in plan.cases.iter().zip(shares.chunks(plan.contestants.len())) {
            let percent = |&share: &f64| match share {
                0.0 => "-".to_owned(),
                share => format!("{:.3}", 100.0 * share),
            };
            rows.push([case.bug.clone()].into_iter().chain(row.iter().map(percent)).collect());
        }
        println!();
        print!("{}", aligned(&rows, 1));
    }
    Ok(())
}

/// `ql-c` that learns after every schedule and forgets everything when a schedule shows a bug, as
/// the tool published with the paper does: so the share says how soon it finds the bug.
#[derive(Clone)]
struct Afresh {
    seed: u64,
    ql: Seeded<Learning<Ql>>,
}

impl Afresh {
    fn new(seed: u64) -> Afresh {
        let ql = Ql { observes: Observe::Custom, batch: 1, ..Ql::default() };
        Afresh { seed, ql: Learning::by(ql).seeded(seed) }
    }
}

impl Strategy for Afresh {
    fn begin(&mut self, schedule: u64) -> bool {
        self.ql.begin(schedule)
    }
    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.ql.worker(point)
    }
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        self.ql.value(of, tag)
    }
    fn reseed(&mut self, seed: u64) {
        *self = Afresh::new(seed);
    }
    fn properties(&self) -> Properties {
        self.ql.properties()
    }
    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Afresh {
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        self.ql.learner()?.lesson(last)
    }
    fn learn(&mut self, batch: &[Outcome]) {
        if batch.iter().any(|outcome| outcome.bug) {
            *self = Afresh::new(self.seed);
        } else if let Some(learner) = self.ql.learner() {
            learner.learn(batch);
        }
    }
}
