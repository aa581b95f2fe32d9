//! What a system does after a handler that failed.

use dally_core::bug::{Origin, Unhandled};
use dally_core::{Bug, Problem, Stop, WorkerId};
use triomphe::Arc;

use crate::body::Trouble;
use crate::effect::Effect;
use crate::system::MachineSystem;

impl MachineSystem {
    /// Turns what kept a handler from its end into an effect or into the end of the execution.
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
        let cell = worker.cell();
        let origin = match sender {
            _ if raised => Origin::Raised,
            Some(sender) if sender == worker.id => Origin::Itself,
            Some(sender) => Origin::Sent(self.named(sender)),
            None => Origin::Unknown,
        };
        let event = cell.event_name(event).to_owned();
        let problem = Problem::UnhandledEvent(Unhandled { event, origin, declared: None });
        Bug::new(problem).by(cell.name()).in_state(cell.state_name()).in_step_of(worker.id)
    }
}
