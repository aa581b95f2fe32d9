//! Inputs that a test has failed with before, tried again with other schedules.

use std::sync::Arc;

use dally_core::{Choice, Event, Input, MessageId, Schedule, Tag, Text, WorkerId};

use crate::strategy::{EndSchedule, Learner, Point, Properties, Strategy};

/// Of so many schedules one has inputs that are known.
const EVERY: u64 = 8;

/// A strategy of which some schedules are given the inputs of known schedules, in the order in which they
/// were asked for. Its first schedule is one of them.
#[derive(Clone)]
pub struct KnownInputs {
    inner: Box<dyn Strategy>,
    known: Arc<[Vec<i64>]>,
    /// Those of the present schedule that were not asked for yet, the next one last.
    left: Vec<i64>,
}

impl KnownInputs {
    /// Gives the schedules of a strategy the inputs of these schedules; the strategy alone if it does not vary
    /// inputs, or if there are none.
    pub fn of<'s>(
        inner: Box<dyn Strategy>,
        schedules: impl IntoIterator<Item = &'s Schedule>,
    ) -> Box<dyn Strategy> {
        let input = |choice: &Choice| match *choice {
            Choice::Input(value) => Some(value),
            _ => None,
        };
        let inputs = |schedule: &Schedule| {
            let inputs = schedule.choices.iter().rev().filter_map(input);
            inputs.collect::<Vec<i64>>()
        };
        let known: Arc<[Vec<i64>]> =
            schedules.into_iter().map(inputs).filter(|inputs| !inputs.is_empty()).collect();
        if known.is_empty() || !inner.properties().varies_inputs {
            return inner;
        }
        Box::new(KnownInputs { inner, known, left: Vec::new() })
    }
}

impl Strategy for KnownInputs {
    fn begin(&mut self, schedule: u64) -> bool {
        self.left.clear();
        if schedule.is_multiple_of(EVERY) {
            let which = schedule / EVERY % self.known.len() as u64;
            self.left.extend_from_slice(&self.known[which as usize]);
        }
        self.inner.begin(schedule)
    }

    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        self.inner.worker(point)
    }

    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, EndSchedule> {
        self.inner.value(of, tag)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, EndSchedule> {
        self.inner.delivery(candidates)
    }

    fn input(&mut self, asked: Input<'_>) -> Result<i64, EndSchedule> {
        match self.left.pop() {
            Some(known) => Ok(known),
            None => self.inner.input(asked),
        }
    }

    fn name(&self) -> String {
        self.inner.name()
    }

    fn reseed(&mut self, seed: u64) {
        self.inner.reseed(seed);
    }

    fn properties(&self) -> Properties {
        Properties { draws_alike: false, ..self.inner.properties() }
    }

    fn heard(&mut self, event: &Event<Text<'_>>) {
        self.inner.heard(event);
    }

    fn coverage(&self) -> Option<String> {
        self.inner.coverage()
    }

    fn learner(&mut self) -> Option<&mut dyn Learner> {
        self.inner.learner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StrategyKind;

    fn schedule(inputs: &[i64]) -> Schedule {
        let choices = inputs.iter().map(|&input| Choice::Input(input)).collect();
        Schedule { choices, ..Schedule::default() }
    }

    fn asked() -> Input<'static> {
        Input { name: "n", least: -5, most: 5_000, given: 7 }
    }

    #[test]
    fn one_schedule_in_eight_has_the_inputs_of_a_known_one_in_their_order() {
        let known = [schedule(&[4_711, 42]), schedule(&[]), schedule(&[13])];
        let random = "random".parse::<StrategyKind>().unwrap().build(0, 100);
        let mut strategy = KnownInputs::of(random, &known);
        let mut first = |schedule| {
            assert!(strategy.begin(schedule));
            [(); 2].map(|()| strategy.input(asked()).unwrap())
        };
        assert_eq!([first(0), first(16)], [[4_711, 42]; 2]);
        assert_eq!(first(8)[0], 13);
        assert!((1..8).all(|schedule| first(schedule) != [4_711, 42]));
        assert!((-5..=5_000).contains(&first(8)[1]));
    }

    #[test]
    fn a_strategy_that_takes_given_inputs_goes_on_to() {
        let known = [schedule(&[1])];
        let depth_first = "dfs".parse::<StrategyKind>().unwrap().build(0, 100);
        let mut strategy = KnownInputs::of(depth_first, &known);
        assert!(strategy.begin(0));
        assert_eq!(strategy.input(asked()), Ok(7));
    }
}
