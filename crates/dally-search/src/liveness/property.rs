//! What a cycle has to do to violate something.

use super::graph::{Edge, Graph, Node};

/// One monitor's wish, as a condition on cycles: states that a bad cycle stays in, and
/// transitions that it visits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Property {
    /// A bad cycle stays in states where this monitor is hot.
    Hot(u32),
    /// A bad cycle visits a transition that this monitor allows only finitely often: the relation
    /// E of Desai, Qadeer, Rajamani and Seshia, "Iterative Cycle Detection via Delaying Explorers".
    Visits(u32),
}

impl Property {
    /// The number of the monitor.
    pub(crate) fn monitor(self) -> usize {
        match self {
            Property::Hot(monitor) | Property::Visits(monitor) => monitor as usize,
        }
    }

    /// The kind of the property, 0 or 1, and the monitor: one place for each.
    pub(crate) fn place(self) -> (usize, usize) {
        let kind = matches!(self, Property::Visits(_)).into();
        (kind, self.monitor())
    }

    /// Whether a bad cycle can go through this state.
    pub(crate) fn allows(self, graph: &Graph, node: Node) -> bool {
        match self {
            Property::Hot(monitor) => graph.hot(node) >> monitor & 1 == 1,
            Property::Visits(_) => true,
        }
    }

    /// Whether a cycle through this transition, in states that are allowed, is bad: the paper
    /// calls such a transition accepting.
    pub(crate) fn accepts(self, graph: &Graph, edge: Edge) -> bool {
        match self {
            Property::Hot(_) => true,
            Property::Visits(_) => self.accepts_visits(graph.label_of(edge).visits),
        }
    }

    /// The same of a transition that these monitors allow only finitely often.
    #[inline]
    pub(crate) fn accepts_visits(self, visits: u64) -> bool {
        match self {
            Property::Hot(_) => true,
            Property::Visits(monitor) => visits >> monitor & 1 == 1,
        }
    }

    /// The properties of these monitors.
    pub(crate) fn all(hot: u64, visits: u64) -> impl Iterator<Item = Property> {
        bits(hot).map(Property::Hot).chain(bits(visits).map(Property::Visits))
    }
}

/// The positions of the ones in a word.
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(place)
    })
}
