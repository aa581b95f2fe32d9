//! Random well-typed programs: every way of going through their schedules agrees on the states
//! that can be reached, on how executions end and on what goes wrong.

#[path = "vm/driver.rs"]
#[expect(dead_code, reason = "the tests of clauses use the rest")]
mod driver;
#[path = "differential/generate.rs"]
mod generate;

use std::collections::BTreeSet;
use std::sync::Arc;

use dally_core::{Captured, Program, System, WorkerId};
use dally_p::vm::PProgram;
use dally_search::strata::{CachePolicy, Plan, RoundRobin, SearchKind, explore};
use dally_search::{Mode, Options, replay};

use driver::{All, Script};

/// Programs with more states than this are left out: there are enough small ones.
const STATES: usize = 3_000;
/// Schedules that are run from the start, of programs that have no more.
const SCHEDULES: usize = 3_000;

/// What a search of `dally-search` sees: the number of states and the bugs, by their first lines.
fn searched(program: &Arc<PProgram>, plan: Plan, threads: usize) -> (u64, BTreeSet<String>) {
    let options = Options { threads, keep_going: true, shrink: false, ..Options::default() };
    let options = Options { max_steps: 100_000, step_items: 2_000, ..options };
    let report =
        explore(program.clone(), RoundRobin::default(), plan, options.clone(), Arc::new(()));
    for finding in &report.findings {
        let (mode, patience) = (Mode::Exact, options.step_time);
        let replayed = replay(program.clone(), &finding.schedule, mode, 1, patience);
        let again = replayed.bug.as_ref().map(|bug| bug.cause());
        assert_eq!(again, Some(finding.bug.cause()), "a replay shows the same bug");
    }
    let bugs = report.findings.iter().map(|finding| finding.bug.cause().to_string());
    (report.states.map_or(0, |states| states.states), bugs.collect())
}

/// A step: the place of its worker, how many there were, and its values, each with how many.
type Taken = (usize, usize, Vec<(u32, u32)>);

/// Runs every schedule from the start, without forks or a cache; `None` if there are too many.
fn by_replay(program: &PProgram) -> Option<(BTreeSet<Vec<u8>>, BTreeSet<String>)> {
    let (mut finals, mut bugs) = (BTreeSet::new(), BTreeSet::new());
    let mut system = program.start().ok()?;
    let mut path: Vec<Taken> = Vec::new();
    for _ in 0..SCHEDULES {
        program.restart(&mut system).ok()?;
        let mut depth = 0;
        loop {
            let enabled: Vec<WorkerId> = system.enabled().to_vec();
            if enabled.is_empty() {
                let mut bytes = Vec::new();
                system.encode(&mut bytes);
                finals.insert(bytes);
                break;
            }
            if path.len() == depth {
                path.push((0, enabled.len(), Vec::new()));
            }
            let (place, _, values) = &mut path[depth];
            let given = values.iter().map(|value| value.0).collect();
            let mut script = Script { given, quiet: depth % 2 == 0, ..Script::default() };
            let stepped = system.step(enabled[*place], &mut script);
            *values = script.asked;
            depth += 1;
            if let Err(stop) = stepped {
                bugs.insert(driver::stopped(stop));
                break;
            }
        }
        path.truncate(depth);
        while let Some((place, of, values)) = path.last_mut() {
            while values.last().is_some_and(|&(index, of)| index + 1 >= of) {
                values.pop();
            }
            if let Some(last) = values.last_mut() {
                last.0 += 1;
                break;
            }
            if *place + 1 < *of {
                *place += 1;
                break;
            }
            path.pop();
        }
        if path.is_empty() {
            return Some((finals, bugs));
        }
    }
    None
}

/// Whether the program was small enough to be compared in full.
fn compare(seed: u64) -> bool {
    let source = generate::program(seed);
    let program = Arc::new(driver::program(&source));
    let Some(All { states, ends, finals }) = driver::all_within(&program, STATES) else {
        return false;
    };
    let context = || format!("seed {seed}:\n{source}");
    let plan = |search| Plan { search, ..Plan::default() };
    let (dfs, causes) = searched(&program, plan(SearchKind::Dfs), 1);
    assert_eq!(dfs as usize, states, "{}", context());
    for (threads, search) in [(2, SearchKind::Dfs), (1, SearchKind::Bfs), (1, SearchKind::Ses)] {
        let found = searched(&program, plan(search), threads);
        assert_eq!(found, (dfs, causes.clone()), "{search}, {threads}: {}", context());
    }
    let exact = Plan { exact: true, ..plan(SearchKind::Dfs) };
    assert_eq!(searched(&program, exact, 1), (dfs, causes.clone()), "exact: {}", context());
    let bugs: BTreeSet<&String> = ends.iter().filter(|end| is_bug(end)).collect();
    assert_eq!(bugs.is_empty(), causes.is_empty(), "{}", context());
    let Some((by_replay, bugs_by_replay)) = by_replay(&program) else { return false };
    assert_eq!(by_replay, finals, "final states: {}", context());
    let stops: BTreeSet<&String> = ends.iter().filter(|end| is_stop(end)).collect();
    assert_eq!(bugs_by_replay.iter().collect::<BTreeSet<_>>(), stops, "{}", context());
    // Without a cache a search goes through every schedule, and finds the same.
    let uncached = Plan { cache: CachePolicy::None, ..plan(SearchKind::Dfs) };
    assert_eq!(searched(&program, uncached, 1).1, causes, "no cache: {}", context());
    true
}

fn is_bug(end: &str) -> bool {
    end != "done"
}

/// Whether a step stopped, and the execution did not end by itself.
fn is_stop(end: &str) -> bool {
    is_bug(end) && !end.contains(" waits to ") && !end.contains(" is hot in ")
}

#[test]
fn all_ways_through_the_schedules_of_random_programs_agree() {
    let programs = std::env::var("DALLY_P_PROGRAMS").ok();
    let programs = programs.and_then(|n| n.parse().ok()).unwrap_or(60);
    let compared = (0..programs).filter(|&seed| compare(seed)).count();
    println!("{compared} of {programs} programs are small enough to be compared in full");
    assert!(compared * 4 > programs as usize, "{compared} of {programs}");
}
