//! The two algorithms of Sen and Agha, "Automated Systematic Testing of Open Distributed Programs":
//! the simple one (Figures 5 to 7) and the efficient one (Figure 8).
//!
//! Both go depth first through choices of a process with a message and through outcomes of branches,
//! and run the program again for each execution. The efficient one goes on to another process only
//! where a message that was sent later could have been received instead. Where channels keep the order
//! of messages, one of the same sender could not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dally::concolic::ConcolicInputs;
use dally::contract::{
    Cut, Env, Event, Input, MessageId, Program, Stop, System, Tag, Text, WorkerId,
};
use dally::mpil::MpilProgram;
use dally::search::reduction::InputDriver;

/// Which of the choices of the scheduler are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// All of them.
    Simple,
    /// Those that `needs_delay` asks for, by the clocks as they were released: receipts do not tick.
    Released,
    /// The same, where each receipt ticks, so that whether a send comes after it can be told.
    Sound,
}

/// What was counted.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    pub executions: u64,
    /// Whether nothing was left to explore.
    pub finished: bool,
    /// How many of them differ in more than the order of independent steps.
    pub distinct: u64,
}

/// What an execution shares with those that differ in the order of independent steps: what each process
/// received, and the outcomes of its branches.
type Class = BTreeMap<WorkerId, Vec<(Option<MessageId>, Vec<bool>)>>;

type Clock = BTreeMap<WorkerId, u64>;

/// A choice of the scheduler and what came of it.
struct Point {
    options: Vec<(WorkerId, Option<MessageId>)>,
    taken: usize,
    needs_delay: bool,
    /// Who sent what was received.
    sender: Option<WorkerId>,
    /// The clock of the process when it had received, and its own time.
    clock: Clock,
    time: u64,
    /// For each branch of the step, whether the other outcome was asked for.
    branches: Vec<bool>,
}

/// Counts the executions of an algorithm, up to so many.
pub fn count(program: &MpilProgram, fifo: bool, rule: Rule, most: u64) -> Counted {
    let mut driver = ConcolicInputs::new(Arc::default());
    let mut points: Vec<Point> = Vec::new();
    let mut inputs = None;
    let mut counted = Counted { executions: 0, finished: false, distinct: 0 };
    let mut classes = BTreeSet::new();
    while counted.executions < most {
        counted.executions += 1;
        let how = How { program, rule, fifo };
        classes.insert(how.execute(&mut driver, inputs.as_ref(), &mut points));
        match next(rule, &mut driver, &mut points) {
            Some(assignment) => inputs = Some(assignment),
            None => {
                counted.finished = true;
                break;
            }
        }
    }
    counted.distinct = classes.len() as u64;
    counted
}

struct How<'p> {
    program: &'p MpilProgram,
    rule: Rule,
    fifo: bool,
}

