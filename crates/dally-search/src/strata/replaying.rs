//! The states of a program that cannot be captured. The search returns to one by running its prefix
//! again; two states are the same if their prefixes have the same partial order.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use dally_core::{
    Bug, Choice, Cut, Env, Event, Footprint, Input, MessageId, Observe, PlayedStep, Player,
    Program, Question, Stop, System, Tag, Text, WorkerId, fingerprint, panics,
};
use rustc_hash::FxHasher;

use super::happens_before::HappensBefore;
use super::plan::Plan;
use super::state_space::{ReturnError, StateSpace};
use super::visited::VisitedStates;
use crate::choice_log::{Activity, ChoiceWriter};
use crate::replay_strategy::named;

/// A space of states that are reached by running the program.
///
/// [`StateSpace::start`] and [`StateSpace::go_to`] end the live execution; what its destructors do
/// then belongs to no schedule.
pub(crate) struct Replaying<P: Program + 'static> {
    program: Arc<P>,
    live: Option<P::System>,
    phase: ExecutionPhase,
    happens_before: HappensBefore,
    /// Whether states are told apart.
    identifies: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ExecutionPhase {
    Running,
    Ended,
    /// The front end itself has panicked, so the system must not be used again.
    Broken,
}

impl<P: Program + 'static> Replaying<P> {
    pub(crate) fn new(program: Arc<P>) -> Replaying<P> {
        Replaying {
            program,
            live: None,
            phase: ExecutionPhase::Ended,
            happens_before: HappensBefore::default(),
            identifies: true,
        }
    }

    /// For a search that does not ask for identities of states.
    pub(crate) fn unidentified(program: Arc<P>) -> Replaying<P> {
        let mut replaying = Replaying::new(program);
        replaying.identifies = false;
        replaying
    }

    fn discard(&mut self) {
        let system = self.live.take();
        // The system may be broken, so its destructors may panic once more.
        let _ = panics::catch(|| drop(system));
    }

    /// Makes these choices again from the first state.
    fn follow(&mut self, choices: &[Choice]) -> Result<(), ReturnError> {
        let mut player = Player::new(choices);
        let mut step = 0;
        loop {
            let worker = match player.worker() {
                Ok(worker) => worker,
                Err(None) => return Ok(()),
                Err(Some(choice)) => {
                    let asked = in_words(choice);
                    let message =
                        format!("step {step}: it asked for {asked} the first time, not now");
                    return Err(ReturnError::Diverged(message));
                }
            };
            step += 1;
            let enabled = self.system().enabled();
            if worker.place_in(enabled).is_err() {
                let now = match named(enabled, self.system()) {
                    workers if workers.is_empty() => "nobody can now".to_owned(),
                    workers => format!("only {workers} can now"),
                };
                let message =
                    format!("step {step}: worker {worker} stepped the first time, and {now}");
                return Err(ReturnError::Diverged(message));
            }
            let mut played = PlayedStep::new(&mut player);
            let stepped = self.step(worker, &mut played);
            if let Some((question, recorded)) = played.misfit() {
                let name = self.system().name(worker);
                let then = match recorded {
                    None | Some(Choice::Worker(_)) => "nothing more".to_owned(),
                    Some(choice) => in_words(choice),
                };
                let message = format!(
                    "step {step}, of {name} ({worker}): it asks for {question}, the first time for \
                     {then}"
                );
                return Err(ReturnError::Diverged(message));
            }
            match stepped {
                Ok(()) => {}
                Err(Stop::Bug(bug)) => return Err(ReturnError::Bug(*bug)),
                Err(Stop::Cut) => {
                    let message = format!("step {step}: it gave up of its own accord");
                    return Err(ReturnError::Diverged(message));
                }
            }
        }
    }
}

