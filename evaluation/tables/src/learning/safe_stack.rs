//! Who finds the bug of SafeStack: strategies in schedules and steps, searches in states.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dally::contract::words::grouped;
use dally::search::strata::{self, ExplorerKind, Plan as Search, SearchKind};
use dally::search::{Options, StrategyKind};
use dally::settings::parse_time;
use dally_compare::table::{LEGEND, Times, aligned, text};
use dally_compare::{Case, Contestant, Plan, Problem, compare, summarise};
use dally_protocols::find;
use dally_protocols::safe_stack::{Bug, Model};

/// What `safe-stack` can be told.
#[derive(Args, Debug)]
pub struct Arguments {
    /// How many runs each strategy makes.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// How many schedules a run may have.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    schedules: u64,
    /// How long a run may take.
    #[arg(long, value_parser = parse_time, value_name = "TIME")]
    time: Option<Duration>,
    /// How many runs go on at the same time.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=256))]
    threads: u64,
    /// The programs: `safe-stack` (five tasks), `safe-stack-3` (three), `safe-stack-model`.
    #[arg(long, value_delimiter = ',', default_value = "safe-stack,safe-stack-3")]
    programs: Vec<String>,
    /// The strategies; none to have the searches of states only.
    #[arg(value_name = "STRATEGY")]
    strategies: Vec<StrategyKind>,
}

/// Prints the tables.
pub fn print(arguments: &Arguments) -> Result<(), Problem> {
    states();
    if arguments.strategies.is_empty() {
        return Ok(());
    }
    let programs = arguments.programs.iter().filter_map(|name| find(name));
    let plan = Plan {
        cases: programs.map(|program| Case::bundled(program, Some("lock-free"))).collect(),
        contestants: arguments.strategies.iter().cloned().map(Contestant::from).collect(),
        runs: arguments.runs,
        schedules: arguments.schedules,
        time: arguments.time,
        threads: arguments.threads as usize,
        observe_every: 0,
        ..Plan::default()
    };
    let said = |progress: &dally_compare::Progress<'_>| eprintln!("{}", progress.last);
    let compared = compare(&plan, None, &said, &Arc::default())?;
    println!();
    print!("{}\n{LEGEND}", text(&summarise(&plan, &compared.trials), Times::Shown));
    Ok(())
}

/// Until the bug, and all there are, with and without telling workers apart.
fn states() {
    let mut rows = vec![
        ["search", "workers", "states until the bug", "transitions", "all states", "transitions"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for (workers, make) in [
        ("alike", Model::new(3, Some(Bug::LockFree))),
        ("told apart", Model::new(3, Some(Bug::LockFree)).without_symmetry()),
    ] {
        for kind in [SearchKind::Bfs, SearchKind::Dfs, SearchKind::Ses] {
            let figures = [false, true].map(|keep_going| {
                let options = Options { keep_going, shrink: false, ..Options::default() };
                let plan = Search { search: kind, ..Search::default() };
                let explorer = ExplorerKind::default().build(0);
                let model = Arc::new(make.clone());
                let states = strata::explore(model, explorer, plan, options, Arc::new(())).states;
                states.map_or([0, 0], |states| [states.states, states.transitions])
            });
            let cells = figures.concat().into_iter().map(grouped);
            rows.push([kind.to_string(), workers.to_owned()].into_iter().chain(cells).collect());
        }
    }
    println!("Three workers as a model");
    println!();
    print!("{}", aligned(&rows, 2));
}
