//! Table 3 of Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle Detection via Delaying
//! Explorers": how soon each search for cycles finds planted livelocks.

mod by_age;
mod hunt;
mod livelocks;

use std::time::Duration;

use clap::Args;
use dally::contract::words::grouped;
use dally::search::liveness::Fairness;
use dally::search::strata::{Explorer, ExplorerKind, SearchKind};
use dally::settings::{parse_bytes, parse_time};

use self::hunt::{Hunt, Hunts, Search};
use self::livelocks::{LIVELOCKS, Livelock, Only};
use crate::table::{Table, mebibytes};

/// What `cycles` can be told.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// The explorer: rr, rtc, prr, random.
    #[arg(long, default_value = "random")]
    explorer: ExplorerKind,
    /// Which cycles count: none (all of them, as in the paper), weak, strong. A table for each.
    #[arg(long, default_value = "none,weak", value_delimiter = ',')]
    fairness: Vec<Fairness>,
    /// How many seeds an explorer is given that draws at random.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
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

/// Prints the tables.
pub fn print(arguments: &Arguments) {
    arguments.fairness.iter().for_each(|&fairness| print_one(fairness, arguments));
}

fn print_one(fairness: Fairness, arguments: &Arguments) {
    println!(
        "Searches for cycles by {}, fairness {fairness}: states until the livelock, and milliseconds",
        arguments.explorer,
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
        ("comp.", 9),
        ("t: ndfs", 7),
        ("by expl.", 8),
        ("iterative", 9),
        ("map", 7),
        ("comp.", 7),
        ("2 thr.", 7),
        ("4 thr.", 7),
        ("calc", 7),
        ("refine", 7),
        ("edges", 9),
        ("bytes/edge", 10),
    ];
    let table = Table::new(2, &columns);
    let mut wrong = Vec::new();
    for livelock in &LIVELOCKS {
        let Some(size) = livelock.size(&arguments.only) else { continue };
        let row = Row::measure(livelock, size, fairness, arguments);
        table.row(row.cells());
        wrong.extend(row.wrong());
    }
    println!();
    println!("s: states; t: milliseconds; calc and refine: the two phases of map, in milliseconds");
    println!("iterative: nested search from the start for every bound; the most states at a time");
    println!("ndfs: plain, the oldest worker first; by expl.: plain, in the order of the explorer");
    println!("comp.: the strata of map, judged by strongly connected components alone");
    println!("2 thr., 4 thr.: map with so many threads, all others have one");
    if arguments.explorer.build(0).is_random() {
        println!("every figure: the median of {} seeds", arguments.seeds);
    }
    println!(
        "*: gave up, with {} and {} s; as a median, most seeds did",
        mebibytes(arguments.memory),
        arguments.time.as_secs_f64(),
    );
    wrong.iter().for_each(|what| println!("wrong: {what}"));
    println!();
}

/// What all searches make of one livelock.
struct Row {
    livelock: &'static Livelock,
    size: usize,
    searches: [Hunts; 7],
}

impl Row {
    fn measure(
        livelock: &'static Livelock,
        size: usize,
        fairness: Fairness,
        arguments: &Arguments,
    ) -> Row {
        let explorer = Some(arguments.explorer);
        let searches = [
            Search { kind: SearchKind::Ndfs, explorer: None, threads: 1 },
            Search { kind: SearchKind::Ndfs, explorer, threads: 1 },
            Search { kind: SearchKind::IterativeNdfs, explorer, threads: 1 },
            Search { kind: SearchKind::Map, explorer, threads: 1 },
            Search { kind: SearchKind::Components, explorer, threads: 1 },
            Search { kind: SearchKind::Map, explorer, threads: 2 },
            Search { kind: SearchKind::Map, explorer, threads: 4 },
        ];
        let hunts = searches.map(|search| Hunt { livelock, size, search, fairness, arguments });
        Row { livelock, size, searches: Hunt::all(hunts) }
    }

    fn cells(&self) -> Vec<String> {
        let [ndfs, by_explorer, iterative, map, components, two, four] = &self.searches;
        let states = |hunts: &Hunts| hunts.cell(|figures| figures.states, grouped);
        let time = |hunts: &Hunts| hunts.cell(|figures| figures.time, in_milliseconds);
        vec![
            self.livelock.name.to_owned(),
            self.livelock.bug.to_owned(),
            self.size.to_string(),
            states(ndfs),
            states(by_explorer),
            states(iterative),
            states(map),
            states(components),
            time(ndfs),
            time(by_explorer),
            time(iterative),
            time(map),
            time(components),
            time(two),
            time(four),
            map.cell(|figures| figures.cycles.calculating, in_milliseconds),
            map.cell(|figures| figures.cycles.refining, in_milliseconds),
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

fn in_milliseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1_000.0)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    /// The rows that a command line asks for.
    fn rows(line: &str) -> Vec<Row> {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            arguments: Arguments,
        }
        let words = ["cycles"].into_iter().chain(line.split_whitespace());
        let Line { arguments } = Line::try_parse_from(words).expect("a line that can be read");
        let sizes = LIVELOCKS.iter().filter_map(|livelock| {
            let size = livelock.size(&arguments.only)?;
            Some((livelock, size))
        });
        let [fairness] = arguments.fairness[..] else { panic!("{:?}", arguments.fairness) };
        sizes.map(|(livelock, size)| Row::measure(livelock, size, fairness, &arguments)).collect()
    }

