//! How the threads of a search log where they have been.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use dally_core::WorkerId;

use super::known::{Algorithm, Known};
use super::{CycleSearch, lock};
use crate::liveness::fairness::Fairness;
use crate::liveness::graph::{Connected, Node, Writer};
use crate::liveness::labels::Transition;
use crate::liveness::lasso::closed;
use crate::liveness::property::bits;
use crate::strata::{Arrival, Logged, Source};

/// What one thread keeps to write to the log.
#[derive(Default)]
pub(crate) struct LogWriter {
    known: Option<Arc<Known>>,
    restarts: u64,
    writer: Writer,
    /// Kept for its memory.
    raised: Vec<Node>,
    /// The states to which steps likely lead, by the places of their workers.
    likely: Vec<Node>,
}

impl CycleSearch {
    /// A step has led to a state from this one, by the worker of this place among the enabled; or
    /// it is the first.
    pub(crate) fn arrived(
        &self,
        own: &mut LogWriter,
        from: Option<Source>,
        arrival: &Arrival<'_>,
    ) -> Logged {
        self.refresh(own);
        let LogWriter { known: Some(known), writer, raised, .. } = own else {
            return Logged::NoRoom;
        };
        let acceptance = arrival.system.acceptance();
        let hot = acceptance.waiting();
        if hot & !self.hot.load(Relaxed) != 0 {
            self.hot.fetch_or(hot, Relaxed);
        }
        let Some(identity) = known.identity(arrival, acceptance.hot & acceptance.relieved) else {
            return Logged::NoRoom;
        };
        let enabled = arrival.system.enabled();
        let state = known.graph.state(writer, identity, enabled, acceptance);
        let Some((to, new)) = state else { return Logged::NoRoom };
        match &known.algorithm {
            Algorithm::Nested { .. } if new => known.graph.set_on_stack(to, true),
            Algorithm::Map(maps) if !maps.have_room(to as usize + 1) => return Logged::NoRoom,
            _ => {}
        }
        if let Some(Source { node: from, place }) = from {
            let visits = acceptance.visits;
            if visits & !self.visits.load(Relaxed) != 0 {
                self.visits.fetch_or(visits, SeqCst);
            }
            let transition = Transition { visits, ..arrival.transition };
            match known.graph.connect(writer, from, place, to, transition) {
                Connected::Added => {
                    let hot = self.hot_from(known, from);
                    self.connected(known, raised, (from, to), hot, visits, new);
                }
                Connected::FaultsAndFailures => {}
                Connected::NoRoom => return Logged::NoRoom,
            }
        }
        if new { Logged::New(to) } else { Logged::Known }
    }

    /// Of steps that were not taken and lead to states of these identities, from the workers at these
    /// `places` among the enabled: those of which [`CycleSearch::foreseen`] should ask, since they likely
    /// lead to states that are known. It is better asked a little later: memory is brought for it.
    #[inline]
    pub(crate) fn expect(&self, own: &mut LogWriter, identities: &[u64], places: u64) -> u64 {
        self.refresh(own);
        let LogWriter { known: Some(known), likely, .. } = own else { return 0 };
        likely.resize(identities.len(), 0);
        // To wait for all that is asked for at once takes no longer than to wait for one.
        let mut expected = 0;
        for place in bits(places) {
            let at = place as usize;
            if let Some(node) = known.graph.likely(identities[at]) {
                likely[at] = node;
                expected |= 1 << place;
            }
        }
        expected
    }

    /// Logs those of these steps that lead to states that are known; `expected` are places of the same
    /// identities that were [expected](CycleSearch::expect) last. They choose no values, and no monitor
    /// minds them or is relieved in them. Answers their places.
    #[inline]
    pub(crate) fn foreseen(
        &self,
        own: &mut LogWriter,
        from: Node,
        enabled: &[WorkerId],
        identities: &[u64],
        expected: u64,
    ) -> (u64, Logged) {
        let LogWriter { known: Some(known), writer, raised, likely, .. } = own else {
            return (0, Logged::NoRoom);
        };
        let (mut found, hot) = (0, self.hot_from(known, from));
        for place in bits(expected) {
            let at = place as usize;
            let Some(to) = known.graph.confirm(identities[at], likely[at]) else { continue };
            found |= 1 << place;
            let worker = enabled[at];
            let transition = Transition { worker, values: &[], choices: &[], places: 0, visits: 0 };
            match known.graph.connect(writer, from, at, to, transition) {
                Connected::Added => self.connected(known, raised, (from, to), hot, 0, false),
                Connected::FaultsAndFailures => {}
                Connected::NoRoom => return (found, Logged::NoRoom),
            }
        }
        (found, Logged::Known)
    }

