//! What must hold of the set, and what replicas announce for it.

use std::collections::{BTreeMap, BTreeSet};

use dally::machines::MonitorCx;
use dally::monitor;

use super::{Clock, Element, Name};

/// Announced by a replica that has applied an operation, its own or another's.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Applied {
    /// Who.
    pub by: Name,
    /// Which operations it has applied.
    pub applied: Clock,
    /// What is in its set now.
    pub elements: BTreeSet<Element>,
}

/// Announced by a replica before it tells its client that an element is added.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Acknowledged {
    pub(super) by: Name,
    /// The how manieth operation of this replica the add is.
    pub(super) number: u8,
    pub(super) element: Element,
}

/// Announced by a replica whose client removes an element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Removed {
    pub(super) element: Element,
    /// The operations that the replica had applied.
    pub(super) seen: Clock,
}

/// Announced by a replica whose client reads the set.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Answered {
    /// Who.
    pub by: Name,
    /// What is in its set.
    pub elements: BTreeSet<Element>,
}

/// Replicas that have applied the same operations have the same elements, whatever the order was.
/// So all agree when everything has arrived.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Convergence {
    replicas: Vec<(Clock, BTreeSet<Element>)>,
}

#[monitor(states(Watching))]
impl Convergence {
    pub(super) fn among(replicas: usize) -> Convergence {
        Convergence { replicas: vec![(vec![0; replicas], BTreeSet::new()); replicas] }
    }

    #[on(Watching, Applied)]
    fn applied(&mut self, _: &mut MonitorCx<Self>, event: Applied) {
        let Applied { by, applied, elements } = event;
        for (other, (same, theirs)) in self.replicas.iter().enumerate() {
            assert!(
                *same != applied || *theirs == elements,
                "replicas {by} and {other} have applied the same operations, \
                 but one has {elements:?} and the other {theirs:?}",
            );
        }
        self.replicas[by] = (applied, elements);
    }
}

/// A client sees what it has added, unless somebody has removed it who knew of the add.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ReadYourAdds {
    /// For each replica and element the last add.
    added: Vec<BTreeMap<Element, u8>>,
    /// For each replica and element the last operation of the replica that a removal knew of.
    removed: Vec<BTreeMap<Element, u8>>,
}

#[monitor(states(Watching))]
impl ReadYourAdds {
    pub(super) fn among(replicas: usize) -> ReadYourAdds {
        ReadYourAdds {
            added: vec![BTreeMap::new(); replicas],
            removed: vec![BTreeMap::new(); replicas],
        }
    }

    #[on(Watching, Acknowledged)]
    fn acknowledged(&mut self, _: &mut MonitorCx<Self>, event: Acknowledged) {
        self.added[event.by].insert(event.element, event.number);
    }

    #[on(Watching, Removed)]
    fn removed(&mut self, _: &mut MonitorCx<Self>, Removed { element, seen }: Removed) {
        for (removed, seen) in self.removed.iter_mut().zip(seen) {
            let last = removed.entry(element).or_default();
            *last = seen.max(*last);
        }
    }

    #[on(Watching, Answered)]
    fn answered(&mut self, _: &mut MonitorCx<Self>, Answered { by, elements }: Answered) {
        for (element, added) in &self.added[by] {
            let removed = self.removed[by].get(element).is_some_and(|removed| removed >= added);
            assert!(
                removed || elements.contains(element),
                "the client of replica {by} added {element:?} and does not see it, \
                 although nobody has removed it",
            );
        }
    }
}
