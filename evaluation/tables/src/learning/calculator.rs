//! Figures 4 and 5 of Mukherjee et al., "Learning-Based Controlled Concurrency Testing": which values
//! of a calculator are seen, and what it is asked to do.

use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use dally::contract::words::grouped;
use dally::search::{self, Options, StrategyKind};
use dally_compare::Problem;
use dally_compare::table::aligned;
use dally_protocols::calculator::{OPERATIONS, Operation, PROTOCOL, Shows, program};

/// What `calculator` can be told.
#[derive(Args, Debug)]
pub struct Arguments {
    /// How many schedules each strategy has.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(100..))]
    schedules: u64,
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// What a run has shown.
#[derive(Default)]
struct Tally {
    /// Each value, from the least, and whether it was seen.
    seen: Vec<bool>,
    operations: u64,
    /// How many values were seen, and how often each operation was done, up to the end of each
    /// hundred schedules.
    hundreds: Vec<(usize, [u64; 5])>,
    counts: [u64; 5],
    distinct: usize,
}

impl Tally {
    fn note(&mut self, operation: Operation, value: i32) {
        let place = (value + 5_000) as usize;
        if self.seen.len() <= place {
            self.seen.resize(place + 1, false);
        }
        self.distinct += usize::from(!std::mem::replace(&mut self.seen[place], true));
        self.counts[operation as usize] += 1;
        self.operations += 1;
        if self.operations.is_multiple_of(100 * u64::from(OPERATIONS)) {
            self.hundreds.push((self.distinct, self.counts));
        }
    }
}

/// Prints the tables.
pub fn print(arguments: &Arguments) -> Result<(), Problem> {
    let columns = [
        ("random", "random", Shows::Value),
        ("pct:3", "pct:3", Shows::Value),
        ("pct:10", "pct:10", Shows::Value),
        ("ql-c", "ql-c", Shows::Value),
        ("blind", "ql-c", Shows::Nothing),
        ("and count", "ql-c", Shows::ValueAndCount),
    ];
    let tallies = columns.map(|(_, strategy, shows)| tally(arguments, strategy, shows));
    println!("Different values of the calculator, of 10,001");
    println!();
    let names = columns.map(|(name, ..)| name.to_owned());
    let mut rows = vec![[vec!["schedules".to_owned()], names.to_vec()].concat()];
    let last = tallies.iter().map(|tally| tally.hundreds.len()).min().unwrap_or(0);
    let mut at = 1;
    while at <= last {
        let cells = tallies.iter().map(|tally| grouped(tally.hundreds[at - 1].0 as u64));
        rows.push([grouped(100 * at as u64)].into_iter().chain(cells).collect());
        at = if at < last { (at * 2).min(last) } else { last + 1 };
    }
    print!("{}", aligned(&rows, 0));
    println!();
    println!("Operations in percent: in the first hundred schedules, and in the last");
    println!();
    let heads = ["strategy", "add", "subtract", "double", "halve", "reset"].map(str::to_owned);
    let mut rows = vec![heads.to_vec()];
    for (name, tally) in names.iter().zip(&tallies) {
        let zero = [0; 5];
        let until =
            |hundred: usize| hundred.checked_sub(1).map_or(&zero, |at| &tally.hundreds[at].1);
        for hundred in [1, last] {
            let done =
                until(hundred).iter().zip(until(hundred - 1)).map(|(end, begin)| end - begin);
            let share = |done: u64| format!("{:.1}", done as f64 / f64::from(OPERATIONS));
            rows.push([name.clone()].into_iter().chain(done.map(share)).collect());
        }
    }
    print!("{}", aligned(&rows, 1));
    Ok(())
}

fn tally(arguments: &Arguments, strategy: &str, shows: Shows) -> Tally {
    let tally = Arc::new(Mutex::new(Tally::default()));
    let told = tally.clone();
    let note = move |operation, value| {
        told.lock().unwrap_or_else(PoisonError::into_inner).note(operation, value);
    };
    let kind: StrategyKind = strategy.parse().expect("a bundled strategy");
    let options = Options {
        strategy: kind.build(arguments.seed, PROTOCOL.max_steps),
        seed: arguments.seed,
        schedules: arguments.schedules,
        max_steps: PROTOCOL.max_steps,
        threads: 1,
        repeat_check: false,
        ..Options::default()
    };
    search::run(Arc::new(program(shows, Arc::new(note))), options, Arc::new(()));
    std::mem::take(&mut *tally.lock().unwrap_or_else(PoisonError::into_inner))
}
