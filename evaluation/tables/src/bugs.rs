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
    /// By strata of preemptions, with values that cost nothing.
    FreeValues,
    /// By schedules of a strategy.
    Strategy(&'static str),
}
use Hunter::{Explorer, FreeValues, Search, Strategy};

/// Those who store states, with the headings of their columns.
const STORING: [(&str, Hunter); 9] = [
    ("ses rr", Explorer(SearchKind::Ses, ExplorerKind::RoundRobin)),
    ("ses rtc", Explorer(SearchKind::Ses, ExplorerKind::RunToCompletion)),
    ("ses prr", Explorer(SearchKind::Ses, ExplorerKind::Probabilistic)),
    ("ses random", Explorer(SearchKind::Ses, ExplorerKind::Random)),
    ("pb", Search(SearchKind::Preemptions)),
    ("pb free", FreeValues),
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

/// Wide enough for `1,234,567 (10) 4/5`.
const CELL: usize = 18;

/// What a hunt took.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Caught {
    /// States or schedules.
    after: u64,
    /// The bound of the stratum in which the bug was found, if there are strata.
    bound: Option<u32>,
}

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
        "(n): in the stratum of n delays, preemptions or steps. The k-th value of a choice, from 0, \
         costs k delays or preemptions, and nothing in `pb free`",
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
            FreeValues => false,
            Explorer(..) | Strategy(_) => true,
        }
    }

    /// How many states or schedules it takes, and how often that is enough.
    fn cell(self, protocol: &Protocol, bug: &PlantedBug, arguments: &Arguments) -> String {
        let seeds = if self.is_random() { arguments.seeds } else { 1 };
        let mut hunts: Vec<Option<Caught>> =
            (0..seeds).map(|seed| self.hunt(protocol, bug, seed, arguments)).collect();
        // A hunt in vain is longer than any other, so that the median of all hunts stays honest.
        hunts.sort_by_key(|caught| (caught.is_none(), *caught));
        let found = hunts.iter().flatten().count() as u64;
        let median = match hunts[hunts.len() / 2] {
            None => "*".into(),
            Some(Caught { after, bound: None }) => grouped(after),
            Some(Caught { after, bound: Some(bound) }) => format!("{} ({bound})", grouped(after)),
        };
        if found == 0 || found == seeds { median } else { format!("{median} {found}/{seeds}") }
    }

    /// How many states or schedules it takes with this seed, if the bug is found.
    fn hunt(
        self,
        protocol: &Protocol,
        bug: &PlantedBug,
        seed: u64,
        arguments: &Arguments,
    ) -> Option<Caught> {
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
            Explorer(search, kind) => {
                let plan = Plan { search, memory: arguments.memory, ..Plan::default() };
                searched(program, kind, plan, options)
            }
            Search(_) | FreeValues => {
                let search = if let Search(kind) = self { kind } else { SearchKind::Preemptions };
                let free_values = matches!(self, FreeValues);
                let memory = arguments.memory;
                let plan = Plan { search, free_values, memory, ..Plan::default() };
                searched(program, ExplorerKind::default(), plan, options)
            }
            Strategy(name) => {
                let kind: StrategyKind = name.parse().expect("a bundled strategy");
                let strategy = kind.build(seed, protocol.max_steps);
                let options = Options { strategy, ..options };
                let report = program.run(options, Arc::new(()));
                let finding = report.findings.first()?;
                Some(Caught { after: finding.found_at, bound: None })
            }
        }
    }
}

/// How many states a search visits until it finds the bug, or how many schedules it samples.
fn searched(
    program: Arc<dyn AnyProgram>,
    explorer: ExplorerKind,
    plan: Plan,
    options: Options,
) -> Option<Caught> {
    let explorer = explorer.build(options.seed);
    let samples = plan.search == SearchKind::Ss;
    let report = program.explore(explorer, plan, options);
    report.findings.first()?;
    let states = report.states?;
    let bound = states.strata.last().and_then(|stratum| stratum.bound);
    Some(Caught { after: if samples { states.executions } else { states.states }, bound })
}
