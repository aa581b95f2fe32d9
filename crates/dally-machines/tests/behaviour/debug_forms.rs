//! Values whose `Debug` form panics: nobody needs it but the reader of a trace.

use std::fmt;
use std::sync::Arc;

use dally_core::{BugKind, Event, Item};
use dally_machines::{Cx, MachineProgram, Setup};
use dally_macros::machine;
use dally_search::{Options, run};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Shy;

impl fmt::Debug for Shy {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("nobody looks at me")
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tells;

#[machine(states(Start))]
impl Tells {
    #[entry(Start)]
    fn start(&mut self, cx: &mut Cx<Self>) {
        cx.send(cx.me(), Shy);
    }
    #[on(Start, Shy)]
    fn shy(&mut self, _: &mut Cx<Self>, _: Shy) {
        panic!("the bug");
    }
}

#[test]
fn a_debug_form_that_panics_is_told_as_that_panic_in_the_trace_of_the_bug() {
    let program = MachineProgram::new("shy", |setup: &mut Setup| {
        setup.create(Tells);
    });
    let report = run(Arc::new(program), Options::default(), Arc::new(()));
    let [finding] = &report.findings[..] else { panic!("{:?}", report.findings) };
    assert_eq!((finding.bug.kind(), finding.bug.message()), (BugKind::Panic, "the bug"));
    let items = finding.trace.steps.iter().flat_map(|step| &step.items);
    let sent = items.filter_map(|item| match item {
        Item::Event(Event::Sent { payload, .. }) => Some(payload),
        _ => None,
    });
    let sent: Vec<_> = sent.collect();
    assert_eq!(sent.len(), 1);
    assert!(sent[0].contains("panics") && sent[0].contains("nobody looks at me"), "{}", sent[0]);
}
