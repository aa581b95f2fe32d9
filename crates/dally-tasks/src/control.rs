//! Whether Dally has anything to explore in a program, and what it does that is not under control.

use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dally_core::{Call, Foreign, ForeignKind, ForeignUse};

use crate::exec::Exec;

/// How many calls of a kind are looked at, until one is found that counts.
const MOST: u32 = 8;

/// What tasks have done that is not under control, as it was met.
#[derive(Default)]
pub(crate) struct Uses {
    seen: BTreeMap<ForeignKind, Seen>,
    /// There are some that were not told yet.
    new: bool,
    /// Where the last copy of a waker was made, and in which step.
    pub copied: Option<(u64, Arc<Backtrace>)>,
    /// In how many executions it was looked at who makes copies of wakers.
    watched: u32,
}

#[derive(Default)]
struct Seen {
    calls: Vec<(String, Arc<Backtrace>)>,
    /// One that counts was told of, or there were too many.
    enough: bool,
    told: u32,
}

impl Uses {
    /// Whether one more of this kind is to be looked at.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    pub fn wants(&mut self, kind: ForeignKind) -> bool {
        let seen = self.seen.entry(kind).or_default();
        !seen.enough && seen.calls.is_empty()
    }

    /// The running task waits for a foreign future: by the call that has kept its waker in this step.
    #[cold]
    pub fn waits(&mut self, step: u64, by: impl FnOnce() -> String) {
        if let Some((_, call)) = self.copied.take().filter(|(then, _)| *then == step) {
            self.note(ForeignKind::Futures, by(), call);
        }
    }

    /// A task has done this by this call.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    pub fn note(&mut self, kind: ForeignKind, by: String, call: Arc<Backtrace>) {
        self.seen.entry(kind).or_default().calls.push((by, call));
        self.new = true;
    }
}

/// What the executions of a program have done.
#[derive(Default)]
pub(crate) struct Control {
    /// The first task that waited for a future that is none of Dally's.
    waits: OnceLock<String>,
    /// The first use of each other kind.
    uses: Mutex<BTreeMap<ForeignKind, ForeignUse>>,
    /// There were objects or timers of Dally's.
    own: AtomicBool,
}

impl Control {
    /// An execution is over.
    pub fn note(&self, exec: &mut Exec) {
        if let Some(task) = exec.waited_for_foreign {
            self.waits.get_or_init(|| exec.tasks[task].name.with_place());
        }
        if !exec.objects.is_empty() || !exec.timers.all.is_empty() {
            self.own.store(true, Ordering::Relaxed);
        }
        if exec.uses.new {
            self.tell(&mut exec.uses);
        }
        if exec.waited_for_foreign.is_some() {
            self.watch(exec);
        }
    }

    /// Whoever waits for foreign futures does so at a place, which is seen in the executions after the first.
    #[cold]
    fn watch(&self, exec: &mut Exec) {
        let uses = &mut exec.uses;
        let known = uses.seen.get(&ForeignKind::Futures).is_some_and(|seen| seen.enough);
        let wanted = !known && uses.watched < MOST;
        uses.watched += u32::from(wanted);
        exec.shared.watched.store(wanted, Ordering::Relaxed);
        exec.uses.copied = None;
    }

    #[cold]
    fn tell(&self, uses: &mut Uses) {
        uses.new = false;
        for (kind, seen) in &mut uses.seen {
            for (by, backtrace) in seen.calls.drain(..) {
                let call = Call::of(&backtrace);
                seen.told += 1;
                // Other tests of the process may hold a lock for a moment.
                if *kind != ForeignKind::Futures && call.as_ref().is_some_and(Call::waits_a_moment)
                {
                    seen.enough = seen.told >= MOST;
                    continue;
                }
                seen.enough = true;
                self.uses().entry(*kind).or_insert(ForeignUse { kind: *kind, by, call });
            }
        }
    }

    fn uses(&self) -> MutexGuard<'_, BTreeMap<ForeignKind, ForeignUse>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What tasks did that is not under control.
    pub fn foreign(&self) -> Option<Foreign> {
        let waits = self.waits.get().cloned();
        let only = waits.is_some() && !self.own.load(Ordering::Relaxed);
        let kind = ForeignKind::Futures;
        let mut uses = self.uses().clone();
        if let Some(by) = waits {
            uses.entry(kind).or_insert(ForeignUse { kind, by, call: None });
        }
        let uses: Vec<_> = uses.into_values().collect();
        (!uses.is_empty()).then_some(Foreign { uses, only })
    }
}
