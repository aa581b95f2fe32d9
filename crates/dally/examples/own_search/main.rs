//! A search of one's own, breadth first: `docs/writing-a-search.md` explains it.

mod coins;

use dally::contract::{Bug, Captured, Choice, Cut, Env, Event, MessageId};
use dally::contract::{Program, Stop, System, Tag, Text};
use dally::search::strata::{CachePolicy, Frontier, Visit, Visited, VisitedStates, WorkQueue};

#[derive(Debug, Default)]
struct Outcome {
    states: u64,
    transitions: u64,
    bugs: Vec<(String, Vec<Choice>)>, // With the choices that lead to them.
}

/// Goes through all states of a program, those near the start first.
fn breadth_first(program: &impl Program<System: Captured + Send>) -> Result<Outcome, Bug> {
    let visited = VisitedStates::new(CachePolicy::All, true, 64 << 20, 1);
    let (mut slot, frontier) = (visited.slot(), WorkQueue::default());
    let first = program.start()?;
    visited.insert(&mut slot, hash_of(&first), |part| first.parts(part));
    frontier.fill(vec![(first, Vec::new())]);
    let mut outcome = Outcome { states: 1, ..Outcome::default() };
    while let Some((state, choices)) = frontier.take(&|| false) {
        for &worker in state.enabled() {
            let mut values = Values::default();
            loop {
                let mut next = state.fork();
                let stepped = next.step(worker, &mut values);
                outcome.transitions += 1;
                let path = [&choices[..], &[Choice::Worker(worker)], &values.made].concat();
                if let Err(Stop::Bug(bug)) = stepped {
                    outcome.bugs.push((bug.to_string(), path));
                } else if visited.insert(&mut slot, hash_of(&next), |p| next.parts(p)) == Visit::New
                {
                    outcome.states += 1;
                    frontier.push((next, path));
                }
                if !values.advance() {
                    break;
                }
            }
        }
        frontier.done();
    }
    Ok(outcome)
}

/// Need not tell states apart: they are stored whole, and compared.
fn hash_of(state: &impl System) -> u64 {
    state.fingerprint().map_or(0, |fingerprint| fingerprint.0)
}

/// Answers the questions of a step, with each combination of answers in turn.
#[derive(Default)]
struct Values {
    answers: Vec<(usize, usize)>, // Which one, and of how many.
    asked: usize,
    made: Vec<Choice>,
}

impl Values {
    fn answer(&mut self, of: usize) -> usize {
        if self.asked == self.answers.len() {
            self.answers.push((0, of));
        }
        self.asked += 1;
        self.answers[self.asked - 1].0
    }

    /// Goes on to the next combination; `false` if there is none.
    fn advance(&mut self) -> bool {
        (self.asked, self.made) = (0, Vec::new());
        while self.answers.pop_if(|(answer, of)| *answer + 1 == *of).is_some() {}
        self.answers.last_mut().map(|(answer, _)| *answer += 1).is_some()
    }
}

impl Env for Values {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let index = self.answer(of as usize) as u32;
        self.made.push(Choice::Value { index, of, tag });
        Ok(index)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        let place = self.answer(candidates.len());
        self.made.push(Choice::Delivery(candidates[place]));
        Ok(place)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }
}

fn main() -> Result<(), Bug> {
    println!("{:#?}", breadth_first(&coins::program())?);
    Ok(())
}
