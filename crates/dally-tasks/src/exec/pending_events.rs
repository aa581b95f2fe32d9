//! Telling the environment what happened in a step.

use std::time::Duration;

use dally_core::{Access, Env, Event, EventBudget, Mode, Resource, Text, WorkerId};

use crate::exec::{Exec, Phase};
use crate::text::{Object, Operation, Waits};

/// What happened in the running step and is not told yet: plain words, turned into events when
/// the step ends. Telling at once would cost a thread-local and a virtual call for each.
#[derive(Debug)]
pub(crate) enum PendingEvent {
    Created(usize),
    Enabled(WorkerId),
    Touched(Object, Mode, &'static Operation),
    /// The receiving end of a channel was used.
    Received(Object, &'static Operation),
    /// Something else was touched that others can touch, without words for readers.
    Accessed(Access),
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
pub(crate) struct PendingEvents {
    /// How many events these are, and how many may stay pending.
    count: EventBudget,
    /// The events themselves, while somebody listens.
    events: Vec<PendingEvent>,
    /// Whether somebody listens to the running step.
    heard: bool,
}

impl PendingEvents {
    /// A step begins, of which this environment is told.
    #[inline]
    pub fn begin_step(&mut self, env: &dyn Env) {
        self.count = EventBudget::new(env.leeway());
        self.heard = self.count.limit() == 0;
    }

    /// Whether so many events are pending that the environment should hear of them before the step
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
    pub fn tell(&mut self, told: impl FnOnce() -> PendingEvent) {
        if self.phase == Phase::Step {
            // Whether they are too many is asked at the next flush.
            let _ = self.pending.count.spend(1);
            if self.pending.heard {
                self.pending.events.push(told());
            }
        }
    }

    /// Notes that a shared object was touched, without words for readers.
    #[inline]
    pub fn touch_silently(&mut self, object: &Object, mode: Mode) {
        self.touch(object, mode, Operation::SILENT);
    }

    /// Notes that a shared object was touched.
    #[inline]
    pub fn touch(&mut self, object: &Object, mode: Mode, operation: &'static Operation) {
        self.tell(|| PendingEvent::Touched(*object, mode, operation));
    }

    /// Notes that something else was touched, without words for readers.
    #[inline]
    pub fn access(&mut self, access: Access) {
        self.tell(|| PendingEvent::Accessed(access));
    }

    /// Notes that the receiving end of a channel was used.
    #[inline]
    pub fn receives(&mut self, channel: &Object, operation: &'static Operation) {
        self.tell(|| PendingEvent::Received(*channel, operation));
    }

    /// Tells what has happened so far, if it is more than may stay pending; remembers if the
    /// environment has had enough.
    #[inline]
    pub fn flush(&mut self, env: &mut dyn Env) {
        if self.pending.count.is_exceeded() {
            self.tell_all(env);
        }
    }

    /// Tells what has happened so far. Nothing may stay pending from here on.
    #[inline]
    pub fn catch_up(&mut self, env: &mut dyn Env) {
        if self.pending.count.spent() > 0 {
            self.tell_all(env);
        } else {
            self.pending.count.close();
        }
    }

    #[cold]
    fn tell_all(&mut self, env: &mut dyn Env) {
        // The environment counts from here on.
        let count = self.pending.count.close();
        if !self.pending.heard {
            self.cut |= env.unheard(count).is_err();
            return;
        }
        for told in &self.pending.events {
            let answer = match told {
                PendingEvent::Touched(object, mode, operation) => {
                    let what = operation.of(object);
                    let access = Access::new(Resource::Object(object.id), *mode);
                    env.event(Event::Accessed { access, what: Text::Display(&what) })
                }
                PendingEvent::Received(object, operation) => {
                    let what = operation.of(object);
                    let access = Access::update(Resource::Receiver(object.id));
                    env.event(Event::Accessed { access, what: Text::Display(&what) })
                }
                PendingEvent::Accessed(access) => {
                    env.event(Event::Accessed { access: *access, what: Text::Str("") })
                }
                PendingEvent::Created(task) => {
                    let task = &self.tasks[*task];
                    let name = Text::Display(&task.name);
                    env.event(Event::Created { worker: task.id, name })
                }
                PendingEvent::Enabled(worker) => env.event(Event::Enabled { worker: *worker }),
                PendingEvent::TimerSet(timer, deadline) => {
                    let text = format_args!("wakes at {deadline:?}");
                    env.event(Event::TimerSet { timer: *timer, payload: Text::Display(&text) })
                }
                PendingEvent::TimerCancelled(timer) => {
                    env.event(Event::TimerCancelled { timer: *timer })
                }
                PendingEvent::Blocked(task) => {
                    let waits = Waits(&self.tasks[*task].waits);
                    env.event(Event::Blocked { on: Text::Display(&waits) })
                }
                PendingEvent::Halted(worker) => env.event(Event::Halted { worker: *worker }),
            };
            if answer.is_err() {
                self.cut = true;
                break;
            }
        }
        self.pending.events.clear();
    }
}
