//! How a handler ended that did not end as it should.

use dally_core::{Bug, BugKind, Stop, WorkerId};
use triomphe::Arc;

use crate::body::Trouble;
use crate::effect::Effect;
use crate::system::MachineSystem;

impl MachineSystem {
    /// Takes note of how a handler ended that did not end as it should.
    #[cold]
    pub(super) fn conclude(
        &mut self,
        slot: usize,
        trouble: Trouble,
        sender: Option<WorkerId>,
    ) -> Result<(), Stop> {
        match trouble {
            Trouble::Stopped(stop) => Err(stop),
            Trouble::Failed(bug) => self.fail(slot, bug),
            Trouble::Unhandled { event, raised } => {
                let bug = self.unhandled(slot, event, raised, sender);
                self.fail(slot, bug)
            }
        }
    }

    /// Makes a bug the last effect of a handler.
    #[cold]
    fn fail(&mut self, slot: usize, bug: Bug) -> Result<(), Stop> {
        let effects = &mut self.slots[slot].unshared(&mut self.pool)?.effects;
        let apart = effects.iter().any(|e| matches!(e, Effect::Send { .. } | Effect::Create(_)));
        effects.insert(0, Effect::Fail { bug: Arc::new(bug), apart });
        Ok(())
    }

    #[cold]
    fn unhandled(&self, slot: usize, event: u16, raised: bool, sender: Option<WorkerId>) -> Bug {
        let worker = &self.slots[slot].worker;
        let (state, event) = (worker.cell().state_name(), worker.cell().event_name(event));
        let from = match sender {
            _ if raised => ", which it raised itself".to_owned(),
            Some(sender) if sender == worker.id => ", which it sent itself".to_owned(),
            Some(sender) => format!(" from {}", self.describe(sender)),
            None => String::new(),
        };
        let message = format!(
            "{} in state `{state}` has no handler for event `{event}`{from}\n\
             handle it with `#[on({state}, {event})]`, keep it for later with \
             `#[defer({state}, {event})]`, or drop it with `#[ignore({state}, {event})]`",
            self.describe(worker.id)
        );
        Bug::new(BugKind::UnhandledEvent, message).by(worker.cell().name())
    }
}
