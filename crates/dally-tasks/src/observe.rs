//! What strategies that learn see of an execution, and what a program shows to them.

use std::hash::{Hash, Hasher};

use dally_core::{Access, Mode, Observe, Resource, WorkerId, fingerprint};

use crate::current;
use crate::exec::{Exec, Task};

/// Shows this value of the running task to strategies that learn from the program's own
/// observations (`ql-c`), until the task shows another. Show where the task stands in what
/// matters: a phase, a count, what it believes of the others. The program goes on as before.
///
/// ```
/// use dally_tasks::{TaskProgram, observe, sync::mpsc};
///
/// TaskProgram::new("progress", || async {
///     let (tx, mut rx) = mpsc::channel(8);
///     tx.send(7).await.unwrap();
///     let mut matched = 0;
///     while let Ok(7) = rx.try_recv() {
///         matched += 1;
///         observe(&matched);
///     }
/// });
/// ```
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn observe<T: Hash + ?Sized>(value: &T) {
    let hash = hash(value);
    current::with("`observe`", |exec| {
        let task = exec.tasks[exec.current].id;
        // Which of two tasks shows a value is left out of what is seen.
        exec.shown.show(Showing::Task(task), fingerprint::part(0, hash));
    });
}

/// As [`observe`], for something that tasks share: all of them show one value under this name,
/// and the last one counts.
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn observe_shared<T: Hash + ?Sized>(name: &str, value: &T) {
    let name = fingerprint::of_bytes(name.as_bytes());
    let hash = hash(value);
    current::with("`observe_shared`", |exec| {
        exec.shown.show(Showing::Shared(name), fingerprint::part(name, hash));
    });
}

/// Leaves what channels and locks hold out of the program's own observations: from here on they are
/// what [`observe`] and [`observe_shared`] show, and nothing else.
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn observe_only_shown() {
    current::with("`observe_only_shown`", |exec| exec.shown.only = true);
}

/// Calls the present step rare: one in which the test injects a failure, such as a message that
/// takes a server down. Say so right after it. Where a strategy that learns has seen that once, it
/// seldom does it again, so that the failure comes at other moments (OPT-2 of Mukherjee et al.,
/// "Learning-Based Controlled Concurrency Testing"). Other strategies do not care.
///
/// ```
/// use dally_tasks::{TaskProgram, rare, sync::mpsc};
///
/// TaskProgram::new("fail-over", || async {
///     let (control, _commands) = mpsc::channel(1);
///     control.send("fail").await.unwrap();
///     rare();
/// });
/// ```
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn rare() {
    current::with("`rare`", |exec| exec.rare = true);
}

/// Whose value is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Showing {
    Task(WorkerId),
    Shared(u64),
}

/// What a program shows of itself.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Each value by its share in an observation.
    shares: Vec<(Showing, u64)>,
    /// Whether nothing else is observed.
    pub only: bool,
}

impl Shown {
    /// Shows a value with this share in an observation in place of the one before.
    pub fn show(&mut self, whose: Showing, share: u64) {
        match self.shares.iter_mut().find(|shown| shown.0 == whose) {
            Some(shown) => shown.1 = share,
            None => self.shares.push((whose, share)),
        }
    }

    /// All of it, in no order.
    pub fn sum(&self) -> u64 {
        self.shares.iter().fold(0, |sum, shown| sum.wrapping_add(shown.1))
    }

    /// An execution begins, which has shown nothing yet.
    pub fn clear(&mut self) {
        self.shares.clear();
        self.only = false;
    }
}

fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut words = Words(0);
    value.hash(&mut words);
    words.0
}

/// Hashes every number as a word.
struct Words(u64);

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        self.write_u64(fingerprint::of_bytes(bytes));
    }
    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }
    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = fingerprint::mix(self.0, number);
    }
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

impl Exec {
    /// A sum over objects, tasks and armed timers. Ids of tasks are left out: who has locked an
    /// object or armed a timer is told by where that task stands.
    pub fn observe(&self, how: Observe) -> u64 {
        if how == Observe::Custom && self.shown.only {
            return self.shown.sum();
        }
        let tasks = self.tasks.live();
        let objects = self.objects.iter().fold(0u64, |sum, held| {
            let name = fingerprint::mix(held.id.creator.to_bits(), u64::from(held.id.number));
            let holder = held.holder.filter(|_| how == Observe::Control);
            let holder = holder.map_or(0, |holder| control(&tasks[holder as usize]));
            sum.wrapping_add(fingerprint::part(name, held.amount.wrapping_add(holder)))
        });
        let rest = match how {
            Observe::Inboxes => 0,
            Observe::Control => {
                let stand = tasks.iter().map(control);
                let armed = self.armed().map(|owner| fingerprint::mix(control(owner), 1));
                stand.chain(armed).fold(0, u64::wrapping_add)
            }
            Observe::Custom => self.shown.sum(),
        };
        objects.wrapping_add(rest)
    }
}

/// A hash of where a task stands: what it is, its state, what it is about to do or what it waits
/// for.
fn control(task: &Task) -> u64 {
    let state = task.state as u64;
    let (kind, object) = match task.pending() {
        Some(Access { resource: Resource::Object(object), mode, .. }) => {
            (if mode == Mode::Read { 1 } else { 2 }, Some(object))
        }
        _ => (0, None),
    };
    let waits = task.waits.iter().fold(0u64, |sum, wait| {
        let id = wait.object.id;
        sum.wrapping_add(fingerprint::part(id.creator.to_bits(), u64::from(id.number)))
    });
    let object =
        object.map_or(0, |id| fingerprint::part(id.creator.to_bits(), u64::from(id.number)));
    let stands = fingerprint::mix(fingerprint::mix(state << 2 | kind, object), waits);
    fingerprint::mix(task.kind, stands)
}
