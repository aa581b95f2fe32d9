//! One execution: its tasks, timers and objects, and which of them can step.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::Duration;

use dally_core::{Access, Bug, Env, Event, Monitors, ObjectId, Op, Text, WorkerId};

use crate::join;
use crate::observe::Showing;
use crate::roster::{Roster, Who};
use crate::text::{CLOCK, Deed, Kind, Object, TaskName, WAKERS, Wait, Waits};
use crate::waker::{Shared, TaskWaker};

/// What is polled.
pub(crate) type BoxFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Where an execution is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// The program's closure makes the main task.
    Setup,
    /// Tasks step.
    Step,
    /// Destructors run; nothing is scheduled any more.
    TearDown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Enabled: its next step polls it.
    Runnable,
    Running,
    Blocked,
    Finished,
}

pub(crate) struct Task {
    pub id: WorkerId,
    pub name: TaskName,
    /// A hash of the name.
    pub kind: u64,
    pub state: State,
    /// Its next step drops the future.
    pub aborted: bool,
    /// Woken, by itself or by others, since its poll began.
    pub ready: bool,
    /// What it does next or waits for: of the last poll.
    op: Op,
    ops: u32,
    pub waits: Vec<Wait>,
    wake: Arc<TaskWaker>,
    children: u32,
    objects: u32,
    timers: u32,
}

impl Task {
    /// Notes an operation that the task stands before. Before several it may do any of them.
    #[inline]
    pub fn announce(&mut self, op: Op) {
        self.op = if self.ops == 0 { op } else { Op::Unknown };
        self.ops += 1;
    }

    /// What its next step does first.
    pub fn pending(&self) -> Op {
        if self.ops == 0 || self.aborted { Op::Unknown } else { self.op }
    }

    /// Whether this waker is the task's own and not one that a combinator put in between.
    #[inline]
    pub fn owns(&self, waker: &Waker) -> bool {
        waker.data() == Arc::as_ptr(&self.wake).cast()
    }

    /// Another waker of its own.
    pub fn waker(&self) -> Waker {
        Waker::from(self.wake.clone())
    }

    #[inline]
    fn begin_poll(&mut self) {
        self.state = State::Running;
        self.ready = false;
        self.ops = 0;
        self.waits.clear();
    }
}

/// A timer that is armed, or has fired and is still held by its `Sleep`.
#[derive(Debug)]
pub(crate) struct Timer {
    pub id: WorkerId,
    pub owner: WorkerId,
    pub deadline: Duration,
    pub fired: bool,
    pub waker: Option<Waker>,
}

/// What an object holds, as far as observations go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub id: ObjectId,
    /// How many messages or permits; 1 for a lock that is taken.
    pub amount: u64,
    /// The task that has locked it, by its place.
    pub holder: Option<u32>,
}

/// What happened in the running step and is not told yet: plain words, turned into events when
/// the step ends. Telling at once would cost a thread-local and a virtual call for each.
#[derive(Debug)]
pub(crate) enum Told {
    Created(usize),
    Enabled(WorkerId),
    Touched(Object, Access, &'static Deed),
    TimerSet(WorkerId, Duration),
    TimerCancelled(WorkerId),
    /// The task of this place waits.
    Blocked(usize),
    Halted(WorkerId),
}

pub(crate) struct Exec {
    /// Which execution this is, of all in this process: compared for equality only.
    pub run: u64,
    /// Counts steps and is never reset, so that a stamp of an earlier execution equals none.
    pub steps: u64,
    pub phase: Phase,
    /// The task that runs.
    pub current: usize,
    /// Virtual time since the start.
    pub now: Duration,
    /// How much has happened in the running step that the environment does not know yet.
    pub untold: u32,
    /// The same in words, while somebody listens.
    told: Vec<Told>,
    /// Whether somebody listens to the running step.
    listened: bool,
    /// So much may stay untold.
    pub leeway: u32,
    /// The environment has had enough of this step.
    pub cut: bool,
    /// A bug that an operation met while the program's code was running.
    pub bug: Option<Box<Bug>>,
    pub monitors: Monitors,
    /// How many seals are held.
    pub seals: u32,
    /// A combinator has put a waker of its own in between.
    pub linked: bool,
    pub roster: Roster,
    /// The tasks in the order of their creation; those beyond `live` are memory of earlier
    /// executions, kept for reuse.
    pub tasks: Vec<Task>,
    pub live: usize,
    /// The futures of the tasks that were spawned last: whoever polls takes them.
    pub spawned: Vec<BoxFuture>,
    pub timers: Vec<Timer>,
    free_timers: Vec<usize>,
    /// For observations.
    pub objects: Vec<Held>,
    /// What the program shows of itself, with its share in an observation.
    shown: Vec<(Showing, u64)>,
    pub shared: Arc<Shared>,
}

impl Exec {
    pub fn new() -> Exec {
        Exec {
            run: 0,
            steps: 1,
            phase: Phase::TearDown,
            current: 0,
            now: Duration::ZERO,
            untold: 0,
            told: Vec::new(),
            listened: false,
            leeway: 0,
            cut: false,
            bug: None,
            monitors: Monitors::default(),
            seals: 0,
            linked: false,
            roster: Roster::new(),
            tasks: Vec::new(),
            live: 0,
            spawned: Vec::new(),
            timers: Vec::new(),
            free_timers: Vec::new(),
            objects: Vec::new(),
            shown: Vec::new(),
            shared: Arc::default(),
        }
    }

