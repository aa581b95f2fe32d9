//! What a search has to say of an execution: its end, its bound, its bugs, and an explorer that is
//! not sound.

use dally_core::{Bug, System, WorkerId};

use super::diver::Diver;
use super::entry::Offered;
use super::joint::Unsound;
use super::log::{Arrival, Logged};
use super::order::Order;
use super::space::Space;
use crate::executor::{bug_at_end, too_long};
use crate::liveness::Node;
use crate::tape::Doing;

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

    /// Has the first state logged, if there is a log.
    pub(super) fn log_first(&mut self, identity: u64) -> Option<Node> {
        let log = self.joint.log.as_ref()?;
        let (system, parts) = (self.space.system(), &|part: &mut dyn FnMut(&[u8])| {
            self.space.parts(part);
        });
        let (worker, values, choices) = (WorkerId::FAULTS, &[], &[]);
        match log.arrived(None, &Arrival { identity, parts, system, worker, values, choices }) {
            Logged::New(node) => Some(node),
            Logged::Known => None,
            Logged::NoRoom => {
                self.joint.memory_is_full();
                None
            }
        }
    }

    /// Has the step logged that led from the top of the stack to the state at hand; the number of
    /// that state if it is new.
    pub(super) fn log_arrival(&mut self, identity: u64) -> Option<Node> {
        let log = self.joint.log.as_ref()?;
        let parent = &self.frames[self.depth - 1];
        let (worker, values) = (parent.worker, &parent.values[..]);
        let choices = match values {
            [] => Vec::new(),
            _ => self.pen.choices_in(parent.path..self.pen.len()),
        };
        let (system, choices) = (self.space.system(), &choices[..]);
        let parts = &|part: &mut dyn FnMut(&[u8])| self.space.parts(part);
        let arrival = Arrival { identity, parts, system, worker, values, choices };
        // To judge what is logged takes its time now and then: no step is stuck then.
        self.pen.now(Doing::Nothing);
        let logged = log.arrived(Some(parent.node), &arrival);
        self.pen.now(Doing::Stepping);
        match logged {
            Logged::New(node) => Some(node),
            Logged::Known => None,
            Logged::NoRoom => {
                self.joint.memory_is_full();
                None
            }
        }
    }

    /// Nothing more is done from this state for now.
    pub(super) fn log_left(&mut self, node: Node) {
        if let Some(log) = &self.joint.log {
            self.pen.now(Doing::Nothing);
            log.left(node);
            self.pen.now(Doing::Stepping);
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
        self.joint.unsound(Unsound {
            explorer: order.name(),
            choices: self.pen.choices(),
            identity,
            missing: missing.map(|place| name(enabled[place])),
            offered: offer.map(name),
            enabled: enabled.iter().map(|&worker| name(worker)).collect(),
        });
    }
}
