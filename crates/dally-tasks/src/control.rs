//! Whether Dally has anything to explore in a program.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use dally_core::Foreign;

use crate::exec::Exec;

/// What the executions of a program have waited for.
#[derive(Debug, Default)]
pub(crate) struct Control {
    /// The first task that waited for a future that is none of Dally's.
    foreign: OnceLock<String>,
    /// There were objects or timers of Dally's.
    own: AtomicBool,
}

impl Control {
    /// An execution is over.
    pub fn note(&self, exec: &Exec) {
        if let Some(task) = exec.waited_for_foreign {
            self.foreign.get_or_init(|| exec.tasks[task].name.with_place());
        }
        if !exec.objects.is_empty() || !exec.timers.all.is_empty() {
            self.own.store(true, Ordering::Relaxed);
        }
    }

    /// Whether tasks waited for what is none of Dally's.
    pub fn foreign(&self) -> Option<Foreign> {
        let worker = self.foreign.get()?.clone();
        Some(Foreign { worker, only: !self.own.load(Ordering::Relaxed) })
    }
}
