//! The timers of an execution and the clock that they move.

use std::task::Waker;
use std::time::Duration;

use dally_core::WorkerId;

use crate::exec::{Exec, Task};
use crate::model::Clock;
use crate::roster::Who;

/// A timer that is armed, or has fired and is still held by its `Sleep`.
#[derive(Debug)]
pub(crate) struct Timer {
    pub id: WorkerId,
    pub owner: WorkerId,
    deadline: Duration,
    pub fired: bool,
    /// It is to fire, and its `Sleep` is there.
    armed: bool,
    pub waker: Option<Waker>,
}

/// The timers and the clock.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// Virtual time since the start.
    pub now: Duration,
    /// The timers by their places.
    pub all: Vec<Timer>,
    /// The places whose timers are gone.
    free: Vec<usize>,
    /// The program has stopped the clock.
    paused: bool,
}

impl Timers {
    /// An execution begins.
    pub fn clear(&mut self) {
        self.now = Duration::ZERO;
        self.all.clear();
        self.free.clear();
        self.paused = false;
    }

    /// The timer that is due first.
    pub fn first(&self) -> Option<WorkerId> {
        let armed = self.all.iter().filter(|timer| timer.armed);
        armed.min_by_key(|timer| timer.deadline).map(|timer| timer.id)
    }
}

impl Exec {
    /// Arms a timer of the running task.
    pub fn arm(&mut self, deadline: Duration, waker: Waker) -> usize {
        let task = &mut self.tasks[self.current];
        let (id, owner) = (task.next_timer(), task.id);
        let timer = Timer { id, owner, deadline, fired: false, armed: true, waker: Some(waker) };
        let Timers { all, free, .. } = &mut self.timers;
        let index = match free.pop() {
            Some(index) => {
                all[index] = timer;
                index
            }
            None => {
                all.push(timer);
                all.len() - 1
            }
        };
        self.roster.meet(id, Who::Timer(index));
        if self.clock_model() != Clock::Any {
            self.order_timers();
        }
        index
    }

    /// When time moves.
    fn clock_model(&self) -> Clock {
        if self.timers.paused || self.hosts.is_calm() { Clock::Idle } else { self.model.clock }
    }

    /// Lets those timers fire that may.
    #[cold]
    pub fn order_timers(&mut self) {
        let Exec { timers, roster, .. } = self;
        let armed = || timers.all.iter().filter(|timer| timer.armed);
        let first = armed().map(|timer| timer.deadline).min();
        armed().for_each(|timer| roster.disable(timer.id));
        let may = match self.clock_model() {
            Clock::Any => |_: &Timer, _: Option<Duration>| true,
            Clock::Ordered => {
                |timer: &Timer, first: Option<Duration>| Some(timer.deadline) == first
            }
            // Whoever could step has not been told to stop yet.
            Clock::Idle if self.roster.enabled.is_empty() => {
                |timer: &Timer, first: Option<Duration>| Some(timer.deadline) == first
            }
            Clock::Idle => |_: &Timer, _: Option<Duration>| false,
        };
        let Exec { timers, roster, .. } = self;
        let armed = timers.all.iter().filter(|timer| timer.armed);
        armed.filter(|timer| may(timer, first)).for_each(|timer| roster.enable(timer.id));
    }

    /// Somebody can step no more: if nobody can, time may move.
    #[inline]
    pub fn idle(&mut self) {
        if self.roster.enabled.is_empty() && self.clock_model() == Clock::Idle {
            self.order_timers();
        }
    }

    /// Stops the clock or lets it run; answers whether it was stopped.
    pub fn set_paused(&mut self, paused: bool) -> bool {
        let before = std::mem::replace(&mut self.timers.paused, paused);
        self.order_timers();
        before
    }

    /// Moves the stopped clock; answers whom to wake, in the order of deadlines.
    pub fn advance(&mut self, duration: Duration) -> Option<Vec<Waker>> {
        let Timers { now, all, paused, .. } = &mut self.timers;
        if !*paused {
            return None;
        }
        *now = now.saturating_add(duration);
        let now = *now;
        let mut due: Vec<_> =
            all.iter_mut().filter(|timer| timer.armed && timer.deadline <= now).collect();
        due.sort_by_key(|timer| (timer.deadline, timer.id));
        let wake = due.into_iter().filter_map(|timer| {
            (timer.fired, timer.armed) = (true, false);
            self.roster.disable(timer.id);
            timer.waker.take()
        });
        Some(wake.collect())
    }

    /// Fires a timer: time is now at least its deadline. Answers whom to wake.
    pub fn fire(&mut self, index: usize) -> Option<Waker> {
        let Timers { now, all, .. } = &mut self.timers;
        let timer = &mut all[index];
        (timer.fired, timer.armed) = (true, false);
        *now = timer.deadline.max(*now);
        let (id, waker) = (timer.id, timer.waker.take());
        self.roster.disable(id);
        match self.clock_model() {
            Clock::Any => {}
            Clock::Ordered => self.order_timers(),
            // Whoever is woken steps first.
            Clock::Idle => {
                let Exec { timers, roster, .. } = self;
                timers.all.iter().for_each(|timer| roster.disable(timer.id));
            }
        }
        waker
    }

    /// The `Sleep` of a timer is gone; answers the timer's id if it was still armed, and the
    /// waker, whose destructor may be the program's.
    pub fn disarm(&mut self, index: usize) -> (Option<WorkerId>, Option<Waker>) {
        let timer = &mut self.timers.all[index];
        let (id, fired, waker) = (timer.id, timer.fired, timer.waker.take());
        timer.armed = false;
        self.timers.free.push(index);
        self.roster.forget(id);
        if fired || self.phase.is_over() {
            return (None, waker);
        }
        self.roster.disable(id);
        if self.clock_model() != Clock::Any {
            self.order_timers();
        }
        (Some(id), waker)
    }

    /// For each timer that can fire the task that has armed it.
    pub fn armed(&self) -> impl Iterator<Item = &Task> {
        let timers = self.roster.all().filter_map(|(_, who)| match who {
            Who::Timer(index) => Some(&self.timers.all[index]),
            Who::Task(_) => None,
        });
        timers.filter(|timer| !timer.fired).filter_map(|timer| {
            match self.roster.who(timer.owner)? {
                Who::Task(index) => Some(&self.tasks[index]),
                Who::Timer(_) => None,
            }
        })
    }
}
