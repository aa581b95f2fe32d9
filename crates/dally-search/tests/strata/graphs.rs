//! Random transition graphs as programs, and what brute force says of them.
//!
//! A state is a number. At each state a worker either cannot step, or goes to another state,
//! perhaps after it has chosen a value or a message, perhaps twice in a row. The program keeps
//! count of the states it is asked to identify and of the transitions it is made to take, so a
//! search cannot say one thing and do another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dally_core::{Choice, WorkerId};

/// What happens once a worker steps.
#[derive(Clone, Debug)]
pub enum Tree {
    /// Goes to a state. The second number counts the transitions of the whole graph.
    To(u32, u32),
    /// Goes back to state 0 for one more lap: such a program has no end of states.
    Lap,
    /// Fails, in one of several ways.
    Fail(u32),
    /// Does not come back for a minute.
    Hang,
    /// One of these, by a value.
    Value(Vec<Tree>),
    /// One of these, by the message that is delivered.
    Delivery(Vec<Tree>),
}

/// What a step tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    Sent(WorkerId),
    Halted(WorkerId),
    Hinted,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub tree: Tree,
    pub tells: Vec<Tell>,
}

#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Sorted.
    pub enabled: Vec<WorkerId>,
    /// One for each enabled worker.
    pub steps: Vec<Step>,
    pub sealed: bool,
    /// A state that nobody can leave, although somebody wants to.
    pub stuck: bool,
}

/// A program: places from 0, where it starts.
#[derive(Debug)]
pub struct Graph {
    pub places: Vec<Place>,
    /// How many times each state was identified, and each transition taken.
    pub seen: Vec<AtomicU32>,
    pub taken: Vec<AtomicU32>,
}

impl Graph {
    /// A graph of these places.
    pub fn of(mut places: Vec<Place>) -> Graph {
        let mut transitions = 0;
        for step in places.iter_mut().flat_map(|place| &mut place.steps) {
            number_all(&mut step.tree, &mut transitions);
        }
        let counters = |n| (0..n).map(|_| AtomicU32::new(0)).collect();
        Graph { seen: counters(places.len() as u32), taken: counters(transitions), places }
    }

    /// A graph by hand: for each state its workers, by number, with where they go.
    pub fn by_hand(places: &[&[(u32, Tree)]]) -> Arc<Graph> {
        let place = |ways: &&[(u32, Tree)]| Place {
            enabled: ways.iter().map(|way| WorkerId::root(way.0)).collect(),
            steps: ways.iter().map(|way| Step { tree: way.1.clone(), tells: Vec::new() }).collect(),
            ..Place::default()
        };
        Arc::new(Graph::of(places.iter().map(place).collect()))
    }

    /// Many graphs under one root, where three values decide which one it is.
    pub fn forest(graphs: &[Vec<Place>]) -> Graph {
        let side = (1..).find(|side: &usize| side.pow(3) >= graphs.len()).unwrap();
        let mut places = vec![Place::default()];
        let mut roots = Vec::new();
        for graph in graphs {
            let shift = places.len() as u32;
            roots.push(Tree::To(shift, 0));
            for place in graph {
                let mut place = place.clone();
                place.steps.iter_mut().for_each(|step| shifted(&mut step.tree, shift));
                places.push(place);
            }
        }
        let nest = |trees: Vec<Tree>| -> Vec<Tree> {
            trees.chunks(side).map(|some| Tree::Value(some.to_vec())).collect()
        };
        let tree = Tree::Value(nest(nest(roots)));
        places[0].enabled = vec![WorkerId::root(0)];
        places[0].steps = vec![Step { tree, tells: Vec::new() }];
        Graph::of(places)
    }

    /// Plain reachability, over all workers and all values.
    pub fn reachable(&self) -> BTreeSet<u32> {
        let mut reached = BTreeSet::from([0]);
        let mut list = vec![0];
        while let Some(at) = list.pop() {
            for to in self.ways(at) {
                if reached.insert(to) {
                    list.push(to);
                }
            }
        }
        reached
    }

    /// Where the transitions out of a state lead, one by one.
    pub fn ways(&self, at: u32) -> Vec<u32> {
        let mut ways = Vec::new();
        for step in &self.places[at as usize].steps {
            leaves(&step.tree, 0, &mut |tree, _| {
                if let &Tree::To(to, _) = tree {
                    ways.push(to);
                }
            });
        }
        ways
    }

