//! What the strategies do, seen from outside.

use std::collections::BTreeSet;
use std::sync::Arc;

use dally_core::{Tag, WorkerId};
use dally_search::sampling::{Dfs, Portfolio, Random, RoundRobin, Sampler};
use dally_search::{EndSchedule, Ended, Options, Point, Strategy, StrategyKind};

use crate::programs::{Do, Scripts, Spy, check, options, scripts, short};

const ADD: Do = Do::Add(0, 1);

/// The schedules of a strategy, in short.
fn schedules(program: &Arc<Scripts>, strategy: Box<dyn Strategy>, schedules: u64) -> Vec<String> {
    let spy = Spy::on(strategy);
    let log = spy.log.clone();
    let report = check(
        program,
        Options { strategy: Box::new(spy), schedules, repeat_check: false, ..options() },
    );
    assert_eq!(report.schedules, schedules);
    let log = log.lock().unwrap();
    log.iter().map(|choices| short(choices)).collect()
}

#[test]
fn round_robin_gives_every_worker_its_turn_and_rotates_the_first() {
    let program = scripts([&[ADD; 3], &[ADD], &[ADD; 2]]);
    let turns = schedules(&program, Box::new(RoundRobin::default().seeded(0)), 4);
    assert_eq!(turns, ["0 1 2 0 2 0", "1 2 0 2 0 0", "2 0 1 2 0 0", "0 1 2 0 2 0"]);
}

#[test]
fn irs_cuts_its_first_schedules_at_100_steps_and_later_ones_later() {
    let program = scripts([&[ADD, Do::Jump(0)]]);
    let irs = "irs".parse::<StrategyKind>().unwrap().build(0, 1_000);
    let lengths: Vec<usize> =
        schedules(&program, irs, 210).iter().map(|choices| choices.split(' ').count()).collect();
    assert!(lengths[..101].iter().all(|&length| length == 100));
    assert!(lengths[101..204].iter().all(|&length| length == 200));
    assert!(lengths[204..].iter().all(|&length| length == 300));
}

#[test]
fn a_portfolio_takes_turns_and_each_member_sees_its_own_schedules() {
    let program = scripts([&[ADD; 3], &[ADD; 3]]);
    let members: Vec<Box<dyn Strategy>> =
        vec![Box::new(Random.seeded(0)), Box::new(RoundRobin::default().seeded(0))];
    let both = schedules(&program, Box::new(Portfolio::new(members)), 8);
    let turns = schedules(&program, Box::new(RoundRobin::default().seeded(0)), 4);
    let second: Vec<String> = both.into_iter().skip(1).step_by(2).collect();
    assert_eq!(second, turns);
}

#[test]
fn no_two_members_of_the_bundled_portfolio_run_the_same_schedules() {
    let program = scripts([&[ADD; 20], &[ADD; 20]]);
    let portfolio = StrategyKind::default().build(0, 1_000);
    let members = StrategyKind::portfolio().len();
    let all = schedules(&program, portfolio, 150);
    for round in all.chunks(members) {
        let distinct: BTreeSet<&String> = round.iter().collect();
        assert_eq!(distinct.len(), members, "{round:?}");
    }
}

#[test]
fn a_portfolio_with_an_exhaustive_member_ends_when_that_has_seen_everything() {
    let program = scripts([&[ADD; 2], &[ADD; 2]]);
    let members: Vec<Box<dyn Strategy>> = vec![Box::new(Random.seeded(0)), Box::<Dfs>::default()];
    let report = check(
        &program,
        Options { strategy: Box::new(Portfolio::new(members)), threads: 4, ..options() },
    );
    // Six schedules of either; the seventh of the exhaustive one does not exist.
    assert_eq!((report.ended, report.schedules), (Ended::Exhausted, 13));
    let empty = Options { strategy: Box::new(Portfolio::new(vec![])), ..options() };
    assert_eq!(check(&program, empty).schedules, 0);
}

#[test]
fn observations_count_last_states_or_all_states() {
    let program = scripts([&[ADD, Do::Store(0, 5)], &[ADD]]);
    let last = check(&program, options());
    // Counter 0 ends as 5 or, with the other worker last, as 6.
    assert_eq!(last.observations, 2);
    let all = check(&program, Options { observe_every: 1, ..options() });
    // (0,0), (1,0), (0,1), (1,1), and with the store done: (2,0), (2,1) as 5 and as 6.
    assert_eq!(all.observations, 7);
}

#[test]
fn a_strategy_that_chooses_a_worker_that_cannot_step_is_told_so() {
    #[derive(Clone)]
    struct Wrong;
    impl Strategy for Wrong {
        fn begin(&mut self, _schedule: u64) -> bool {
            true
        }
        fn worker(&mut self, _point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
            Ok(WorkerId::root(7))
        }
        fn value(&mut self, of: u32, _tag: Tag) -> Result<u32, EndSchedule> {
            Ok(of)
        }
    }
    let report = check(&scripts([&[ADD]]), Options { strategy: Box::new(Wrong), ..options() });
    assert_eq!(
        report.notes,
        ["The strategy wrong chose worker 7, which cannot step: schedules end there."]
    );
}

#[test]
fn a_strategy_that_panics_between_schedules_ends_the_run_with_what_it_said() {
    #[derive(Clone)]
    struct Panicking;
    impl Strategy for Panicking {
        fn begin(&mut self, schedule: u64) -> bool {
            assert!(schedule < 3, "only three schedules are prepared");
            true
        }
        fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
            Ok(point.enabled[0])
        }
        fn value(&mut self, _of: u32, _tag: Tag) -> Result<u32, EndSchedule> {
            Ok(0)
        }
    }
    let strategy = Box::new(Panicking);
    let report = check(&scripts([&[ADD]]), Options { strategy, threads: 1, ..options() });
    assert_eq!((report.ended, report.schedules), (Ended::Failed, 3));
    let [note] = &report.notes[..] else { panic!("{:?}", report.notes) };
    let start = "A thread of the run panicked, in a strategy, an explorer, a sink or a front end: ";
    assert!(
        note.starts_with(start) && note.contains("only three schedules are prepared"),
        "{note}"
    );
}

#[test]
fn in_a_portfolio_whoever_brings_something_new_comes_first_and_nobody_has_more() {
    // Under round-robin this program has two schedules, under random very many.
    let program = scripts([&[Do::Store(0, 1); 30], &[ADD; 30]]);
    let members: Vec<Box<dyn Strategy>> =
        vec![Box::new(RoundRobin::default().seeded(0)), Box::new(Random.seeded(0))];
    let all = schedules(&program, Box::new(Portfolio::new(members)), 200);
    let turns: BTreeSet<String> =
        schedules(&program, Box::new(RoundRobin::default().seeded(0)), 2).into_iter().collect();
    // In the order of members in the first batch, of 16 schedules; from then on random is first.
    for (round, pair) in all.chunks(2).enumerate() {
        let in_turn: Vec<bool> = pair.iter().map(|schedule| turns.contains(schedule)).collect();
        assert_eq!(in_turn, [round < 8, round >= 8], "round {round}");
    }
}
