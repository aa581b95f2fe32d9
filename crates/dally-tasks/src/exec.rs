//! One execution: its life, its steps, and which of its workers can step.

use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use dally_core::{Access, Bug, Env, Mode, Monitors, Resource, WorkerId};

use crate::control::Uses;
use crate::join;
use crate::join::Unwinding;
use crate::model::Model;
use crate::observe::Shown;
use crate::platform;
use crate::roster::{Roster, Who};
use crate::text::{Operation, TaskName, Wait};
use crate::waker::Shared;

mod hosts;
mod objects;
mod pending_events;
mod tasks;
mod timers;

pub(crate) use hosts::{Hosts, Link, OWN_HOST};
pub(crate) use objects::Held;
pub(crate) use pending_events::{PendingEvent, PendingEvents};
pub(crate) use tasks::{State, Task, Tasks};
pub(crate) use timers::Timers;

/// What is polled.
pub(crate) type BoxFuture = Pin<Box<dyn Future<Output = ()>>>;

/// Where an execution is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// There is none: code runs that nobody schedules.
    Outside,
    /// The program's closure makes the main task.
    Setup,
    /// Tasks step.
    Step,
    /// Nothing is scheduled any more. A poll that was suspended runs to its end.
    GivingUp,
    /// Nothing is scheduled any more. Destructors run.
    TearDown,
}

impl Phase {
    /// Whether nothing is scheduled any more.
    #[inline]
    pub fn is_over(self) -> bool {
        matches!(self, Phase::GivingUp | Phase::TearDown)
    }
}

/// How many operations a poll may try when its execution is over. A program may do so without end,
/// because none of them is ever ready.
const PATIENCE: u32 = 10_000;

pub(crate) struct Exec {
    /// Which execution this is, of all in this process: compared for equality only.
    pub run: u64,
    /// Counts steps and is never reset, so that a stamp of an earlier execution equals none.
    pub steps: u64,
    pub phase: Phase,
    /// The task that runs.
    pub current: usize,
    /// The code that runs is that of a poll, which can be suspended.
    pub polling: bool,
    /// The task that runs was woken, and has not yet done what it waited for.
    woken: bool,
    /// How many operations a poll has tried since the execution was over.
    given_up: u32,
    pub pending: PendingEvents,
    /// The environment has had enough of this step.
    pub cut: bool,
    /// A bug that an operation met while the program's code was running.
    pub bug: Option<Box<Bug>>,
    /// The result of the task whose poll unwinds.
    pub unwinding: Option<Arc<dyn Unwinding>>,
    pub model: Model,
    pub monitors: Monitors,
    /// Who is asked and told in this step: see `current`.
    pub env: Option<NonNull<dyn Env>>,
    /// How many seals are held.
    pub seals: u32,
    /// Whether the last step did what the program calls rare.
    pub rare: bool,
    /// A combinator has put a waker of its own in between, in some task.
    pub linked: bool,
    /// The first task that waited for a future that is none of Dally's.
    pub waited_for_foreign: Option<usize>,
    /// What tasks did in this execution and in those before that is not under control.
    pub uses: Uses,
    /// The step in which the system's clock was read last.
    pub clock_read_in: u64,
    /// The state of the random numbers that the system is asked for, once it was.
    pub random: Option<u64>,
    pub roster: Roster,
    pub tasks: Tasks,
    /// The futures of the tasks that were spawned last: whoever polls takes them.
    pub spawned: Vec<BoxFuture>,
    pub timers: Timers,
    pub hosts: Hosts,
    /// For observations.
    pub objects: Vec<Held>,
    pub shown: Shown,
    pub shared: Arc<Shared>,
}

impl Exec {
    pub fn new() -> Exec {
        Exec {
            run: 0,
            steps: 1,
            phase: Phase::TearDown,
            current: 0,
            polling: false,
            woken: false,
            given_up: 0,
            pending: PendingEvents::default(),
            cut: false,
            bug: None,
            unwinding: None,
            model: Model::default(),
            monitors: Monitors::default(),
            env: None,
            seals: 0,
            rare: false,
            linked: false,
            waited_for_foreign: None,
            uses: Uses::default(),
            clock_read_in: 0,
            random: None,
            roster: Roster::new(),
            tasks: Tasks::default(),
            spawned: Vec::new(),
            timers: Timers::default(),
            hosts: Hosts::default(),
            objects: Vec::new(),
            shown: Shown::default(),
            shared: Arc::default(),
        }
    }

