//! How many schedules each strategy needs for each planted bug, and how the portfolio compares.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dally::contract::words::grouped;
use dally::search::{Options, StrategyKind};
use dally::settings::parse_time;
use dally_protocols::{PlantedBug, Protocol, all};

use crate::table::Table;

/// What `strategies` can be told.
#[derive(Args, Debug)]
pub struct Arguments {
    /// How many seeds each strategy is given.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// How many schedules a hunt may run.
    #[arg(long, default_value_t = 10_000)]
    schedules: u64,
    /// How long a hunt may take.
    #[arg(long, default_value = "20s", value_parser = parse_time, value_name = "TIME")]
    time: Duration,
    /// The strategies that the portfolio is compared with.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "random,pctcp,pos,surw,ql,pct:3,pct:10,urw,tapct,irs,period"
    )]
    strategies: Vec<StrategyKind>,
    /// Only these protocols.
    #[arg(value_name = "PROTOCOL")]
    only: Vec<String>,
}

/// Wide enough for `10,000 4/20`.
const CELL: usize = 11;

/// Prints the table.
pub fn print(arguments: &Arguments) {
    let mut columns = vec![("protocol".to_owned(), 19), ("bug".to_owned(), 23)];
    let mut kinds = arguments.strategies.clone();
    kinds.push(StrategyKind::default());
    columns.extend(kinds.iter().map(|kind| (kind.to_string(), CELL)));
    columns.extend(["best", "of all"].map(|heading| (heading.to_owned(), 6)));
    let columns: Vec<(&str, usize)> =
        columns.iter().map(|(heading, width)| (&**heading, *width)).collect();
    let table = Table::new(2, &columns);
    let mut ratios: Vec<f64> = Vec::new();
    for protocol in all() {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|only| only == protocol.name) {
            continue;
        }
        for bug in protocol.bugs {
            let hunts: Vec<Hunts> =
                kinds.iter().map(|&kind| Hunts::of(kind, protocol, bug, arguments)).collect();
            let (portfolio, single) = hunts.split_last().expect("the portfolio is one of them");
            let members = kinds
                .iter()
                .zip(single)
                .filter(|(kind, _)| StrategyKind::portfolio().contains(kind));
            let ratio = portfolio.ratio(members.map(|(_, hunts)| hunts));
            let to_all = portfolio.ratio(single.iter());
            ratios.extend(ratio);
            let cells = hunts.iter().map(Hunts::cell);
            let shown = [ratio, to_all].map(|ratio| match ratio {
                Some(ratio) if ratio.is_finite() => format!("{ratio:.1}"),
                _ => "*".to_owned(),
            });
            let names = [protocol.name, bug.name].map(String::from);
            table.row(names.into_iter().chain(cells).chain(shown));
        }
    }
    ratios.sort_by(f64::total_cmp);
    if let (Some(largest), Some(median)) = (ratios.last(), ratios.get(ratios.len() / 2)) {
        println!();
        println!(
            "The portfolio needs {median:.1} times the schedules of its best member in the median \
             over {} bugs, at most {largest:.1} times",
            ratios.len(),
        );
    }
    println!(
        "Medians of {} seeds, and how many of them found the bug, if not all; *: most did not \
         within {} schedules",
        arguments.seeds,
        grouped(arguments.schedules),
    );
}

/// What the hunts of one strategy for one bug came to.
struct Hunts {
    /// Of the schedules until the bug; hunts in vain are longer than any other.
    median: u64,
    found: usize,
    of: usize,
}

impl Hunts {
    fn of(kind: StrategyKind, protocol: &Protocol, bug: &PlantedBug, with: &Arguments) -> Hunts {
        let hunt = |seed| {
            let options = Options {
                strategy: kind.build(seed, protocol.max_steps),
                seed,
                schedules: with.schedules,
                time: Some(with.time),
                max_steps: protocol.max_steps,
                shrink: false,
                repeat_check: false,
                ..Options::default()
            };
            let report = (protocol.program)(Some(bug.name)).run(options, Arc::new(()));
            report.findings.first().map(|finding| finding.found_at)
        };
        let mut hunts: Vec<Option<u64>> = (0..with.seeds).map(hunt).collect();
        hunts.sort_by_key(|found| found.unwrap_or(u64::MAX));
        let found = hunts.iter().flatten().count();
        Hunts { median: hunts[hunts.len() / 2].unwrap_or(u64::MAX), found, of: hunts.len() }
    }

    /// How many times the schedules of the best of these it takes. A bug that none of them finds
    /// says nothing.
    fn ratio<'a>(&self, others: impl Iterator<Item = &'a Hunts>) -> Option<f64> {
        let best = others.map(|hunts| hunts.median).min().filter(|&best| best < u64::MAX)?;
        Some(if self.median == u64::MAX { f64::INFINITY } else { self.median as f64 / best as f64 })
    }

    fn cell(&self) -> String {
        let median = if self.median == u64::MAX { "*".into() } else { grouped(self.median) };
        if self.found == 0 || self.found == self.of {
            return median;
        }
        format!("{median} {}/{}", self.found, self.of)
    }
}
