//! Value choices, monitors and notes.

mod driver;

use std::any::{Any, TypeId};
use std::fmt;

use dally_core::bug::Violation;
use dally_core::{
    Bug, Cut, Env, Event, Heat, IntoMonitor, MessageId, Monitor, Problem, Program, SharedMonitor,
    Stop, System, Tag, Text,
};
use dally_tasks::sync::{Mutex, mpsc};
use dally_tasks::{TaskProgram, announce, choose, flip, note, pick, spawn, yield_now};
use driver::explore;

#[test]
fn every_value_is_explored() {
    let program = TaskProgram::new("values", || async {
        note(format_args!("{} {} {}", choose(3), flip(), pick(&['x', 'y'])));
    });
    let explored = explore(&program);
    assert_eq!((explored.schedules, explored.outcomes.len()), (12, 12));
}

/// What a lock holds, if it is free.
struct Held<'a>(&'a Mutex<u32>);

impl fmt::Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.try_lock() {
            Ok(held) => write!(f, "{held}"),
            Err(_) => f.write_str("somebody has it"),
        }
    }
}

#[test]
fn what_is_noted_may_look_at_what_a_lock_holds() {
    let program = TaskProgram::new("held", || async {
        let lock = Mutex::new(7);
        note(Held(&lock));
        let _held = lock.lock().await;
        note(Held(&lock));
    });
    assert_eq!(explore(&program).kinds(), ["7 somebody has it done"]);
}

#[test]
fn choosing_from_nothing_is_a_bug_with_a_place() {
    let program = TaskProgram::new("nothing", || async {
        pick::<u8>(&[]);
    });
    let bug = explore(&program).bugs.remove(0);
    assert_eq!(
        dally_report::text::bug(&bug),
        "pick from an empty slice: there is nothing to choose from"
    );
    assert!(bug.location.unwrap().file.ends_with("choice.rs"));
}

#[test]
fn a_choice_in_the_programs_closure_is_refused() {
    let program = TaskProgram::new("setup", || {
        let n = choose(2);
        async move { note(n) }
    });
    let bug = program.start().unwrap_err();
    assert!(
        dally_report::text::bug(&bug).starts_with("a choice outside of the program's tasks"),
        "{bug}"
    );
}

/// Says no more after so many events or values.
struct Impatient(u32);

impl Impatient {
    fn one_less(&mut self) -> Result<(), Cut> {
        self.0 = self.0.checked_sub(1).ok_or(Cut)?;
        Ok(())
    }
}

impl Env for Impatient {
    fn value(&mut self, _: u32, _: Tag) -> Result<u32, Cut> {
        self.one_less().map(|()| 0)
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        self.one_less().map(|()| 0)
    }

    fn event(&mut self, _: Event<Text<'_>>) -> Result<(), Cut> {
        self.one_less()
    }
}

/// Runs a program whose first step never ends by itself.
fn is_cut(main: impl AsyncFn() + Send + Sync + Copy + 'static) -> bool {
    let program = TaskProgram::new("endless", move || async move { main().await });
    let mut system = program.start().unwrap();
    let main = system.enabled()[0];
    let stop = system.step(main, &mut Impatient(1_000));
    system.end().unwrap();
    matches!(stop, Err(Stop::Cut))
}

#[test]
fn a_step_without_end_is_cut() {
    assert!(is_cut(async || {
        loop {
            flip();
        }
    }));
    assert!(is_cut(async || {
        loop {
            note("again");
        }
    }));
    assert!(is_cut(async || {
        let (tx, _rx) = mpsc::unbounded_channel();
        loop {
            tx.send(()).unwrap();
        }
    }));
    assert!(is_cut(async || {
        loop {
            drop(spawn(async {}));
        }
    }));
}

#[test]
fn a_cut_that_the_program_catches_is_still_a_cut() {
    assert!(is_cut(async || {
        let caught = std::panic::catch_unwind(|| {
            loop {
                flip();
            }
        });
        let _: Result<(), _> = caught;
    }));
}

#[derive(Debug)]
struct Paid(u32);

/// Nothing is paid twice; every odd payment is an open wish for an even one.
#[derive(Clone, Default)]
struct Payments {
    last: Option<u32>,
}

impl Monitor for Payments {
    fn name(&self) -> &'static str {
        "Payments"
    }

    fn observes(&self, event: TypeId) -> bool {
        event == TypeId::of::<Paid>()
    }

    fn observe(&mut self, event: &dyn Any) -> Result<(), Bug> {
        let Some(Paid(number)) = event.downcast_ref() else { return Ok(()) };
        if self.last.replace(*number) == Some(*number) {
            let message = format!("{number} is paid twice");
            let problem = Problem::Monitor(Violation::Assertion { message });
            return Err(Bug::new(problem).by("Payments"));
        }
        Ok(())
    }

    fn state(&self) -> &'static str {
        if self.heat() == Heat::Hot { "Odd" } else { "Even" }
    }

    fn heat(&self) -> Heat {
        if self.last.is_some_and(|last| last % 2 == 1) { Heat::Hot } else { Heat::Cold }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.last.unwrap_or(0).to_le_bytes());
    }

    fn duplicate(&self) -> SharedMonitor {
        SharedMonitor::new(self.clone())
    }
}

impl IntoMonitor for Payments {
    fn into_monitor(self) -> Result<SharedMonitor, Bug> {
        Ok(self.duplicate())
    }
}

#[test]
fn a_monitor_judges_in_the_step_that_announces() {
    let program = TaskProgram::new("payments", || async {
        let tasks = [1, 2, 1].map(|number| {
            spawn(async move {
                yield_now().await;
                announce(Paid(number));
                note(number);
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
    })
    .monitor(Payments::default);
    let explored = explore(&program);
    let endings: std::collections::BTreeSet<_> = explored.kinds().into_iter().collect();
    // 1 and 1 next to each other is the bug, whichever comes first; then nothing more happens.
    let expected = ["1 2 1 done", "1 monitor: 1 is paid twice", "2 1 monitor: 1 is paid twice"];
    assert_eq!(endings, expected.into_iter().collect());
    assert!(explored.bugs.iter().all(|bug| bug.culprit.as_deref() == Some("Payments")));
}

#[test]
fn a_hot_monitor_is_seen_from_outside() {
    let program =
        TaskProgram::new("hot", || async { announce(Paid(1)) }).monitor(Payments::default);
    let mut system = program.start().unwrap();
    assert_eq!(system.acceptance().hot, 0);
    let main = system.enabled()[0];
    system.step(main, &mut Impatient(100)).unwrap();
    assert_eq!(system.acceptance().hot, 1);
    assert_eq!(system.monitor(0), ("Payments".to_owned(), "Odd".to_owned()));
    system.end().unwrap();
}
