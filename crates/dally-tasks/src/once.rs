//! One execution under one schedule, for code that can be run once only.

// The future of the caller lives on the caller's stack, and the engine keeps futures that live for ever.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;

use dally_core::bug::Problem;
use dally_core::{Bug, Cut, Env, Event, MessageId, Status, Stop, System, Tag, Text, WorkerId};

use crate::exec::BoxFuture;
use crate::model::{Clock, Model, TaskPanics};
use crate::system::TaskSystem;

/// Runs a future and what it spawns under one schedule, in which tasks take turns and time moves when
/// nobody can step: what it gives, or the bug that it runs into. Nothing is explored, since a future exists
/// once.
///
/// ```
/// let sum = dally_tasks::run_once(async {
///     let two = dally_tasks::spawn(async { 2 });
///     two.await.unwrap() + 2
/// });
/// assert_eq!(sum.unwrap(), 4);
/// ```
pub fn run_once<F: Future>(future: F) -> Result<F::Output, Bug> {
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

fn drive(main: BoxFuture) -> Result<(), Bug> {
    let main = Cell::new(Some(main));
    let make = || main.take().unwrap_or_else(|| Box::pin(async {}));
    let model =
        Model { task_panics: TaskPanics::Unobserved, clock: Clock::Idle, once: true, ..Model::default() };
    let mut system = TaskSystem::new();
    system.begin(model, &make, |_| Ok(()))?;
    let mut last = None;
    loop {
        match system.status() {
            Status::Done => return system.end(),
            Status::Stuck(waiting) => {
                let _ = system.end();
                return Err(Bug::new(Problem::Deadlock { waiting }));
            }
            Status::Running => {}
        }
        let next = turn(system.enabled(), last);
        last = Some(next);
        if let Err(Stop::Bug(bug)) = system.step(next, &mut FirstOfAll) {
            let _ = system.end();
            return Err(*bug);
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
