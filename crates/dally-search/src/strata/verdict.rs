//! What a search has to say of an execution: its end, its bound, its bugs, and an explorer that is
//! not sound.

use dally_core::{Bug, System, WorkerId};

use super::diver::Diver;
use super::entry::Offered;
use super::fault::{Fault, Unsound};
use super::order::Order;
use super::space::Space;
use crate::executor::{bug_at_end, too_long};

impl<S: Space, O: Order> Diver<S, O> {
    /// The execution is over.
    pub(super) fn at_the_end(&mut self) {
        self.tally.executions += 1;
        self.tally.deepest = self.tally.deepest.max(self.pen.len());
        if let Some(bug) = bug_at_end(self.space.system()) {
            self.found(bug);
        }
    }

    /// The step bound keeps the search from going on.
    pub(super) fn at_the_bound(&mut self) {
        self.tally.cut += 1;
        let limits = self.joint.limits;
        if limits.fail_on_max_steps {
            self.found(too_long(limits.max_steps));
        }
    }

    pub(super) fn found(&mut self, bug: Bug) {
        self.joint.progress(&mut self.tally);
        self.joint.found(bug, &self.pen);
    }

    /// Reports that the explorer has offered this worker at the state at hand, where these have
    /// been offered before.
    pub(super) fn unsound(&mut self, offer: Option<WorkerId>, offered: Offered, order: &O) {
        let identity = self.space.identity();
        let system = self.space.system();
        let enabled = system.enabled();
        let name = |worker: WorkerId| format!("{} ({worker})", system.name(worker));
        let missing = offered.first_missing(enabled.len());
        self.joint.fault(Fault::Unsound(Unsound {
            explorer: order.name(),
            choices: self.pen.choices(),
            identity,
            missing: missing.map(|place| name(enabled[place])),
            offered: offer.map(name),
            enabled: enabled.iter().map(|&worker| name(worker)).collect(),
        }));
    }
}
