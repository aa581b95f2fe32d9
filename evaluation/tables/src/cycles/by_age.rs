//! The order in which plain nested depth-first search takes workers.

use dally::contract::WorkerId;
use dally::search::strata::{Explorer, Stepped};

/// In every state the oldest worker first, as model checkers without a scheduler have it.
#[derive(Clone, Default, Hash, Debug)]
pub struct ByAge {
    /// Who was put off in the present state.
    late: Vec<WorkerId>,
}

impl Explorer for ByAge {
    fn name(&self) -> String {
        "by age".into()
    }

    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        let in_time = enabled.iter().find(|worker| !self.late.contains(worker));
        in_time.or(enabled.first()).copied()
    }

    fn delay(&mut self, enabled: &[WorkerId]) {
        self.late.extend(self.next(enabled));
    }

    fn started(&mut self, _worker: WorkerId, _name: &str) {}

    fn stepped(&mut self, _step: &Stepped<'_>) {
        self.late.clear();
    }
}
