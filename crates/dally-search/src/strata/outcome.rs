//! What a search reports of an execution: its end, its bound, its bugs, and an unsound explorer.

use dally_core::{Bug, System, WorkerId};

use super::depth_first::DepthFirstWorker;
use super::entry::Offered;
use super::search_failure::SearchFailure;
use super::state_space::StateSpace;
use super::transition_order::TransitionOrder;
use crate::choice_log::Activity;
use crate::executor::{bug_at_end, too_long};

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Called where the program has come to its end, which includes its destructors.
    pub(super) fn at_the_end(&mut self) {
        self.counters.executions += 1;
        self.counters.deepest = self.counters.deepest.max(self.writer.len());
        let bug = bug_at_end(self.space.system());
        self.writer.now(Activity::Ending);
        let finished = self.space.finish();
        self.writer.now(Activity::Stepping);
        if let Some(bug) = bug.or(finished.err()) {
            self.found(bug);
        }
    }

    /// Called where the step bound keeps the search from going on.
    pub(super) fn at_the_bound(&mut self) {
        self.counters.cut += 1;
        let limits = self.shared_state.limits;
        if limits.fail_on_max_steps {
            self.found(too_long(limits.max_steps));
        }
    }

    pub(super) fn found(&mut self, bug: Bug) {
        self.shared_state.progress(&mut self.counters);
        self.shared_state.found(bug, None, &self.writer);
    }

    /// Reports that the explorer, after `offered`, has offered this worker at the live state.
    pub(super) fn unsound(&mut self, offer: Option<WorkerId>, offered: &Offered, order: &O) {
        let identity = self.space.identity();
        let system = self.space.system();
        let enabled = system.enabled();
        let name = |worker: WorkerId| format!("{} ({worker})", system.name(worker));
        let missing = offered.first_missing(enabled.len());
        self.shared_state.fault(SearchFailure::Unsound {
            explorer: order.name(),
            choices: self.writer.choices(),
            identity,
            missing: missing.map(|place| name(enabled[place])),
            offered: offer.map(name),
            enabled: enabled.iter().map(|&worker| name(worker)).collect(),
        });
    }
}
