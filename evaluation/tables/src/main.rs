//! Regenerates the tables of the papers from the bundled protocols.

mod bugs;
mod counters;
mod cycles;
mod huge;
mod stored;
mod strategies;
mod table;

use clap::{Parser, Subcommand};

/// Regenerates the tables of the papers from the bundled protocols.
///
/// All searches run on one thread, but for one of `cycles`. What they count depends on the program, the seeds and the
/// budgets alone, except where the time runs out before the memory does.
#[derive(Debug, Parser)]
#[command(name = "dally-evaluation", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    table: Table,
}

#[derive(Debug, Subcommand)]
enum Table {
    /// What it costs to store the explorer's state beside the program's (001, Table 1).
    Stored(stored::Arguments),
    /// How soon each search finds each planted bug (000, Table 1, and 001, Table 2).
    Bugs(bugs::Arguments),
    /// How soon each search for cycles finds planted livelocks (001, Table 3).
    Cycles(cycles::Arguments),
    /// How many schedules each strategy needs for each planted bug.
    Strategies(strategies::Arguments),
    /// Whether a program with very many states can be searched to its end.
    Huge(huge::Arguments),
}

fn main() {
    match Cli::parse().table {
        Table::Stored(arguments) => stored::print(&arguments),
        Table::Bugs(arguments) => bugs::print(&arguments),
        Table::Cycles(arguments) => cycles::print(&arguments),
        Table::Strategies(arguments) => strategies::print(&arguments),
        Table::Huge(arguments) => huge::print(&arguments),
    }
}
