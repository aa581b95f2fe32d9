use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use dally_core::{Env, Event, MessageId, Status, Stop, System, Tag, Text, WorkerId};

use super::*;
use crate::choice_log::ChoiceWriter;
use crate::strata::{ExplorerKind, RoundRobin, RunToCompletion, Stepped};

#[derive(Clone, Copy)]
enum Do {
    Nothing,
    /// To the worker with this number.
    Send(usize),
    Receive,
    Choose(u32),
}
use Do::{Choose, Nothing, Receive, Send};

/// Scripts of the workers, and the logs that are bugs: a log has the number of the worker of each
/// step, with the value that it chose, as in `0 1=2 0`.
struct Scripts<'a> {
    scripts: &'a [&'a [Do]],
    fails: fn(&str) -> bool,
}

struct Live<'a> {
    scripts: &'a [&'a [Do]],
    fails: fn(&str) -> bool,
    at: Vec<usize>,
    inboxes: Vec<u32>,
    log: String,
    enabled: Vec<WorkerId>,
}

impl<'a> Program for Scripts<'a> {
    type System = Live<'a>;

    fn start(&self) -> Result<Live<'a>, Bug> {
        let (scripts, fails) = (self.scripts, self.fails);
        let (at, inboxes) = (vec![0; scripts.len()], vec![0; scripts.len()]);
        let mut live =
            Live { scripts, fails, at, inboxes, log: String::new(), enabled: Vec::new() };
        live.refresh();
        Ok(live)
    }

    fn granularity(&self) -> &'static str {
        "one operation"
    }
}

impl Live<'_> {
    fn refresh(&mut self) {
        self.enabled.clear();
        for (n, script) in self.scripts.iter().enumerate() {
            match script.get(self.at[n]) {
                None => {}
                Some(Receive) if self.inboxes[n] == 0 => {}
                Some(_) => self.enabled.push(w(n as u32)),
            }
        }
    }
}

impl System for Live<'_> {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }
    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let me = (0..).find(|&n| w(n) == worker).unwrap() as usize;
        let space = if self.log.is_empty() { "" } else { " " };
        write!(self.log, "{space}{me}").unwrap();
        match self.scripts[me][self.at[me]] {
            Nothing => {}
            Send(to) => {
                let message = MessageId { sender: worker, number: self.at[me] as u32 };
                let to_id = w(to as u32);
                env.event(Event::Sent { message, to: to_id, payload: Text::Str("") })?;
                self.inboxes[to] += 1;
            }
            Receive => self.inboxes[me] -= 1,
            Choose(of) => write!(self.log, "={}", env.value(of, Tag::Program)?).unwrap(),
        }
        self.at[me] += 1;
        self.refresh();
        if (self.fails)(&self.log) {
            return Err(Bug::panic("the log is bad").into());
        }
        Ok(())
    }
    fn status(&self) -> Status {
        if self.enabled.is_empty() { Status::Done } else { Status::Running }
    }
    fn name(&self, _worker: WorkerId) -> String {
        "Script".into()
    }
}

fn w(n: u32) -> WorkerId {
    WorkerId::root(n)
}

fn choices(log: &str, of: u32) -> Vec<Choice> {
    let mut choices = Vec::new();
    for word in log.split(' ') {
        let (worker, value) = word.split_once('=').map_or((word, None), |(w, v)| (w, Some(v)));
        choices.push(Choice::Worker(w(worker.parse().unwrap())));
        let index = value.map(|value| value.parse().unwrap());
        choices.extend(index.map(|index| Choice::Value { index, of, tag: Tag::Program }));
    }
    choices
}

fn log(choices: &[Choice]) -> String {
    let mut log = String::new();
    for choice in choices {
        match choice {
            Choice::Worker(worker) => write!(log, " {worker}").unwrap(),
            Choice::Value { index, .. } => write!(log, "={index}").unwrap(),
            Choice::Delivery(_) | Choice::Input(_) => {}
        }
    }
    log.trim().to_owned()
}

fn words(delays: &Delays) -> String {
    let mut words = format!("{} by {}:", delays.count, delays.explorer);
    for at in &delays.at {
        assert_eq!(at.value, at.instead_of.is_none());
        let what = at.instead_of.map_or("value".into(), |worker| format!("instead of {worker}"));
        write!(words, " {} at step {} {what};", at.delays, at.step).unwrap();
    }
    words
}

