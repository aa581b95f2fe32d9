//! `dally compare`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use dally::settings::parse_time;
use dally_compare::Contestant;

#[derive(Args, Debug)]
#[command(after_help = COMPARE_NOTES)]
pub struct CompareArgs {
    /// What to compare on: PROTOCOL with each of its planted bugs in turn, PROTOCOL:BUG, or
    /// PROTOCOL:correct.
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,

    /// The strategies, as `dally check --strategy` takes them, and the searches dpor and concolic, separated by commas.
    #[arg(long, required = true, value_delimiter = ',', value_name = "A,B,C")]
    pub strategies: Vec<Contestant>,

    /// How many runs each strategy makes of each program.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub runs: u64,

    /// How many schedules a run may have.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    pub schedules: u64,

    /// How long a run may take, such as 500ms or 30s. What is found then depends on the machine.
    #[arg(long, value_parser = parse_time, value_name = "TIME")]
    pub time: Option<Duration>,

    /// Where all random choices start from.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,

    /// How many runs go on at the same time; by default as many as there are processors.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=256), value_name = "N")]
    pub threads: Option<u64>,

    /// Afterwards, run this many schedules of each pair with every state observed, for the charts
    /// of coverage and of actions; 0 for none.
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub coverage: u64,

    /// Where to write, and where a comparison that was interrupted goes on.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

const COMPARE_NOTES: &str = "\
Every strategy makes as many independent runs of every program, each up to its first bug. Seeds
derive from names and numbers of runs: only times depend on threads or on what else is compared.

Examples:
  dally compare paxos --strategies random,pct:3,pct:30 --out cmp
  dally compare raft-v1 chord messaging:0101010101 --strategies random,pct --runs 100 --out cmp
  dally compare calculator --strategies random,pct --runs 1 --schedules 1000 --out cmp

What is written into the directory:
  trials.csv    one line for each run; the same command goes on where this ends
  times.csv     the seconds of each run, which are not reproducible
  table.txt     what the runs come to: found/runs with Wilson's 95% interval, medians, means
  coverage.csv, actions.csv    what was seen and done as schedules went by
  survival-*.svg, coverage-*.svg, actions-*.svg    the charts of all that";