impl How<'_> {
    /// Runs the program by the choices so far, and then by the smallest of each scheduler choice.
    fn execute(
        &self,
        driver: &mut ConcolicInputs,
        inputs: Option<&<ConcolicInputs as InputDriver>::Assignment>,
        points: &mut Vec<Point>,
    ) -> Class {
        let mut class = Class::new();
        driver.begin_execution(inputs, points.len());
        let Ok(mut system) = self.program.start() else { return class };
        let mut clocks: BTreeMap<WorkerId, Clock> = BTreeMap::new();
        let mut sent: BTreeMap<MessageId, Clock> = BTreeMap::new();
        let mut depth = 0;
        loop {
            if points.len() == depth {
                let options: Vec<_> =
                    system.enabled().iter().flat_map(|&w| choices(&system, w)).collect();
                if options.is_empty() {
                    return class;
                }
                let (clock, time) = (Clock::new(), 0);
                let branches = Vec::new();
                let (taken, needs_delay, sender) = (0, false, None);
                points.push(Point { options, taken, needs_delay, sender, clock, time, branches });
            }
            let (worker, message) = points[depth].options[points[depth].taken];
            driver.begin_step(depth, worker);
            let mut scheduler = Scheduler { driver, message, received: None, sends: Vec::new() };
            let stepped = system.step(worker, &mut scheduler);
            let Scheduler { received, sends, .. } = scheduler;
            let outcomes = driver.branches().to_vec();
            points[depth].branches.resize(outcomes.len(), false);
            class.entry(worker).or_default().push((received, outcomes));
            let clock = clocks.entry(worker).or_default();
            if let Some(carried) = received.and_then(|message| sent.get(&message)) {
                for (&of, &time) in carried {
                    let known = clock.entry(of).or_default();
                    *known = (*known).max(time);
                }
            }
            if self.rule == Rule::Sound {
                *clock.entry(worker).or_default() += 1;
            }
            points[depth].time = clock.get(&worker).copied().unwrap_or(0);
            points[depth].clock.clone_from(clock);
            points[depth].sender = received.map(|message| message.sender);
            for (id, to) in sends {
                let clock = clocks.entry(id.sender).or_default();
                *clock.entry(id.sender).or_default() += 1;
                let now = clock.clone();
                self.mark(&mut points[..=depth], id.sender, to, &now);
                sent.insert(id, now);
            }
            depth += 1;
            match stepped {
                Ok(()) => {}
                Err(Stop::Cut | Stop::Bug(_)) => return class,
            }
        }
    }

    /// A message is sent: receipts of its receiver that are independent of that need a delay.
    fn mark(&self, points: &mut [Point], from: WorkerId, to: WorkerId, now: &Clock) {
        let at_most = |one: &Clock, other: &Clock| {
            one.iter().all(|(of, time)| *time <= other.get(of).copied().unwrap_or(0))
        };
        for point in points.iter_mut() {
            let (worker, _) = point.options[point.taken];
            let in_order = self.fifo && point.sender == Some(from);
            let independent = !in_order
                && match self.rule {
                    Rule::Simple => false,
                    Rule::Released => !at_most(&point.clock, now) && !at_most(now, &point.clock),
                    Rule::Sound => now.get(&to).copied().unwrap_or(0) < point.time,
                };
            point.needs_delay |= worker == to && independent;
        }
    }
}

/// What a worker can receive now.
fn choices<S: System + Clone>(system: &S, worker: WorkerId) -> Vec<(WorkerId, Option<MessageId>)> {
    let mut looking = Looking(Vec::new());
    // The copy stops at its first question.
    let _ = system.clone().step(worker, &mut looking);
    match looking.0.is_empty() {
        true => vec![(worker, None)],
        false => looking.0.into_iter().map(|message| (worker, Some(message))).collect(),
    }
}

/// Goes on to the next execution: the last outcome of a branch that can be turned round, or the last
/// choice of the scheduler that has another one after it.
fn next(
    rule: Rule,
    driver: &mut ConcolicInputs,
    points: &mut Vec<Point>,
) -> Option<<ConcolicInputs as InputDriver>::Assignment> {
    while let Some(depth) = points.len().checked_sub(1) {
        let branches = points[depth].branches.len();
        for branch in (0..branches).rev() {
            if std::mem::replace(&mut points[depth].branches[branch], true) {
                continue;
            }
            if let Some(inputs) = driver.flip(depth, branch) {
                points[depth].branches.truncate(branch + 1);
                return Some(inputs);
            }
        }
        let point = &mut points[depth];
        let further = point.options.get(point.taken + 1);
        let same = further.is_some_and(|next| next.0 == point.options[point.taken].0);
        if further.is_some() && (rule == Rule::Simple || same || point.needs_delay) {
            point.taken += 1;
            point.needs_delay &= same;
            point.branches.clear();
            return Some(driver.assignment());
        }
        points.pop();
    }
    None
}

/// Takes the message that the scheduler has chosen.
struct Scheduler<'a> {
    driver: &'a mut ConcolicInputs,
    message: Option<MessageId>,
    received: Option<MessageId>,
    sends: Vec<(MessageId, WorkerId)>,
}

impl Env for Scheduler<'_> {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        Ok(0)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        candidates.iter().position(|&one| Some(one) == self.message).ok_or(Cut)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        Ok(self.driver.input(asked))
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        match event {
            Event::Received { message, .. } => self.received = Some(message),
            Event::Sent { message, to, .. } => self.sends.push((message, to)),
            _ => {}
        }
        Ok(())
    }
}

/// Looks at what can be received.
struct Looking(Vec<MessageId>);

impl Env for Looking {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        Err(Cut)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.0 = candidates.to_vec();
        self.0.sort_unstable();
        Err(Cut)
    }

    fn input(&mut self, _: Input<'_>) -> Result<i64, Cut> {
        Err(Cut)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Err(Cut)
    }
}
