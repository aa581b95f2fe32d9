//! What the portfolio costs on P: the processor time of one of its steps, over that of a step under `random`.
//!
//! `cargo run --release -p dally-p --example portfolio_cost -- protocols/p` runs the correct tests of every project
//! under both in turn, at the settings of `dally check` and on one thread, and compares the fastest rounds of
//! each test: what else the machine does can only make a round slower. Schedules of other members are longer
//! or shorter than random ones, so steps are compared. Arguments behind the folder: how many rounds (3), how
//! many schedules of a test in a round (10,000; no more than one second of them), the strategy (`portfolio`), and
//! a project, if it is to be the only one.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dally_p::program::{Program, Test};
use dally_p::vm::{Foreign, PProgram};
use dally_search::liveness::Fairness;
use dally_search::{Options, StrategyKind};

const RANDOM: &str = "random";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "protocols/p".into());
    let mut number =
        |default| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let (rounds, schedules) = (number(3), number(10_000));
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
            let mut best = [f64::MAX; 2];
            for seed in 0..rounds {
                for (best, strategy) in best.iter_mut().zip([RANDOM, &strategy]) {
                    *best = best.min(seconds_per_step(test, strategy, schedules, seed));
                }
            }
            for (sum, best) in sums.iter_mut().zip(best) {
                *sum += best / tests.len() as f64;
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
fn seconds_per_step(test: &Arc<PProgram>, strategy: &str, schedules: u64, seed: u64) -> f64 {
    let mut options = Options {
        seed,
        schedules,
        time: Some(Duration::from_secs(1)),
        fairness: Fairness::Strong,
        max_fair_steps: Some(100_000),
        confirm_temperature: 16,
        step_items: 200_000,
        ..Options::default()
    };
    options.strategy =
        strategy.parse::<StrategyKind>().expect("a strategy").build(seed, options.max_steps);
    let clock = Clock::start();
    let report = dally_search::run(test.clone(), options, Arc::new(()));
    let seconds = clock.seconds();
    for finding in &report.findings {
        println!("{}: {} in schedule {}", test.name(), finding.bug, finding.found_at);
    }
    seconds / report.steps as f64
}

/// Processor time, where the system tells it and it is long enough; else time.
struct Clock(Instant, Option<f64>);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
    fn start() -> Clock {
        Clock(Instant::now(), processor_time())
    }

    fn seconds(&self) -> f64 {
        let passed = self.0.elapsed().as_secs_f64();
        match (self.1, processor_time()) {
            (Some(before), Some(after)) if passed > 0.5 => after - before,
            _ => passed,
        }
    }
}

/// The processor time of this process on Linux, to a hundredth of a second.
fn processor_time() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}
