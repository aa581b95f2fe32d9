//! Whether Dally has anything to explore in a program.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exec::Exec;

/// What the executions of a program have waited for.
#[derive(Debug, Default)]
pub(crate) struct Control {
    /// A task waited for a future that is none of Dally's.
    foreign: AtomicBool,
    /// There were objects or timers of Dally's.
    own: AtomicBool,
}

impl Control {
    /// An execution is over.
    pub fn note(&self, exec: &Exec) {
        if exec.waited_for_foreign {
            self.foreign.store(true, Ordering::Relaxed);
        }
        if !exec.objects.is_empty() || !exec.timers.all.is_empty() {
            self.own.store(true, Ordering::Relaxed);
        }
    }

    /// Whether tasks waited, and only for what is none of Dally's.
    pub fn is_foreign_only(&self) -> bool {
        self.foreign.load(Ordering::Relaxed) && !self.own.load(Ordering::Relaxed)
    }
}
