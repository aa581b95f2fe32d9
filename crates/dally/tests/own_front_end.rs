//! The example of a front end of one's own gets all that the bundled ones have.

#[allow(dead_code)]
#[path = "../examples/own_front_end.rs"]
mod example;

use std::sync::Arc;
use std::time::Duration;

use dally::contract::{BugKind, Program};
use dally::search::strata::{ExplorerKind, Plan, SearchKind, explore};
use dally::search::{Ended, Mode, Options, Report, StrategyKind, replay, run};

use self::example::Race;

const RUDE: Race = Race { polite: false };
const POLITE: Race = Race { polite: true };

#[dally::test(should_fail = "an update is lost")]
fn schedules_show_that_an_update_is_lost() -> impl Program {
    RUDE
}

#[dally::test(search = "ses", should_fail = "an update is lost")]
fn a_search_shows_that_an_update_is_lost() -> impl Program {
    RUDE
}

#[dally::test(schedules = 300)]
fn polite_counters_lose_no_update() -> impl Program {
    POLITE
}

#[dally::test(search = "map", should_fail = "livelock")]
fn polite_counters_may_wait_for_each_other_for_ever() -> impl Program {
    POLITE
}

fn searched(race: Race, search: SearchKind, threads: usize) -> Report {
    let plan = Plan { search, ..Plan::default() };
    let options = Options { threads, keep_going: true, ..Options::default() };
    explore(Arc::new(race), ExplorerKind::RoundRobin.build(0), plan, options, Arc::new(()))
}

#[test]
fn every_search_copies_its_states_and_visits_all_of_them() {
    use SearchKind::{Bfs, Dfs, Preemptions, Ses};
    for (search, threads) in [(Ses, 1), (Ses, 2), (Preemptions, 1), (Dfs, 1), (Bfs, 1)] {
        let report = searched(POLITE, search, threads);
        assert_eq!((report.ended, report.findings.len()), (Ended::Exhausted, 0), "{search}");
        let states = report.states.unwrap();
        assert_eq!((states.replayed, states.states), (false, STATES), "{search}");
    }
}

/// How many states polite counters have.
const STATES: u64 = 25;

#[test]
fn every_strategy_finds_the_lost_update_and_its_schedule_replays() {
    for name in ["random", "pct", "pos", "surw", "ql", "portfolio"] {
        let strategy = name.parse::<StrategyKind>().unwrap().build(0, 100);
        let options = Options { strategy, ..Options::default() };
        let report = run(Arc::new(RUDE), options, Arc::new(()));
        let finding = &report.findings[0];
        assert_eq!(finding.bug.kind(), BugKind::Panic, "{name}");
        let again =
            replay(Arc::new(RUDE), &finding.schedule, Mode::Exact, 1, Duration::from_secs(10));
        assert_eq!(again.bug.as_ref(), Some(&finding.bug), "{name}");
    }
}

#[test]
fn a_livelock_is_told_with_its_loop() {
    let report = searched(POLITE, SearchKind::Map, 1);
    let finding = &report.findings[0];
    assert_eq!(finding.bug.kind(), BugKind::Livelock);
    let again =
        replay(Arc::new(POLITE), &finding.schedule, Mode::Exact, 3, Duration::from_secs(10));
    assert_eq!(again.lasso.unwrap().rounds, 3);
}
