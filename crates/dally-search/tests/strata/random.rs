//! Random graphs.

use dally_core::WorkerId;
use fastrand::Rng;

use crate::graphs::{Graph, Place, Step, Tell, Tree};

/// What a random graph looks like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub states: u32,
    /// Whether no execution comes back to a state.
    pub acyclic: bool,
    /// Of 100 steps how many choose something.
    pub choosing: u32,
}

impl Graph {
    pub fn random(rng: &mut Rng, shape: Shape) -> Graph {
        Graph::of(random_places(rng, shape))
    }
}

/// The workers of random graphs: some of them timers, or the injector of faults.
fn workers(rng: &mut Rng) -> Vec<WorkerId> {
    let mut all: Vec<WorkerId> = (0..4).map(WorkerId::root).collect();
    all.extend([WorkerId::root(0).child(1), WorkerId::root(1).timer(0), WorkerId::FAULTS]);
    rng.shuffle(&mut all);
    all.truncate(rng.usize(2..=5));
    all.sort();
    all
}

/// The places of a random graph, of which the first is the start.
pub fn random_places(rng: &mut Rng, shape: Shape) -> Vec<Place> {
    let workers = workers(rng);
    // From graphs that are nearly straight lines to those where nearly everybody can step.
    let idle = rng.u32(15..80);
    let mut places = Vec::new();
    for at in 0..shape.states {
        let mut place = Place::default();
        let last = at + 1 == shape.states;
        for &worker in &workers {
            let can_step = rng.u32(..100) >= idle && !(last && shape.acyclic);
            if can_step && rng.u32(..12) > 0 {
                place.enabled.push(worker);
                place.steps.push(random_step(rng, at, shape, &workers));
            }
        }
        places.push(place);
    }
    places
}

fn random_step(rng: &mut Rng, at: u32, shape: Shape, workers: &[WorkerId]) -> Step {
    let depth = if rng.u32(..100) < shape.choosing { rng.u32(1..=2) } else { 0 };
    let tree = random_tree(rng, at, shape, depth);
    let tells = (0..rng.usize(..3)).map(|_| match rng.u8(..4) {
        0 => Tell::Halted(workers[rng.usize(..workers.len())]),
        1 => Tell::Hinted,
        _ => Tell::Sent(workers[rng.usize(..workers.len())]),
    });
    Step { tells: tells.collect(), tree }
}

fn random_tree(rng: &mut Rng, at: u32, shape: Shape, depth: u32) -> Tree {
    if depth == 0 {
        // Near targets more often: otherwise acyclic graphs are shallow.
        let first = if shape.acyclic { at + 1 } else { 0 };
        let near = (at + 4).min(shape.states);
        let end = if rng.u8(..3) > 0 && first < near { near } else { shape.states };
        return Tree::To(rng.u32(first..end), 0);
    }
    let size = rng.usize(1..=3);
    let trees = (0..size).map(|_| {
        let deeper = if rng.u8(..4) > 0 { depth - 1 } else { 0 };
        random_tree(rng, at, shape, deeper)
    });
    let trees = trees.collect();
    if rng.u8(..4) > 0 { Tree::Value(trees) } else { Tree::Delivery(trees) }
}
