//! The rules of reduction that take note of workers to try, and not of beginnings of executions.

use dally_core::WorkerId;
use dally_core::fingerprint::{mix, part};

use super::engine::Engine;
use super::inputs::InputDriver;
use super::races::{Race, Second};
use super::rule::Reduction;
use super::step::Pick;
use super::wakeup::Branch;
use crate::strata::StateSpace;

impl<S: StateSpace, D: InputDriver> Engine<S, D> {
    /// Has the races of the execution explored in the other order by a rule that is not optimal.
    pub(super) fn backtrack(&mut self) {
        let races = std::mem::take(&mut self.races);
        for race in &races {
            if self.is_hopeless(race) {
                continue;
            }
            match self.rule {
                Reduction::Source => self.add_initial(race),
                Reduction::NeedsDelay => self.add_next(race.first),
                _ => {}
            }
        }
        self.races = races;
        if self.rule.is_bounded() {
            self.backtrack_within_bound();
        }
    }

    /// As [`Engine::reverse_races`], where an execution was given up since all that could step sleeps. By
    /// wakeup trees that finds nothing, since the executions that cover it have the same races.
    pub(super) fn reverse_races_of_part(&mut self) {
        if self.rule == Reduction::Source {
            self.backtrack();
        }
    }

    /// Whether it is known that the race has no other order.
    fn is_hopeless(&self, race: &Race) -> bool {
        matches!(race.second, Second::Step(second) if !self.is_reversible(race.first, second))
    }

    /// Abdulla, Aronis, Jonsson and Sagonas: a worker with which an execution can begin that has the
    /// second step of the race before the first. A step that leads to the second is its worker's first, and
    /// comes after none that does; so one that sleeps covers the execution.
    fn add_initial(&mut self, race: &Race) {
        let first = &self.nodes[race.first];
        let second = match race.second {
            Second::Disabled(worker) => return self.add_disabled(race.first, worker),
            Second::Step(second) | Second::Arrival(second) => second,
        };
        let last = &self.nodes[second];
        let between = self.nodes[race.first + 1..=second].iter();
        let leading: Vec<_> =
            between.filter(|node| node.is_before(last) && !first.is_before(node)).collect();
        let initial =
            |node: &&_| leading.iter().all(|&one| std::ptr::eq(one, *node) || !one.is_before(node));
        let workers = leading.iter().copied().filter(initial).map(|node| node.worker);
        let mut initials: Vec<WorkerId> = workers.collect();
        if leading.is_empty() || initials.is_empty() {
            initials.push(last.worker);
        }
        initials.retain(|&worker| self.is_enabled_at(race.first, worker));
        match initials.first() {
            None => self.add_all(race.first),
            Some(_) if initials.iter().any(|&worker| self.is_tried(race.first, worker)) => {}
            Some(&worker) => self.add(race.first, worker),
        }
    }

    /// A worker could step before the step from this node, and not after it.
    fn add_disabled(&mut self, at: usize, worker: WorkerId) {
        let asleep = self.nodes[at].asleep.iter().any(|step| step.worker == worker);
        if asleep && !self.nodes[at].tried.contains(&worker) {
            // What else happens may wake it before it steps.
            return self.add_all(at);
        }
        self.add(at, worker);
    }

    /// Sen and Agha: the next worker in order, unless one is noted.
    fn add_next(&mut self, at: usize) {
        if self.nodes[at].wakeup.is_empty() {
            let enabled = self.nodes[at].enabled.iter().copied();
            let next = enabled.into_iter().find(|&worker| !self.is_tried(at, worker));
            next.into_iter().for_each(|worker| self.add(at, worker));
        }
    }

