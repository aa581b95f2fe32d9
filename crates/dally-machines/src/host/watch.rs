//! Monitors in production: they watch and report, and stop nobody.

use std::any::Any;
use std::fmt::Debug;

use dally_core::{Bug, Cut, Env, Event, Heat, SharedMonitor, Text};

/// The monitors of a host. A violated one is reported and then retired, since its state means
/// nothing any more and each further event could violate it again.
#[derive(Default)]
pub(crate) struct Watch {
    monitors: Vec<SharedMonitor>,
}

impl Watch {
    pub(crate) fn add(&mut self, monitor: SharedMonitor) {
        self.monitors.push(monitor);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.monitors.is_empty()
    }

    /// Tells every monitor, in the order in which they were added; gives the violations.
    pub(crate) fn announce(&mut self, event: &dyn Any, env: &mut dyn Env) -> Result<Vec<Bug>, Cut> {
        let mut violations = Vec::new();
        let mut at = 0;
        while let Some(shared) = self.monitors.get_mut(at) {
            at += 1;
            if !shared.observes(event.type_id()) {
                continue;
            }
            let monitor = shared.make_mut();
            let before = monitor.state();
            if let Err(bug) = monitor.observe(event) {
                violations.push(bug);
                at -= 1;
                self.monitors.remove(at);
                continue;
            }
            let to = monitor.state();
            if to != before {
                let (monitor, heat) = (Text::Str(monitor.name()), monitor.heat());
                env.event(Event::MonitorChanged { monitor, to: Text::Str(to), heat })?;
            }
        }
        Ok(violations)
    }

    /// The hot monitors, as `Monitor in State`.
    pub(crate) fn hot(&self) -> Vec<String> {
        let hot = self.monitors.iter().filter(|monitor| monitor.heat() == Heat::Hot);
        hot.map(|monitor| format!("{} in {}", monitor.name(), monitor.state())).collect()
    }
}

impl Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.monitors.iter().map(|monitor| monitor.name())).finish()
    }
}
