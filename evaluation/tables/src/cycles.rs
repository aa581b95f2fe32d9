//! Table 3 of 001: how soon each search for cycles finds planted livelocks.

mod by_age;
mod hunt;
mod livelocks;

use std::time::Duration;

use clap::Args;
use dally::search::liveness::Fairness;
use dally::search::strata::{Explorer, ExplorerKind, SearchKind};
use dally::settings::{parse_bytes, parse_time};

use self::hunt::{Hunt, Hunts, Search};
use self::livelocks::{LIVELOCKS, Livelock, Only};
use crate::table::{Table, grouped, mebibytes};

/// What `cycles` can be told.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// The explorer: rr, rtc, prr, random.
    #[arg(long, default_value = "random")]
    explorer: ExplorerKind,
    /// Which cycles count: none (all of them), weak, strong.
    #[arg(long, default_value = "weak")]
    fairness: Fairness,
    /// How many seeds an explorer is given that draws at random.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// How many threads the parallel search has.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..))]
    threads: u64,
    /// How much memory each search may take.
    #[arg(long, default_value = "1G", value_parser = parse_bytes, value_name = "BYTES")]
    memory: u64,
    /// How long each search may take.
    #[arg(long, default_value = "60s", value_parser = parse_time, value_name = "TIME")]
    time: Duration,
    /// Only these protocols, in this size if one is given: `lann`, `lann:5`.
    #[arg(value_name = "PROTOCOL[:SIZE]")]
    only: Vec<Only>,
}

/// Prints the table.
pub fn print(arguments: &Arguments) {
    println!(
        "Searches for cycles by {}, {} fairness: states until the livelock, and seconds",
        arguments.explorer, arguments.fairness,
    );
    println!();
    let columns = [
        ("protocol", 19),
        ("bug", 16),
        ("size", 4),
        ("s: ndfs", 9),
        ("by expl.", 9),
        ("iterative", 9),
        ("map", 9),
        ("t: ndfs", 7),
        ("by expl.", 8),
        ("iterative", 9),
        ("map", 7),
        ("parallel", 8),
        ("calc", 7),
        ("refine", 7),
        ("edges", 9),
        ("bytes/edge", 10),
    ];
    let table = Table::new(2, &columns);
    let mut wrong = Vec::new();
    for livelock in &LIVELOCKS {
        let Some(size) = livelock.size(&arguments.only) else { continue };
        let row = Row::measure(livelock, size, arguments);
        table.row(row.cells());
        wrong.extend(row.wrong());
    }
    println!();
    println!("s: states; t: seconds; calc and refine: the two phases of map, in seconds");
    println!("ndfs: plain, the oldest worker first; by expl.: plain, in the order of the explorer");
    println!("parallel: map with {} threads, all others have one", arguments.threads);
    if arguments.explorer.build(0).is_random() {
        println!("every figure: the median of {} seeds", arguments.seeds);
    }
    println!(
        "*: gave up, with {} and {} s; as a median, most seeds did",
        mebibytes(arguments.memory),
        arguments.time.as_secs_f64(),
    );
    wrong.iter().for_each(|what| println!("wrong: {what}"));
}

/// What all searches make of one livelock.
struct Row {
    livelock: &'static Livelock,
    size: usize,
    searches: [Hunts; 5],
}

impl Row {
    fn measure(livelock: &'static Livelock, size: usize, arguments: &Arguments) -> Row {
        let explorer = Some(arguments.explorer);
        let threads = arguments.threads as usize;
        let searches = [
            Search { kind: SearchKind::Ndfs, explorer: None, threads: 1 },
            Search { kind: SearchKind::Ndfs, explorer, threads: 1 },
            Search { kind: SearchKind::IterativeNdfs, explorer, threads: 1 },
            Search { kind: SearchKind::Map, explorer, threads: 1 },
            Search { kind: SearchKind::Map, explorer, threads },
        ];
        let hunts = |search| Hunt { livelock, size, search, arguments }.all();
        Row { livelock, size, searches: searches.map(hunts) }
    }

    fn cells(&self) -> Vec<String> {
        let [ndfs, by_explorer, iterative, map, parallel] = &self.searches;
        let states = |hunts: &Hunts| hunts.cell(|figures| figures.states, grouped);
        let seconds = |hunts: &Hunts| hunts.cell(|figures| figures.time, in_seconds);
        vec![
            self.livelock.name.to_owned(),
            self.livelock.bug.to_owned(),
            self.size.to_string(),
            states(ndfs),
            states(by_explorer),
            states(iterative),
            states(map),
            seconds(ndfs),
            seconds(by_explorer),
            seconds(iterative),
            seconds(map),
            seconds(parallel),
            map.cell(|figures| figures.cycles.calculating, in_seconds),
            map.cell(|figures| figures.cycles.refining, in_seconds),
            map.cell(|figures| figures.cycles.edges, grouped),
            map.cell(|figures| figures.cycles.edge_bytes, |bytes| bytes.to_string()),
        ]
    }

    /// What was found instead, a sentence each.
    fn wrong(&self) -> Vec<String> {
        let wrong = self.searches.iter().flat_map(Hunts::wrong);
        wrong.map(|what| format!("{}, {what}", self.livelock.name)).collect()
    }
}

fn in_seconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64())
}
