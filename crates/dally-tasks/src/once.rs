//! One execution under one schedule, for code that can be run once only.

// The future of the caller lives on the caller's stack, and the engine keeps futures that live for ever.
#![allow(unsafe_code)]

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use dally_core::bug::Problem;
use dally_core::{Bug, Cut, Env, Event, MessageId, Status, Stop, System, Tag, Text, WorkerId};

use crate::exec::BoxFuture;
use crate::model::{Clock, Model, TaskPanics};
use crate::system::TaskSystem;

/// Runs a future and what it spawns under one schedule, in which tasks take turns and time moves when
/// nobody can step, or has waited for long: what it gives, or the bug that it runs into. Nothing is explored, since a future exists
/// once.
///
/// ```
/// let sum = dally_tasks::run_once(async {
///     let two = dally_tasks::spawn(async { 2 });
///     two.await.unwrap() + 2
/// });
/// assert_eq!(sum.unwrap(), 4);
/// ```
pub fn run_once<F: Future>(future: F) -> Result<F::Output, Failed> {
    let output = RefCell::new(None);
    let main = async {
        let value = future.await;
        *output.borrow_mut() = Some(value);
    };
    let main: Pin<Box<dyn Future<Output = ()> + '_>> = Box::pin(main);
    // SAFETY: this changes the lifetime alone. `drive` owns the future and the system that polls it, and
    // both are gone when it returns or unwinds, before what they borrow.
    let main =
        unsafe { std::mem::transmute::<Pin<Box<dyn Future<Output = ()> + '_>>, BoxFuture>(main) };
    drive(main)?;
    let Some(value) = output.into_inner() else { unreachable!("the main task is done") };
    Ok(value)
}

/// What [`run_once`] has run into.
pub struct Failed {
    /// The bug.
    pub bug: Bug,
    /// What the future has panicked with, if it has.
    pub payload: Option<Box<dyn Any + Send>>,
}

impl From<Bug> for Failed {
    fn from(bug: Bug) -> Failed {
        Failed { bug, payload: None }
    }
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bug.fmt(f)
    }
}

/// A timer is served after so many steps of tasks that are never idle.
const PATIENCE: u32 = 1_000;

fn drive(main: BoxFuture) -> Result<(), Failed> {
    let main = Cell::new(Some(main));
    let make = || main.take().unwrap_or_else(|| Box::pin(async {}));
    let model = Model {
        task_panics: TaskPanics::Unobserved,
        clock: Clock::Idle,
        once: true,
        ..Model::default()
    };
    let mut system = TaskSystem::new();
    system.begin(model, &make, |_| Ok(()))?;
    let (mut last, mut steps) = (None, 0);
    loop {
        match system.status() {
            Status::Done => return Ok(system.end()?),
            Status::Stuck(waiting) => {
                let _ = system.end();
                return Err(Bug::new(Problem::Deadlock { waiting }).into());
            }
            Status::Running => {}
        }
        steps += 1;
        let timer = system.first_timer().filter(|_| steps > PATIENCE);
        if timer.is_some() {
            steps = 0;
        }
        let next = timer.unwrap_or_else(|| turn(system.enabled(), last));
        last = Some(next);
        if let Err(Stop::Bug(bug)) = system.step(next, &mut FirstOfAll) {
            let payload = system.payload_of_main();
            let _ = system.end();
            return Err(Failed { bug: *bug, payload });
        }
    }
}

/// The first that is enabled after the one that stepped last.
fn turn(enabled: &[WorkerId], last: Option<WorkerId>) -> WorkerId {
    let after = enabled.iter().find(|worker| Some(**worker) > last);
    *after.unwrap_or(&enabled[0])
}

/// Answers every question with the first value, and listens to nothing.
struct FirstOfAll;

impl Env for FirstOfAll {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        Ok(0)
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        Ok(0)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        Ok(())
    }

    fn leeway(&self) -> u32 {
        u32::MAX
    }
}
