//! The states and transitions that a search has been through, kept so that cycles can be looked
//! for without taking a step twice.

use dally_core::{Acceptance, Choice, Tag, WorkerId, fingerprint};
use rustc_hash::FxHashMap;

use super::pieces::Pieces;
use crate::strata::{Lookup, Table, Value};

/// The number of a state, in the order in which states were come to.
pub(crate) type Node = u32;

/// No edge.
const NIL: u32 = u32::MAX;

/// States and transitions, with all that decides whether a cycle of them counts.
pub(crate) struct Graph {
    /// From the identity of a state to its number.
    index: Table<32>,
    states: Pieces<State>,
    edges: Pieces<Edge>,
    workers: FxHashMap<WorkerId, u32>,
    names: Vec<WorkerId>,
    looks: Interner<Look>,
    labels: Interner<Label>,
    actions: Interner<u64>,
}

#[derive(Clone, Copy)]
struct State {
    identity: u64,
    /// The edge that was added last; the others follow by [`Edge::next`].
    edges: u32,
    look: u32,
    /// In how many places the search still has transitions of this state to take.
    open: u32,
}

/// A transition, from the state whose list it is in.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) to: Node,
    pub(crate) label: u32,
    next: u32,
}

/// The bytes of an edge.
pub(crate) const EDGE_BYTES: usize = size_of::<Edge>();

/// What fairness and monitors want to know of a state. Many states look alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Look {
    /// The workers that can step, by number and in order; faults are not among them.
    pub(crate) enabled: Box<[u32]>,
    /// The monitors that are hot, and were so all through the transition that led here.
    pub(crate) hot: u64,
}

/// What there is to know of a transition but for its ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Label {
    /// Who steps, by number.
    pub(crate) worker: u32,
    /// The values and deliveries chosen in the step, by position.
    pub(crate) values: Box<[Value]>,
    /// The monitors that allow it only finitely often.
    pub(crate) visits: u64,
    /// What is done, as far as strong fairness tells things apart; `None` for a fault.
    pub(crate) action: Option<u32>,
}

/// What a step did, as a search knows it.
#[derive(Clone, Copy)]
pub(crate) struct Transition<'a> {
    pub(crate) worker: WorkerId,
    pub(crate) values: &'a [Value],
    /// The choices of the step; may be left out where there are no values.
    pub(crate) choices: &'a [Choice],
    pub(crate) visits: u64,
}

impl Graph {
    pub(crate) fn new(memory: u64) -> Graph {
        Graph {
            index: Table::new(memory, 1),
            states: Pieces::new(),
            edges: Pieces::new(),
            workers: FxHashMap::default(),
            names: Vec::new(),
            looks: Interner::new(),
            labels: Interner::new(),
            actions: Interner::new(),
        }
    }

    /// How many states there are.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// How many edges there are.
    pub(crate) fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The bytes of states and edges, and of what is kept once for many of them.
    pub(crate) fn bytes(&self) -> u64 {
        let interned = self.looks.bytes + self.labels.bytes + self.actions.bytes;
        self.index.bytes() + self.states.bytes() + self.edges.bytes() + interned as u64
    }

    /// Finds or adds a state. `None` if there is no room.
    pub(crate) fn state(
        &mut self,
        identity: u64,
        enabled: &[WorkerId],
        acceptance: Acceptance,
        memory: u64,
    ) -> Option<(Node, bool)> {
        let key = key(identity);
        let states = &self.states;
        let known = |word: u64| states[word as u32].identity == identity;
        if let Lookup::Word(word) = self.index.find(key, usize::MAX, known) {
            return Some((word as u32, false));
        }
        let number = self.len() as u32;
        if number == NIL {
            return None;
        }
        if u64::from(number) >= self.index.limit(false) {
            let grown = self.index.grow(memory);
            if !grown && u64::from(number) >= self.index.limit(true) {
                return None;
            }
        }
        let Lookup::Free(slot) = self.index.find(key, usize::MAX, |_| false) else { return None };
        slot.store(key | u64::from(number), std::sync::atomic::Ordering::Relaxed);
        let look = self.look(enabled, acceptance.waiting());
        self.states.push(State { identity, edges: NIL, look, open: 1 });
        Some((number, true))
    }

    /// Adds a transition; `false` if there is no room.
    pub(crate) fn connect(&mut self, from: Node, to: Node, transition: Transition<'_>) -> bool {
        let number = self.edges.len() as u32;
        if number == NIL {
            return false;
        }
        let label = self.label(transition);
        let next = std::mem::replace(&mut self.states[from].edges, number);
        self.edges.push(Edge { to, label, next });
        true
    }

