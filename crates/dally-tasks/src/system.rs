//! The contract of a system, kept by tasks.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use dally_core::bug::Uncontrolled;
use dally_core::{
    Acceptance, Access, Bug, Env, Event, Footprint, Monitors, Observe, Problem, Resource, Status,
    Stop, System, Text, Waiting, WorkerId, panics,
};

use crate::control::Control;
use crate::coroutine::{Body, IdleStacks, Progress};
use crate::current;
use crate::exec::{BoxFuture, Exec, PendingEvent, Phase, State, Task};
use crate::join::TaskPanic;
use crate::model::{Model, TaskPanics};
use crate::roster::Who;
use crate::text::Waits;
use crate::waker::rouse;

/// One live execution of a [`TaskProgram`](crate::TaskProgram).
///
/// It is not captured: tasks are real code, and the only way back is to start again and make the
/// same choices.
pub struct TaskSystem {
    exec: Box<Exec>,
    /// What the tasks of the execution run, in the same order. It is not part of the execution,
    /// so that a step can poll it in its place.
    bodies: Vec<Body>,
    idle: IdleStacks,
    pub(crate) control: Arc<Control>,
}

impl fmt::Debug for TaskSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskSystem")
            .field("enabled", &self.exec.roster.enabled)
            .finish_non_exhaustive()
    }
}

impl System for TaskSystem {
    #[inline]
    fn enabled(&self) -> &[WorkerId] {
        &self.exec.roster.enabled
    }

    #[inline]
    fn is_enabled(&self, worker: WorkerId) -> bool {
        self.exec.is_enabled(worker)
    }

    /// What a task does up to its next point is not known before it is polled.
    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        out.begin_unknown(worker);
        let exec = &*self.exec;
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

    #[inline(always)]
    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let exec = &mut *self.exec;
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
        let tasks = self.exec.tasks.live();
        if tasks.first().is_none_or(|main| main.state == State::Finished) {
            Status::Done
        } else if self.exec.roster.enabled.is_empty() {
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
        self.exec.monitors.acceptance()
    }

    fn observe(&self, how: Observe) -> Option<u64> {
        Some(self.exec.observe(how))
    }

    fn sealed(&self) -> bool {
        self.exec.seals > 0
    }

    fn rare(&self) -> bool {
        self.exec.rare
    }

    fn name(&self, worker: WorkerId) -> String {
        let tasks = self.exec.tasks.live();
        match tasks.iter().find(|task| task.id == worker) {
            Some(task) => task.name.to_string(),
            None => "timer".to_owned(),
        }
    }

    fn standing(&self) -> Vec<(WorkerId, String)> {
        let tasks = self.exec.tasks.live().iter().zip(&self.bodies);
        let begun = tasks.filter_map(|(task, body)| {
            let words = match task.pending() {
                Some(next) if body.is_suspended() => {
                    format!("stands before an operation on {}", next.resource)
                }
                None if body.is_suspended() => "stands before an operation".to_owned(),
                _ if task.waits.is_empty() || body.is_over() => return None,
                _ => format!("waits to {}", Waits(&task.waits)),
            };
            Some((task.id, format!("(`{}`) {words}", task.name)))
        });
        begun.collect()
    }

    fn give_up(&mut self, worker: WorkerId) -> bool {
        let Some(Who::Task(index)) = self.exec.roster.who(worker) else { return false };
        if self.bodies[index].is_over() {
            return false;
        }
        let phase = self.exec.phase;
        if self.bodies[index].is_suspended() {
            self.give_up_poll(index);
        }
        self.exec.tear_down(index);
        let future = self.bodies[index].take();
        let entered = current::enter(&mut self.exec);
        let _ = panics::catch(|| drop(future));
        drop(entered);
        self.exec.phase = phase;
        true
    }

    fn monitor(&self, index: usize) -> (String, String) {
        self.exec.monitors.describe(index)
    }

