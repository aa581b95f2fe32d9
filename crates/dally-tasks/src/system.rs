//! The contract of a system, kept by tasks.

use std::fmt;
use std::panic::resume_unwind;
use std::task::{Poll, Waker};

use dally_core::bug::Uncontrolled;
use dally_core::{
    Acceptance, Access, Bug, Env, Event, Footprint, Mode, Monitors, Observe, Problem, Resource,
    Status, Stop, System, Text, Waiting, WorkerId, fingerprint, panics,
};

use crate::coroutine::{self, Polled, Progress, SuspendedPoll};
use crate::current;
use crate::exec::{BoxFuture, Exec, Phase, State, Task, Told};
use crate::roster::Who;
use crate::waker::rouse;

/// One live execution of a [`TaskProgram`](crate::TaskProgram).
///
/// It is not captured: tasks are real code, and the only way back is to start again and make the
/// same choices.
pub struct TaskSystem {
    /// Absent only while the program's code runs, which reaches it through its thread.
    exec: Option<Box<Exec>>,
    /// What the tasks of the execution run, in the same order. It is not part of the execution,
    /// so that a step can poll it in its place.
    bodies: Vec<Body>,
}

/// What a task runs.
struct Body {
    /// Absent when the task is over, and while a poll has it.
    future: Option<BoxFuture>,
    /// The task's own; absent while a poll has it.
    waker: Option<Waker>,
    /// A poll that has not come to its end.
    suspended: Option<SuspendedPoll>,
}

impl Body {
    /// Polls up to the next scheduling point; answers whether it was suspended there or what the
    /// future answered. A panic of the future goes on.
    #[inline]
    fn poll(&mut self) -> Option<Poll<()>> {
        let progress = match self.suspended.take() {
            Some(suspended) => suspended.resume(),
            None => match (self.future.take(), self.waker.take()) {
                (Some(future), Some(waker)) => coroutine::poll(future, waker),
                (_, waker) => {
                    self.waker = waker;
                    return Some(Poll::Ready(()));
                }
            },
        };
        self.after(progress)
    }

    /// Lets a poll that was suspended come to its end.
    fn give_up(&mut self) {
        if let Some(suspended) = self.suspended.take() {
            let progress = suspended.give_up();
            self.after(progress);
        }
    }

    #[inline]
    fn after(&mut self, progress: Progress) -> Option<Poll<()>> {
        match progress {
            Progress::Suspended(poll) => {
                self.suspended = Some(poll);
                None
            }
            Progress::Ended(Polled { future, waker, answer }) => {
                (self.future, self.waker) = (Some(future), Some(waker));
                Some(answer.unwrap_or_else(|panic| resume_unwind(panic)))
            }
        }
    }
}

/// What a step of a task came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stepped {
    /// The task stands before its next operation.
    Suspended,
    Pending,
    Over,
}

impl fmt::Debug for TaskSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskSystem")
            .field("enabled", &self.exec().roster.enabled)
            .finish_non_exhaustive()
    }
}

const ALWAYS: &str = "an execution is in its place between steps";

impl System for TaskSystem {
    #[inline]
    fn enabled(&self) -> &[WorkerId] {
        &self.exec().roster.enabled
    }

    #[inline]
    fn is_enabled(&self, worker: WorkerId) -> bool {
        self.exec().is_enabled(worker)
    }

