//! Who keeps a copy of the set.

use std::collections::BTreeSet;

use dally::machine;
use dally::machines::{Addr, Cx};

use super::client::{Add, Added, Elements, Read, Remove};
use super::properties::{Acknowledged, Answered, Applied, Removed};
use super::{Bug, Clock, Element, Name, Operation, Tag};

/// To a replica: tell these what you do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Others(pub(super) Vec<Addr<Replica>>);

/// From another replica, which has done this.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Update {
    from: Name,
    operation: Operation,
}

/// From a replica to itself, if it has a bug: add this now.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct AddNow {
    element: Element,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Replica {
    name: Name,
    others: Vec<Addr<Replica>>,
    applied: Clock,
    tagged: BTreeSet<(Element, Tag)>,
    /// The tags of all removals. Some of them may not have arrived.
    removed: BTreeSet<Tag>,
    bug: Option<Bug>,
}

#[machine(states(Starting, Serving))]
impl Replica {
    pub(super) fn new(name: Name, replicas: usize, bug: Option<Bug>) -> Replica {
        Replica {
            name,
            others: Vec::new(),
            applied: vec![0; replicas],
            tagged: BTreeSet::new(),
            removed: BTreeSet::new(),
            bug,
        }
    }

    #[on(Starting, Others)]
    fn meet(&mut self, cx: &mut Cx<Self>, Others(others): Others) {
        self.others = others;
        cx.goto(Serving);
    }

    #[on(Serving, Add)]
    fn add(&mut self, cx: &mut Cx<Self>, Add { element, client }: Add) {
        let number = self.applied[self.name] + 1;
        if self.bug == Some(Bug::AddRead) {
            cx.announce(Acknowledged { by: self.name, number, element });
            cx.send(client, Added);
            cx.send(cx.me(), AddNow { element });
        } else {
            self.add_now(cx, AddNow { element });
            cx.announce(Acknowledged { by: self.name, number, element });
            cx.send(client, Added);
        }
    }

    #[on(Serving, AddNow)]
    fn add_now(&mut self, cx: &mut Cx<Self>, AddNow { element }: AddNow) {
        let number = self.applied[self.name] + 1;
        let replica = if self.bug == Some(Bug::TagReuse) { 0 } else { self.name };
        self.perform(cx, Operation::Add { element, tag: Tag { replica, number } });
    }

    #[on(Serving, Remove)]
    fn remove(&mut self, cx: &mut Cx<Self>, Remove { element }: Remove) {
        let here = self.tagged.iter().filter(|tagged| tagged.0 == element);
        let tags: BTreeSet<_> = here.map(|tagged| tagged.1).collect();
        if !tags.is_empty() {
            cx.announce(Removed { element, seen: self.applied.clone() });
            self.perform(cx, Operation::Remove { element, tags });
        }
    }

    #[on(Serving, Read)]
    fn read(&mut self, cx: &mut Cx<Self>, Read { client }: Read) {
        cx.announce(Answered { by: self.name, elements: self.elements() });
        cx.send(client, Elements(self.elements()));
    }

    /// An operation of its own.
    fn perform(&mut self, cx: &mut Cx<Self>, operation: Operation) {
        self.apply(cx, self.name, operation.clone());
        for &other in &self.others {
            cx.send(other, Update { from: self.name, operation: operation.clone() });
        }
    }

    #[on(Serving, Update)]
    fn update(&mut self, cx: &mut Cx<Self>, Update { from, operation }: Update) {
        self.apply(cx, from, operation);
    }

    fn apply(&mut self, cx: &mut Cx<Self>, from: Name, operation: Operation) {
        match operation {
            Operation::Add { element, tag } => {
                if !self.removed.contains(&tag) || self.bug == Some(Bug::ForgetsEarlyRemoval) {
                    self.tagged.insert((element, tag));
                }
            }
            Operation::Remove { element, tags } => {
                let wins = self.bug == Some(Bug::RemoveWins);
                self.tagged.retain(|(present, tag)| {
                    let goes = tags.contains(tag) || (wins && *present == element);
                    !goes
                });
                self.removed.extend(tags);
            }
        }
        self.applied[from] += 1;
        let (applied, elements) = (self.applied.clone(), self.elements());
        cx.announce(Applied { by: self.name, applied, elements });
    }

    fn elements(&self) -> BTreeSet<Element> {
        self.tagged.iter().map(|tagged| tagged.0).collect()
    }

    #[defer(Starting, Add, Remove, Read, Update)]
    const RULES: () = ();
}