    /// This identity will be looked for soon.
    #[inline]
    pub(crate) fn prefetch(&self, own: &LogWriter, identity: u64) {
        if let Some(known) = &own.known {
            known.graph.prefetch(identity);
        }
    }

    /// The monitors that are hot in a state, as far as that is of interest for each of its transitions.
    #[inline]
    fn hot_from(&self, known: &Known, from: Node) -> u64 {
        match &known.algorithm {
            Algorithm::Nested { .. } | Algorithm::Components(_) => 0,
            Algorithm::Map(_) => known.graph.hot(from),
        }
    }

    /// A transition that `visits` this was added, from a state where these monitors are `hot`.
    #[inline]
    fn connected(
        &self,
        known: &Known,
        raised: &mut Vec<Node>,
        (from, to): (Node, Node),
        hot: u64,
        visits: u64,
        new: bool,
    ) {
        let graph = &known.graph;
        match &known.algorithm {
            Algorithm::Nested { nested, judge_at, anywhere } => {
                let mut hot = 0;
                if !new && graph.is_on_stack(to) {
                    hot = graph.hot(from) & graph.hot(to) & !anywhere.load(Relaxed);
                }
                if hot != 0 || new && graph.len() >= judge_at.load(Relaxed) {
                    let mut nested = lock(nested);
                    self.consider(graph, &mut nested, from, hot, judge_at);
                    anywhere.store(nested.anywhere(), Relaxed);
                }
            }
            Algorithm::Components(_) => graph.touch(from),
            Algorithm::Map(maps) => {
                graph.touch(from);
                let visited = self.visits.load(SeqCst);
                if hot | visited == 0 {
                    return;
                }
                for property in self.sought(hot, visited) {
                    let map = maps.of(property);
                    let closing = map.calculate(graph, (from, to), visits, raised);
                    if let Some(closing) = closing
                        && self.fairness == Fairness::None
                    {
                        self.found(graph, property, &closed(graph, property, closing));
                    }
                }
            }
        }
    }

    /// A step from a known state has shown a bug.
    pub(crate) fn failed(&self, own: &mut LogWriter, from: Node, transition: Transition<'_>) {
        self.refresh(own);
        if let Some(known) = &own.known {
            known.graph.failed(from, transition);
        }
    }

    /// Some transitions of a state will be taken later or by another thread, or never.
    pub(crate) fn opened(&self, own: &mut LogWriter, node: Node) {
        self.refresh(own);
        if let Some(known) = &own.known {
            known.graph.opened(node);
        }
    }

    /// A thread has taken all transitions of a state that it will take for now.
    pub(crate) fn left(&self, own: &mut LogWriter, node: Node) {
        self.refresh(own);
        // A thread that was told to stop leaves states before all their transitions are taken.
        if self.shared.halt.load(Relaxed) {
            return;
        }
        let Some(known) = &own.known else { return };
        known.graph.closed(node);
        if let Algorithm::Nested { nested, judge_at, .. } = &known.algorithm {
            let visits = self.visits.load(Relaxed);
            if visits != 0 {
                let mut nested = lock(nested);
                let certain = nested.left(&known.graph, node, visits);
                // A cycle that visits and avoids what it should counts, however much the graph will
                // grow, if no fairness is asked for.
                if certain && self.fairness == Fairness::None {
                    self.judge(&known.graph, &mut nested, judge_at);
                }
            }
            known.graph.set_on_stack(node, false);
        }
    }

    /// Has a thread write to what is known now.
    #[inline]
    fn refresh(&self, own: &mut LogWriter) {
        let restarts = self.restarts.load(Relaxed);
        if own.known.is_none() || own.restarts != restarts {
            let known = Some(lock(&self.known).clone());
            *own = LogWriter { known, restarts, ..LogWriter::default() };
        }
    }
}
