//! SafeStack as a system whose whole state can be had, written by hand.
//!
//! States are canonical: what a worker no longer needs is not in them, and which worker is which
//! does not matter, since all run the same code. Both make states fewer and lose no bug. The
//! numbers that workers write into cells are not stored at all: a worker about to look at its cell
//! knows whether somebody else has written there since.

use std::sync::Arc;

use dally::contract::bug::Object;
use dally::contract::{
    Access, Bug as Found, Captured, Env, Event, Fingerprint, Footprint, Mode, ObjectId, Observe,
    Program, Resource, StateVisitor, Status, Stop, System, Text, Wait, Waiting, WorkerId,
    fingerprint::{self, Encoder},
};

use super::{Bug, ROUNDS};

/// The most workers there can be.
const MOST: usize = 8;

/// The stack, as many cells and as many workers.
#[derive(Clone, Debug)]
pub struct Model {
    size: usize,
    bug: Option<Bug>,
    symmetric: bool,
}

impl Model {
    /// With so many workers, at most 8, and as many cells.
    pub fn new(size: usize, bug: Option<Bug>) -> Model {
        Model { size: size.clamp(1, MOST), bug, symmetric: true }
    }

    /// The same with states in which it matters which worker is which.
    #[must_use]
    pub fn without_symmetry(self) -> Model {
        Model { symmetric: false, ..self }
    }
}

impl Program for Model {
    type System = Running;

    fn start(&self) -> Result<Running, Found> {
        let mut next = [None; MOST];
        for cell in 1..self.size {
            next[cell - 1] = Some(cell as u8);
        }
        let idle = Worker { rounds: 0, doing: Done };
        let mut workers = [idle; MOST];
        workers[..self.size].fill(Worker { rounds: ROUNDS as u8, doing: first(self.bug) });
        let shared = Shared { head: 0, count: self.size as u8, next, locked: false };
        let mut system = Running {
            shared,
            workers,
            enabled: Vec::new(),
            bug: self.bug,
            symmetric: self.symmetric,
        };
        system.relist();
        Ok(system)
    }

    fn granularity(&self) -> &'static str {
        "shared accesses"
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        visitor.copied(self)
    }
}

/// What workers share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Shared {
    head: u8,
    count: u8,
    next: [Option<u8>; MOST],
    /// Somebody is inside an operation, in the correct version.
    locked: bool,
}

/// One worker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Worker {
    /// How often it still pops, this time included.
    rounds: u8,
    doing: Doing,
}

/// The access that a worker is about to make, with what it still needs to know.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Doing {
    /// Takes the lock of the correct version, to pop.
    EnterPop,
    /// Reads the count.
    Count,
    /// Reads the head.
    Head,
    /// Takes the link of the head away.
    TakeLink { head: u8 },
    /// Moves the head to the next cell, if it is still where it was.
    Unlink { head: u8, next: u8 },
    /// Puts the link back.
    Restore { head: u8, next: u8 },
    /// Counts down.
    CountDown { cell: u8 },
    /// Writes its number.
    Write { cell: u8 },
    /// Reads its number, which is there unless somebody has overwritten it.
    Check { cell: u8, overwritten: bool },
    /// Takes the lock of the correct version, to push.
    EnterPush { cell: u8 },
    /// Reads the head, to push.
    PushHead { cell: u8 },
    /// Links its cell to the head.
    Link { cell: u8, head: u8 },
    /// Moves the head to its cell, if it is still where it was.
    Publish { cell: u8, head: u8 },
    /// Counts up.
    CountUp,
    /// Nothing more.
    Done,
}
use Doing::*;

/// How a round begins.
fn first(bug: Option<Bug>) -> Doing {
    if bug.is_none() { EnterPop } else { Count }
}

/// One live execution of a [`Model`].
#[derive(Clone, Debug)]
pub struct Running {
    shared: Shared,
    workers: [Worker; MOST],
    enabled: Vec<WorkerId>,
    bug: Option<Bug>,
    symmetric: bool,
}

/// Shared variables as objects: the head, the count, the lock, then links and values by cell.
const HEAD: u32 = 0;
const COUNT: u32 = 1;
const LOCK: u32 = 2;

fn link(cell: u8) -> u32 {
    3 + u32::from(cell)
}

fn value(cell: u8) -> u32 {
    3 + MOST as u32 + u32::from(cell)
}

impl Doing {
    /// The access that it is about, and in words.
    fn access(self) -> (Access, &'static str) {
        let (number, mode, what) = match self {
            EnterPop | EnterPush { .. } => (LOCK, Mode::Write, "lock the stack"),
            Count => (COUNT, Mode::Read, "read the count"),
            Head | PushHead { .. } => (HEAD, Mode::Read, "read the head"),
            TakeLink { head } => (link(head), Mode::Write, "take the head's link away"),
            Unlink { .. } => (HEAD, Mode::Write, "move the head to the next cell, or see why not"),
            Restore { head, .. } => (link(head), Mode::Write, "put the link back"),
            CountDown { .. } => (COUNT, Mode::Write, "count down"),
            Write { cell } => (value(cell), Mode::Write, "write its number"),
            Check { cell, .. } => (value(cell), Mode::Read, "read its number"),
            Link { cell, .. } => (link(cell), Mode::Write, "link its cell to the head"),
            Publish { .. } => (HEAD, Mode::Write, "move the head to its cell, or see why not"),
            CountUp | Done => (COUNT, Mode::Write, "count up"),
        };
        let object = ObjectId { creator: WorkerId::root(0), number };
        (Access::new(Resource::Object(object), mode), what)
    }

