//! Monitors in production: a violation is reported and stops no machine.

use std::any::Any;

use dally_core::{Bug, Env, Heat, SharedMonitor, Stop};

/// The monitors of a host. A violated one is reported and then removed, since each further event
/// could violate it again.
#[derive(Default)]
pub(crate) struct Watch {
    monitors: Vec<SharedMonitor>,
}

impl Watch {
    pub(crate) fn add(&mut self, monitor: SharedMonitor) {
        self.monitors.push(monitor);
    }

    /// Passes the event to every monitor, in the order in which they were added; gives the violations.
    pub(crate) fn announce(&mut self, event: &dyn Any, env: &mut dyn Env) -> Vec<Bug> {
        let mut violations = Vec::new();
        self.monitors.retain_mut(|monitor| match monitor.announce(event, env) {
            Err(Stop::Bug(bug)) => {
                violations.push(*bug);
                false
            }
            _ => true,
        });
        violations
    }

    pub(crate) fn hot(&self) -> Vec<String> {
        let hot = self.monitors.iter().filter(|monitor| monitor.heat() == Heat::Hot);
        hot.map(|monitor| format!("{} in {}", monitor.name(), monitor.state())).collect()
    }
}