    /// Whether some execution comes back to a state.
    pub fn is_cyclic(&self) -> bool {
        // States that nothing leads to are taken away, as long as there are any.
        let mut ways_to = vec![0; self.places.len()];
        let states = self.reachable();
        for to in states.iter().flat_map(|&at| self.ways(at)) {
            ways_to[to as usize] += 1;
        }
        let mut list: Vec<u32> =
            states.iter().copied().filter(|&at| ways_to[at as usize] == 0).collect();
        let mut taken_away = 0;
        while let Some(at) = list.pop() {
            taken_away += 1;
            for to in self.ways(at) {
                ways_to[to as usize] -= 1;
                if ways_to[to as usize] == 0 {
                    list.push(to);
                }
            }
        }
        taken_away < states.len()
    }

    /// The states that a search asked the program to identify.
    pub fn visited(&self) -> BTreeSet<u32> {
        let seen = self.seen.iter().enumerate();
        seen.filter(|(_, seen)| seen.load(Ordering::Relaxed) > 0).map(|(at, _)| at as u32).collect()
    }

    /// How many times the transitions out of these states were taken: the least often, the most
    /// often, and all in all.
    pub fn taken(&self, states: &BTreeSet<u32>) -> (u32, u32, u64) {
        let (mut least, mut most, mut all) = (u32::MAX, 0, 0);
        for &at in states {
            for step in &self.places[at as usize].steps {
                leaves(&step.tree, 0, &mut |tree, _| {
                    if let Tree::To(_, number) = tree {
                        let taken = self.taken[*number as usize].load(Ordering::Relaxed);
                        least = least.min(taken);
                        most = most.max(taken);
                        all += u64::from(taken);
                    }
                });
            }
        }
        (least.min(most), most, all)
    }

    /// How many transitions lead out of these states.
    pub fn transitions(&self, states: &BTreeSet<u32>) -> u64 {
        states.iter().map(|&at| self.ways(at).len() as u64).sum()
    }

    /// The bugs out of these states: how many transitions fail in which way.
    pub fn failures(&self, states: &BTreeSet<u32>) -> BTreeMap<u32, u64> {
        let mut failures = BTreeMap::new();
        for step in states.iter().flat_map(|&at| &self.places[at as usize].steps) {
            leaves(&step.tree, 0, &mut |tree, _| {
                if let Tree::Fail(way) = tree {
                    *failures.entry(*way).or_default() += 1;
                }
            });
        }
        failures
    }

    /// Where these choices lead: a state, or a failure. They must all be possible.
    pub fn follow(&self, choices: &[Choice]) -> Result<u32, u32> {
        let mut at = 0;
        let mut choices = choices.iter().peekable();
        while let Some(&choice) = choices.next() {
            let place = &self.places[at as usize];
            let Choice::Worker(worker) = choice else { panic!("{choice:?} instead of a worker") };
            let mut tree = &place.steps[worker.place_in(&place.enabled).unwrap()].tree;
            while let Tree::Value(trees) | Tree::Delivery(trees) = tree {
                tree = match *choices.next().unwrap() {
                    Choice::Value { index, of, .. } if of as usize == trees.len() => {
                        &trees[index as usize]
                    }
                    Choice::Delivery(message) => &trees[message.number as usize],
                    other => panic!("{other:?} instead of a value"),
                };
            }
            match *tree {
                Tree::To(to, _) => at = to,
                Tree::Fail(way) if choices.peek().is_none() => return Err(way),
                _ => panic!("{tree:?} on the way"),
            }
        }
        Ok(at)
    }

    /// Forgets what was counted.
    pub fn forget(&self) {
        self.seen.iter().chain(&self.taken).for_each(|count| count.store(0, Ordering::Relaxed));
    }
}

fn number_all(tree: &mut Tree, next: &mut u32) {
    match tree {
        Tree::To(_, number) => {
            *number = *next;
            *next += 1;
        }
        Tree::Lap | Tree::Fail(_) | Tree::Hang => {}
        Tree::Value(trees) | Tree::Delivery(trees) => {
            trees.iter_mut().for_each(|tree| number_all(tree, next));
        }
    }
}

fn shifted(tree: &mut Tree, shift: u32) {
    match tree {
        Tree::To(to, _) => *to += shift,
        Tree::Lap | Tree::Fail(_) | Tree::Hang => {}
        Tree::Value(trees) | Tree::Delivery(trees) => {
            trees.iter_mut().for_each(|tree| shifted(tree, shift));
        }
    }
}

/// All ends of a tree with what they cost: the `k`-th value costs `k`.
pub fn leaves(tree: &Tree, cost: u32, leaf: &mut dyn FnMut(&Tree, u32)) {
    match tree {
        Tree::Value(trees) | Tree::Delivery(trees) => {
            for (index, tree) in trees.iter().enumerate() {
                leaves(tree, cost + index as u32, leaf);
            }
        }
        _ => leaf(tree, cost),
    }
}