    /// Begins an execution with the main task.
    pub fn begin(&mut self) {
        static RUNS: AtomicU64 = AtomicU64::new(1);
        self.run = RUNS.fetch_add(1, Ordering::Relaxed);
        self.phase = Phase::Setup;
        self.now = Duration::ZERO;
        self.told.clear();
        self.cut = false;
        // A wake from outside that came after the last step of the execution before.
        self.shared.take_foreign();
        self.bug = None;
        (self.seals, self.linked) = (0, false);
        self.live = 0;
        self.roster.clear();
        self.timers.clear();
        self.free_timers.clear();
        self.objects.clear();
        self.shown.clear();
        self.current = self.add(WorkerId::root(0), TaskName::Main);
    }

    /// A new task of the running one; its future is not polled before its first step.
    pub fn spawn(&mut self, name: TaskName, future: BoxFuture) -> usize {
        let parent = &mut self.tasks[self.current];
        let id = parent.id.child(parent.children);
        parent.children += 1;
        self.spawned.push(future);
        self.add(id, name)
    }

    fn add(&mut self, id: WorkerId, name: TaskName) -> usize {
        let index = self.live;
        self.live += 1;
        if index == self.tasks.len() {
            self.tasks.push(Task {
                id,
                kind: name.kind(),
                name,
                state: State::Runnable,
                aborted: false,
                ready: false,
                op: Op::Unknown,
                ops: 0,
                waits: Vec::new(),
                wake: TaskWaker::new(index, &self.shared),
                children: 0,
                objects: 0,
                timers: 0,
            });
        } else {
            let shared = &self.shared;
            let task = &mut self.tasks[index];
            // A clone that outlived its execution must not wake a task of this one. Two are
            // expected: this one, and that of the body.
            if Arc::strong_count(&task.wake) > 2 {
                task.wake = TaskWaker::new(index, shared);
            }
            task.id = id;
            // Mostly it is what it was in the execution before.
            if !task.name.is(&name) {
                task.kind = name.kind();
                task.name = name;
            }
            task.state = State::Runnable;
            task.aborted = false;
            task.ready = false;
            task.ops = 0;
            task.waits.clear();
            (task.children, task.objects, task.timers) = (0, 0, 0);
        }
        self.tasks[index].wake.revive();
        self.roster.meet(id, Who::Task(index));
        index
    }

    pub fn object(&mut self, kind: Kind) -> Object {
        let task = &mut self.tasks[self.current];
        let id = ObjectId { creator: task.id, number: task.objects };
        task.objects += 1;
        let index = self.objects.len() as u32;
        self.objects.push(Held { id, amount: 0, holder: None });
        Object { id, kind, run: self.run, index }
    }

    /// The virtual clock as an object: firing a timer writes it.
    pub fn clock(&self) -> Object {
        self.only(Kind::Clock, CLOCK)
    }

    /// The wakers of combinators as an object. Such a waker notes in memory of its own which
    /// future is to be polled, in the order of the wakes, so these have an order.
    pub fn wakers(&self) -> Object {
        self.only(Kind::Wakers, WAKERS)
    }

    fn only(&self, kind: Kind, number: u32) -> Object {
        let id = ObjectId { creator: WorkerId::root(0), number };
        Object { id, kind, run: self.run, index: u32::MAX }
    }

    /// Notes how much an object holds, for observations.
    #[inline]
    pub fn holds(&mut self, object: &Object, amount: usize) {
        self.held(object, amount as u64, None);
    }

    /// Notes that the running task has locked an object, for observations.
    #[inline]
    pub fn locks(&mut self, object: &Object) {
        self.held(object, 1, Some(self.current as u32));
    }

    #[inline]
    fn held(&mut self, object: &Object, amount: u64, holder: Option<u32>) {
        if object.run == self.run
            && let Some(held) = self.objects.get_mut(object.index as usize)
        {
            (held.amount, held.holder) = (amount, holder);
        }
    }

