//! Executions of distributed programs with inputs, by the algorithms of Sen and Agha, "Automated
//! Systematic Testing of Open Distributed Programs", Table 1, and by ours.

mod paper;

use std::sync::Arc;

use clap::Args;
use dally::concolic;
use dally::contract::words::grouped;
use dally::mpil::MpilProgram;
use dally::search::{Ended, Options};
use dally_compare::Problem;

use crate::table::Table;
use paper::{Rule, count};

/// What `concolic` can be told.
#[derive(Args, Debug)]
pub struct Arguments {
    /// After so many executions an algorithm is stopped.
    #[arg(long, default_value_t = 100_000)]
    executions: u64,
}

/// A program of the table, and what the paper reports for it.
struct Row {
    name: &'static str,
    text: &'static str,
    /// Whether messages between two processes stay in order.
    fifo: bool,
    parameter: (&'static str, i64),
    /// Of the simple and the efficient algorithm.
    published: [&'static str; 2],
}

const LEADER: &str = include_str!("../../../protocols/mpil/leader_election.mpil");
const SORTING: &str = include_str!("../../../protocols/mpil/sorting.mpil");
const PATHS: &str = include_str!("../../../protocols/mpil/shortest_path.mpil");

fn rows() -> Vec<Row> {
    let row =
        |name, text, fifo, parameter, published| Row { name, text, fifo, parameter, published };
    vec![
        row("leader election, FIFO", LEADER, true, ("n", 3), ["387", "9"]),
        row("leader election, FIFO", LEADER, true, ("n", 4), ["> 30,000", "22"]),
        row("leader election, FIFO", LEADER, true, ("n", 5), ["", ""]),
        row("leader election, unordered", LEADER, false, ("n", 3), ["5, a bug", "5, a bug"]),
        row("sorting", SORTING, true, ("p", 4), ["14", "7"]),
        row("sorting", SORTING, true, ("p", 5), ["420", "35"]),
        row("sorting", SORTING, true, ("p", 6), ["64,636", "226"]),
        row("shortest paths", PATHS, false, ("n", 4), ["> 100,000", "338"]),
        row("shortest paths", PATHS, false, ("n", 5), ["> 100,000", "562"]),
    ]
}

/// Prints the table.
pub fn print(arguments: &Arguments) -> Result<(), Problem> {
    println!("Executions of each algorithm, with how many of them are distinct if not all are");
    println!();
    let columns = [
        ("program", 26),
        ("size", 4),
        ("paper: simple", 13),
        ("efficient", 9),
        ("simple", 15),
        ("as released", 15),
        ("made sound", 15),
        ("ours", 7),
        ("bugs", 4),
    ];
    let table = Table::new(1, &columns);
    for row in rows() {
        let text = match row.fifo {
            true => row.text.to_owned(),
            false => row.text.replace("mailboxes fifo", "mailboxes unordered"),
        };
        let (parameter, size) = row.parameter;
        let program = MpilProgram::compile(row.name, &text, &[(parameter.to_owned(), size)])
            .map_err(|wrong| failed(row.name, wrong.to_string()))?;
        let by = |rule| {
            let counted = count(&program, row.fifo, rule, arguments.executions);
            match counted.finished {
                true if counted.distinct == counted.executions => grouped(counted.executions),
                true => format!("{} ({})", grouped(counted.executions), grouped(counted.distinct)),
                false => format!("> {}", grouped(counted.executions)),
            }
        };
        let algorithms = [Rule::Simple, Rule::Released, Rule::Sound].map(by);
        let [simple, released, sound] = algorithms;
        let (ours, failing) = ours(program).map_err(|why| failed(row.name, why))?;
        let [paper_simple, paper_efficient] = row.published.map(str::to_owned);
        let cells = [row.name.to_owned(), size.to_string(), paper_simple, paper_efficient];
        table.row(cells.into_iter().chain([simple, released, sound, ours, failing]));
    }
    Ok(())
}

fn failed(which: &str, why: String) -> Problem {
    Problem::Run { which: which.to_owned(), notes: vec![why] }
}

/// How many executions the concolic search needs, and how many kinds of bugs it finds.
fn ours(program: MpilProgram) -> Result<(String, String), String> {
    let options = Options { keep_going: true, shrink: false, ..Options::default() };
    let (report, coverage) = concolic::explore(Arc::new(program), options, Arc::new(()));
    let classes = report.classes.as_ref();
    if report.ended != Ended::Exhausted || coverage.unknown > 0 {
        return Err(format!("the search did not come to its end: {:?}", report.ended));
    }
    let irrelevant = classes.map_or(0, |classes| classes.irrelevant);
    Ok((grouped(report.schedules + irrelevant), grouped(report.findings.len() as u64)))
}
