//! An explorer of one's own, for the chain replication of section 6.3 of Desai, Qadeer and Seshia,
//! "Systematic Testing of Asynchronous Reactive Systems": servers fail once the system is stable,
//! and hardly before.

use std::sync::Arc;

use dally::contract::WorkerId;
use dally::machines::{Granularity, MachineProgram};
use dally::search::strata::{self, Explorer, ExplorerKind, Plan, Stepped};
use dally::search::{Options, Report};
use dally_protocols::chain_replication::{self, Bug, Config, PROTOCOL};

/// In the order in which they come once the system is stable: while a request is under way,
/// master and fault are ahead of the servers, and further requests show what was lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Role {
    FirstClient,
    Master,
    Fault,
    Server,
    OtherClient,
}
use Role::{Fault, FirstClient, Master, OtherClient, Server};

/// Servers and clients first until the system is stable, then by roles. After two failures the
/// fault machine lets all others go on.
#[derive(Clone, Default, Hash)]
struct FailuresOnceStable {
    order: Vec<(Role, WorkerId)>,
    failures: usize,
}

impl FailuresOnceStable {
    fn put_last(&mut self, worker: WorkerId) {
        self.order.sort_by_key(|&(_, other)| other == worker);
    }
}

impl Explorer for FailuresOnceStable {
    fn name(&self) -> String {
        "failures-once-stable".into()
    }

    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        self.order.iter().map(|&(_, worker)| worker).find(|worker| enabled.contains(worker))
    }

    fn delay(&mut self, enabled: &[WorkerId]) {
        if let Some(late) = self.next(enabled) {
            self.put_last(late);
        }
    }

    fn started(&mut self, worker: WorkerId, name: &str) {
        let role = match name {
            "Client" if self.order.iter().any(|&(role, _)| role == FirstClient) => OtherClient,
            "Client" => FirstClient,
            "Master" => Master,
            "Fault" => Fault,
            _ => Server,
        };
        self.order.push((role, worker));
        self.order.sort_by_key(|&(role, _)| role == Master || role == Fault);
    }

    fn stepped(&mut self, step: &Stepped<'_>) {
        if step.hints.iter().any(|hint| hint == "stable") {
            self.order.sort_by_key(|&(role, _)| role);
        }
        if self.order.contains(&(Fault, step.worker)) {
            let before = self.failures;
            self.failures += step.sent.len();
            if before < 2 && self.failures >= 2 {
                self.put_last(step.worker);
            }
        }
    }
}

/// Smaller than the bundled one, and a handler is one step: to be searched in a moment.
fn small(bug: Bug) -> MachineProgram {
    let config = Config { rounds: 2, ..Config::BUNDLED };
    chain_replication::program(config, Some(bug)).granularity(Granularity::Atomic).run_twice(false)
}

fn search(program: MachineProgram, explorer: impl Explorer, plan: Plan, seed: u64) -> Report {
    let max_steps = PROTOCOL.max_steps;
    let options = Options { seed, max_steps, shrink: false, ..Options::default() };
    strata::explore(Arc::new(program), explorer, plan, options, Arc::new(()))
}

/// How many states a search visits up to the bug, or in vain up to the last of its strata.
fn states(program: MachineProgram, explorer: impl Explorer, delays: u32, seed: u64) -> u64 {
    let plan = Plan { delays: Some(delays), ..Plan::default() };
    search(program, explorer, plan, seed).states.expect("a search of states").states
}

/// The same with a bundled explorer; the median of five seeds, where it is random.
fn states_of(kind: ExplorerKind, program: impl Fn() -> MachineProgram, delays: u32) -> u64 {
    let random = matches!(kind, ExplorerKind::Probabilistic | ExplorerKind::Random);
    let seeds = 0..if random { 5 } else { 1 };
    let states = seeds.map(|seed| states(program(), kind.build(seed), delays, seed));
    let mut states: Vec<u64> = states.collect();
    states.sort_unstable();
    states[states.len() / 2]
}

#[test]
fn a_head_that_fails_takes_a_fraction_of_the_states() {
    let program = || small(Bug::TrustsRetries);
    let ours = ExplorerKind::ALL.map(|kind| states_of(kind, program, 4));
    assert_eq!(ours, [11_036, 44_216, 10_256, 3_003]);
    assert_eq!(states(program(), FailuresOnceStable::default(), 1, 0), 689);
}

#[test]
fn two_neighbours_that_fail_take_two_delays() {
    let explorer = FailuresOnceStable::default();
    let report = search(small(Bug::TwoNeighbours), explorer, Plan::default(), 0);
    let delays = report.findings[0].delays.as_ref().map(|delays| delays.count);
    assert_eq!((delays, report.states.unwrap().states), (Some(2), 5_646));
}

/// With so many delays they find nothing, and have visited more states than that by then.
#[test]
fn two_neighbours_that_fail_take_the_bundled_explorers_more_than_three_times_the_states() {
    let program = || small(Bug::TwoNeighbours);
    assert_eq!(states_of(ExplorerKind::RoundRobin, program, 4), 55_344);
    assert_eq!(states_of(ExplorerKind::RunToCompletion, program, 3), 21_065);
}

#[dally::test(
    search = "ses",
    explorer = FailuresOnceStable::default(),
    should_fail = "before it"
)]
fn a_test_takes_an_explorer_of_ones_own() -> MachineProgram {
    small(Bug::TwoNeighbours)
}
