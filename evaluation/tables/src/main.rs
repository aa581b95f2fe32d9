//! Regenerates the tables of the papers from the bundled protocols.

mod bugs;
mod concolic;
mod counters;
mod cycles;
mod huge;
mod learning;
mod stored;
mod strategies;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use dally_compare::Problem;

/// Regenerates the tables of the papers from the bundled protocols.
///
/// All searches run on one thread, but for one of `cycles`. What they count depends on the program,
/// the seeds and the budgets alone, except where the time runs out before the memory does.
/// Strategies are compared by `dally-compare`, with several runs at a time.
#[derive(Debug, Parser)]
#[command(name = "dally-evaluation", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    table: Table,
}

#[derive(Debug, Subcommand)]
enum Table {
    /// What it costs to store the explorer's state beside the program's (Desai, Qadeer, Rajamani
    /// and Seshia, "Iterative Cycle Detection via Delaying Explorers", Table 1).
    Stored(stored::Arguments),
    /// How soon each search finds each planted bug (Desai, Qadeer and Seshia, "Systematic Testing
    /// of Asynchronous Reactive Systems", Table 1, and Desai, Qadeer, Rajamani and Seshia,
    /// "Iterative Cycle Detection via Delaying Explorers", Table 2).
    Bugs(bugs::Arguments),
    /// How soon each search for cycles finds planted livelocks (Desai, Qadeer, Rajamani and Seshia,
    /// "Iterative Cycle Detection via Delaying Explorers", Table 3).
    Cycles(cycles::Arguments),
    /// How many schedules each strategy needs for each planted bug.
    Strategies(strategies::Arguments),
    /// Whether a program with very many states can be searched to its end.
    Huge(huge::Arguments),
    /// How many schedules spell a string, by strategy (Mukherjee et al., "Learning-Based Controlled
    /// Concurrency Testing", Table 1).
    Strings(learning::strings::Arguments),
    /// Which values a calculator takes, and what it is asked to do, by strategy (Mukherjee et al.,
    /// "Learning-Based Controlled Concurrency Testing", Figures 4 and 5).
    Calculator(learning::calculator::Arguments),
    /// How many runs find each bug, by strategy (Mukherjee et al., "Learning-Based Controlled
    /// Concurrency Testing", Table 2).
    Schedulers(learning::Arguments),
    /// The same for Q-learning that learns values and that does not (Mukherjee et al.,
    /// "Learning-Based Controlled Concurrency Testing", Table 3).
    Values(learning::Arguments),
    /// The same for Q-learning with one observation or another (Mukherjee et al., "Learning-Based
    /// Controlled Concurrency Testing", Table 4).
    Observations(learning::Arguments),
    /// How long schedules take, by strategy (Mukherjee et al., "Learning-Based Controlled
    /// Concurrency Testing", Table 5).
    Times(learning::Arguments),
    /// How many runs find each bug in the same time, by strategy (Mukherjee et al., "Learning-Based
    /// Controlled Concurrency Testing", Table 6).
    EqualTime(learning::Arguments),
    /// The same for Q-learning with one learning rate and discount or another (Mukherjee et al.,
    /// "Learning-Based Controlled Concurrency Testing", section 6.2).
    Rates(learning::Arguments),
    /// How many executions distributed programs with inputs need until all is explored (Sen and Agha,
    /// "Automated Systematic Testing of Open Distributed Programs", Table 1).
    Concolic(concolic::Arguments),
    /// Who finds the bug of SafeStack, and at what cost.
    SafeStack(learning::safe_stack::Arguments),
}

fn main() -> ExitCode {
    match print(Cli::parse().table) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

fn print(table: Table) -> Result<(), Problem> {
    match table {
        Table::Stored(arguments) => stored::print(&arguments),
        Table::Bugs(arguments) => bugs::print(&arguments),
        Table::Cycles(arguments) => cycles::print(&arguments),
        Table::Strategies(arguments) => strategies::print(&arguments),
        Table::Huge(arguments) => huge::print(&arguments),
        Table::Strings(arguments) => learning::strings::print(&arguments)?,
        Table::Calculator(arguments) => learning::calculator::print(&arguments)?,
        Table::Schedulers(arguments) => learning::schedulers(&arguments)?,
        Table::Values(arguments) => learning::values(&arguments)?,
        Table::Observations(arguments) => learning::observations(&arguments)?,
        Table::Times(arguments) => learning::times(&arguments)?,
        Table::EqualTime(arguments) => learning::equal_time(&arguments)?,
        Table::Rates(arguments) => learning::rates(&arguments)?,
        Table::Concolic(arguments) => concolic::print(&arguments)?,
        Table::SafeStack(arguments) => learning::safe_stack::print(&arguments)?,
    }
    Ok(())
}
