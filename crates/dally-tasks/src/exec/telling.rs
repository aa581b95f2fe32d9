//! Telling the environment what happened in a step.

use std::time::Duration;

use dally_core::{Access, Env, Event, Text, WorkerId};

use crate::exec::{Exec, Phase};
use crate::text::{Deed, Object, Waits};

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

/// What a step tells is kept until its end, or until it is this much: then the environment must
/// get the chance to cut the step.
const MANY: u32 = 64;

/// What has happened in the running step that the environment does not know yet.
#[derive(Debug, Default)]
pub(crate) struct Untold {
    /// How much it is.
    count: u32,
    /// The same in words, while somebody listens.
    words: Vec<Told>,
    /// Whether somebody listens to the running step.
    listened: bool,
    /// So much may stay untold.
    leeway: u32,
}

impl Untold {
    /// A step begins, of which this environment is told.
    #[inline]
    pub fn begin_step(&mut self, env: &dyn Env) {
        self.count = 0;
        self.leeway = env.leeway();
        self.listened = self.leeway == 0;
    }

    /// Whether it is so much that it should be told before the step ends.
    #[inline]
    pub fn is_much(&self) -> bool {
        self.count >= MANY
    }

    /// Nobody will hear what has happened.
    pub fn forget(&mut self) {
        self.words.clear();
    }
}

impl Exec {
    /// Notes what happened, to be told when the step ends. Only steps tell.
    #[inline]
    pub fn tell(&mut self, told: impl FnOnce() -> Told) {
        if self.phase == Phase::Step {
            self.untold.count += 1;
            if self.untold.listened {
                self.untold.words.push(told());
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

    /// Tells what has happened so far, if it is more than may stay untold; remembers if the
    /// environment has had enough.
    #[inline]
    pub fn flush(&mut self, env: &mut dyn Env) {
        if self.untold.count > self.untold.leeway {
            self.tell_all(env);
        }
    }

    /// Tells what has happened so far. Nothing may stay untold from here on.
    #[inline]
    pub fn catch_up(&mut self, env: &mut dyn Env) {
        self.untold.leeway = 0;
        self.flush(env);
    }

    #[cold]
    fn tell_all(&mut self, env: &mut dyn Env) {
        let count = std::mem::take(&mut self.untold.count);
        if !self.untold.listened {
            // The environment counts from here on.
            self.untold.leeway = 0;
            self.cut |= env.unheard(count).is_err();
            return;
        }
        for told in &self.untold.words {
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
        self.untold.words.clear();
    }
}
