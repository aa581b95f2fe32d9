//! What the portfolio costs on P: the processor time of one of its steps, over that of a step under `random`.
//!
//! `cargo run --release -p dally-p --example portfolio_cost -- protocols/p` runs the correct tests of every project
//! under both, at the settings of `dally check` and on one thread, with one seed after another until enough
//! processor time has gone by. Schedules of other members are longer or shorter than random ones, so steps are
//! compared. Arguments behind the folder: how many seconds for each test and strategy (1), how many schedules
//! with one seed (10,000), the strategy (`portfolio`), and a project, if it is to be the only one.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use dally_p::program::{Program, Test};
use dally_p::vm::{Foreign, PProgram};
use dally_search::liveness::Fairness;
use dally_search::{Options, StrategyKind};

const RANDOM: &str = "random";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "protocols/p".into());
    let seconds = arguments.next().map_or(1.0, |text| text.parse().expect("seconds"));
    let schedules = arguments.next().map_or(10_000, |text| text.parse().expect("a number"));
    let strategy = arguments.next().unwrap_or_else(|| "portfolio".into());
    let only = arguments.next();
    println!("{:17} {:>5} {RANDOM:>10} {strategy:>13} {:>6}", "project", "tests", "ratio");
    let mut all = Vec::new();
    for project in projects(Path::new(&folder)) {
        if only.as_ref().is_some_and(|only| *only != project) {
            continue;
        }
        let tests = correct_tests(Path::new(&folder), &project);
        let mut sums = [0.0; 2];
        for test in &tests {
            for (sum, strategy) in sums.iter_mut().zip([RANDOM, &strategy]) {
                *sum += seconds_per_step(test, strategy, schedules, seconds) / tests.len() as f64;
            }
        }
        let ratio = sums[1] / sums[0];
        let [random, other] = sums.map(|seconds| seconds * 1e9);
        println!("{project:17} {:>5} {random:>7.1} ns {other:>10.1} ns {ratio:>6.2}", tests.len());
        all.push(ratio);
    }
    let worst = all.iter().copied().fold(0.0, f64::max);
    let mean = (all.iter().map(|ratio| ratio.ln()).sum::<f64>() / all.len().max(1) as f64).exp();
    println!("geometric mean {mean:.2}, worst {worst:.2}");
}

/// The folders that hold a project file of their name.
fn projects(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder of projects");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| folder.join(name).join(format!("{name}.pproj")).exists()).collect();
    names.sort();
    names
}

/// The tests of a project of which the comment above them says that they pass.
fn correct_tests(folder: &Path, project: &str) -> Vec<Arc<PProgram>> {
    let path = folder.join(project).join(format!("{project}.pproj"));
    let sources = dally_p::project::load(&[path]).expect("a project").sources;
    let compiled = dally_p::compile(sources);
    let Some(program) = compiled.program else { panic!("{:#?}", compiled.diagnostics) };
    let correct = (0..program.tests.len()).filter(|&at| passes(&program, &program.tests[at]));
    let test = |at| match PProgram::new(&program, at, Foreign::default()) {
        Ok(test) => Arc::new(test),
        Err(diagnostic) => panic!("{diagnostic:#?}"),
    };
    correct.map(test).collect()
}

fn passes(program: &Program, test: &Test) -> bool {
    let text = &program.sources.file(test.span.file).text;
    let line = program.sources.location(test.span).line as usize;
    let above: Vec<&str> = text.lines().take(line).collect();
    let said = above.iter().rev().find_map(|line| line.trim().strip_prefix("// expect: "));
    said.is_some_and(|said| said.starts_with("pass"))
}

/// The processor time of a step.
fn seconds_per_step(test: &Arc<PProgram>, strategy: &str, schedules: u64, enough: f64) -> f64 {
    let (mut steps, before) = (0, now());
    for seed in 0.. {
        let mut options = Options {
            seed,
            schedules,
            time: Some(Duration::from_secs(5)),
            fairness: Fairness::Strong,
            max_fair_steps: Some(100_000),
            confirm_temperature: 16,
            step_items: 200_000,
            ..Options::default()
        };
        options.strategy =
            strategy.parse::<StrategyKind>().expect("a strategy").build(seed, options.max_steps);
        let report = dally_search::run(test.clone(), options, Arc::new(()));
        for finding in &report.findings {
            println!("{}: {} in schedule {}", test.name(), finding.bug, finding.found_at);
        }
        steps += report.steps;
        if now() - before >= enough {
            break;
        }
    }
    (now() - before) / steps as f64
}

/// The processor time of this process in seconds, to a hundredth, where the system tells it; else the time.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> f64 {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    let passed = BEGUN.get_or_init(Instant::now).elapsed();
    processor_time().unwrap_or(passed.as_secs_f64())
}

fn processor_time() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}