    /// What a task does up to its next point is not known before it is polled.
    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        out.begin_unknown(worker);
        let exec = self.exec();
        match exec.roster.who(worker) {
            Some(Who::Task(index)) => {
                exec.tasks[index].pending().into_iter().for_each(|access| out.add(access));
            }
            Some(Who::Timer(index)) => {
                out.add(Access::update(Resource::Object(exec.clock().id)));
                out.add(Access::write(Resource::Worker(exec.timers.all[index].owner)));
            }
            None => {}
        }
    }

    #[inline]
    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let exec = self.exec_mut();
        exec.begin_step(env);
        if exec.shared.take_foreign() {
            return Err(uncontrolled().into());
        }
        match exec.roster.who(worker) {
            Some(Who::Task(index)) => self.step_task(index, env),
            Some(Who::Timer(index)) => self.step_timer(index, env),
            None => Ok(()),
        }
    }

    fn status(&self) -> Status {
        let tasks = self.exec().tasks.live();
        if tasks.first().is_none_or(|main| main.state == State::Finished) {
            Status::Done
        } else if self.exec().roster.enabled.is_empty() {
            let blocked = tasks.iter().filter(|task| task.state == State::Blocked);
            let mut waiting: Vec<_> = blocked.map(|task| self.waiting(task)).collect();
            // Two executions that differ only in the order of creations give the same text.
            waiting.sort_by_key(|waiting| waiting.worker);
            Status::Stuck(waiting)
        } else {
            Status::Running
        }
    }

    #[inline]
    fn acceptance(&self) -> Acceptance {
        self.exec().monitors.acceptance()
    }

    /// A sum over objects, tasks and armed timers. Ids of tasks are left out: who has locked an
    /// object or armed a timer is told by where that task stands.
    fn observe(&self, how: Observe) -> Option<u64> {
        let exec = self.exec();
        if how == Observe::Custom && exec.shown.only {
            return Some(exec.shown.sum());
        }
        let tasks = exec.tasks.live();
        let objects = exec.objects.iter().fold(0u64, |sum, held| {
            let name = fingerprint::mix(held.id.creator.to_bits(), u64::from(held.id.number));
            let holder = held.holder.filter(|_| how == Observe::Control);
            let holder = holder.map_or(0, |holder| control(&tasks[holder as usize]));
            sum.wrapping_add(fingerprint::part(name, held.amount.wrapping_add(holder)))
        });
        let rest = match how {
            Observe::Inboxes => 0,
            Observe::Control => {
                let stand = tasks.iter().map(control);
                let armed = exec.armed().map(|owner| fingerprint::mix(control(owner), 1));
                stand.chain(armed).fold(0, u64::wrapping_add)
            }
            Observe::Custom => exec.shown.sum(),
        };
        Some(objects.wrapping_add(rest))
    }

    fn sealed(&self) -> bool {
        self.exec().seals > 0
    }

    fn rare(&self) -> bool {
        self.exec().rare
    }

    fn name(&self, worker: WorkerId) -> String {
        let tasks = self.exec().tasks.live();
        match tasks.iter().find(|task| task.id == worker) {
            Some(task) => task.name.to_string(),
            None => "timer".to_owned(),
        }
    }

    fn monitor(&self, index: usize) -> (String, String) {
        self.exec().monitors.describe(index)
    }

    fn end(&mut self) -> Result<(), Bug> {
        self.exec_mut().silence();
        let mut first = None;
        let mut last = None;
        while let Some((id, index)) = self.exec().roster.task_after(last) {
            last = Some(id);
            if self.bodies[index].suspended.is_some() {
                self.give_up(index);
            }
            self.exec_mut().tear_down(index);
            let deferred = std::mem::take(&mut self.exec_mut().tasks[index].deferred);
            if !deferred.is_empty() {
                let _ = current::enter(&mut self.exec, || panics::catch(|| drop(deferred)));
            }
            if let Some(future) = self.bodies[index].future.take() {
                let dropped = current::enter(&mut self.exec, || panics::catch(|| drop(future)));
                if let Err(Stop::Bug(bug)) = dropped {
                    first.get_or_insert((bug, index));
                }
            }
        }
        let Some((mut bug, index)) = first else { return Ok(()) };
        if let Problem::Panic { at_tear_down, .. } = &mut *bug.problem {
            *at_tear_down = true;
        }
        Err(bug.by(self.exec().tasks[index].name.to_string()))
    }
}

impl Drop for TaskSystem {
    fn drop(&mut self) {
        if self.exec().phase != Phase::TearDown {
            // The owner dropped the execution without ending it, so there is no report for a bug.
            let _ = self.end();
        }
    }
}

impl TaskSystem {
    pub(crate) fn new() -> TaskSystem {
        TaskSystem { exec: Some(Box::new(Exec::new())), bodies: Vec::new() }
    }

    #[inline]
    fn exec(&self) -> &Exec {
        self.exec.as_deref().expect(ALWAYS)
    }

    #[inline]
    fn exec_mut(&mut self) -> &mut Exec {
        self.exec.as_deref_mut().expect(ALWAYS)
    }

    /// Starts afresh with the main task that `main` makes.
    pub(crate) fn begin(
        &mut self,
        main: &dyn Fn() -> BoxFuture,
        add_monitors: impl FnOnce(&mut Monitors) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        if self.exec().phase != Phase::TearDown {
            // It is given up half-way: what its destructors do is not the fault of the next one.
            let _ = self.end();
        }
        self.exec_mut().begin();
        let mut monitors = Monitors::default();
        let made = current::enter(&mut self.exec, || {
            panics::catch(|| {
                add_monitors(&mut monitors)?;
                Ok(main())
            })
        });
        let exec = self.exec_mut();
        exec.monitors = monitors;
        exec.phase = Phase::Step;
        let made = match made {
            Ok(made) => made,
            Err(stop) => Err(match self.blame(stop, 0) {
                Stop::Bug(bug) => *bug,
                Stop::Cut => unreachable!("only a bug cuts the setup: no environment does"),
            }),
        };
        let (main, failure) = match made {
            Ok(main) => (Some(main), None),
            Err(bug) => (None, Some(bug)),
        };
        self.embody(0, main);
        self.embody_spawned();
        let Some(bug) = failure else { return Ok(()) };
        // A second panic, in a destructor, would add nothing to the first.
        let _ = self.end();
        Err(bug)
    }

