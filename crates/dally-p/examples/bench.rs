//! How fast P projects run: `cargo run --release -p dally-p --example bench -- protocols/p`.
//!
//! `random`, `allocations`, `memory`, `states` or `start` behind that measure only that, and the name of a
//! project then only there. What the portfolio costs is measured by the example `portfolio_cost`.
//!
//! Prints scheduling steps per second of random runs on one thread, distinct states per second of
//! exhaustive searches on one thread, bytes a state takes on the stack of a search, and the time
//! from reading a project to its first schedule.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use dally_core::{Captured, Cut, Env, Event, MessageId, Program as _, System, Tag, Text};
use dally_p::program::Program;
use dally_p::vm::{Foreign, PProgram, PSystem};
use dally_search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally_search::{Options, StrategyKind};

#[global_allocator]
static COUNTED: Counting = Counting;

/// The system's memory, with a count of what is in use and how often some was asked for.
struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator cannot be written without; it only passes calls on")]
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl std::alloc::GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Relaxed);
        CALLS.fetch_add(1, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { std::alloc::System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: std::alloc::Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { std::alloc::System.dealloc(memory, layout) }
    }
}

/// Seconds of processor time, where the system tells them; else seconds.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn timed<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let (start, before) = (Instant::now(), processor_time());
    let result = work();
    let seconds = match (before, processor_time()) {
        (Some(before), Some(after)) if after > before => after - before,
        _ => start.elapsed().as_secs_f64(),
    };
    (result, seconds)
}

/// The processor time of this process on Linux, to a hundredth of a second.
fn processor_time() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

fn compiled(folder: &Path, project: &str) -> Arc<Program> {
    let path = folder.join(project).join(format!("{project}.pproj"));
    let sources = dally_p::project::load(&[path]).expect("a project").sources;
    let compiled = dally_p::compile(sources);
    let Some(program) = compiled.program else { panic!("{:#?}", compiled.diagnostics) };
    Arc::new(program)
}

fn test(program: &Arc<Program>, name: &str) -> Arc<PProgram> {
    let index = program.tests.iter().position(|test| test.name.starts_with(name));
    let index = index.unwrap_or_else(|| panic!("a test {name}"));
    match PProgram::new(program, index, Foreign::default()) {
        Ok(program) => Arc::new(program),
        Err(diagnostic) => panic!("{diagnostic:#?}"),
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().unwrap_or_else(|| "protocols/p".into()));
    let (only, project) = (args.next(), args.next());
    let wanted = |what: &str| only.as_ref().is_none_or(|only| only == what);
    let projects = [
        ("TwoPhaseCommit", "tcSingleClient", "tcTwoClients"),
        ("Paxos", "tcThreeOnFive", "tcTwoOnThree"),
        ("Raft", "tcManyElections", "tcOneElection"),
        ("RaftStore", "tcThreeReplicas", "tcThreeReplicas"),
    ];
    for (name, sampled, searched) in projects {
        if project.as_ref().is_some_and(|project| project != name) {
            continue;
        }
        let project = name;
        let program = compiled(&folder, project);
        if wanted("random") {
            random(project, &test(&program, sampled));
        }
        if wanted("allocations") {
            allocations(project, &test(&program, sampled));
        }
        if wanted("memory") {
            memory(project, &test(&program, searched));
        }
        if wanted("states") {
            for search in [SearchKind::Dfs, SearchKind::Ses] {
                states(project, search, test(&program, searched));
            }
        }
    }
    if wanted("start") {
        start(&folder);
    }
}

fn random(project: &str, program: &Arc<PProgram>) {
    let strategy = "random".parse::<StrategyKind>().expect("a strategy").build(1, 10_000);
    let options = Options { strategy, seed: 1, schedules: 20_000, ..Options::default() };
    let (report, seconds) = timed(|| dally_search::run(program.clone(), options, Arc::new(())));
    let rate = report.steps as f64 / seconds;
    println!(
        "{project}, random: {:.2} million steps per CPU second ({} schedules of {} steps, {} findings)",
        rate / 1e6,
        report.schedules,
        report.steps / report.schedules.max(1),
        report.findings.len(),
    );
}