    fn end(&mut self) -> Result<(), Bug> {
        self.control.note(&mut self.exec);
        self.exec.silence();
        let mut first = None;
        let mut last = None;
        // Mostly all tasks have come to their ends, and nothing is left to drop.
        let tasks = self.exec.tasks.live().iter().zip(&self.bodies);
        let mut is_left = tasks.map(|(task, body)| !body.is_over() || !task.deferred.is_empty());
        let is_left = is_left.any(|is_left| is_left);
        while is_left && let Some((id, index)) = self.exec.roster.task_after(last) {
            last = Some(id);
            let body = &self.bodies[index];
            if body.is_over() && self.exec.tasks[index].deferred.is_empty() {
                continue;
            }
            if body.is_suspended() {
                self.give_up_poll(index);
            }
            self.exec.tear_down(index);
            let deferred = std::mem::take(&mut self.exec.tasks[index].deferred);
            if !deferred.is_empty() {
                let _entered = current::enter(&mut self.exec);
                let _ = panics::catch(|| drop(deferred));
            }
            if let Some(future) = self.bodies[index].take() {
                let entered = current::enter(&mut self.exec);
                let dropped = panics::catch(|| drop(future));
                drop(entered);
                if let Err(Stop::Bug(bug)) = dropped {
                    first.get_or_insert((bug, index));
                }
            }
        }
        self.idle.give_back();
        let Some((mut bug, index)) = first else {
            // A panic of a task that nobody has observed, and whose handle was dropped only now.
            return self.exec.bug.take().map_or(Ok(()), |bug| Err(*bug));
        };
        if let Problem::Panic { at_tear_down, .. } = &mut *bug.problem {
            *at_tear_down = true;
        }
        Err(bug.by(self.exec.tasks[index].name.to_string()))
    }
}

impl Drop for TaskSystem {
    fn drop(&mut self) {
        if self.exec.phase != Phase::TearDown {
            // The owner dropped the execution without ending it, so there is no report for a bug.
            let _ = self.end();
        }
    }
}

impl TaskSystem {
    pub(crate) fn new() -> TaskSystem {
        let exec = Box::new(Exec::new());
        TaskSystem {
            exec,
            bodies: Vec::new(),
            idle: IdleStacks::default(),
            control: Arc::default(),
        }
    }

    /// The timer that is due first, whether or not it may fire now.
    pub(crate) fn first_timer(&self) -> Option<WorkerId> {
        self.exec.timers.first()
    }

    /// What the main task has unwound with.
    pub(crate) fn payload_of_main(&mut self) -> Option<Box<dyn Any + Send>> {
        self.bodies.first_mut().and_then(Body::take_payload)
    }

