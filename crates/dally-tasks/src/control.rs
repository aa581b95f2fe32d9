//! Whether Dally has anything to explore in a program.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use dally_core::Foreign;

use crate::exec::Exec;

/// What the executions of a program have waited for.
#[derive(Debug, Default)]
pub(crate) struct Control {
    /// The first task that waited for a future that is none of Dally's.
    waits: OnceLock<String>,
    /// The first task that started a thread of the system.
    threads: OnceLock<String>,
    /// There were objects or timers of Dally's.
    own: AtomicBool,
}

impl Control {
    /// An execution is over.
    pub fn note(&self, exec: &Exec) {
        for (first, task) in
            [(&self.waits, exec.waited_for_foreign), (&self.threads, exec.started_thread)]
        {
            if let Some(task) = task {
                first.get_or_init(|| exec.tasks[task].name.with_place());
            }
        }
        if !exec.objects.is_empty() || !exec.timers.all.is_empty() {
            self.own.store(true, Ordering::Relaxed);
        }
    }

    /// What tasks did that is not under control.
    pub fn foreign(&self) -> Option<Foreign> {
        let (waits, threads) = (self.waits.get().cloned(), self.threads.get().cloned());
        let only = waits.is_some() && !self.own.load(Ordering::Relaxed);
        (waits.is_some() || threads.is_some()).then_some(Foreign { waits, only, threads })
    }
}
