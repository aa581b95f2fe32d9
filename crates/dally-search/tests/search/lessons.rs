//! What one schedule has taught reaches every copy of the strategy, in order.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use dally_core::{Observe, System, Tag, WorkerId};
use dally_search::{EndSchedule, Learner, Lesson, Options, Outcome, Point, Properties, Strategy};

use crate::programs::{Do, check, options, scripts};

/// Lessons, and how many there were in each batch.
type Heard = (Vec<u64>, Vec<usize>);

/// Answers every choice with the first candidate, teaches the number of its schedule and the state
/// that it ended in, and writes down what it is taught.
#[derive(Clone, Default)]
struct Pupil {
    schedule: u64,
    heard: Vec<u64>,
    batches: Vec<usize>,
    /// What every copy had heard at the end of its last schedule.
    all: Arc<Mutex<BTreeSet<Heard>>>,
}

impl Strategy for Pupil {
    fn begin(&mut self, schedule: u64) -> bool {
        self.schedule = schedule;
        true
    }
    fn worker(&mut self, point: &Point<'_>) -> Result<WorkerId, EndSchedule> {
        Ok(point.enabled[0])
    }
    fn value(&mut self, _of: u32, _tag: Tag) -> Result<u32, EndSchedule> {
        Ok(0)
    }
    fn properties(&self) -> Properties {
        Properties { batch: 20, ..Properties::default() }
    }
    fn learner(&mut self) -> Option<&mut dyn Learner> {
        Some(self)
    }
}

impl Learner for Pupil {
    fn lesson(&mut self, last: Option<&dyn System>) -> Option<Lesson> {
        Some([self.schedule, last?.observe(Observe::Control)?].into())
    }
    fn learn(&mut self, batch: &[Outcome]) {
        self.batches.push(batch.len());
        for outcome in batch {
            let lesson = outcome.lesson.as_deref().unwrap();
            assert_eq!(lesson, [outcome.schedule, outcome.observation]);
            self.heard.push(lesson[0]);
        }
        self.all.lock().unwrap().insert((self.heard.clone(), self.batches.clone()));
    }
}

#[test]
fn every_copy_hears_every_lesson_in_the_order_of_schedules_and_in_the_same_batches() {
    let program = scripts([&[Do::Add(0, 1); 3], &[Do::Choose(2), Do::Store(0, 1)]]);
    for threads in [1, 3] {
        let pupil = Pupil::default();
        let all = pupil.all.clone();
        check(&program, Options { strategy: Box::new(pupil), schedules: 60, threads, ..options() });
        // The first batch is never larger than 16. Of the last, one copy hears, to say what was covered.
        let batches = [0, 16, 20, 20, 4];
        let expected: BTreeSet<_> = (1..=batches.len())
            .map(|n| {
                let heard: usize = batches[..n].iter().sum();
                ((0..heard as u64).collect::<Vec<_>>(), batches[..n].to_vec())
            })
            .collect();
        assert_eq!(*all.lock().unwrap(), expected, "{threads} threads");
    }
}