    /// Shows a value with this share in an observation in place of the one before.
    pub fn show(&mut self, whose: Showing, share: u64) {
        match self.shown.iter_mut().find(|shown| shown.0 == whose) {
            Some(shown) => shown.1 = share,
            None => self.shown.push((whose, share)),
        }
    }

    /// What the program shows of itself, in no order.
    pub fn shown(&self) -> u64 {
        self.shown.iter().fold(0, |sum, shown| sum.wrapping_add(shown.1))
    }

    /// Notes what happened, to be told when the step ends. Only steps tell.
    #[inline]
    pub fn tell(&mut self, told: impl FnOnce() -> Told) {
        if self.phase == Phase::Step {
            self.untold += 1;
            if self.listened {
                self.told.push(told());
            }
        }
    }

    /// Notes that a shared object was touched, without words for readers.
    #[inline]
    pub fn brush(&mut self, object: &Object, access: Access) {
        self.touch(object, access, Deed::SILENT);
    }

    /// Notes that a shared object was touched.
    #[inline]
    pub fn touch(&mut self, object: &Object, access: Access, deed: &'static Deed) {
        self.tell(|| Told::Touched(*object, access, deed));
    }

    /// Tells what has happened so far; remembers if the environment has had enough.
    #[inline]
    pub fn flush(&mut self, env: &mut dyn Env) {
        if self.untold > self.leeway {
            self.tell_all(env);
        }
    }

    #[cold]
    fn tell_all(&mut self, env: &mut dyn Env) {
        let untold = std::mem::take(&mut self.untold);
        if !self.listened {
            // The environment counts from here on.
            self.leeway = 0;
            self.cut |= env.unheard(untold).is_err();
            return;
        }
        for told in &self.told {
            let answer = match told {
                Told::Touched(object, access, deed) => {
                    let what = deed.of(object);
                    let (object, access) = (object.id, *access);
                    env.event(Event::Accessed { object, access, what: Text::Display(&what) })
                }
                Told::Created(task) => {
                    let task = &self.tasks[*task];
                    let name = Text::Display(&task.name);
                    env.event(Event::Created { worker: task.id, name })
                }
                Told::Enabled(worker) => env.event(Event::Enabled { worker: *worker }),
                Told::TimerSet(timer, deadline) => {
                    let text = format_args!("wakes at {deadline:?}");
                    env.event(Event::TimerSet { timer: *timer, payload: Text::Display(&text) })
                }
                Told::TimerCancelled(timer) => env.event(Event::TimerCancelled { timer: *timer }),
                Told::Blocked(task) => {
                    let waits = Waits(&self.tasks[*task].waits);
                    env.event(Event::Blocked { on: Text::Display(&waits) })
                }
                Told::Halted(worker) => env.event(Event::Halted { worker: *worker }),
            };
            if answer.is_err() {
                self.cut = true;
                break;
            }
        }
        self.told.clear();
    }

    /// Notes that a primitive was polled with this waker: a combinator's own is touched by that.
    #[inline]
    pub fn link(&mut self, waker: &Waker) {
        if !self.tasks[self.current].owns(waker) {
            self.linked = true;
            let wakers = self.wakers();
            self.brush(&wakers, Access::Write);
        }
    }

    /// Notes what the running task waits for if this poll leaves it blocked; `waker` is what
    /// the primitive has kept.
    #[inline]
    pub fn wait(&mut self, wait: Wait, op: Op, waker: &Waker) {
        if self.phase == Phase::Step {
            self.link(waker);
            let task = &mut self.tasks[self.current];
            task.announce(op);
            task.waits.push(wait);
        }
    }

    /// Makes a task run again.
    #[inline]
    pub fn wake(&mut self, index: usize) {
        if self.phase == Phase::TearDown {
            return;
        }
        let task = &mut self.tasks[index];
        task.ready = true;
        if task.state == State::Blocked {
            task.state = State::Runnable;
            let id = task.id;
            self.roster.enable(id);
            self.tell(|| Told::Enabled(id));
        }
    }

    /// Asks a task to end at its next step.
    pub fn abort(&mut self, index: usize) {
        let result = join::result_of(self.tasks[index].id, self.run);
        self.touch(&result, Access::Write, const { &Deed::plain("abort") });
        let task = &mut self.tasks[index];
        if task.state != State::Finished {
            task.aborted = true;
            self.wake(index);
        }
    }

    /// Begins a step.
    #[inline]
    pub fn begin_step(&mut self, env: &dyn Env) {
        self.steps += 1;
        self.untold = 0;
        self.monitors.begin_step();
        self.leeway = env.leeway();
        self.listened = self.leeway == 0;
    }

