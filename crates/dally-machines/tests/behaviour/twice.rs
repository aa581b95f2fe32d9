//! Handlers that are not functions are found by running them twice.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use dally_core::{Bug, BugKind};
use dally_machines::{Addr, Cx, MachineProgram, Setup};
use dally_macros::machine;

use crate::driver::first;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Count(u32);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Sink;

#[machine(states(Start))]
impl Sink {
    #[ignore(Start, Count)]
    const RULES: () = ();
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Leak {
    State,
    Message,
    Choice,
    Failure,
    Unseen,
    None,
}

/// Reads a counter that is not part of its state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Leaky(Leak, u32, Addr<Sink>);

static OUTSIDE: [AtomicU32; 5] = [const { AtomicU32::new(0) }; 5];

#[machine(states(Start))]
impl Leaky {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        let outside = |leak: Leak| OUTSIDE[leak as usize].fetch_add(1, Relaxed);
        match self.0 {
            Leak::State | Leak::Unseen => self.1 = outside(self.0),
            Leak::Message => cx.send(self.2, Count(outside(Leak::Message))),
            Leak::Choice => {
                cx.choose(2 + outside(Leak::Choice) as usize);
            }
            Leak::Failure => assert!(outside(Leak::Failure) % 2 == 1, "only every other time"),
            Leak::None => {
                let flipped = cx.flip();
                cx.send(self.2, Count(u32::from(flipped)));
            }
        }
    }
}

fn bug(leak: Leak, twice: bool) -> Option<Bug> {
    let program = MachineProgram::new("leaky", move |setup: &mut Setup| {
        let sink = setup.create(Sink);
        setup.create(Leaky(leak, 0, sink));
    });
    first(&program.run_twice(twice)).bug
}

#[test]
fn a_handler_that_depends_on_anything_else_is_uncontrolled() {
    let message = |leak| {
        let bug = bug(leak, true).unwrap();
        assert_eq!((bug.kind(), bug.culprit.as_deref()), (BugKind::Uncontrolled, Some("Leaky")));
        dally_report::text::bug(&bug)
    };
    insta::assert_snapshot!(message(Leak::State), @"a handler of `Leaky` ran twice from the same state with the same choices, and the results differ: the machine became Leaky(State, 0, Sink(0)) in state `Start`, then Leaky(State, 1, Sink(0)) in state `Start`");
    insta::assert_snapshot!(message(Leak::Message), @"a handler of `Leaky` ran twice from the same state with the same choices, and the results differ: it sent Count(0) to 0, then sent Count(1) to 0");
    insta::assert_snapshot!(message(Leak::Choice), @"a handler of `Leaky` ran twice from the same state with the same choices, and the results differ: it asked for other values");
    assert!(message(Leak::Failure).contains("only every other time"));
}

#[test]
fn a_handler_that_is_a_function_passes() {
    assert_eq!(bug(Leak::None, true), None);
}

#[test]
fn the_check_can_be_turned_off() {
    assert_eq!(bug(Leak::Unseen, false), None);
}
