//! Telling the environment what happened in a step.

use std::time::Duration;

use dally_core::{Access, Env, Event, EventBudget, Mode, Resource, Text, WorkerId};

use crate::exec::{Exec, Phase};
use crate::text::{Deed, Object, Waits};

/// What happened in the running step and is not told yet: plain words, turned into events when
/// the step ends. Telling at once would cost a thread-local and a virtual call for each.
#[derive(Debug)]
pub(crate) enum Told {
    Created(usize),
    Enabled(WorkerId),
    Touched(Object, Mode, &'static Deed),
    /// Something else was touched that others can touch, without words for readers.
    Brushed(Access),
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
pub(crate) struct UntoldEvents {
    /// How many events these are, and how many may stay untold.
    count: EventBudget,
    /// The events themselves, while somebody listens.
    events: Vec<Told>,
    /// Whether somebody listens to the running step.
    heard: bool,
}

impl UntoldEvents {
    /// A step begins, of which this environment is told.
    #[inline]
    pub fn begin_step(&mut self, env: &dyn Env) {
        self.count = EventBudget::new(env.leeway());
        self.heard = self.count.limit() == 0;
    }

    /// Whether so many events are untold that the environment should hear of them before the step
    /// ends.
    #[inline]
    pub fn is_much(&self) -> bool {
        self.count.spent() >= MANY
    }

    /// Drops the events: nobody will hear of them.
    pub fn forget(&mut self) {
        self.count.restart();
        self.events.clear();
    }

    /// From here on every operation is noticed at once.
    pub fn note_each(&mut self) {
        let _ = self.count.spend(MANY);
    }
}

impl Exec {
    /// Notes what happened, to be told when the step ends. Only steps tell.
    #[inline]
    pub fn tell(&mut self, told: impl FnOnce() -> Told) {
        if self.phase == Phase::Step {
            // Whether they are too many is asked at the next flush.
            let _ = self.untold.count.spend(1);
            if self.untold.heard {
                self.untold.events.push(told());
            }
        }
    }

    /// Notes that a shared object was touched, without words for readers.
    #[inline]
    pub fn brush(&mut self, object: &Object, mode: Mode) {
        self.touch(object, mode, Deed::SILENT);
    }

    /// Notes that a shared object was touched.
    #[inline]
    pub fn touch(&mut self, object: &Object, mode: Mode, deed: &'static Deed) {
        self.tell(|| Told::Touched(*object, mode, deed));
    }

    /// Tells what has happened so far, if it is more than may stay untold; remembers if the
    /// environment has had enough.
    #[inline]
    pub fn flush(&mut self, env: &mut dyn Env) {
        if self.untold.count.is_exceeded() {
            self.tell_all(env);
        }
    }

    /// Tells what has happened so far. Nothing may stay untold from here on.
    #[inline]
    pub fn catch_up(&mut self, env: &mut dyn Env) {
        if self.untold.count.spent() > 0 {
            self.tell_all(env);
        } else {
            self.untold.count.close();
        }
    }

    #[cold]
    fn tell_all(&mut self, env: &mut dyn Env) {
        // The environment counts from here on.
        let count = self.untold.count.close();
        if !self.untold.heard {
            self.cut |= env.unheard(count).is_err();
            return;
        }
        for told in &self.untold.events {
            let answer = match told {
                Told::Touched(object, mode, deed) => {
                    let what = deed.of(object);
                    let access = Access::new(Resource::Object(object.id), *mode);
                    env.event(Event::Accessed { access, what: Text::Display(&what) })
                }
                Told::Brushed(access) => {
                    env.event(Event::Accessed { access: *access, what: Text::Str("") })
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
        self.untold.events.clear();
    }
}