    /// Starts afresh with the main task that `main` makes.
    pub(crate) fn begin(
        &mut self,
        model: Model,
        main: &dyn Fn() -> BoxFuture,
        add_monitors: impl FnOnce(&mut Monitors) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        if self.exec.phase != Phase::TearDown {
            // It is given up half-way: what its destructors do is not the fault of the next one.
            let _ = self.end();
        }
        self.exec.begin(model);
        let mut monitors = Monitors::default();
        let entered = current::enter(&mut self.exec);
        let made = panics::catch(|| {
            add_monitors(&mut monitors)?;
            Ok(main())
        });
        drop(entered);
        let exec = &mut *self.exec;
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

    /// A step of a task. Between whoever chooses the worker and the switch to its stack there should be no
    /// function to return from: processors predict returns by the calls that they have seen, and those
    /// of a stack that comes back are none of them.
    #[inline(always)]
    fn step_task(&mut self, index: usize, env: &mut dyn Env) -> Result<(), Stop> {
        let TaskSystem { exec, bodies, idle, .. } = self;
        let body = &mut bodies[index];
        let aborted = if body.is_suspended() {
            exec.resume_poll(index);
            false
        } else {
            exec.begin_poll(index)
        };
        let polled = if aborted {
            Ok(Progress::Ready)
        } else {
            let _inside = (current::enter_step(exec, env), panics::InsideProgram::new());
            body.poll(idle)
        };
        // Most steps end before an operation or where the task waits, and have nothing else to do.
        match polled {
            Ok(Progress::Suspended) if exec.is_undisturbed() => {
                exec.polling = false;
                exec.flush(env);
                exec.suspend_poll();
            }
            Ok(Progress::Pending) if exec.is_undisturbed() && exec.tasks[index].is_left_alone() => {
                exec.polling = false;
                if exec.end_poll() {
                    exec.tell(|| PendingEvent::Blocked(index));
                }
                exec.flush(env);
            }
            polled => return self.end_step(index, polled, env),
        }
        if exec.cut { Err(Stop::Cut) } else { Ok(()) }
    }

    /// What comes after the poll of a step, whatever that has done.
    #[inline(never)]
    fn end_step(
        &mut self,
        index: usize,
        mut polled: Result<Progress, Stop>,
        env: &mut dyn Env,
    ) -> Result<(), Stop> {
        if polled.is_err() {
            polled = self.unwound(index, polled, env);
        }
        let TaskSystem { exec, bodies, .. } = self;
        exec.polling = false;
        if let Ok(progress @ (Progress::Pending | Progress::Ready | Progress::Parked)) = polled
            && !exec.cut
        {
            // The poll has come to its end: those who gave way are woken.
            let task = &mut exec.tasks[index];
            // What blocks its thread cannot be aborted.
            let aborted = task.aborted && progress == Progress::Pending;
            let over = aborted || progress == Progress::Ready;
            if over || !task.deferred.is_empty() {
                let deferred = std::mem::take(&mut task.deferred);
                let _entered = current::enter_step(exec, env);
                let ended = panics::catch(|| {
                    deferred.into_iter().for_each(rouse);
                    if over {
                        drop(bodies[index].take());
                    }
                });
                let progress = if over { Progress::Ready } else { progress };
                polled = ended.map(|()| progress);
            }
        }
        if !self.exec.spawned.is_empty() {
            self.embody_spawned();
        }
        let exec = &mut *self.exec;
        exec.flush(env);
        match polled {
            Err(stop) => return Err(self.blame(stop, index)),
            // The program may have caught the unwinding that was to end the step.
            Ok(_) if exec.cut => return Err(self.blame(Stop::Cut, index)),
            Ok(Progress::Suspended) => exec.suspend_poll(),
            Ok(Progress::Ready) => {
                exec.finish();
                exec.flush(env);
            }
            Ok(Progress::Pending | Progress::Parked) => {
                if exec.end_poll() {
                    exec.tell(|| PendingEvent::Blocked(index));
                    exec.flush(env);
                }
            }
        }
        if !exec.hosts.crashing.is_empty() && !exec.cut {
            return self.drop_crashed(env);
        }
        if exec.cut { Err(Stop::Cut) } else { Ok(()) }
    }

    /// Drops the tasks of the hosts that crashed in this step. Their destructors run as part of it; what a
    /// network or a disk does for them is nothing, since their host is down.
    #[cold]
    fn drop_crashed(&mut self, env: &mut dyn Env) -> Result<(), Stop> {
        let crashing = std::mem::take(&mut self.exec.hosts.crashing);
        let mut next = 0;
        // Destructors may spawn more.
        while next < self.exec.tasks.live().len() {
            let TaskSystem { exec, bodies, .. } = self;
            let (index, task) = (next, &mut exec.tasks[next]);
            next += 1;
            if task.state == State::Finished || !crashing.contains(&task.host) {
                continue;
            }
            let deferred = std::mem::take(&mut task.deferred);
            (exec.current, exec.polling) = (index, false);
            let entered = current::enter_step(exec, env);
            // A crash runs no destructors, so a panic in one is none of its consequences.
            let _ = panics::catch(|| drop((deferred, bodies[index].take())));
            drop(entered);
            if !self.exec.spawned.is_empty() {
                self.embody_spawned();
            }
            self.exec.finish();
            self.exec.flush(env);
            if self.exec.cut {
                return Err(Stop::Cut);
            }
        }
        Ok(())
    }

    /// What comes of a poll that has unwound: a panic that is kept for whoever joins the task ends it.
    #[cold]
    fn unwound(
        &mut self,
        index: usize,
        polled: Result<Progress, Stop>,
        env: &mut dyn Env,
    ) -> Result<Progress, Stop> {
        let exec = &mut *self.exec;
        let result = exec.unwinding.take();
        let payload = self.bodies[index].take_payload();
        let kept = exec.model.task_panics == TaskPanics::Unobserved && !exec.cut;
        let (Some(result), Some(payload), true) = (result, payload, kept) else { return polled };
        let Err(Stop::Bug(mut bug)) = polled else { return polled };
        exec.flush(env);
        let text = format_args!("panics: {}", bug.message());
        env.event(Event::Noted { text: Text::Display(&text) })?;
        bug.culprit.get_or_insert_with(|| exec.tasks[index].name.to_string());
        exec.polling = false;
        let _entered = current::enter_step(exec, env);
        panics::catch(|| result.panicked(TaskPanic { payload, bug }))?;
        Ok(Progress::Ready)
    }

    /// Lets a poll that was suspended come to its end now that the execution is over. What it does is
    /// not judged: it is as little a part of the schedule as what other tasks would have done.
    #[cold]
    fn give_up_poll(&mut self, index: usize) {
        self.exec.give_up(index);
        let TaskSystem { exec, bodies, idle, .. } = self;
        let _inside = (current::enter(exec), panics::InsideProgram::new());
        bodies[index].give_up(idle);
    }

    /// Gives a task what it runs, in the memory of an earlier execution if there is any.
    fn embody(&mut self, index: usize, future: Option<BoxFuture>) {
        let task = &self.exec.tasks[index];
        match self.bodies.get_mut(index) {
            None => self.bodies.push(Body::new(future, task.waker())),
            Some(body) if task.owns(body.waker()) => body.begin_again(future),
            Some(body) => *body = Body::new(future, task.waker()),
        }
    }

    /// Gives the tasks that were spawned last what they run.
    #[cold]
    fn embody_spawned(&mut self) {
        let exec = &mut *self.exec;
        let mut spawned = std::mem::take(&mut exec.spawned);
        let first = exec.tasks.live().len() - spawned.len();
        for (offset, future) in spawned.drain(..).enumerate() {
            self.embody(first + offset, Some(future));
        }
        // Its memory is used again.
        self.exec.spawned = spawned;
    }

    #[inline(never)]
    fn step_timer(&mut self, index: usize, env: &mut dyn Env) -> Result<(), Stop> {
        let exec = &mut *self.exec;
        exec.catch_up(env);
        let clock = exec.clock();
        let (timer, owner) = (exec.timers.all[index].id, exec.timers.all[index].owner);
        let waker = exec.fire(index);
        let now = format_args!("move `{clock}` to {:?}", exec.timers.now);
        let access = Access::update(Resource::Object(clock.id));
        env.event(Event::Accessed { access, what: Text::Display(&now) })?;
        env.event(Event::Halted { worker: timer })?;
        // Whether the timer has fired is seen by its owner, in any step that looks at it or drops it.
        let access = Access::update(Resource::Worker(owner));
        env.event(Event::Accessed { access, what: Text::Str("") })?;
        if let Some(waker) = waker {
            let _entered = current::enter_step(&mut self.exec, env);
            panics::catch(|| rouse(waker))?;
        }
        let exec = &mut *self.exec;
        exec.idle();
        exec.flush(env);
        if exec.cut { Err(Stop::Cut) } else { Ok(()) }
    }

    /// What a step that unwound has to say: a panic, a bug that an operation met, or nothing.
    #[cold]
    fn blame(&mut self, stop: Stop, index: usize) -> Stop {
        let bug = match stop {
            Stop::Bug(bug) => Some(bug),
            Stop::Cut => self.exec.bug.take(),
        };
        let Some(mut bug) = bug else { return Stop::Cut };
        bug.culprit.get_or_insert_with(|| self.exec.tasks[index].name.to_string());
        Stop::Bug(bug)
    }

    fn waiting(&self, task: &Task) -> Waiting {
        Waiting {
            worker: task.id,
            name: task.name.to_string(),
            on: task.waits.iter().map(crate::text::Wait::as_data).collect(),
            woken_outside: self.exec.shared.is_foreign(),
        }
    }
}

#[cold]
fn uncontrolled() -> Bug {
    Bug::new(Problem::Uncontrolled(Uncontrolled::Woken))
}