/// The delays that a schedule takes under an explorer, or why the explorer cannot give it.
fn count<P: Program, E: Explorer>(
    executor: &mut Executor<'_, P>,
    explorer: &E,
    choices: &[Choice],
    limits: &Limits,
) -> Result<Delays, String> {
    let mut strategy =
        Delaying::new(explorer, ChoiceSource::Recording(Player::new(choices.into())));
    executor.execute(0, &mut strategy, limits, Instruments::uninterrupted());
    strategy.finish().map(|(_, delays)| delays)
}

const LIMITS: Limits = Limits {
    max_steps: 1_000,
    fail_on_max_steps: false,
    temperature: usize::MAX,
    fairness: crate::liveness::Fairness::Weak,
    loops: crate::liveness::Loops::Ignored,
    blamed: None,
    step_items: 1_000,
    ..Limits::NONE
};

fn never(_log: &str) -> bool {
    false
}

fn counted(explorer: &impl Explorer, scripts: &[&[Do]], schedule: &str, of: u32) -> String {
    let program = Scripts { scripts, fails: never };
    let mut executor = Executor::new(&program, ChoiceWriter::new());
    match count(&mut executor, explorer, &choices(schedule, of), &LIMITS) {
        Ok(delays) => words(&delays),
        Err(why) => why,
    }
}

fn saved(
    explorer: &impl Explorer,
    scripts: &[&[Do]],
    fails: fn(&str) -> bool,
    schedule: &str,
    of: u32,
) -> Option<(String, String)> {
    let program = Scripts { scripts, fails };
    let mut executor = Executor::new(&program, ChoiceWriter::new());
    let cause = Bug::panic("the log is bad").cause();
    let stop = AtomicBool::new(false);
    let budget = Budget { steps: 100_000, deadline: None, stop: &stop };
    let choices = choices(schedule, of);
    let (made, delays) = fewest(&mut executor, explorer, &choices, cause, &LIMITS, budget)?;
    // Counting the delays of the schedule gives the same.
    assert_eq!(count(&mut executor, explorer, &made, &LIMITS).as_ref(), Ok(&delays));
    Some((log(&made), words(&delays)))
}

#[test]
fn the_explorers_own_order_takes_no_delay() {
    let scripts: &[&[Do]] = &[&[Nothing; 2], &[Nothing; 2]];
    let rr = RoundRobin::default();
    assert_eq!(counted(&rr, scripts, "0 0 1 1", 0), "0 by round-robin:");
}

#[test]
fn every_step_of_another_worker_is_so_many_delays() {
    let scripts: &[&[Do]] = &[&[Nothing; 2], &[Nothing; 2], &[Nothing; 2]];
    let rr = RoundRobin::default();
    // 0 is delayed, then 1, then 2; the last step of each costs nothing.
    assert_eq!(
        counted(&rr, scripts, "0 1 2 0 1 2", 0),
        "3 by round-robin: 1 at step 2 instead of 0; 1 at step 3 instead of 1; 1 at step 4 \
         instead of 2;",
    );
    assert_eq!(
        counted(&rr, scripts, "2 2 0 0 1 1", 0),
        "2 by round-robin: 2 at step 1 instead of 0;",
    );
}

#[test]
fn a_value_takes_its_index_in_delays() {
    let scripts: &[&[Do]] = &[&[Nothing, Choose(4)], &[Choose(4)]];
    let rr = RoundRobin::default();
    assert_eq!(
        counted(&rr, scripts, "0 1=0 0=3", 4),
        "4 by round-robin: 1 at step 2 instead of 0; 3 at step 3 value;",
    );
}

#[test]
fn run_to_completion_hears_what_is_sent() {
    let scripts: &[&[Do]] =
        &[&[Receive, Nothing], &[Receive, Nothing], &[Send(0), Send(1), Nothing]];
    let rtc = RunToCompletion::default();
    assert_eq!(counted(&rtc, scripts, "2 0 0 2 1 1 2", 0), "0 by run-to-completion:");
    assert_eq!(
        counted(&rtc, scripts, "2 2 1 1 2 0 0", 0),
        "1 by run-to-completion: 1 at step 2 instead of 0;",
    );
    assert_eq!(
        counted(&rtc, scripts, "2 2 0 0 1 1 2", 0),
        "3 by run-to-completion: 1 at step 2 instead of 0; 2 at step 3 instead of 1;",
    );
}

#[test]
fn a_schedule_that_does_not_fit_is_an_error() {
    let rr = RoundRobin::default();
    let scripts: &[&[Do]] = &[&[Choose(4)], &[Nothing]];
    let why = |schedule| counted(&rr, scripts, schedule, 4);
    assert_eq!(why("0=1 0"), "round-robin never offers worker 0 at step 2");
    assert_eq!(why("1 1 0=0"), "round-robin never offers worker 1 at step 2");
    assert_eq!(why("1 0"), "step 2 asks for what was not recorded");
    assert_eq!(why("1=1 0=0"), "step 1 asks for less than was recorded");
    assert_eq!(why("1 0=0 1"), "the execution ended after 3 of 4 choices");
}

