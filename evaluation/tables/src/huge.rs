//! Whether a program with very many states can be searched to its end.

use std::sync::Arc;

use clap::Args;
use dally::contract::words::grouped;
use dally::search::Options;
use dally::search::strata::{self, Plan, RoundRobin, SearchKind};
use dally::settings::parse_bytes;

use crate::counters::{Counters, MOST};
use crate::table::{Table, mebibytes};

/// What `huge` can be told.
#[derive(Args, Debug)]
pub struct Arguments {
    /// How many states the program has.
    #[arg(default_value_t = 100_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    states: u64,
    /// How many workers it has.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=MOST as u64))]
    workers: u64,
    /// How much memory each search may take: visited states, frontier and stack.
    #[arg(long, default_value = "2G", value_parser = parse_bytes, value_name = "BYTES")]
    memory: u64,
}

/// Prints the table.
pub fn print(arguments: &Arguments) {
    let any_order = Counters::with_states(arguments.states, arguments.workers as usize);
    println!(
        "{} states ({}), fingerprints of all of them within {}, one thread",
        grouped(arguments.states),
        any_order.shape(),
        mebibytes(arguments.memory),
    );
    println!();
    let columns = [
        ("search", 13),
        ("program", 9),
        ("states", 13),
        ("transitions", 13),
        ("seconds", 7),
        ("visited", 9),
        ("process", 9),
        ("ended", 9),
    ];
    let table = Table::new(2, &columns);
    let in_turn = any_order.clone().in_turn();
    let everything = Some(u32::MAX);
    for (name, search, delta, shape, program) in [
        ("dfs", SearchKind::Dfs, None, "any order", &any_order),
        ("ses, 2 strata", SearchKind::Ses, everything, "any order", &any_order),
        ("ses", SearchKind::Ses, None, "in turn", &in_turn),
    ] {
        forget_peak();
        let plan = Plan { search, delta, memory: arguments.memory, ..Plan::default() };
        let options = Options { max_steps: program.depth() + 1, ..Options::default() };
        let (program, explorer) = (Arc::new(program.clone()), RoundRobin::default());
        let report = strata::explore(program, explorer, plan, options, Arc::new(()));
        let Some(states) = &report.states else { continue };
        let all = states.is_exhausted() && states.states == arguments.states;
        table.row([
            name.to_owned(),
            shape.to_owned(),
            grouped(states.states),
            grouped(states.transitions),
            format!("{:.1}", report.elapsed.as_secs_f64()),
            mebibytes(states.cache_bytes),
            peak().map_or("?".into(), mebibytes),
            if all { "exhausted".into() } else { format!("{:?}", report.ended).to_lowercase() },
        ]);
    }
    println!();
    println!("any order: a worker counts whenever it likes, so the same state is come to in many");
    println!(
        "  ways, and ses would have to keep most states on its frontier; with 2 strata, of no"
    );
    println!("  delay and of all the others, it need not");
    println!("in turn: a worker that counts keeps those before it from going on");
    println!("visited: the table of visited states; process: the most memory that it had");
}

/// Lets the kernel count anew what the process has at most. Where it does not, the next figure is
/// too high and never too low.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that this process has had, in bytes, where the kernel tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}