fn states(project: &str, search: SearchKind, program: Arc<PProgram>) {
    let plan = Plan { search, ..Plan::default() };
    let options = Options { time: Some(Duration::from_secs(10)), ..Options::default() };
    let (report, seconds) =
        timed(|| explore(program, RoundRobin::default(), plan, options, Arc::new(())));
    let states = report.states.as_ref().map_or(0, |states| states.states);
    let transitions = report.states.as_ref().map_or(0, |states| states.transitions);
    println!(
        "{project}, {search}: {:.0} thousand states per CPU second ({states} states, {transitions} \
         transitions, {:?}, {} findings)",
        states as f64 / seconds / 1e3,
        report.ended,
        report.findings.len(),
    );
}

/// Values by a generator of numbers; hears nothing.
struct Dice(fastrand::Rng);

impl Env for Dice {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        Ok(self.0.u32(0..of))
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        Ok(0)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }

    fn leeway(&self) -> u32 {
        10_000
    }
}

fn walk(system: &mut PSystem, dice: &mut Dice, mut each: impl FnMut(&PSystem)) -> usize {
    let mut steps = 0;
    while !system.enabled().is_empty() && steps < 10_000 {
        let worker = system.enabled()[dice.0.usize(0..system.enabled().len())];
        if system.step(worker, dice).is_err() {
            break;
        }
        steps += 1;
        each(system);
    }
    steps
}

/// How often memory is asked for in a random run, when all has been warmed up.
fn allocations(project: &str, program: &Arc<PProgram>) {
    let mut dice = Dice(fastrand::Rng::with_seed(1));
    let mut system = program.start().expect("a start");
    let (mut steps, mut before) = (0, 0);
    for round in 0..400 {
        if round == 100 {
            (steps, before) = (0, CALLS.load(Relaxed));
        }
        program.restart(&mut system).expect("a start");
        steps += walk(&mut system, &mut dice, |_| {});
    }
    let calls = CALLS.load(Relaxed) - before;
    println!("{project}, random: {:.3} allocations a step", calls as f64 / steps as f64);
}

/// What states take that are kept as a search keeps those on its frontier: breadth first, the
/// first so many of them.
fn memory(project: &str, program: &Arc<PProgram>) {
    const STATES: usize = 50_000;
    let mut kept: Vec<PSystem> = Vec::with_capacity(2 * STATES);
    let mut seen = BTreeSet::new();
    kept.push(program.start().expect("a start"));
    let (mut before, mut at) = (0.0, 0);
    while at < kept.len() && kept.len() < STATES {
        if at == 100 {
            // The workshop of the thread is there by now.
            before = BYTES.load(Relaxed) as f64;
        }
        for worker in kept[at].enabled().to_vec() {
            let mut next = kept[at].fork();
            let mut dice = Dice(fastrand::Rng::with_seed(at as u64));
            if next.step(worker, &mut dice).is_ok() && seen.insert(next.fingerprint()) {
                next.condense();
                kept.push(next);
            }
        }
        at += 1;
    }
    let count = seen.len();
    drop(seen);
    let each = (BYTES.load(Relaxed) as f64 - before) / count as f64 + size_of::<PSystem>() as f64;
    println!("{project}, memory: {each:.0} bytes a state on the frontier ({count} states)");
}

/// From the files of all projects to the first schedule of each, as if they were one.
fn start(folder: &Path) {
    let mut lines = 0;
    let ((), seconds) = timed(|| {
        for project in ["TwoPhaseCommit", "Paxos", "Raft", "ChainReplication", "MultiPaxos"] {
            let program = compiled(folder, project);
            let files = program.sources.files();
            lines += files.map(|(_, file)| file.text.lines().count()).sum::<usize>();
            let program = test(&program, "tc");
            let mut system = program.start().expect("a start");
            walk(&mut system, &mut Dice(fastrand::Rng::with_seed(1)), |_| {});
        }
    });
    println!("start: {:.1} ms for {lines} lines, with a schedule each", seconds * 1e3);
}
