//! A program of any number of states, written by hand against the contract of systems: workers
//! that count.

use std::sync::Arc;

use dally::contract::{
    Bug, Captured, Cut, Env, Fingerprint, Footprint, Program, StateVisitor, Status, Stop, System,
    WorkerId, fingerprint,
};

/// The most workers there can be.
pub const MOST: usize = 8;

/// Workers that count up, each to a limit of its own, so that there are as many states as the
/// product of (limit + 1).
#[derive(Clone, Debug)]
pub struct Counters {
    limits: Vec<u32>,
    /// Whether a worker that counts keeps all before it from going on.
    in_turn: bool,
}

impl Counters {
    /// So many states, by at most so many workers, whose limits are as equal as the divisors of
    /// the number allow. They count in any order, so that most states can be reached in many ways.
    pub fn with_states(states: u64, workers: usize) -> Counters {
        let (mut rest, mut limits) = (states.max(1), Vec::new());
        for left in (1..=workers.clamp(1, MOST)).rev() {
            let root = (rest as f64).powf(1.0 / left as f64).round() as u64;
            let share = if left == 1 { rest } else { next_divisor(rest, root) };
            rest /= share;
            limits.extend(u32::try_from(share - 1).ok().filter(|&limit| limit > 0));
        }
        Counters { limits, in_turn: false }
    }

    /// The same states, but each can be reached in one way only: a worker that counts keeps all
    /// before it from going on. In most of them only one worker can step.
    pub fn in_turn(self) -> Counters {
        Counters { in_turn: true, ..self }
    }

    /// The length of the longest executions.
    pub fn depth(&self) -> usize {
        self.limits.iter().map(|&limit| limit as usize).sum()
    }

    /// How many values each counter has, as in `100 x 100`.
    pub fn shape(&self) -> String {
        let values: Vec<_> = self.limits.iter().map(|limit| (limit + 1).to_string()).collect();
        values.join(" x ")
    }
}

/// The smallest divisor of `n` that is not less than `least`.
fn next_divisor(n: u64, least: u64) -> u64 {
    (least.max(1)..=n).find(|divisor| n.is_multiple_of(*divisor)).unwrap_or(n)
}

impl Program for Counters {
    type System = Counting;

    fn start(&self) -> Result<Counting, Bug> {
        let mut limits = [0; MOST];
        limits[..self.limits.len()].copy_from_slice(&self.limits);
        let enabled = (0..self.limits.len() as u32).map(WorkerId::root).collect();
        Ok(Counting { limits, in_turn: self.in_turn, counts: [0; MOST], enabled })
    }

    fn granularity(&self) -> &'static str {
        "counts"
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        visitor.copied(self)
    }
}

/// How far the workers have counted.
#[derive(Clone, Debug)]
pub struct Counting {
    limits: [u32; MOST],
    in_turn: bool,
    counts: [u32; MOST],
    enabled: Vec<WorkerId>,
}

impl System for Counting {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        out.begin(worker);
    }

    fn step(&mut self, worker: WorkerId, _: &mut dyn Env) -> Result<(), Stop> {
        let place = place(worker);
        self.counts[place] += 1;
        if self.counts[place] == self.limits[place] {
            self.enabled.retain(|&other| other != worker);
        }
        if self.in_turn {
            self.enabled.retain(|&other| other >= worker);
        }
        Ok(())
    }

    fn status(&self) -> Status {
        if self.enabled.is_empty() { Status::Done } else { Status::Running }
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(identity(&self.counts))
    }

    fn name(&self, _: WorkerId) -> String {
        "Counter".into()
    }
}

impl Captured for Counting {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.counts.iter().flat_map(|count| count.to_le_bytes()));
    }

    fn fork(&self) -> Counting {
        self.clone()
    }

    fn restore_from(&mut self, saved: &Counting) {
        self.counts = saved.counts;
        self.enabled.clone_from(&saved.enabled);
    }

    const FORESEES: bool = true;

    fn foresee(&mut self, worker: WorkerId, _: &mut dyn Env) -> Result<Option<Fingerprint>, Cut> {
        let mut counts = self.counts;
        counts[place(worker)] += 1;
        Ok(Some(identity(&counts)))
    }
}

/// Which counter is this worker's.
fn place(worker: WorkerId) -> usize {
    (0..MOST).find(|&n| WorkerId::root(n as u32) == worker).unwrap_or_default()
}

fn identity(counts: &[u32; MOST]) -> Fingerprint {
    let pairs = counts.chunks_exact(2);
    let pairs = pairs.map(|pair| u64::from(pair[0]) << 32 | u64::from(pair[1]));
    Fingerprint(pairs.fold(0, fingerprint::mix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_states_is_the_product_of_the_values_of_the_counters() {
        let shape = |states, workers| Counters::with_states(states, workers).shape();
        assert_eq!(shape(100_000_000, 4), "100 x 100 x 100 x 100");
        assert_eq!(shape(360, 3), "8 x 9 x 5");
        assert_eq!(shape(7, 2), "7");
        assert_eq!(shape(1, 4), "");
    }
}