    /// Begins the step of a task; answers whether it is aborted.
    #[inline]
    pub fn begin_poll(&mut self, index: usize) -> bool {
        self.current = index;
        let task = &mut self.tasks[index];
        task.begin_poll();
        task.aborted
    }

    /// The running task returned pending; answers whether it is blocked.
    #[inline]
    pub fn end_poll(&mut self) -> bool {
        let task = &mut self.tasks[self.current];
        // Aborting itself takes effect at the next step, like a waker of its own.
        let blocked = !task.ready && !task.aborted;
        task.state = if blocked { State::Blocked } else { State::Runnable };
        if blocked {
            let id = task.id;
            self.roster.disable(id);
        }
        blocked
    }

    /// The running task is over.
    pub fn finish(&mut self) {
        let task = &mut self.tasks[self.current];
        task.state = State::Finished;
        task.waits.clear();
        let id = task.id;
        if self.current == 0 {
            // Like `block_on`: the others are dropped where they stand.
            self.roster.enabled.clear();
        } else {
            self.roster.disable(id);
        }
        let result = join::result_of(id, self.run);
        self.touch(&result, Access::Write, const { &Deed::plain("end") });
        self.tell(|| Told::Halted(id));
    }

    /// Arms a timer of the running task.
    pub fn arm(&mut self, deadline: Duration, waker: Waker) -> usize {
        let task = &mut self.tasks[self.current];
        let id = task.id.timer(task.timers);
        task.timers += 1;
        let timer = Timer { id, owner: task.id, deadline, fired: false, waker: Some(waker) };
        let index = match self.free_timers.pop() {
            Some(index) => {
                self.timers[index] = timer;
                index
            }
            None => {
                self.timers.push(timer);
                self.timers.len() - 1
            }
        };
        self.roster.meet(id, Who::Timer(index));
        index
    }

    /// Fires a timer: time is now at least its deadline. Answers whom to wake.
    pub fn fire(&mut self, index: usize) -> Option<Waker> {
        let timer = &mut self.timers[index];
        timer.fired = true;
        self.now = self.now.max(timer.deadline);
        let (id, waker) = (timer.id, timer.waker.take());
        self.roster.disable(id);
        waker
    }

    /// The `Sleep` of a timer is gone; answers the timer's id if it was still armed, and the
    /// waker, whose destructor may be the program's.
    pub fn disarm(&mut self, index: usize) -> (Option<WorkerId>, Option<Waker>) {
        let timer = &mut self.timers[index];
        let (id, fired, waker) = (timer.id, timer.fired, timer.waker.take());
        self.free_timers.push(index);
        self.roster.forget(id);
        if fired || self.phase == Phase::TearDown {
            return (None, waker);
        }
        self.roster.disable(id);
        (Some(id), waker)
    }

    /// For each timer that can fire the task that has armed it.
    pub fn armed(&self) -> impl Iterator<Item = &Task> {
        let timers = self.roster.all().filter_map(|(_, who)| match who {
            Who::Timer(index) => Some(&self.timers[index]),
            Who::Task(_) => None,
        });
        timers.filter(|timer| !timer.fired).filter_map(|timer| {
            match self.roster.who(timer.owner)? {
                Who::Task(index) => Some(&self.tasks[index]),
                Who::Timer(_) => None,
            }
        })
    }

    /// The place of a task with this id, if a guess finds it.
    #[inline]
    fn guess(&self, worker: WorkerId) -> Option<usize> {
        let index = self.roster.guess(worker);
        (index < self.live && self.tasks.get(index)?.id == worker).then_some(index)
    }

    /// Who a worker is.
    #[inline]
    pub fn who(&self, worker: WorkerId) -> Option<Who> {
        match self.guess(worker) {
            Some(index) => Some(Who::Task(index)),
            None => self.roster.who(worker),
        }
    }

    /// Whether a worker can step.
    #[inline]
    pub fn is_enabled(&self, worker: WorkerId) -> bool {
        match self.guess(worker) {
            // When the main task is over, others may be left that could have gone on.
            Some(index) => {
                self.tasks[index].state == State::Runnable && !self.roster.enabled.is_empty()
            }
            None => worker.place_in(&self.roster.enabled).is_ok(),
        }
    }

    /// No waker of this execution does anything from here on, and nothing is cut any more:
    /// destructors run to their end.
    pub fn silence(&mut self) {
        self.phase = Phase::TearDown;
        self.cut = false;
        self.told.clear();
        self.roster.enabled.clear();
        for task in &self.tasks[..self.live] {
            task.wake.silence();
        }
    }
}