    /// What stands for an execution where there is none.
    pub fn outside() -> Exec {
        let mut exec = Exec::new();
        exec.begin(Model::default());
        (exec.run, exec.phase) = (0, Phase::Outside);
        exec
    }

    /// Begins an execution with the main task.
    pub fn begin(&mut self, model: Model) {
        self.model = model;
        static RUNS: AtomicU64 = AtomicU64::new(1);
        self.run = RUNS.fetch_add(1, Ordering::Relaxed);
        self.phase = Phase::Setup;
        platform::begin();
        self.pending.forget();
        self.cut = false;
        // A wake from outside that came after the last step of the execution before.
        self.shared.take_foreign();
        (self.bug, self.unwinding) = (None, None);
        (self.seals, self.rare, self.linked) = (0, false, false);
        (self.waited_for_foreign, self.random) = (None, None);
        self.roster.clear();
        self.tasks.clear();
        self.timers.clear();
        self.hosts.begin(model.faults);
        self.objects.clear();
        self.shown.clear();
        self.current = self.add(WorkerId::root(0), TaskName::Main);
    }

    /// A new task of the running one, on this host; its future is not polled before its first step.
    pub fn spawn(&mut self, host: u32, name: TaskName, future: BoxFuture) -> usize {
        let id = self.tasks[self.current].next_child();
        self.spawned.push(future);
        let index = self.add(id, name);
        self.tasks[index].host = host;
        index
    }

    fn add(&mut self, id: WorkerId, name: TaskName) -> usize {
        let index = self.tasks.add(id, name, &self.shared);
        self.roster.meet(id, Who::Task(index));
        index
    }

    /// Whether a worker can step.
    #[inline]
    pub fn is_enabled(&self, worker: WorkerId) -> bool {
        match self.roster.guess(worker) {
            // When the main task is over, others may be left that could have gone on.
            Some(index) => {
                self.tasks[index].state == State::Runnable && !self.roster.enabled.is_empty()
            }
            None => worker.place_in(&self.roster.enabled).is_ok(),
        }
    }

    /// Begins a step.
    #[inline]
    pub fn begin_step(&mut self, env: &dyn Env) {
        self.steps += 1;
        self.rare = false;
        self.monitors.begin_step();
        self.pending.begin_step(env);
    }

    /// Begins the step of a task with a new poll; answers whether it is aborted instead.
    #[inline]
    pub fn begin_poll(&mut self, index: usize) -> bool {
        self.current = index;
        let task = &mut self.tasks[index];
        self.woken = task.begin_poll();
        let (aborted, linked) = (task.aborted, task.linked);
        self.polling = !aborted;
        if linked {
            self.touch_wakers();
        }
        aborted
    }

    /// Begins the step of a task whose poll was suspended.
    #[inline]
    pub fn resume_poll(&mut self, index: usize) {
        self.current = index;
        let task = &mut self.tasks[index];
        let woken = task.resume_poll();
        let linked = task.linked;
        self.polling = true;
        self.woken = woken;
        if linked {
            self.touch_wakers();
        }
    }

    /// Whether the running step has done nothing that goes beyond its task: it was not cut, has spawned nothing and
    /// crashed no host.
    #[inline]
    pub fn is_undisturbed(&self) -> bool {
        !self.cut && self.spawned.is_empty() && self.hosts.crashing.is_empty()
    }

    /// The poll of the running task was suspended: others may step.
    #[inline]
    pub fn suspend_poll(&mut self) {
        self.polling = false;
        self.tasks[self.current].state = State::Runnable;
    }

    /// The running task returned pending; answers whether it is blocked.
    #[inline]
    pub fn end_poll(&mut self) -> bool {
        let task = &mut self.tasks[self.current];
        let blocked = !task.ready;
        task.state = if blocked { State::Blocked } else { State::Runnable };
        if blocked {
            let id = task.id;
            if task.waits.is_empty() {
                self.waited_for_foreign.get_or_insert(self.current);
                if self.uses.copied.is_some() {
                    let name = &self.tasks[self.current].name;
                    self.uses.waits(self.steps, || name.with_place());
                }
            }
            self.roster.disable(id);
            self.idle();
        }
        blocked
    }

