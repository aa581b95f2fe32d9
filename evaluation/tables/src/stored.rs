//! Table 1 of Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle Detection via Delaying
//! Explorers": what it costs to store the explorer's state beside the program's.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dally::contract::words::grouped;
use dally::machines::MachineProgram;
use dally::search::strata::{self, ExplorerKind, Plan};
use dally::search::{Ended, Options};
use dally::settings::{parse_bytes, parse_time};
use dally_protocols::{german, lann, lcr, orset, tree_identification};

use crate::table::{Table, mebibytes};

/// What `stored` can be told.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The explorer: rr, rtc, prr, random.
    #[arg(long, default_value = "rtc")]
    explorer: ExplorerKind,
    /// How much memory each search may take.
    #[arg(long, default_value = "2G", value_parser = parse_bytes, value_name = "BYTES")]
    memory: u64,
    /// How long each search may take.
    #[arg(long, default_value = "15s", value_parser = parse_time, value_name = "TIME")]
    time: Duration,
    /// Only these protocols.
    #[arg(value_name = "PROTOCOL")]
    only: Vec<String>,
}

/// A protocol, and how to make it with so many participants.
type Family = (&'static str, fn(usize) -> MachineProgram);

const FAMILIES: [Family; 5] = [
    (tree_identification::PROTOCOL.name, |nodes| tree_identification::program(nodes, None)),
    (lann::PROTOCOL.name, |processes| lann::program(processes, None)),
    (orset::PROTOCOL.name, |replicas| orset::program(replicas, None)),
    (german::PROTOCOL.name, |clients| german::program(clients, None)),
    (lcr::PROTOCOL.name, |processes| lcr::program(processes as u32, None)),
];

/// Prints the table.
pub fn print(arguments: &Arguments) {
    println!("States stored by ses({}), without and with the explorer's state", arguments.explorer);
    println!();
    let columns =
        [("protocol", 19), ("p", 1), ("store s", 13), ("store (s, d)", 13), ("overhead", 8)];
    let table = Table::new(1, &columns);
    for (name, make) in FAMILIES {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|only| only == name) {
            continue;
        }
        for p in 2..=5 {
            let alone = states(make(p), false, arguments);
            // Whoever cannot store the states cannot store more of them.
            let together = alone.and_then(|_| states(make(p), true, arguments));
            let overhead = alone.zip(together).map(|(s, sd)| sd as f64 / s as f64);
            table.row([
                name.to_owned(),
                p.to_string(),
                alone.map_or("*".into(), grouped),
                together.map_or("*".into(), grouped),
                overhead.map_or("*".into(), |ratio| format!("{ratio:.2}")),
            ]);
        }
    }
    println!();
    println!("p: nodes, processes, replicas (besides their clients), caches (besides their home)");
    println!(
        "*: not all within {} and {} s",
        mebibytes(arguments.memory),
        arguments.time.as_secs_f64(),
    );
}

/// How many states all of them are, if the search gets to its end.
fn states(program: MachineProgram, with_explorer: bool, arguments: &Arguments) -> Option<u64> {
    let explorer = arguments.explorer.build(0);
    let plan = Plan { with_explorer, memory: arguments.memory, ..Plan::default() };
    let options = Options { time: Some(arguments.time), ..Options::default() };
    let report = strata::explore(Arc::new(program), explorer, plan, options, Arc::new(()));
    let states = report.states.filter(|states| states.is_exhausted())?;
    (report.ended == Ended::Exhausted).then_some(states.states)
}