    fn needs_lock(self) -> bool {
        matches!(self, EnterPop | EnterPush { .. })
    }
}

impl Running {
    fn relist(&mut self) {
        self.enabled.clear();
        for (place, worker) in self.workers.iter().enumerate() {
            let waits = worker.doing.needs_lock() && self.shared.locked;
            if worker.doing != Done && !waits {
                self.enabled.push(WorkerId::root(place as u32));
            }
        }
    }

    fn place(worker: WorkerId) -> usize {
        (0..MOST).find(|&place| WorkerId::root(place as u32) == worker).unwrap_or_default()
    }

    /// Makes the access that the worker is about to make; answers what it does next.
    fn access(&mut self, place: usize) -> Doing {
        let Running { shared, bug, .. } = self;
        let release = |shared: &mut Shared| shared.locked = false;
        match self.workers[place].doing {
            EnterPop => {
                shared.locked = true;
                Count
            }
            Count if shared.count > 1 => Head,
            Count => {
                release(shared);
                first(*bug)
            }
            Head => TakeLink { head: shared.head },
            TakeLink { head } => match shared.next[usize::from(head)].take() {
                Some(next) => Unlink { head, next },
                None => Count,
            },
            Unlink { head, next } if shared.head == head => {
                shared.head = next;
                CountDown { cell: head }
            }
            Unlink { head, next } => Restore { head, next },
            Restore { head, next } => {
                shared.next[usize::from(head)] = Some(next);
                Count
            }
            CountDown { cell } => {
                shared.count -= 1;
                release(shared);
                Write { cell }
            }
            Write { cell } => {
                for other in &mut self.workers {
                    if let Check { cell: theirs, overwritten } = &mut other.doing {
                        *overwritten |= *theirs == cell;
                    }
                }
                Check { cell, overwritten: false }
            }
            Check { cell, .. } if bug.is_none() => EnterPush { cell },
            Check { cell, .. } => PushHead { cell },
            EnterPush { cell } => {
                shared.locked = true;
                PushHead { cell }
            }
            PushHead { cell } => Link { cell, head: shared.head },
            Link { cell, head } => {
                shared.next[usize::from(cell)] = Some(head);
                Publish { cell, head }
            }
            Publish { cell, head } if shared.head == head => {
                shared.head = cell;
                CountUp
            }
            Publish { cell, .. } => Link { cell, head: shared.head },
            CountUp => {
                shared.count += 1;
                release(shared);
                let worker = &mut self.workers[place];
                worker.rounds -= 1;
                if worker.rounds == 0 { Done } else { first(*bug) }
            }
            Done => Done,
        }
    }

    /// Workers in an order that does not depend on who is who.
    fn canonical(&self) -> [Worker; MOST] {
        let mut workers = self.workers;
        if self.symmetric {
            workers.sort_unstable();
        }
        workers
    }
}

impl System for Running {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        // It may leave the lock, and its cell may be the one that another is about to look at.
        out.begin_unknown(worker);
        out.add(self.workers[Running::place(worker)].doing.access().0);
    }

    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let place = Running::place(worker);
        let doing = self.workers[place].doing;
        let (access, what) = doing.access();
        env.event(Event::Accessed { access, what: Text::Str(what) })?;
        if let Check { overwritten: true, .. } = doing {
            let bug = Found::panic("two workers have the same cell");
            return Err(bug.by("Worker").into());
        }
        self.workers[place].doing = self.access(place);
        self.relist();
        Ok(())
    }

    fn status(&self) -> Status {
        if !self.enabled.is_empty() {
            return Status::Running;
        }
        let waiting = |(place, _): (usize, &Worker)| Waiting {
            worker: WorkerId::root(place as u32),
            name: "Worker".into(),
            on: vec![Wait {
                operation: "lock".into(),
                payload: Vec::new(),
                object: Some(Object { kind: "stack".into(), id: String::new() }),
                place: None,
            }],
            woken_outside: false,
        };
        let waits = self.workers.iter().enumerate().filter(|(_, worker)| worker.doing != Done);
        let waits: Vec<_> = waits.map(waiting).collect();
        if waits.is_empty() { Status::Done } else { Status::Stuck(waits) }
    }

    fn observe(&self, how: Observe) -> Option<u64> {
        Some(match how {
            Observe::Inboxes => {
                let mut bytes = Vec::new();
                Encoder::encode(&self.shared, &mut bytes);
                fingerprint::of_bytes(&bytes)
            }
            _ => self.hash(),
        })
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(Fingerprint(self.hash()))
    }

    fn name(&self, _: WorkerId) -> String {
        "Worker".into()
    }
}

impl Running {
    /// A hash of the whole state.
    fn hash(&self) -> u64 {
        let mut bytes = Vec::with_capacity(128);
        self.encode(&mut bytes);
        fingerprint::of_bytes(&bytes)
    }
}

impl Captured for Running {
    fn encode(&self, out: &mut Vec<u8>) {
        Encoder::encode(&self.shared, out);
        Encoder::encode(&self.canonical(), out);
    }

    fn fork(&self) -> Running {
        self.clone()
    }

    fn restore_from(&mut self, saved: &Running) {
        let enabled = std::mem::take(&mut self.enabled);
        *self = Running { enabled, ..*saved };
        self.enabled.clone_from(&saved.enabled);
    }
}
