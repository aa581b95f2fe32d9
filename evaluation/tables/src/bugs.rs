//! Table 1 of Desai, Qadeer and Seshia, "Systematic Testing of Asynchronous Reactive Systems" and
//! Table 2 of Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle Detection via Delaying
//! Explorers": how soon each search finds each planted bug.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dally::checking::AnyProgram;
use dally::contract::words::grouped;
use dally::search::strata::{ExplorerKind, Plan, SearchKind};
use dally::search::{Options, StrategyKind};
use dally::settings::{parse_bytes, parse_time};
use dally_protocols::{PlantedBug, Protocol, all};

use crate::table::{Table, mebibytes};

/// What `bugs` can be told.
#[derive(Args, Debug)]
pub struct Arguments {
    /// How many seeds a search is given that draws at random.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// How many schedules one that samples may run.
    #[arg(long, default_value_t = 10_000)]
    schedules: u64,
    /// How much memory one that stores states may take.
    #[arg(long, default_value = "256M", value_parser = parse_bytes, value_name = "BYTES")]
    memory: u64,
    /// How long each hunt may take.
    #[arg(long, default_value = "10s", value_parser = parse_time, value_name = "TIME")]
    time: Duration,
    /// Only these protocols.
    #[arg(value_name = "PROTOCOL")]
    only: Vec<String>,
}

/// How a bug is hunted.
#[derive(Clone, Copy)]
enum Hunter {
    /// By strata of an explorer's delays.
    Explorer(SearchKind, ExplorerKind),
    /// By a search of states without an explorer.
    Search(SearchKind),
    /// By schedules of a strategy.
    Strategy(&'static str),
}
use Hunter::{Explorer, Search, Strategy};

/// Those who store states, with the headings of their columns.
const STORING: [(&str, Hunter); 8] = [
    ("ses rr", Explorer(SearchKind::Ses, ExplorerKind::RoundRobin)),
    ("ses rtc", Explorer(SearchKind::Ses, ExplorerKind::RunToCompletion)),
    ("ses prr", Explorer(SearchKind::Ses, ExplorerKind::Probabilistic)),
    ("ses random", Explorer(SearchKind::Ses, ExplorerKind::Random)),
    ("pb", Search(SearchKind::Preemptions)),
    ("depth", Search(SearchKind::Depth)),
    ("dfs", Search(SearchKind::Dfs)),
    ("bfs", Search(SearchKind::Bfs)),
];

/// Those who sample schedules.
const SAMPLING: [(&str, Hunter); 7] = [
    ("ss rr", Explorer(SearchKind::Ss, ExplorerKind::RoundRobin)),
    ("ss rtc", Explorer(SearchKind::Ss, ExplorerKind::RunToCompletion)),
    ("ss prr", Explorer(SearchKind::Ss, ExplorerKind::Probabilistic)),
    ("ss random", Explorer(SearchKind::Ss, ExplorerKind::Random)),
    ("random", Strategy("random")),
    ("irs", Strategy("irs")),
    ("pct(3)", Strategy("pct:3")),
];

/// Wide enough for `1,234,567 4/5`.
const CELL: usize = 13;

/// Prints the tables.
pub fn print(arguments: &Arguments) {
    let seeds = arguments.seeds;
    println!("States until the bug");
    println!();
    print_one(arguments, &STORING);
    println!();
    println!("Schedules until the bug");
    println!();
    print_one(arguments, &SAMPLING);
    println!();
    println!(
        "prr, random, depth, irs, pct and ss draw at random: the median of {seeds} seeds, and how \
         many of them found the bug, if not all",
    );
    println!(
        "*: not found with {}, {} schedules and {} s; as a median, by most seeds",
        mebibytes(arguments.memory),
        grouped(arguments.schedules),
        arguments.time.as_secs_f64(),
    );
}

fn print_one(arguments: &Arguments, hunters: &[(&str, Hunter)]) {
    let mut columns = vec![("protocol", 19), ("bug", 23)];
    columns.extend(hunters.iter().map(|&(heading, _)| (heading, CELL)));
    let table = Table::new(2, &columns);
    for protocol in all() {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|only| only == protocol.name) {
            continue;
        }
        for bug in protocol.bugs {
            // The tables are of machines.
            let granularity = (protocol.program)(Some(bug.name)).granularity();
            if !["per-send", "atomic"].contains(&granularity) {
                continue;
            }
            let cells = hunters.iter().map(|(_, hunter)| hunter.cell(protocol, bug, arguments));
            table.row([protocol.name, bug.name].map(String::from).into_iter().chain(cells));
        }
    }
}

impl Hunter {
    fn is_random(self) -> bool {
        use ExplorerKind::{Probabilistic, Random};
        match self {
            Explorer(SearchKind::Ses, kind) => matches!(kind, Probabilistic | Random),
            Search(kind) => kind == SearchKind::Depth,
            Explorer(..) | Strategy(_) => true,
        }
    }

    /// How many states or schedules it takes, and how often that is enough.
    fn cell(self, protocol: &Protocol, bug: &PlantedBug, arguments: &Arguments) -> String {
        let seeds = if self.is_random() { arguments.seeds } else { 1 };
        let mut hunts: Vec<Option<u64>> =
            (0..seeds).map(|seed| self.hunt(protocol, bug, seed, arguments)).collect();
        // A hunt in vain is longer than any other, so that the median of all hunts stays honest.
        hunts.sort_by_key(|found| found.unwrap_or(u64::MAX));
        let found = hunts.iter().flatten().count() as u64;
        let median = hunts[hunts.len() / 2].map_or("*".into(), grouped);
        if found == 0 || found == seeds { median } else { format!("{median} {found}/{seeds}") }
    }

    /// How many states or schedules it takes with this seed, if the bug is found.
    fn hunt(
        self,
        protocol: &Protocol,
        bug: &PlantedBug,
        seed: u64,
        arguments: &Arguments,
    ) -> Option<u64> {
        let program = (protocol.program)(Some(bug.name));
        let options = Options {
            seed,
            schedules: arguments.schedules,
            time: Some(arguments.time),
            max_steps: protocol.max_steps,
            shrink: false,
            repeat_check: false,
            ..Options::default()
        };
        match self {
            Explorer(kind, explorer) => searched(program, kind, explorer, options, arguments),
            Search(kind) => searched(program, kind, ExplorerKind::default(), options, arguments),
            Strategy(name) => {
                let kind: StrategyKind = name.parse().expect("a bundled strategy");
                let strategy = kind.build(seed, protocol.max_steps);
                let options = Options { strategy, ..options };
                let report = program.run(options, Arc::new(()));
                report.findings.first().map(|finding| finding.found_at)
            }
        }
    }
}

/// How many states a search visits until it finds the bug, or how many schedules it samples.
fn searched(
    program: Arc<dyn AnyProgram>,
    search: SearchKind,
    explorer: ExplorerKind,
    options: Options,
    arguments: &Arguments,
) -> Option<u64> {
    let explorer = explorer.build(options.seed);
    let plan = Plan { search, memory: arguments.memory, ..Plan::default() };
    let report = program.explore(explorer, plan, options);
    report.findings.first()?;
    let states = report.states?;
    Some(if search == SearchKind::Ss { states.executions } else { states.states })
}