    /// Whether there is a scheduling point before an operation of the running task: then suspend.
    /// A task that has `waited` for the operation and was woken needs none, because it was just
    /// scheduled for it; that holds for one operation of a poll.
    #[inline]
    pub fn stands_before(&mut self, waker: &Waker, waited: bool, next: Option<Access>) -> bool {
        if !self.polling {
            return self.phase == Phase::GivingUp;
        }
        self.link(waker);
        // The poll is left by unwinding, which cannot be suspended.
        if waited && std::mem::take(&mut self.woken) || std::thread::panicking() {
            return false;
        }
        self.tasks[self.current].stand_before(next);
        true
    }

    /// A poll tries operations though the execution is over.
    pub fn lose_patience(&mut self) {
        self.given_up += 1;
        self.cut = self.given_up > PATIENCE;
    }

    /// A poll that was suspended is resumed to come to its end.
    pub fn give_up(&mut self, index: usize) {
        self.phase = Phase::GivingUp;
        self.current = index;
        self.given_up = 0;
        self.pending.note_each();
    }

    /// Destructors run from here on.
    pub fn tear_down(&mut self, index: usize) {
        self.phase = Phase::TearDown;
        self.current = index;
        self.cut = false;
        self.pending.forget();
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
            self.tell(|| PendingEvent::Accessed(Access::write(Resource::Execution)));
        } else {
            self.roster.disable(id);
            self.idle();
        }
        let result = join::result_of(id, self.run);
        self.touch(&result, Mode::ReadModifyWrite, const { &Operation::plain("end") });
        self.tell(|| PendingEvent::Halted(id));
    }

    /// Notes that a primitive was polled with this waker: a combinator's own is touched by that.
    #[inline]
    pub fn link(&mut self, waker: &Waker) {
        let task = &mut self.tasks[self.current];
        if !task.owns(waker) {
            task.linked = true;
            self.linked = true;
            self.touch_wakers();
        }
    }

    /// Notes that the wakers of combinators are touched.
    fn touch_wakers(&mut self) {
        let wakers = self.wakers();
        self.touch_silently(&wakers, Mode::ReadModifyWrite);
    }

    /// Notes what the running task waits for if this poll leaves it blocked; `waker` is what
    /// the primitive has kept.
    #[inline]
    pub fn wait(&mut self, wait: Wait, next: Access, waker: &Waker) {
        if self.phase == Phase::Step {
            self.link(waker);
            let task = &mut self.tasks[self.current];
            task.announce(Some(next));
            task.waits.push(wait);
        }
    }

    /// Makes a task run again.
    #[inline]
    pub fn wake(&mut self, index: usize) {
        self.wake_as(index, false);
    }

    /// As [`Exec::wake`]; `unseen` if nobody sees whether it had to wait.
    #[inline]
    pub fn wake_as(&mut self, index: usize, unseen: bool) {
        if self.phase.is_over() {
            return;
        }
        let task = &mut self.tasks[index];
        task.ready = true;
        let id = task.id;
        match task.state {
            State::Blocked => {
                task.unblock();
                self.roster.enable(id);
                if !unseen {
                    self.tell(|| PendingEvent::Enabled(id));
                }
            }
            // It changes nothing before the task's next step, but would after it.
            State::Runnable => {
                self.tell(|| PendingEvent::Accessed(Access::write(Resource::Worker(id))))
            }
            State::Running | State::Finished => {}
        }
    }

    /// Asks a task to end: at its next step or, inside of a poll, when that answers pending.
    pub fn abort(&mut self, index: usize) {
        let result = join::result_of(self.tasks[index].id, self.run);
        self.touch(&result, Mode::ReadModifyWrite, const { &Operation::plain("abort") });
        let task = &mut self.tasks[index];
        if task.state != State::Finished {
            task.aborted = true;
            self.wake(index);
        }
    }

    /// No waker of this execution does anything from here on, and nothing is cut any more:
    /// destructors run to their end.
    pub fn silence(&mut self) {
        self.phase = Phase::TearDown;
        self.polling = false;
        self.cut = false;
        self.pending.forget();
        self.roster.enabled.clear();
        self.tasks.live().iter().for_each(Task::silence);
    }
}