    /// The transitions out of a state that were taken so far, the last one first.
    pub(crate) fn edges(&self, from: Node) -> Edges<'_> {
        Edges { graph: self, next: self.states[from].edges }
    }

    /// An edge of a list that is gone through by hand, and the one after it.
    pub(crate) fn edge(&self, at: Cursor) -> Option<(Edge, Cursor)> {
        (at.0 != NIL).then(|| {
            let edge = self.edges[at.0];
            (edge, Cursor(edge.next))
        })
    }

    /// The beginning of the list of a state's edges.
    pub(crate) fn cursor(&self, from: Node) -> Cursor {
        Cursor(self.states[from].edges)
    }

    pub(crate) fn look_of(&self, node: Node) -> &Look {
        self.looks.get(self.states[node].look)
    }

    pub(crate) fn label_of(&self, edge: Edge) -> &Label {
        self.labels.get(edge.label)
    }

    /// The worker of this number.
    pub(crate) fn worker(&self, number: u32) -> WorkerId {
        self.names[number as usize]
    }

    /// How many actions strong fairness tells apart.
    pub(crate) fn action_count(&self) -> usize {
        self.actions.len()
    }

    /// The search will take some transitions of this state in another place.
    pub(crate) fn opened(&mut self, node: Node) {
        self.states[node].open += 1;
    }

    /// The search has left this state in one place.
    pub(crate) fn closed(&mut self, node: Node) {
        let open = &mut self.states[node].open;
        *open = open.saturating_sub(1);
    }

    /// Whether all transitions of this state have been taken.
    pub(crate) fn is_complete(&self, node: Node) -> bool {
        self.states[node].open == 0
    }

    fn number(&mut self, worker: WorkerId) -> u32 {
        let next = self.names.len() as u32;
        let names = &mut self.names;
        *self.workers.entry(worker).or_insert_with(|| {
            names.push(worker);
            next
        })
    }

    fn look(&mut self, enabled: &[WorkerId], hot: u64) -> u32 {
        let hash = enabled.iter().fold(hot, |hash, id| fingerprint::mix(hash, id.to_bits()));
        let fair = |id: &&WorkerId| **id != WorkerId::FAULTS;
        let count = enabled.iter().filter(fair).count();
        let names = &self.names;
        let same = |look: &Look| {
            let ids = look.enabled.iter().map(|&number| names[number as usize]);
            look.hot == hot
                && look.enabled.len() == count
                && ids.eq(enabled.iter().filter(fair).copied())
        };
        if let Some(known) = self.looks.find(hash, same) {
            return known;
        }
        let enabled: Box<[u32]> = enabled.iter().filter(fair).map(|&id| self.number(id)).collect();
        let further = enabled.len() * size_of::<u32>();
        self.looks.add(hash, Look { enabled, hot }, further)
    }

    fn label(&mut self, transition: Transition<'_>) -> u32 {
        let Transition { worker, values, choices, visits } = transition;
        let action = action(worker, choices);
        let worker = self.number(worker);
        let start = fingerprint::mix(visits ^ action.unwrap_or(1), worker.into());
        let hash = values.iter().fold(start, |hash, value| {
            fingerprint::mix(hash, u64::from(value.index) << 32 | u64::from(value.of))
        });
        let actions = &self.actions;
        let same = |label: &Label| {
            label.worker == worker
                && label.visits == visits
                && *label.values == *values
                && label.action.map(|number| *actions.get(number)) == action
        };
        if let Some(known) = self.labels.find(hash, same) {
            return known;
        }
        let action = action.map(|action| match self.actions.find(action, |&one| one == action) {
            Some(known) => known,
            None => self.actions.add(action, action, 0),
        });
        let label = Label { worker, values: values.into(), visits, action };
        self.labels.add(hash, label, size_of_val(values))
    }
}

/// What a step does, as far as strong fairness tells things apart: who steps, whose messages it
/// takes and what it chooses. `None` for a fault, which is owed to nobody.
fn action(worker: WorkerId, choices: &[Choice]) -> Option<u64> {
    if worker == WorkerId::FAULTS {
        return None;
    }
    let mut hash = worker.to_bits();
    for choice in choices {
        let word = match *choice {
            Choice::Worker(_) => continue,
            Choice::Value { index, tag: Tag::Fault, .. } if index > 0 => return None,
            Choice::Value { tag: Tag::Fault, .. } => continue,
            Choice::Value { index, of, .. } => u64::from(index) << 32 | u64::from(of),
            Choice::Delivery(message) => message.sender.to_bits(),
            Choice::Input(value) => value as u64,
        };
        hash = fingerprint::mix(hash, word);
    }
    Some(hash)
}

/// The upper half of an identity, none of whose bits need be good; never 0.
fn key(identity: u64) -> u64 {
    let key = Table::<32>::key(identity.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    if key == 0 { 1 << 32 } else { key }
}

/// A place in the list of a state's edges.
#[derive(Clone, Copy)]
pub(crate) struct Cursor(u32);

/// The edges of a state.
pub(crate) struct Edges<'a> {
    graph: &'a Graph,
    next: u32,
}

impl Iterator for Edges<'_> {
    type Item = Edge;

    fn next(&mut self) -> Option<Edge> {
        let (edge, rest) = self.graph.edge(Cursor(self.next))?;
        self.next = rest.0;
        Some(edge)
    }
}

/// Things that are alike, each kept once and numbered.
struct Interner<T> {
    /// The last number of each hash.
    numbers: FxHashMap<u64, u32>,
    /// With the number before of the same hash.
    things: Vec<(T, u32)>,
    /// About what all this takes.
    bytes: usize,
}

impl<T> Interner<T> {
    fn new() -> Interner<T> {
        Interner { numbers: FxHashMap::default(), things: Vec::new(), bytes: 0 }
    }

    fn len(&self) -> usize {
        self.things.len()
    }

    fn get(&self, number: u32) -> &T {
        &self.things[number as usize].0
    }

    fn find(&self, hash: u64, same: impl Fn(&T) -> bool) -> Option<u32> {
        let mut number = self.numbers.get(&hash).copied()?;
        while number != NIL {
            let (thing, before) = &self.things[number as usize];
            if same(thing) {
                return Some(number);
            }
            number = *before;
        }
        None
    }

    /// Adds a thing that owns so many bytes `further` to its own.
    fn add(&mut self, hash: u64, thing: T, further: usize) -> u32 {
        // Lists and tables that double are three quarters full in the mean.
        self.bytes += further + (size_of::<(T, u32)>() + size_of::<(u64, u32)>()) * 4 / 3;
        let number = self.things.len() as u32;
        let before = self.numbers.insert(hash, number).unwrap_or(NIL);
        self.things.push((thing, before));
        number
    }
}