    #[test]
    fn a_row_has_the_same_states_every_time() {
        let rows = rows("--seeds 3 --fairness weak process-scheduler:3");
        let [row] = &rows[..] else { panic!("{} rows", rows.len()) };
        let cells = row.cells();
        let (counted, times) = (&cells[..8], &cells[8..17]);
        assert_eq!(
            counted,
            ["process-scheduler", "priorities", "3", "3,914", "2,048", "1,085", "1,261", "1,261"]
        );
        assert!(times.iter().all(|cell| cell.parse::<f64>().is_ok()), "{times:?}");
        assert_eq!(cells[17], "1,770");
        assert!(cells[18].parse().is_ok_and(|bytes: u64| (4..=12).contains(&bytes)), "{cells:?}");
        assert!(row.wrong().is_empty());
    }

    #[test]
    fn strata_find_a_livelock_in_fewer_states_than_plain_nested_search() {
        let rows = rows(
            "--seeds 3 --fairness strong elevator-planning:3 extent-manager:2 process-scheduler:3",
        );
        assert_eq!(rows.len(), 3);
        for row in rows {
            let states = row.searches.map(|hunts| hunts.median(|figures| figures.states).unwrap());
            let [ndfs, by_explorer, iterative, map, ..] = states;
            let plain = ndfs.min(by_explorer);
            assert!(iterative < plain && map < plain, "{}: {states:?}", row.livelock.name);
        }
    }

    #[test]
    fn in_the_protocols_of_the_paper_strata_need_fewer_states_than_plain_search_by_age() {
        let rows =
            rows("--fairness weak elevator-door lann elevator-planning tree-identification:6");
        assert_eq!(rows.len(), 4);
        for row in rows {
            let states = row.searches.map(|hunts| hunts.median(|figures| figures.states).unwrap());
            let [ndfs, _, iterative, map, ..] = states;
            assert!(iterative < ndfs && map < ndfs, "{}: {states:?}", row.livelock.name);
        }
    }

    #[test]
    fn every_search_finds_every_livelock() {
        let rows = rows(
            "--seeds 1 --fairness weak --explorer rr elevator-door:2 lann:2 elevator-planning:3 \
             tree-identification:4 extent-manager:2 process-scheduler:3 philosophers:2",
        );
        assert_eq!(rows.len(), LIVELOCKS.len());
        for row in rows {
            assert!(row.wrong().is_empty(), "{:?}", row.wrong());
            assert!(!row.cells().contains(&"*".to_owned()), "{:?}", row.cells());
        }
    }

    #[test]
    fn a_search_that_gives_up_is_a_star() {
        let rows = rows("--seeds 1 --fairness weak --memory 100K extent-manager:4");
        let cells = rows[0].cells();
        assert!(cells[3..].iter().all(|cell| cell == "*"), "{cells:?}");
    }

    #[test]
    fn what_is_found_instead_is_wrong() {
        static BLAMED: Livelock = Livelock { monitor: "OneLeader", ..LIVELOCKS[1] };
        let arguments = Arguments {
            explorer: ExplorerKind::RoundRobin,
            fairness: vec![Fairness::Weak],
            seeds: 1,
            memory: 1 << 30,
            time: Duration::from_secs(60),
            only: Vec::new(),
        };
        let row = Row::measure(&BLAMED, 2, Fairness::Weak, &arguments);
        assert!(row.cells()[3..].iter().all(|cell| cell == "wrong"), "{:?}", row.cells());
        assert_eq!(row.wrong().len(), 7);
        let first = &row.wrong()[0];
        assert!(
            first.starts_with(
                "lann, ndfs by age, seed 0, threads 1: livelock: monitor EverybodyKnows waits"
            ),
            "{first}"
        );
    }

    #[test]
    fn only_known_protocols_and_sizes_are_read() {
        let read = |text: &str| text.parse::<Only>();
        assert_eq!(read("lann:1").unwrap_err(), "`1` is no size from 2 to 64");
        assert!(
            read("lan").unwrap_err().starts_with("no protocol `lan`. There are elevator-door,")
        );
        assert_eq!(LIVELOCKS[1].size(&[read("lann:5").unwrap()]), Some(5));
        assert_eq!(LIVELOCKS[1].size(&[read("lann").unwrap()]), Some(LIVELOCKS[1].large));
        assert_eq!(LIVELOCKS[0].size(&[read("lann").unwrap()]), None);
    }
}
