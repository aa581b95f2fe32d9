//! The timers of an execution and the clock that they move.

use std::task::Waker;
use std::time::Duration;

use dally_core::WorkerId;

use crate::exec::{Exec, Task};
use crate::roster::Who;

/// A timer that is armed, or has fired and is still held by its `Sleep`.
#[derive(Debug)]
pub(crate) struct Timer {
    pub id: WorkerId,
    pub owner: WorkerId,
    deadline: Duration,
    pub fired: bool,
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
}

impl Timers {
    /// An execution begins.
    pub fn clear(&mut self) {
        self.now = Duration::ZERO;
        self.all.clear();
        self.free.clear();
    }
}

impl Exec {
    /// Arms a timer of the running task.
    pub fn arm(&mut self, deadline: Duration, waker: Waker) -> usize {
        let task = &mut self.tasks[self.current];
        let (id, owner) = (task.next_timer(), task.id);
        let timer = Timer { id, owner, deadline, fired: false, waker: Some(waker) };
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
        index
    }

    /// Fires a timer: time is now at least its deadline. Answers whom to wake.
    pub fn fire(&mut self, index: usize) -> Option<Waker> {
        let Timers { now, all, .. } = &mut self.timers;
        let timer = &mut all[index];
        timer.fired = true;
        *now = timer.deadline.max(*now);
        let (id, waker) = (timer.id, timer.waker.take());
        self.roster.disable(id);
        waker
    }

    /// The `Sleep` of a timer is gone; answers the timer's id if it was still armed, and the
    /// waker, whose destructor may be the program's.
    pub fn disarm(&mut self, index: usize) -> (Option<WorkerId>, Option<Waker>) {
        let timer = &mut self.timers.all[index];
        let (id, fired, waker) = (timer.id, timer.fired, timer.waker.take());
        self.timers.free.push(index);
        self.roster.forget(id);
        if fired || self.phase.is_over() {
            return (None, waker);
        }
        self.roster.disable(id);
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
