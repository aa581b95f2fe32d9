//! What happens before what in the execution under way, and which of it could be the other way round.

use std::sync::Arc;

use dally_core::{System, WorkerId};

use super::engine::Engine;
use super::inputs::InputDriver;
use super::rule::Reduction;
use super::step::Step;
use super::wakeup::{Next, Sequence};
use crate::strata::StateSpace;

/// Two steps whose order is to be reversed.
#[derive(Clone, Copy)]
pub(crate) struct Race {
    /// The node of the first.
    pub(super) first: usize,
    pub(super) second: Second,
}

#[derive(Clone, Copy)]
pub(super) enum Second {
    /// The step from this node: it is dependent, and nothing lies between the two.
    Step(usize),
    /// A step that this worker could take before the first, and could not take after it.
    Disabled(WorkerId),
    /// The step from this node sends what the first could have taken instead.
    Arrival(usize),
}

impl Race {
    /// The node of the later step, as far as it was taken.
    pub(super) fn last(&self) -> usize {
        match self.second {
            Second::Step(second) | Second::Arrival(second) => second,
            Second::Disabled(_) => self.first,
        }
    }
}

impl<S: StateSpace, D: InputDriver> Engine<S, D> {
    /// Puts the step from the live node into the partial order, and finds its races.
    pub(super) fn order(&mut self) {
        let at = self.depth;
        let in_order = self.space.system().keeps_order_of_senders();
        let seat = self.seats.of(self.nodes[at].worker);
        let own = &mut self.seats.steps[seat];
        let last = own.last().copied();
        own.push(at);
        let number = own.len() as u32;
        let seats = self.seats.steps.len();
        let (before, rest) = self.nodes.split_at_mut(at);
        let node = &mut rest[0];
        node.seat = seat;
        node.clock.clear();
        if let Some(last) = last {
            node.clock.extend_from_slice(&before[last].clock);
        }
        node.clock.resize(seats, 0);
        let Some(step) = &node.step else { return };
        for (first, earlier) in before.iter().enumerate().rev() {
            if node.clock[earlier.seat] >= earlier.number() {
                continue;
            }
            let Some(other) = &earlier.step else { continue };
            if other.depends(step) {
                self.races.push(Race { first, second: Second::Step(at) });
                for (mine, &its) in node.clock.iter_mut().zip(&earlier.clock) {
                    *mine = (*mine).max(its);
                }
            }
        }
        node.clock[seat] = number;
        for to in step.receivers() {
            let Some(seat) = self.seats.known(to) else { continue };
            for &first in self.seats.steps[seat].iter().rev() {
                let Some(earlier) = before.get(first) else { continue };
                if earlier.is_before(node) {
                    break;
                }
                let could_take = |taken: &Arc<Step>| {
                    taken.chose_message && !(in_order && taken.takes_from(step.worker))
                };
                if earlier.step.as_ref().is_some_and(could_take) {
                    self.races.push(Race { first, second: Second::Arrival(at) });
                }
            }
        }
    }

    /// Finds the workers that the step to the live node has kept from stepping.
    pub(super) fn note_disabled(&mut self) {
        let Some(first) = self.depth.checked_sub(1) else { return };
        let (before, after) = (&self.nodes[first], &self.nodes[self.depth]);
        for &worker in &before.enabled {
            if worker != before.worker && worker.place_in(&after.enabled).is_err() {
                self.races.push(Race { first, second: Second::Disabled(worker) });
            }
        }
    }

    /// The step from the live node has ended the execution: nobody else can step.
    pub(super) fn note_all_disabled(&mut self) {
        let node = &self.nodes[self.depth];
        for &worker in node.enabled.iter().filter(|&&worker| worker != node.worker) {
            self.races.push(Race { first: self.depth, second: Second::Disabled(worker) });
        }
    }

    /// The step from the live node is undone, and with it its races.
    pub(super) fn forget_races(&mut self) {
        let depth = self.depth;
        self.races.retain(|race| race.last() < depth);
    }

    /// Has the races of the execution explored in the other order, where that leads to a class of its
    /// own. Races of its beginning have been looked at when executions with another end were explored,
    /// and are again: what does not happen after their first steps is different.
    pub(super) fn reverse_races(&mut self) {
        if self.rule != Reduction::Optimal {
            return self.backtrack();
        }
        let inputs = D::BRANCHES.then(|| self.driver.assignment());
        let races = std::mem::take(&mut self.races);
        for race in &races {
            let Some(sequence) = self.reversed(race) else { continue };
            self.nodes[race.first].explore(sequence, inputs.as_ref());
        }
        self.races = races;
    }

    /// How an execution begins, from the node of the first step of the race, in which the second comes
    /// first: with all that does not happen after the first. All of it matters where the second sleeps:
    /// what of it depends on the second wakes it.
    fn reversed(&self, race: &Race) -> Option<Sequence> {
        let first = &self.nodes[race.first];
        let (worker, like) = match race.second {
            Second::Disabled(worker) => (worker, None),
            Second::Step(second) if !self.is_reversible(race.first, second) => return None,
            Second::Step(second) => (self.nodes[second].worker, self.nodes[second].step.clone()),
            // The worker takes another message, since there is one.
            Second::Arrival(_) => (first.worker, first.step.clone()),
        };
        let end = self.nodes.len().min(self.depth + 1);
        let besides = self.nodes[race.first + 1..end].iter().filter(|node| !first.is_before(node));
        let mut sequence: Vec<Next> =
            besides.filter_map(|node| node.step.clone().map(Next::Exactly)).collect();
        sequence.push(Next::Any(worker, like));
        Some(Sequence(sequence))
    }

    /// Whether the worker of the second step could have stepped without the first, as far as that can
    /// be told.
    pub(super) fn is_reversible(&self, first: usize, second: usize) -> bool {
        let (one, other) = (&self.nodes[first], &self.nodes[second]);
        let (Some(before), Some(after)) = (&one.step, &other.step) else { return false };
        let hopeless = before.footprint.only_passes_message(&after.footprint)
            || before.footprint.waits_for_value(&after.footprint);
        if hopeless {
            return false;
        }
        let own = &self.seats.steps[other.seat];
        let last = own.iter().rev().find(|&&at| at < second).copied();
        if last.is_some_and(|last| last > first) || self.is_enabled_at(first, other.worker) {
            return true;
        }
        // The first step let the worker step, or another one after it did: that may do without it.
        let between = self.nodes[first + 1..second].iter();
        let mut others = between.filter(|node| !one.is_before(node));
        others.any(|node| node.step.as_ref().is_some_and(|step| step.depends(after)))
    }
}
