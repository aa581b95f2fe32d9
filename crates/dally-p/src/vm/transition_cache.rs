//! A cache of steps of machines that gives the next fingerprint without taking the step.
//!
//! A step is determined by the machine that takes it, the receiver of its message, the specs and the
//! chosen values. It changes no other machine unless it creates one. So a step is known if it was
//! taken before with the same parts, whatever the other machines did meanwhile.

use dally_core::transition_cache::{Known, TransitionCache, after};
use dally_core::{Answer, Cut, Env, EventSink, Fingerprint, Question, RecordedStep, fingerprint};

use super::machine::Phase;
use super::run::Stepped;
use super::system::{Machines, PSystem};

/// How many steps are known before all are forgotten: some megabytes.
const MOST: usize = 1 << 17;

/// What each known step adds to the fingerprint.
#[derive(Default)]
pub(super) struct KnownSteps {
    changes: TransitionCache<u64>,
    asked: Vec<Answer>,
}

impl PSystem {
    pub(super) fn look_ahead(
        &mut self,
        at: usize,
        env: &mut dyn Env,
    ) -> Result<Option<Fingerprint>, Cut> {
        let known = self.known_steps.get_or_insert_default();
        let sums = self.machines.sums();
        let Some(mut key) = self.machines.key(at, sums, self.shared.atomic) else {
            return Ok(None);
        };
        loop {
            match known.changes.get(key) {
                None | Some(Known::Asks(Question::Delivery { .. } | Question::Input)) => {
                    return Ok(None);
                }
                Some(Known::Ends(change)) => {
                    return Ok(Some(Fingerprint(sums.all.wrapping_add(change))));
                }
                Some(Known::Asks(Question::Value { of, tag })) => {
                    key = after(key, env.value(of, tag)?);
                }
            }
        }
    }

    /// Takes a step of the machine with this index, and notes what it adds.
    #[inline(never)]
    pub(super) fn step_noted(
        &mut self,
        at: usize,
        known: &mut KnownSteps,
        env: &mut dyn Env,
    ) -> Stepped {
        let PSystem { shared, machines, .. } = self;
        let sums = machines.sums();
        let key = machines.key(at, sums, shared.atomic);
        let key = key.filter(|&key| !matches!(known.changes.get(key), Some(Known::Ends(_))));
        let Some(key) = key else { return machines.step(shared, at, &mut EventSink::new(env)) };
        known.asked.clear();
        let mut recorded = RecordedStep::new(env, &mut known.asked);
        machines.step(shared, at, &mut EventSink::new(&mut recorded))?;
        if known.changes.len() > MOST {
            known.changes.clear();
        }
        known.changes.learn(key, &known.asked, || machines.sums().all.wrapping_sub(sums.all));
        Ok(())
    }
}

/// Hashes of a state that all its transitions are looked up by.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    /// The fingerprint.
    pub(super) all: u64,
    specs: u64,
}

impl Machines {
    fn sums(&mut self) -> Sums {
        if let Some(known) = self.known_sums {
            return known;
        }
        let specs = self.slots[..self.specs].iter();
        let specs = specs.fold(0, |sum, spec| fingerprint::mix(sum, spec.share()));
        *self.known_sums.insert(Sums { all: self.sum(), specs })
    }

    pub(super) fn sum(&self) -> u64 {
        self.slots.iter().fold(0, |sum: u64, slot| sum.wrapping_add(slot.share()))
    }

    /// A hash of all that determines a step of the machine with this index, except the chosen values.
    /// `None` where more does: atomic handlers send to any number of machines, and whether the place
    /// of a created machine is free depends on all machines.
    fn key(&self, at: usize, sums: Sums, atomic: bool) -> Option<u64> {
        let machine = self.get(at);
        if atomic || matches!(machine.phase, Phase::Creating(..)) {
            return None;
        }
        let mut key = machine.share();
        if machine.phase == Phase::Sending {
            let receiver = self.find(machine.to).map_or(0, |to| self.get(to).share());
            key = fingerprint::mix(key, receiver);
        }
        Some(fingerprint::mix(key, sums.specs))
    }
}