    #[inline]
    fn step_task(&mut self, index: usize, env: &mut dyn Env) -> Result<(), Stop> {
        let body = &mut self.bodies[index];
        let exec = self.exec.as_deref_mut().expect(ALWAYS);
        let aborted = if body.suspended.is_some() {
            exec.resume_poll(index);
            false
        } else {
            exec.begin_poll(index)
        };
        let stepped = current::enter_step(&mut self.exec, env, || {
            panics::catch(|| {
                let polled = if aborted { Some(Poll::Ready(())) } else { body.poll() };
                let Some(answer) = polled else { return Stepped::Suspended };
                if current::end_poll() || answer.is_ready() {
                    body.future = None;
                    Stepped::Over
                } else {
                    Stepped::Pending
                }
            })
        });
        if !self.exec().spawned.is_empty() {
            self.embody_spawned();
        }
        let exec = self.exec_mut();
        exec.polling = false;
        exec.flush(env);
        match stepped {
            Err(stop) => return Err(self.blame(stop, index)),
            // The program may have caught the unwinding that was to end the step.
            Ok(_) if exec.cut => return Err(self.blame(Stop::Cut, index)),
            Ok(Stepped::Suspended) => exec.suspend_poll(),
            Ok(Stepped::Over) => {
                exec.finish();
                exec.flush(env);
            }
            Ok(Stepped::Pending) => {
                if exec.end_poll() {
                    exec.tell(|| Told::Blocked(index));
                    exec.flush(env);
                }
            }
        }
        if exec.cut { Err(Stop::Cut) } else { Ok(()) }
    }

    /// Lets a poll that was suspended come to its end now that the execution is over. What it does is
    /// not judged: it is as little a part of the schedule as what other tasks would have done.
    #[cold]
    fn give_up(&mut self, index: usize) {
        self.exec_mut().give_up(index);
        let body = &mut self.bodies[index];
        let _ = current::enter(&mut self.exec, || panics::catch(|| body.give_up()));
    }

    /// Gives a task what it runs, in the memory of an earlier execution if there is any.
    fn embody(&mut self, index: usize, future: Option<BoxFuture>) {
        let task = &self.exec.as_deref().expect(ALWAYS).tasks[index];
        match self.bodies.get_mut(index) {
            None => {
                let waker = Some(task.waker());
                self.bodies.push(Body { future, waker, suspended: None });
            }
            Some(body) => {
                body.future = future;
                if !body.waker.as_ref().is_some_and(|waker| task.owns(waker)) {
                    body.waker = Some(task.waker());
                }
            }
        }
    }

    /// Gives the tasks that were spawned last what they run.
    #[cold]
    fn embody_spawned(&mut self) {
        let exec = self.exec_mut();
        let mut spawned = std::mem::take(&mut exec.spawned);
        let first = exec.tasks.live().len() - spawned.len();
        for (offset, future) in spawned.drain(..).enumerate() {
            self.embody(first + offset, Some(future));
        }
        // Its memory is used again.
        self.exec_mut().spawned = spawned;
    }

    #[inline(never)]
    fn step_timer(&mut self, index: usize, env: &mut dyn Env) -> Result<(), Stop> {
        let exec = self.exec_mut();
        exec.catch_up(env);
        let clock = exec.clock();
        let timer = exec.timers.all[index].id;
        let waker = exec.fire(index);
        let now = format_args!("move `{clock}` to {:?}", exec.timers.now);
        let access = Access::update(Resource::Object(clock.id));
        env.event(Event::Accessed { access, what: Text::Display(&now) })?;
        env.event(Event::Halted { worker: timer })?;
        if let Some(waker) = waker {
            current::enter_step(&mut self.exec, env, || panics::catch(|| rouse(waker)))?;
        }
        let exec = self.exec_mut();
        exec.flush(env);
        if exec.cut { Err(Stop::Cut) } else { Ok(()) }
    }

    /// What a step that unwound has to say: a panic, a bug that an operation met, or nothing.
    #[cold]
    fn blame(&mut self, stop: Stop, index: usize) -> Stop {
        let bug = match stop {
            Stop::Bug(bug) => Some(bug),
            Stop::Cut => self.exec_mut().bug.take(),
        };
        let Some(mut bug) = bug else { return Stop::Cut };
        bug.culprit.get_or_insert_with(|| self.exec().tasks[index].name.to_string());
        Stop::Bug(bug)
    }

    fn waiting(&self, task: &Task) -> Waiting {
        Waiting {
            worker: task.id,
            name: task.name.to_string(),
            on: task.waits.iter().map(crate::text::Wait::as_data).collect(),
            woken_outside: self.exec().shared.is_foreign(),
        }
    }
}

#[cold]
fn uncontrolled() -> Bug {
    Bug::new(Problem::Uncontrolled(Uncontrolled::Woken))
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
