//! Models written by hand against the contract of systems: what the search itself costs.
//!
//! A state is one flat array of bytes. Every transition of a model has a worker of its own, whose
//! step it is; nothing is allocated on the way.

mod commit;
mod ring;
mod ticking;

use std::fmt;
use std::sync::{Arc, LazyLock};

use dally::contract::bug::Violation;
use dally::contract::{
    Acceptance, Bug, Captured, Cut, Env, Event, Fingerprint, Problem, Program, StateVisitor,
    Status, Stop, System, Text, WorkerId, fingerprint,
};

pub use commit::Commit;
pub use ring::Ring;
pub use ticking::Ticking;

/// What is modelled: states of `N` bytes and numbered actions.
pub trait Shape<const N: usize>: Copy + Send + Sync {
    /// The first state.
    fn first(&self) -> [u8; N];

    /// The actions that are possible, a bit each.
    fn possible(&self, state: &[u8; N]) -> u32;

    /// Does one that is possible; an error if the property does not hold after it.
    fn act(&self, state: &mut [u8; N], action: u32) -> Result<(), &'static str>;

    /// Whether something good is overdue.
    fn is_hot(&self, _state: &[u8; N]) -> bool {
        false
    }

    /// An action in words.
    fn describe(&self, action: u32) -> String;
}

/// A shape as a program.
#[derive(Clone, Copy)]
pub struct ByHand<S, const N: usize>(pub S);

/// An execution of it: the state is all that is copied when a search keeps it or comes back.
pub struct Flat<S, const N: usize> {
    shape: S,
    state: [u8; N],
    /// The workers that can step, `count` of them.
    workers: [WorkerId; MOST],
    count: usize,
    ids: &'static [WorkerId; MOST],
}

/// More actions than any shape has.
const MOST: usize = 24;

/// The worker of each action: an id is not cheap to make.
static IDS: LazyLock<[WorkerId; MOST]> =
    LazyLock::new(|| std::array::from_fn(|action| WorkerId::root(action as u32)));

/// The action of a worker: root ids below 25 differ in their two highest digits, ten of them in
/// the first and the rest in the second.
fn action_of(worker: WorkerId) -> u32 {
    let digits = (worker.to_bits() >> 56) as u32;
    if digits < 0xc0 { (digits >> 4) - 2 } else { (digits & 15) + 9 }
}

impl<S: Shape<N>, const N: usize> Flat<S, N> {
    fn list(&mut self) {
        let mut possible = self.shape.possible(&self.state);
        self.count = 0;
        while possible != 0 {
            self.workers[self.count] = self.ids[possible.trailing_zeros() as usize];
            self.count += 1;
            possible &= possible - 1;
        }
    }
}

impl<S: Shape<N> + 'static, const N: usize> Program for ByHand<S, N> {
    type System = Flat<S, N>;

    fn start(&self) -> Result<Flat<S, N>, Bug> {
        let (state, workers) = (self.0.first(), *IDS);
        let mut flat = Flat { shape: self.0, state, workers, count: 0, ids: &IDS };
        flat.list();
        Ok(flat)
    }

    fn granularity(&self) -> &'static str {
        "handler"
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        visitor.copied(self)
    }
}

impl<S: Shape<N>, const N: usize> System for Flat<S, N> {
    fn enabled(&self) -> &[WorkerId] {
        &self.workers[..self.count]
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let action = action_of(worker);
        if env.leeway() == 0 {
            let text = Described::<S, N>(self.shape, action);
            env.event(Event::Noted { text: Text::Display(&text) })?;
        }
        let done = self.shape.act(&mut self.state, action);
        done.map_err(|broken| {
            let message = broken.into();
            Bug::new(Problem::Monitor(Violation::Assertion { message }))
        })?;
        self.list();
        Ok(())
    }

    fn status(&self) -> Status {
        if self.enabled().is_empty() { Status::Done } else { Status::Running }
    }

    fn acceptance(&self) -> Acceptance {
        Acceptance { hot: self.shape.is_hot(&self.state).into(), ..Acceptance::default() }
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(Fingerprint(fingerprint::of_bytes(&self.state)))
    }

    fn name(&self, worker: WorkerId) -> String {
        self.shape.describe(action_of(worker))
    }

    fn monitor(&self, _index: usize) -> (String, String) {
        ("Overdue".into(), "Waiting".into())
    }
}

/// An action, written out only for those who read it.
struct Described<S, const N: usize>(S, u32);

impl<S: Shape<N>, const N: usize> fmt::Display for Described<S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.describe(self.1))
    }
}

impl<S: Shape<N>, const N: usize> Captured for Flat<S, N> {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.state);
    }

    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        part(&self.state);
    }

    fn fork(&self) -> Flat<S, N> {
        Flat { ..*self }
    }

    fn restore_from(&mut self, saved: &Flat<S, N>) {
        self.state = saved.state;
        self.workers[..saved.count].copy_from_slice(saved.enabled());
        self.count = saved.count;
    }

    const FORESEES: bool = true;
    const JUDGES_STATES_ALONE: bool = true;

    /// By trying it on a copy of the bytes: a fork would copy no less.
    fn foresee(&mut self, worker: WorkerId, _: &mut dyn Env) -> Result<Option<Fingerprint>, Cut> {
        let mut state = self.state;
        let done = self.shape.act(&mut state, action_of(worker));
        Ok(done.ok().map(|()| Fingerprint(fingerprint::of_bytes(&state))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_read_from_its_worker() {
        for (action, &worker) in IDS.iter().enumerate() {
            assert_eq!(action_of(worker) as usize, action);
        }
    }
}
