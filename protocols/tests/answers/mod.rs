//! How the tests of the protocols try all that one step can do.

use dally::contract::{Captured, Cut, Env, Event, MessageId, Stop, System, Tag, Text, WorkerId};
use dally::machines::MachineSystem;

/// Where a step of a worker can lead, once for each sequence of answers that it can get.
///
/// # Panics
/// If the step shows a bug.
#[track_caller]
pub fn successors(system: &MachineSystem, worker: WorkerId) -> Vec<MachineSystem> {
    let (mut successors, mut answers) = (Vec::new(), Answers::default());
    loop {
        let mut next = system.fork();
        match next.step(worker, &mut answers) {
            Ok(()) => {}
            Err(Stop::Bug(bug)) => panic!("{bug}"),
            Err(Stop::Cut) => unreachable!("nobody cuts here"),
        }
        successors.push(next);
        if !answers.advance() {
            return successors;
        }
    }
}

/// Answers as it is told, then with the first of the possible answers.
#[derive(Default)]
struct Answers {
    /// Each with the number of possible answers.
    given: Vec<(u32, u32)>,
    next: usize,
}

impl Answers {
    fn answer(&mut self, of: u32) -> u32 {
        if self.next == self.given.len() {
            self.given.push((0, of));
        }
        self.next += 1;
        self.given[self.next - 1].0
    }

    /// Goes on to the next sequence of answers, if there is one.
    fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((answer, of)) = self.given.pop() {
            if answer + 1 < of {
                self.given.push((answer + 1, of));
                return true;
            }
        }
        false
    }
}

impl Env for Answers {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        Ok(self.answer(of))
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        Ok(self.answer(candidates.len() as u32) as usize)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}
