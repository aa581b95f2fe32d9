//! Handlers without end are findings, not hangs.

use dally_core::BugKind;
use dally_machines::{Cx, MachineProgram, Setup};
use dally_macros::machine;

use crate::driver::first;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Again;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Way {
    Send,
    Create,
    Raise,
    Goto,
    Push,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Endless(Way);

#[machine(states(Start))]
impl Endless {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        match self.0 {
            Way::Send => loop {
                let me = cx.me();
                cx.send(me, Again);
            },
            Way::Create => loop {
                cx.create(Endless(Way::Send));
            },
            Way::Raise => cx.raise(Again),
            Way::Goto => cx.goto(Start),
            Way::Push => cx.push(Start),
        }
    }
    #[on(Start, Again)]
    fn again(&mut self, cx: &mut Cx<Self>) {
        cx.raise(Again);
    }
}

fn message(way: Way) -> String {
    let run = first(&MachineProgram::new("endless", move |setup: &mut Setup| {
        setup.create(Endless(way));
    }));
    let bug = run.bug.unwrap();
    assert_eq!((bug.kind(), run.steps.len()), (BugKind::EndlessStep, 1));
    dally_report::text::bug(&bug)
}

#[test]
fn endless_effects_are_a_finding() {
    insta::assert_snapshot!(message(Way::Send), @"a handler of `Endless` sends, creates or sets timers without end: 10000 effects, and more to come");
    assert_eq!(message(Way::Create), message(Way::Send));
}

#[test]
fn endless_transitions_are_a_finding() {
    insta::assert_snapshot!(message(Way::Raise), @"`Endless` raises events or changes its state without end: 10000 transitions on one event, now in state `Start`");
    assert_eq!(message(Way::Goto), message(Way::Raise));
    assert_eq!(message(Way::Push), message(Way::Raise));
}
