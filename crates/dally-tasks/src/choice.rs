//! Value choices, and words to monitors, explorers and readers.

use std::fmt;
use std::ops::RangeInclusive;
use std::panic::Location;

use dally_core::{Announcement, Event, Input, Stop, Tag, Text, fingerprint};

use crate::current;

/// Any number below `n`: every one of them is explored.
///
/// # Panics
/// If `n` is 0, outside of a Dally execution, and in a program's closure outside of its async
/// block.
#[track_caller]
pub fn choose(n: usize) -> usize {
    let of = u32::try_from(n).unwrap_or(u32::MAX);
    assert!(of > 0, "choose(0): there is nothing to choose from");
    let place = fingerprint::place(Location::caller());
    let chosen = current::with("`choose`", |exec| {
        let answer = current::ask(exec, |exec, env| {
            env.place(place);
            env.value(of, Tag::Program).unwrap_or_else(|_| {
                exec.cut = true;
                0
            })
        });
        match answer {
            Some(index) => Some(index as usize),
            // A destructor gets the first value: nothing is explored any more.
            None => (exec.phase.is_over()).then_some(0),
        }
    });
    let Some(chosen) = chosen else {
        panic!("a choice outside of the program's tasks: make it inside of the async block");
    };
    chosen
}

/// `false` or `true`: both are explored.
#[track_caller]
pub fn flip() -> bool {
    choose(2) == 1
}

/// Any of these options: every one of them is explored.
///
/// # Panics
/// If there is none, and where [`choose`] does.
#[track_caller]
pub fn pick<T>(options: &[T]) -> &T {
    assert!(!options.is_empty(), "pick from an empty slice: there is nothing to choose from");
    &options[choose(options.len())]
}

/// A number from outside, such as an id or an amount, under a name for the reader: any 64-bit
/// number, and 0 where nobody picks another. [`Input`] says more of it. Strategies that draw at
/// random vary inputs, searches of states use the given ones.
///
/// # Panics
/// Where [`choose`] does.
#[track_caller]
pub fn input<'i>(asked: impl Into<Input<'i>>) -> i64 {
    let asked = asked.into();
    let given = current::with("`input`", |exec| {
        let answer = current::ask(exec, |exec, env| {
            env.input(asked).unwrap_or_else(|_| {
                exec.cut = true;
                asked.given
            })
        });
        // A destructor has the given one: nothing is explored any more.
        answer.or(exec.phase.is_over().then_some(asked.given))
    });
    let Some(given) = given else {
        panic!("an input outside of the program's tasks: ask inside of the async block");
    };
    given
}

/// A number from outside that lies in this range; where nobody picks another, the one nearest to 0.
///
/// # Panics
/// If the range is empty, and where [`choose`] does.
#[track_caller]
pub fn input_in(name: &str, range: RangeInclusive<i64>) -> i64 {
    input(Input::named(name).within(range))
}

/// Announces an event to the program's monitors, at once.
///
/// If a monitor finds fault with it, the execution ends here with that bug.
#[track_caller]
pub fn announce<T: Announcement>(event: T) {
    current::with("`announce`", |exec| {
        current::ask(exec, |exec, env| match exec.monitors.announce(&event, env) {
            Ok(()) => {}
            Err(Stop::Cut) => exec.cut = true,
            Err(Stop::Bug(bug)) => {
                exec.bug.get_or_insert(bug);
                exec.cut = true;
            }
        });
    });
}

/// Writes a line for the reader of the trace. The text is made in every execution, whether it is
/// kept or not: it may look at what Dally controls, such as what a lock holds.
#[track_caller]
pub fn note(text: impl fmt::Display) {
    let text = text.to_string();
    current::with("`note`", |exec| {
        current::ask(exec, |exec, env| {
            exec.cut |= env.event(Event::Noted { text: Text::Str(&text) }).is_err();
        });
    });
}

/// Tells the explorer something, such as that the set-up is over. The program goes on as before;
/// what the words do is up to the explorer, which hears them after the step. A search without an
/// explorer of its own does not care.
///
/// ```
/// use dally_tasks::{TaskProgram, hint, sync::mpsc};
///
/// TaskProgram::new("two failures", || async {
///     let (tx, mut rx) = mpsc::channel(2);
///     tx.send("head").await.unwrap();
///     hint("set-up is over");
///     assert_eq!(rx.recv().await, Some("head"));
/// });
/// ```
///
/// # Panics
/// Outside of a Dally execution.
#[track_caller]
pub fn hint(text: impl AsRef<str>) {
    current::with("`hint`", |exec| {
        current::ask(exec, |exec, env| {
            exec.cut |= env.event(Event::Hinted { hint: Text::Str(text.as_ref()) }).is_err();
        });
    });
}