impl<P: Program + 'static> StateSpace for Replaying<P> {
    type System = P::System;
    /// The length of the prefix in the choice log.
    type Snapshot = usize;
    type Visited = VisitedStates;

    fn visited(plan: &Plan, threads: usize) -> VisitedStates {
        VisitedStates::new(plan.cache, plan.exact, plan.visited_memory(), threads)
    }

    fn start(&mut self, writer: &mut ChoiceWriter) -> Result<(), Bug> {
        writer.now(Activity::Ending);
        let _ = self.finish();
        self.happens_before.clear();
        writer.now(Activity::Starting);
        let Replaying { program, live, .. } = self;
        let started = panics::catch(|| match live {
            Some(system) => program.restart(system),
            None => program.start().map(|system| *live = Some(system)),
        });
        writer.now(Activity::Stepping);
        let bug = match started {
            Ok(Ok(())) => {
                self.phase = ExecutionPhase::Running;
                return Ok(());
            }
            Ok(Err(bug)) => bug,
            Err(stop) => panicked(stop),
        };
        // A failed restart may leave a broken system behind.
        self.discard();
        Err(bug)
    }

    fn system(&self) -> &P::System {
        self.live.as_ref().expect("a space is asked for its state after a start that went well")
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let Replaying { live, phase, happens_before, identifies, .. } = self;
        let system = live.as_mut().expect("a step comes after a start that went well");
        let stepped = if *identifies {
            happens_before.begin(worker);
            let mut listening = Listening { env, happens_before };
            let stepped = panics::catch(|| system.step(worker, &mut listening));
            happens_before.end();
            stepped
        } else {
            panics::catch(|| system.step(worker, env))
        };
        stepped.unwrap_or_else(|stop| {
            // Front ends catch the panics of the program, so this one is their own.
            *phase = ExecutionPhase::Broken;
            Err(stop)
        })
    }

    fn identity(&mut self) -> u64 {
        self.happens_before.fingerprint()
    }

    fn parts(&self, _part: &mut dyn FnMut(&[u8])) {}

    /// A hash of all that a system shows of its state. Workers that share something around Dally
    /// may make it differ although the partial order is the same.
    fn visible_hash(&self) -> Option<u64> {
        let system = self.system();
        // A panic of `sealed` is reported elsewhere.
        let sealed = panics::catch(|| system.sealed()).unwrap_or(false);
        let rest = fingerprint::mix(system.acceptance().hot, u64::from(sealed));
        let start = fingerprint::mix(system.observe(Observe::Control).unwrap_or_default(), rest);
        let mut footprint = Footprint::default();
        Some(system.enabled().iter().fold(start, |hash, &worker| {
            system.pending(worker, &mut footprint);
            let mut pending = FxHasher::default();
            footprint.hash(&mut pending);
            fingerprint::mix(hash, pending.finish())
        }))
    }

    fn snapshot(&mut self, writer: &ChoiceWriter) -> usize {
        writer.len()
    }

    fn copy(snapshot: &usize) -> usize {
        *snapshot
    }

    fn go_to(&mut self, snapshot: &usize, writer: &mut ChoiceWriter) -> Result<(), ReturnError> {
        let choices = writer.choices();
        debug_assert_eq!(*snapshot, choices.len(), "the choice_log leads to the snapshot");
        self.start(writer).map_err(ReturnError::Bug)?;
        self.follow(&choices)
    }

    fn finish(&mut self) -> Result<(), Bug> {
        match std::mem::replace(&mut self.phase, ExecutionPhase::Ended) {
            ExecutionPhase::Running => {}
            ExecutionPhase::Ended => return Ok(()),
            ExecutionPhase::Broken => {
                self.discard();
                return Ok(());
            }
        }
        let Some(system) = &mut self.live else { return Ok(()) };
        match panics::catch(|| system.end()) {
            Ok(ended) => ended,
            Err(stop) => {
                self.discard();
                Err(panicked(stop))
            }
        }
    }

    fn snapshot_bytes(&self) -> usize {
        size_of::<usize>()
    }
}

impl<P: Program + 'static> Drop for Replaying<P> {
    fn drop(&mut self) {
        self.discard();
    }
}

fn panicked(stop: Stop) -> Bug {
    match stop {
        Stop::Bug(bug) => *bug,
        Stop::Cut => unreachable!("only steps are cut"),
    }
}

/// The question that this choice answers.
fn in_words(choice: Choice) -> String {
    match choice {
        Choice::Worker(worker) => format!("a step of {worker}"),
        Choice::Value { of, tag, .. } => Question::Value { of, tag }.to_string(),
        Choice::Delivery(message) => format!("a message and got {message}"),
        Choice::Input(_) => Question::Input.to_string(),
    }
}

/// Passes the questions and events of a step on to `happens_before` too.
struct Listening<'a> {
    env: &'a mut dyn Env,
    happens_before: &'a mut HappensBefore,
}

impl Env for Listening<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let index = self.env.value(of, tag)?;
        self.happens_before.value(index, of, tag);
        Ok(index)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        self.env.delivery(candidates)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        let value = self.env.input(asked)?;
        self.happens_before.input(value);
        Ok(value)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.happens_before.event(&event);
        self.env.event(event)
    }

    fn leeway(&self) -> u32 {
        0
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.env.unheard(events)
    }
}

#[cfg(test)]
mod tests;
