//! Whether Dally has anything to explore in a program, and what it does that is not under control.

use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use dally_core::{Call, Foreign, ForeignKind, ForeignUse};

use crate::exec::Exec;

/// How many calls of each kind are kept: of locks that were held for a moment, which are not told, there may be several
/// first.
const MOST: usize = 8;

/// What tasks have done that is not under control, as it was met.
#[derive(Default)]
pub(crate) struct Uses {
    /// How many there were of each kind.
    seen: BTreeMap<ForeignKind, usize>,
    /// Those that were not told yet.
    new: Vec<Met>,
    /// Where the last copy of a waker was made, and in which step.
    pub copied: Option<(u64, Arc<Backtrace>)>,
    /// In how many executions it was looked at who makes copies of wakers.
    watched: usize,
}

/// A task has done something of a kind by a call. The names of functions are read when they are asked for, since that
/// takes longer than a step may.
struct Met {
    kind: ForeignKind,
    by: String,
    call: Arc<Backtrace>,
}

impl Uses {
    /// Whether one more of this kind is to be looked at.
    #[cfg_attr(
        not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64", not(miri))),
        expect(dead_code)
    )]
    pub fn wants(&self, kind: ForeignKind) -> bool {
        self.seen.get(&kind).is_none_or(|seen| *seen < MOST)
    }

    /// The running task waits for a foreign future: by the call that has kept its waker in this step.
    #[cold]
    pub fn waits(&mut self, step: u64, by: impl FnOnce() -> String) {
        if let Some((_, call)) = self.copied.take().filter(|(then, _)| *then == step) {
            self.note(ForeignKind::Futures, by(), call);
        }
    }

    /// A task has done this by this call.
    pub fn note(&mut self, kind: ForeignKind, by: String, call: Arc<Backtrace>) {
        *self.seen.entry(kind).or_default() += 1;
        self.new.push(Met { kind, by, call });
    }
}

/// What the executions of a program have done.
#[derive(Default)]
pub(crate) struct Control {
    /// The first task that waited for a future that is none of Dally's.
    waits: OnceLock<String>,
    /// By which calls they have done something that is not under control.
    met: Mutex<Vec<Met>>,
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
        if !exec.uses.new.is_empty() {
            self.met().append(&mut exec.uses.new);
        }
        if exec.waited_for_foreign.is_some() || exec.shared.watched.load(Ordering::Relaxed) {
            self.watch(exec);
        }
    }

    /// Whoever waits for foreign futures does so at a place, which is seen in the executions after the first.
    #[cold]
    fn watch(&self, exec: &mut Exec) {
        let uses = &mut exec.uses;
        let known = uses.seen.contains_key(&ForeignKind::Futures);
        let wanted = !known && uses.watched < MOST;
        uses.watched += usize::from(wanted);
        exec.shared.watched.store(wanted, Ordering::Relaxed);
        exec.uses.copied = None;
    }

    fn met(&self) -> MutexGuard<'_, Vec<Met>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What tasks did that is not under control: the first use of each kind that counts.
    pub fn foreign(&self) -> Option<Foreign> {
        let mut uses = BTreeMap::new();
        for Met { kind, by, call } in &*self.met() {
            if uses.contains_key(kind) {
                continue;
            }
            let call = Call::of(call);
            // Other tests of the process may hold a lock for a moment.
            let is_nothing =
                *kind != ForeignKind::Futures && call.as_ref().is_some_and(Call::waits_a_moment);
            if !is_nothing {
                uses.insert(*kind, ForeignUse { kind: *kind, by: by.clone(), call });
            }
        }
        let waits = self.waits.get().cloned();
        let only = waits.is_some() && !self.own.load(Ordering::Relaxed);
        if let Some(by) = waits {
            let kind = ForeignKind::Futures;
            uses.entry(kind).or_insert(ForeignUse { kind, by, call: None });
        }
        let uses: Vec<_> = uses.into_values().collect();
        (!uses.is_empty()).then_some(Foreign { uses, only })
    }
}
