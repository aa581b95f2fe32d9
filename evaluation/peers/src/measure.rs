//! Measuring two tools in turn, in one process, so that noise of the machine hits both. Time is
//! the process's CPU time: what other processes do counts for neither.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// The strategies that both sides have.
#[derive(Clone, Copy)]
pub enum Strategy {
    /// Uniform random.
    Random,
    /// PCT with this depth.
    Pct(usize),
}

impl Strategy {
    /// For the table.
    pub fn name(self) -> String {
        match self {
            Strategy::Random => "random".into(),
            Strategy::Pct(depth) => format!("pct({depth})"),
        }
    }
}

/// What was done in a measured interval.
#[derive(Clone, Copy, Default)]
pub struct Work {
    /// Schedules run.
    pub schedules: u64,
    /// Steps taken in them.
    pub steps: u64,
}

/// A rate: the median over rounds.
#[derive(Clone, Copy)]
pub struct Rate {
    /// Schedules per CPU second.
    pub schedules: f64,
    /// Steps per CPU second.
    pub steps: f64,
}

/// One contestant: runs that many schedules from that seed.
pub type Contestant<'a> = dyn Fn(u64, u64) -> Work + 'a;

/// Measures both in `rounds` alternating rounds of about `budget` each and gives their medians.
pub fn compare(
    ours: &Contestant<'_>,
    theirs: &Contestant<'_>,
    rounds: u64,
    budget: Duration,
) -> (Rate, Rate) {
    let (our_size, their_size) = (size_for(ours, budget), size_for(theirs, budget));
    let (mut our_rates, mut their_rates) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        our_rates.push(rate(ours, our_size, round));
        their_rates.push(rate(theirs, their_size, round));
    }
    (median(our_rates), median(their_rates))
}

/// How many schedules fill the budget.
fn size_for(contestant: &Contestant<'_>, budget: Duration) -> u64 {
    let trial = 2_000;
    contestant(trial, 0);
    let start = ProcessTime::now();
    contestant(trial, 0);
    let one = start.elapsed().as_secs_f64() / trial as f64;
    ((budget.as_secs_f64() / one) as u64).max(trial)
}

fn rate(contestant: &Contestant<'_>, schedules: u64, seed: u64) -> Rate {
    let start = ProcessTime::now();
    let work = contestant(schedules, seed);
    let seconds = start.elapsed().as_secs_f64();
    Rate { schedules: work.schedules as f64 / seconds, steps: work.steps as f64 / seconds }
}

fn median(mut rates: Vec<Rate>) -> Rate {
    rates.sort_by(|a, b| a.schedules.total_cmp(&b.schedules));
    rates[rates.len() / 2]
}

/// How long something took.
#[derive(Clone, Copy, Default)]
pub struct Took {
    /// CPU seconds of all threads.
    pub cpu: f64,
    /// Seconds on the clock.
    pub clock: f64,
}

/// Does something once, and says how long it took.
#[expect(clippy::disallowed_methods, reason = "what several threads gain is seen on a clock only")]
pub fn timed<T>(what: impl FnOnce() -> T) -> (T, Took) {
    let (cpu, clock) = (ProcessTime::now(), Instant::now());
    let done = what();
    let took = Took { cpu: cpu.elapsed().as_secs_f64(), clock: clock.elapsed().as_secs_f64() };
    (done, took)
}

/// The median of each.
pub fn median_of(took: &[Took]) -> Took {
    let median = |of: fn(&Took) -> f64| {
        let mut all: Vec<f64> = took.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    Took { cpu: median(|took| took.cpu), clock: median(|took| took.clock) }
}