    /// Coons, Musuvathi and McKinley: where two steps depend on each other, whatever happens between
    /// them, the worker of the second is tried before the first, and also where the worker of the first
    /// began its turn: there it may cost no preemption. Their programs pass no messages: a message that
    /// comes too late for a step that waited for any would have been there if earlier turns had been others'.
    /// So then all are tried where any turn before began; and for delays, which depend on who is passed
    /// over.
    fn backtrack_within_bound(&mut self) {
        let end = self.nodes.len().min(self.depth + 1);
        for second in 1..end {
            let Some(step) = self.nodes[second].step.clone() else { continue };
            for first in 0..second {
                let before = &self.nodes[first];
                let Some(earlier) = &before.step else { continue };
                let arrives = earlier.chose_message
                    && step.receivers().any(|to| to == earlier.worker)
                    && earlier.worker != step.worker;
                let races = earlier.worker != step.worker
                    && earlier.depends(&step)
                    && !earlier.footprint.only_passes_message(&step.footprint);
                let messages = earlier.passes_messages() || step.passes_messages();
                if arrives || races && (messages || self.rule == Reduction::Delays) {
                    self.add_turns(first);
                } else if races {
                    self.add_turn(first, step.worker);
                }
            }
        }
        for at in 0..self.races.len() {
            if let Second::Disabled(_) = self.races[at].second {
                self.add_turns(self.races[at].first);
            }
        }
    }

    fn add_turn(&mut self, at: usize, worker: WorkerId) {
        let turn = (0..=at).rev().find(|&node| self.begins_turn(node)).unwrap_or(0);
        for node in [at, turn] {
            if self.is_enabled_at(node, worker) {
                self.add(node, worker);
            } else {
                self.add_all(node);
            }
        }
    }

    fn add_turns(&mut self, at: usize) {
        for node in 0..=at {
            if node == at || self.begins_turn(node) {
                self.add_all(node);
            }
        }
    }

    fn begins_turn(&self, node: usize) -> bool {
        node == 0 || self.nodes[node - 1].worker != self.nodes[node].worker
    }

    pub(super) fn add_all(&mut self, at: usize) {
        for place in 0..self.nodes[at].enabled.len() {
            self.add(at, self.nodes[at].enabled[place]);
        }
    }

    /// Has this worker tried from this node.
    fn add(&mut self, at: usize, worker: WorkerId) {
        if !self.is_tried(at, worker) {
            let node = &mut self.nodes[at];
            node.tried.push(worker);
            node.wakeup.push(Branch::any(worker));
        }
    }

    /// Whether the worker was tried, is, will be, or need not be.
    fn is_tried(&self, at: usize, worker: WorkerId) -> bool {
        let node = &self.nodes[at];
        let asleep =
            |step: &std::sync::Arc<super::step::Step>| step.worker == worker && !step.may_differ();
        node.tried.contains(&worker) || node.asleep.iter().any(asleep)
    }

    /// What a step of this worker from the live node costs of the bound.
    pub(super) fn price(&self, worker: WorkerId) -> u32 {
        let node = &self.nodes[self.depth];
        let last = self.depth.checked_sub(1).map(|before| self.nodes[before].worker);
        let goes_on = last.filter(|&last| last.place_in(&node.enabled).is_ok());
        match self.rule {
            Reduction::Preemptions => u32::from(goes_on.is_some_and(|last| last != worker)),
            Reduction::Delays => {
                let place = worker.place_in(&node.enabled).unwrap_or_else(|place| place);
                // After one that cannot go on comes the next.
                let from =
                    last.map_or(0, |last| last.place_in(&node.enabled).unwrap_or_else(|at| at));
                let all = node.enabled.len();
                ((place + all - from % all) % all) as u32
            }
            _ => 0,
        }
    }

    /// A hash of the class of the execution: equal for executions of one class.
    pub(super) fn class(&self) -> u64 {
        let end = self.nodes.len().min(self.depth + 1);
        let nodes = self.nodes[..end].iter().filter(|node| node.step.is_some());
        let workers = self.seats.workers();
        let hash = |node: &super::node::Node<_, _>| {
            let before = node.clock.iter().enumerate();
            let clock = before.fold(0u64, |sum, (seat, &number)| match number {
                0 => sum,
                _ => sum.wrapping_add(part(workers[seat].to_bits(), u64::from(number))),
            });
            let picks = node.step.iter().flat_map(|step| &step.picks);
            picks.fold(mix(node.worker.to_bits(), clock), |hash, pick| match *pick {
                Pick::Value { index, of, tag } => {
                    mix(mix(hash, u64::from(index) << 32 | u64::from(of)), tag as u64)
                }
                Pick::Take(message) => {
                    mix(hash, mix(message.sender.to_bits(), u64::from(message.number)))
                }
                Pick::Branch(outcome) => mix(hash, u64::from(outcome)),
            })
        };
        nodes.fold(0, |sum, node| sum.wrapping_add(hash(node)))
    }
}
