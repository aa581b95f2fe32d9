//! Steps of machines whose footprints commute can be exchanged: random machines that send, create,
//! announce, persist, halt, set timers and do nothing in particular, with all mailboxes, both
//! granularities and all faults.

// Generated code names the facade; these tests stand in for it.
extern crate self as dally;
#[allow(unused_imports)]
mod __private {
    pub use dally_core as contract;
    pub use dally_machines as machines;
}

#[expect(dead_code, reason = "the tests of reduction use the rest")]
mod clerks;
#[path = "../../dally-search/tests/swaps/mod.rs"]
#[expect(dead_code, reason = "tests of systems that are not captured use the rest")]
mod swaps;

use std::collections::BTreeSet;
use std::sync::Arc;

use clerks::{Letter, random};
use dally_core::{Bug, BugKind, Program};
use dally_machines::{Addr, Cx, Faults, Granularity, MachineProgram, MachineSystem, Setup};
use dally_macros::machine;
use dally_search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally_search::{Ended, Options};
use swaps::{How, Tally, try_swaps, whole};

#[test]
fn exchanging_steps_of_machines_that_commute_makes_no_difference() {
    let how = How { state: whole::<MachineSystem>, happens_before: false };
    let mut tally = Tally::default();
    for seed in 0..4_000 {
        let program = random(seed);
        for schedule in 0..3 {
            let what = || format!("random({seed}), schedule {schedule}");
            tally += try_swaps(&program, &how, seed << 8 | schedule, &what);
        }
    }
    assert!(tally.swaps > 20_000, "{tally:?}");
    assert!(tally.foreseen > 20_000, "{tally:?}");
}

/// The same program, whose states are had by running prefixes again.
struct Replayed(MachineProgram);

impl Program for Replayed {
    type System = MachineSystem;

    fn start(&self) -> Result<MachineSystem, Bug> {
        self.0.start()
    }
}

/// What a search finds; `None` if it does not come to its end.
fn causes<P: Program + 'static>(program: P, search: SearchKind) -> Option<BTreeSet<String>> {
    let plan = Plan { search, memory: 1 << 16, ..Plan::default() };
    let options = Options { keep_going: true, shrink: false, max_steps: 40, ..Options::default() };
    let report = explore(Arc::new(program), RoundRobin::default(), plan, options, Arc::new(()));
    let found = report.findings.iter().map(|finding| finding.bug.to_string());
    (report.ended == Ended::Exhausted && report.cut == 0).then(|| found.collect())
}

/// Crashes within a budget, what is persisted, timers and faults are all part of what happened before what.
#[test]
fn a_search_that_replays_finds_what_one_that_copies_finds() {
    let searches = [SearchKind::Dfs, SearchKind::Bfs, SearchKind::Ses, SearchKind::Preemptions];
    let (mut compared, mut failing) = (0, 0);
    for seed in 0..600 {
        let program = || clerks::failing(seed);
        let Some(copied) = causes(program(), SearchKind::Dfs) else { continue };
        let search = searches[seed as usize % searches.len()];
        let Some(replayed) = causes(Replayed(program()), search) else { continue };
        assert_eq!(replayed, copied, "{search}, seed {seed}");
        compared += 1;
        failing += usize::from(!copied.is_empty());
    }
    println!("{compared} programs of machines that can crash, {failing} of which fail");
    assert!(compared > 100 && failing > 30, "{compared} {failing}");
}

/// Writes down what it says before it says it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Careful(Addr<Loose>, bool);

#[machine(states(Start), durable = bool)]
impl Careful {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        if !self.1 {
            cx.persist(true);
            cx.send(self.0, Letter(0));
            cx.send(self.0, Letter(1));
        }
    }
    fn recover(self, durable: Option<bool>) -> Careful {
        Careful(self.0, durable.unwrap_or(false))
    }
}

/// Its state cannot be copied.
#[derive(Debug)]
struct Loose(u32);

#[machine(uncaptured, states(Start))]
impl Loose {
    #[on(Start, Letter)]
    fn letter(&mut self, _: &mut Cx<Self>, letter: Letter) {
        self.0 = self.0 * 3 + u32::from(letter.0) + 1;
    }
}

#[test]
fn that_a_crash_used_up_the_budget_is_not_confused_with_one_that_is_still_to_come() {
    for granularity in [Granularity::PerSend, Granularity::Atomic] {
        let program = MachineProgram::new("loose", |setup: &mut Setup| {
            let loose = setup.create(Loose(0));
            setup.create(Careful(loose, false));
            setup.create(Careful(loose, false));
        })
        .faults(Faults { crash: 1, ..Faults::NONE })
        .granularity(granularity)
        .run_twice(false);
        let plan = Plan { search: SearchKind::Dfs, ..Plan::default() };
        let options = Options { keep_going: true, shrink: false, ..Options::default() };
        let (program, observer) = (Arc::new(program), Arc::new(()));
        let report = explore(program, RoundRobin::default(), plan, options, observer);
        let uncontrolled = |kind: BugKind| kind == BugKind::Uncontrolled;
        assert!(!report.findings.iter().any(|finding| uncontrolled(finding.bug.kind())));
        assert_eq!(report.ended, Ended::Exhausted);
    }
}

/// Says that its promise is on disk, after it has come back.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Promising(Addr<Sceptic>, bool);

#[machine(states(Start), durable = bool)]
impl Promising {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        if self.1 {
            cx.send(self.0, Letter(1));
        } else {
            cx.persist(true);
            cx.send(self.0, Letter(0));
        }
    }
    fn recover(self, durable: Option<bool>) -> Promising {
        Promising(self.0, durable.unwrap_or(false))
    }
}

/// Its state cannot be copied. It wants to hear of a promise before it hears that it was kept.
#[derive(Debug)]
struct Sceptic(bool);

#[machine(uncaptured, states(Start))]
impl Sceptic {
    #[on(Start, Letter)]
    fn letter(&mut self, _: &mut Cx<Self>, letter: Letter) {
        assert!(self.0 || letter.0 == 0, "a promise that nobody has heard of");
        self.0 = true;
    }
}

#[test]
fn a_crash_after_something_was_persisted_is_not_confused_with_one_before() {
    let program = |granularity| {
        MachineProgram::new("promising", |setup: &mut Setup| {
            let sceptic = setup.create(Sceptic(false));
            setup.create(Promising(sceptic, false));
        })
        .faults(Faults { crash: 1, ..Faults::NONE })
        .granularity(granularity)
        .run_twice(false)
    };
    for granularity in [Granularity::PerSend, Granularity::Atomic] {
        for search in [SearchKind::Dfs, SearchKind::Bfs, SearchKind::Ses] {
            let plan = Plan { search, ..Plan::default() };
            let options = Options { keep_going: true, shrink: false, ..Options::default() };
            let (program, observer) = (Arc::new(program(granularity)), Arc::new(()));
            let report = explore(program, RoundRobin::default(), plan, options, observer);
            let kinds: Vec<_> = report.findings.iter().map(|finding| finding.bug.kind()).collect();
            assert_eq!((kinds, report.ended), (vec![BugKind::Panic], Ended::Exhausted), "{search}");
        }
    }
}
