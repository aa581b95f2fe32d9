//! Goes the way of a finding on a live system, and sees for itself that it is a loop.

use dally_core::{
    Captured, Choice, Cut, Env, Event, MessageId, Program, System, Tag, Text, WorkerId,
};
use dally_machines::{MachineProgram, MachineSystem};
use dally_search::liveness::Fairness;

use crate::graph::{Action, steps};

/// Checks that these choices lead into a loop, after `stem` steps, and once round it, and that
/// going round for ever violates this monitor and is fair.
pub fn check(
    program: &MachineProgram,
    choices: &[Choice],
    stem: usize,
    monitor: usize,
    fairness: Fairness,
) -> Result<(), String> {
    let mut system = program.start().map_err(|bug| bug.to_string())?;
    let mut stops = vec![system.fork()];
    let (mut taken, mut visits) = (Vec::new(), Vec::new());
    let mut rest = choices;
    while let [Choice::Worker(worker), after @ ..] = rest {
        let inside = after.iter().take_while(|choice| !matches!(choice, Choice::Worker(_))).count();
        let (mine, after) = after.split_at(inside);
        if !system.enabled().contains(worker) {
            return Err(format!("{worker} cannot step"));
        }
        let mut reader = Reader { left: mine, made: Vec::new(), place: 0 };
        system.step(*worker, &mut reader).map_err(|stop| format!("{stop:?}"))?;
        if !reader.left.is_empty() {
            return Err(format!("{worker} was not asked for {:?}", reader.left));
        }
        taken.push(Action::of(*worker, &reader.made));
        visits.push(system.acceptance().visits);
        stops.push(system.fork());
        rest = after;
    }
    if !rest.is_empty() || stem >= taken.len() {
        return Err(format!("{stem} of {} steps, {rest:?} left", taken.len()));
    }
    let (stops, taken, visits) = (&stops[stem..], &taken[stem..], &visits[stem..]);
    if stops[0].fingerprint() != stops[taken.len()].fingerprint() {
        return Err("the loop does not close".into());
    }
    let waits = |stop: &MachineSystem| stop.acceptance().waiting() >> monitor & 1 == 1;
    let hot = stops[1..].iter().all(waits);
    let visited = visits.iter().any(|visits| visits >> monitor & 1 == 1);
    if !hot && !visited {
        return Err("the loop does not violate the monitor".into());
    }
    match fairness {
        Fairness::None => Ok(()),
        Fairness::Weak => {
            let always = |worker| stops.iter().all(|stop| stop.enabled().contains(worker));
            let steps = |worker: &WorkerId| taken.iter().any(|action| action.worker == *worker);
            let mut owed = stops[0].enabled().iter().filter(|worker| always(worker));
            let unserved = owed.find(|&worker| *worker != WorkerId::FAULTS && !steps(worker));
            unserved.map_or(Ok(()), |worker| Err(format!("{worker} could step all the time")))
        }
        Fairness::Strong => {
            let workers = |stop| MachineSystem::enabled(stop).iter().map(move |&who| (stop, who));
            let mut possible =
                stops.iter().flat_map(workers).flat_map(|(stop, worker)| steps(stop, worker));
            let undone = possible.find(|(action, _)| !action.fault && !taken.contains(action));
            undone.map_or(Ok(()), |(action, _)| Err(format!("{action:?} is never done")))
        }
    }
}

/// Answers what is written.
struct Reader<'a> {
    left: &'a [Choice],
    /// Each with the place where it was asked for.
    made: Vec<(u64, Choice)>,
    place: u64,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a Choice> {
        let (first, rest) = self.left.split_first()?;
        self.left = rest;
        self.made.push((std::mem::take(&mut self.place), *first));
        Some(first)
    }
}

impl Env for Reader<'_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        match self.next() {
            Some(&Choice::Value { index, of: written, tag: as_written }) => {
                assert_eq!((written, as_written), (of, tag));
                Ok(index)
            }
            other => panic!("{other:?} for one of {of} values"),
        }
    }

    fn place(&mut self, place: u64) {
        self.place = place;
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        match self.next() {
            Some(Choice::Delivery(message)) => Ok(candidates
                .iter()
                .position(|one| one == message)
                .expect("a message that is there")),
            other => panic!("{other:?} for one of {candidates:?}"),
        }
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}
