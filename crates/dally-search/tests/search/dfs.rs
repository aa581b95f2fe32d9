//! Depth-first search visits every schedule, once.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::programs::{self, Do, Live, Scripts, Spy, check, options, random_scripts, scripts};
use dally_core::{Choice, Cut, Env, Event, MessageId, Program, Stop, System, Tag, Text};
use dally_report::text::coverage;
use dally_search::sampling::Dfs;
use dally_search::{Ended, Options};

fn exhaustive() -> Options {
    Options {
        strategy: Box::new(Dfs::default()),
        schedules: 1_000_000,
        keep_going: true,
        shrink: false,
        ..options()
    }
}

/// How many schedules an exhausted program has.
fn schedules<const N: usize>(program: [&[Do]; N]) -> u64 {
    let report = check(&scripts(program), exhaustive());
    assert_eq!(report.ended, Ended::Exhausted);
    report.schedules
}

const ADD: Do = Do::Add(0, 1);

#[test]
fn a_budget_of_just_as_many_schedules_as_there_are_is_enough_to_exhaust_them() {
    let program = scripts([&[ADD; 2], &[ADD; 2]]);
    let ended = |schedules| check(&program, Options { schedules, ..exhaustive() }).ended;
    assert_eq!(ended(6), Ended::Exhausted);
    assert_eq!(ended(5), Ended::Schedules);
}

#[test]
fn two_workers_of_n_steps_have_2n_over_n_schedules() {
    let counts = [1, 2, 3, 4, 5, 6].map(|n| schedules([&vec![ADD; n], &vec![ADD; n]]));
    assert_eq!(counts, [2, 6, 20, 70, 252, 924]);
}

#[test]
fn three_workers_of_two_steps_have_90_schedules_and_of_three_1680() {
    assert_eq!(schedules([&[ADD; 2], &[ADD; 2], &[ADD; 2]]), 90);
    assert_eq!(schedules([&[ADD; 3], &[ADD; 3], &[ADD; 3]]), 1680);
}

#[test]
fn values_multiply_schedules() {
    assert_eq!(schedules([&[Do::Choose(3), Do::Choose(4)]]), 12);
    // Two steps each: 6 interleavings, with 3 * 5 values in each.
    assert_eq!(schedules([&[Do::Choose(3), ADD], &[ADD, Do::Choose(5)]]), 6 * 15);
    assert_eq!(schedules([&[Do::Fault(0), Do::Fault(0), Do::Fault(0)]]), 8);
}

#[test]
fn a_mailbox_without_order_delivers_in_every_order() {
    let receiver = [Do::Receive, Do::Receive];
    // Two orders of the sends. In each: the first receive between them (one candidate), or
    // after both (two candidates).
    assert_eq!(schedules([&receiver, &[Do::Send(0, 1)], &[Do::Send(0, 2)]]), 2 * (1 + 2));
}

#[test]
fn locks_allow_only_the_interleavings_of_critical_sections() {
    let section = [Do::Lock(0), ADD, ADD, Do::Unlock(0)];
    assert_eq!(schedules([&section, &section]), 2);
    assert_eq!(schedules([&section, &section, &section]), 6);
}

#[test]
fn a_program_without_workers_has_one_schedule() {
    assert_eq!(schedules([]), 1);
    assert_eq!(schedules([&[], &[]]), 1);
}

#[test]
fn a_program_that_never_ends_is_exhausted_up_to_the_step_bound() {
    let spin = scripts([&[ADD, Do::Jump(0)], &[ADD, Do::Jump(0)]]);
    let report = check(&spin, Options { max_steps: 10, ..exhaustive() });
    assert_eq!(
        coverage(&report),
        "exhausted up to the step bound of 10: 1,024 schedules, 1,024 of them cut by the bound"
    );
    assert_eq!((report.steps, report.longest), (10_240, 10));
}

#[test]
fn the_report_says_exhausted_and_counts() {
    let report = check(&scripts([&[ADD; 2], &[ADD; 2]]), exhaustive());
    assert_eq!(coverage(&report), "exhausted: 6 schedules");
    assert_eq!((report.steps, report.longest, report.cut), (24, 4, 0));
}

#[test]
fn three_thousand_random_programs_are_visited_exactly_as_by_brute_force() {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut total = 0;
    for _ in 0..3_000 {
        let program = random_scripts(&mut rng, 3);
        let expected = brute_force(&program);
        let spy = Spy::on(Box::new(Dfs::default()));
        let log = spy.log.clone();
        let report = check(
            &program,
            Options { strategy: Box::new(spy), repeat_check: false, ..exhaustive() },
        );
        let visited = std::mem::take(&mut *log.lock().unwrap());
        assert_eq!(report.schedules, visited.len() as u64);
        total += visited.len();
        let distinct: BTreeSet<String> = visited.iter().map(|v| programs::short(v)).collect();
        assert_eq!(distinct.len(), visited.len(), "visited twice: {program:?}");
        assert_eq!(distinct, expected, "{program:?}");
    }
    assert!(total > 100_000, "the programs are too small to show anything: {total}");
}

/// Every execution, by forking the state at every choice.
fn brute_force(program: &Arc<Scripts>) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let start = program.start().unwrap();
    extend(&start, &mut Vec::new(), &mut all);
    all
}

fn extend(live: &Live, path: &mut Vec<Choice>, all: &mut BTreeSet<String>) {
    if live.enabled().is_empty() {
        all.insert(programs::short(path));
        return;
    }
    for &worker in live.enabled() {
        // All answers to the questions of this step: each run tells what was asked, and the
        // last question with an answer left is answered anew.
        let mut answers: Vec<u32> = Vec::new();
        loop {
            let mut fork = live.clone();
            let mut env = Answers { answers: answers.clone(), asked: Vec::new() };
            let stopped = fork.step(worker, &mut env);
            let length = path.len();
            path.push(Choice::Worker(worker));
            path.extend(env.asked.iter().map(|asked| asked.0));
            match stopped {
                Ok(()) => extend(&fork, path, all),
                Err(Stop::Bug(_)) => _ = all.insert(programs::short(path)),
                Err(Stop::Cut) => unreachable!("nobody cuts"),
            }
            path.truncate(length);
            answers = env.asked.iter().map(|asked| asked.1).collect();
            while let Some(last) = answers.last_mut() {
                *last += 1;
                if *last < env.asked[answers.len() - 1].2 {
                    break;
                }
                answers.pop();
            }
            if answers.is_empty() {
                break;
            }
        }
    }
}

/// Gives the answers it has, then always the first.
struct Answers {
    answers: Vec<u32>,
    /// (the choice, its index, how many there were)
    asked: Vec<(Choice, u32, u32)>,
}

impl Answers {
    fn next(&self) -> u32 {
        self.answers.get(self.asked.len()).copied().unwrap_or(0)
    }
}

impl Env for Answers {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let index = self.next();
        self.asked.push((Choice::Value { index, of, tag }, index, of));
        Ok(index)
    }
    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        let index = self.next();
        let message = candidates[index as usize];
        self.asked.push((Choice::Delivery(message), index, candidates.len() as u32));
        Ok(index as usize)
    }
    fn event(&mut self, _event: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}
