//! Explorers as users write them, good and bad; and searches by any of them.

use std::sync::Arc;

use dally_core::WorkerId;
use dally_search::strata::{Explorer, ExplorerKind, Plan, SearchKind, Stepped, explore};
use dally_search::{Options, Report};

use crate::graphs::Graph;
use crate::walk::Walk;

/// The searches that exhaust a program.
pub const SEARCHES: [SearchKind; 5] =
    [SearchKind::Ses, SearchKind::Dfs, SearchKind::Bfs, SearchKind::Preemptions, SearchKind::Depth];

/// The youngest worker first; a hint of the program turns the order round.
#[derive(Clone, Hash, Default)]
pub struct Youngest {
    /// The next one last.
    order: Vec<WorkerId>,
}

impl Explorer for Youngest {
    fn name(&self) -> String {
        "youngest".into()
    }

    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        self.order.iter().rev().copied().find(|worker| enabled.contains(worker))
    }

    fn delay(&mut self, enabled: &[WorkerId]) {
        if let Some(late) = self.next(enabled) {
            self.order.retain(|&worker| worker != late);
            self.order.insert(0, late);
        }
    }

    fn started(&mut self, worker: WorkerId, _name: &str) {
        self.order.push(worker);
    }

    fn finished(&mut self, worker: WorkerId) {
        self.order.retain(|&other| other != worker);
    }

    fn stepped(&mut self, step: &Stepped<'_>) {
        if !step.hints.is_empty() {
            self.order.reverse();
        }
    }
}

/// The explorers that searches are tried with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Bundled(ExplorerKind),
    Youngest,
}

pub const ALL: [Who; 5] = [
    Who::Bundled(ExplorerKind::RoundRobin),
    Who::Bundled(ExplorerKind::RunToCompletion),
    Who::Bundled(ExplorerKind::Probabilistic),
    Who::Bundled(ExplorerKind::Random),
    Who::Youngest,
];

pub const RR: Who = Who::Bundled(ExplorerKind::RoundRobin);
pub const RTC: Who = Who::Bundled(ExplorerKind::RunToCompletion);

/// A search of a graph, from a clean slate.
pub fn search(graph: &Arc<Graph>, who: Who, plan: Plan, options: Options) -> Report {
    match who {
        Who::Bundled(kind) => search_by(graph, kind.build(options.seed), plan, options),
        Who::Youngest => search_by(graph, Youngest::default(), plan, options),
    }
}

pub fn search_by(graph: &Arc<Graph>, by: impl Explorer, plan: Plan, options: Options) -> Report {
    graph.forget();
    explore(Arc::new(Walk(graph.clone())), by, plan, options, Arc::new(()))
}

/// Options for tests.
pub fn options(threads: usize) -> Options {
    Options { program: "graph".into(), threads, ..Options::default() }
}

/// A plan with less memory set aside than most.
pub fn plan() -> Plan {
    Plan { memory: 64 << 20, ..Plan::default() }
}