/// Never offers the second of two workers.
#[derive(Clone, Hash)]
struct Stubborn;

impl Explorer for Stubborn {
    fn name(&self) -> String {
        "stubborn".into()
    }
    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        enabled.first().copied()
    }
    fn delay(&mut self, _enabled: &[WorkerId]) {}
    fn started(&mut self, _worker: WorkerId, _name: &str) {}
    fn stepped(&mut self, _step: &Stepped<'_>) {}
}

#[test]
fn an_unsound_explorer_is_named() {
    let scripts: &[&[Do]] = &[&[Nothing], &[Nothing]];
    assert_eq!(counted(&Stubborn, scripts, "0 1", 0), "0 by stubborn:");
    let why = "stubborn never offers worker 1 at step 1";
    assert_eq!(counted(&Stubborn, scripts, "1 0", 0), why);
}

#[test]
fn needless_delays_go() {
    let scripts: &[&[Do]] = &[&[Nothing; 4], &[Nothing; 4], &[Nothing; 4]];
    // 2 runs while 0 has taken one step.
    let fails = |log: &str| log.ends_with('2') && log.matches('0').count() == 1;
    let rr = RoundRobin::default();
    let found = saved(&rr, scripts, fails, "1 1 0 1 2", 0).unwrap();
    assert_eq!(found.1, "1 by round-robin: 1 at step 2 instead of 0;");
    assert_eq!(found.0, "0 1 1 1 1 2");
}

#[test]
fn values_come_down_to_what_it_takes() {
    let scripts: &[&[Do]] = &[&[Choose(9), Choose(9), Nothing], &[Nothing]];
    let fails =
        |log: &str| log.ends_with(" 0") && !log.contains("0=0 0=") && !log.contains("0=1 0=");
    let rr = RoundRobin::default();
    let found = saved(&rr, scripts, fails, "1 0=8 0=5 0", 9);
    // The first step of 1 is not needed, and neither is the second value.
    assert_eq!(found.unwrap(), ("0=2 0=0 0".into(), "2 by round-robin: 2 at step 1 value;".into()),);
}

#[test]
fn two_delays_go_for_one_elsewhere() {
    let scripts: &[&[Do]] = &[&[Nothing; 4], &[Nothing; 2]];
    // The first log takes two delays, neither of which can be left out alone; the second takes one.
    let fails = |log: &str| log == "0 1 0" || log == "0 0 0 1";
    let rr = RoundRobin::default();
    assert_eq!(
        saved(&rr, scripts, fails, "0 1 0", 0).unwrap(),
        ("0 0 0 1".into(), "1 by round-robin: 1 at step 4 instead of 0;".into()),
    );
}

#[test]
fn what_does_not_fail_cannot_be_saved_on() {
    let scripts: &[&[Do]] = &[&[Nothing; 2], &[Nothing; 2]];
    let rr = RoundRobin::default();
    assert_eq!(saved(&rr, scripts, never, "0 1 0 1", 0), None);
    assert_eq!(saved(&Stubborn, scripts, |log| log == "1", "1", 0), None);
}

#[test]
fn random_schedules_are_had_from_every_explorer_and_never_get_worse() {
    let scripts: &[&[Do]] = &[
        &[Send(1), Choose(3), Send(2), Nothing],
        &[Receive, Send(0), Choose(3)],
        &[Nothing, Receive, Send(1)],
    ];
    let fails = |log: &str| log.len() > 12 && log.ends_with("=1");
    for seed in 0..200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        // A random walk until it fails.
        let program = Scripts { scripts, fails };
        let mut executor = Executor::new(&program, ChoiceWriter::new());
        let mut random = crate::sampling::Sampler::seeded(crate::sampling::Random, rng.u64(..));
        crate::strategy::Strategy::begin(&mut random, 0);
        let execution = executor.execute(0, &mut random, &LIMITS, Instruments::uninterrupted());
        if execution.bug.is_none() {
            continue;
        }
        let walk = log(&executor.writer.choices());
        for kind in ExplorerKind::ALL {
            let explorer = kind.build(seed);
            let before = count(&mut executor, &explorer, &choices(&walk, 3), &LIMITS);
            let before = before.unwrap().count;
            let (_, after) = saved(&explorer, scripts, fails, &walk, 3).unwrap();
            let after: u64 = after.split(' ').next().unwrap().parse().unwrap();
            assert!(after <= before, "{kind}: {before} became {after}");
        }
    }
}
