//! What a program tells by the crate `tracing` stands in the trace of a finding.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dally::machines::{Cx, MachineProgram};
use dally::search::{Mode, Options, replay, run};
use dally::tasks::{TaskProgram, spawn, yield_now};
use tracing::{Instrument, info, info_span, warn};

/// The notes of the finding's trace, with the numbers of their steps.
fn notes(finding: &dally::contract::Finding) -> Vec<String> {
    use dally::contract::{Event, Item};
    let steps = (1..).zip(&finding.trace.steps);
    let notes = steps.flat_map(|(number, step)| {
        step.items.iter().filter_map(move |item| match item {
            Item::Event(Event::Noted { text }) => Some(format!("{number} {}: {text}", step.worker)),
            _ => None,
        })
    });
    notes.collect()
}

#[test]
fn events_of_tasks_come_with_their_fields_and_the_spans_of_their_own_task() {
    let program = TaskProgram::new("pool", || async {
        let tasks: Vec<_> = (0..2)
            .map(|id| {
                let work = async move {
                    info!(id, "before");
                    yield_now().await;
                    warn!(answer = ?Some(42), "after");
                };
                spawn(work.instrument(info_span!("checkout", id)))
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        panic!("to see the trace");
    });
    let program = Arc::new(program);
    let report =
        run(program.clone(), Options { shrink: false, ..Options::default() }, Arc::new(()));
    let finding = &report.findings[0];
    insta::assert_snapshot!(notes(finding).join("\n"));
    let again = replay(program, &finding.schedule, Mode::Exact, 1, Duration::from_secs(10));
    assert_eq!((again.left_at, &again.trace), (None, &finding.trace));
}

struct Panics;

impl fmt::Debug for Panics {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("not to be shown")
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Greeter;

#[dally::machine(states(Greeting))]
impl Greeter {
    #[entry(Greeting)]
    fn greet(&mut self, _: &mut Cx<Self>) {
        info!(text = "\u{1b}[2J</script>", "hello");
        info!(value = ?Panics, "a value that cannot be shown");
        panic!("to see the trace");
    }
}

#[test]
fn handlers_of_machines_are_heard_too_and_a_value_that_panics_is_told_as_that() {
    let program = MachineProgram::new("greeter", |setup| {
        setup.create(Greeter);
    });
    let report = run(Arc::new(program), Options::default(), Arc::new(()));
    let told = notes(&report.findings[0]);
    assert_eq!(told[0], "1 0: INFO tracing: hello text=\"\\u{1b}[2J</script>\"");
    let panics = "1 0: INFO tracing: (to write it down panics: panic: not to be shown at ";
    assert!(told[1].starts_with(panics), "{}", told[1]);
    assert_eq!(report.findings[0].bug.message(), "to see the trace");
}

#[test]
fn nobody_listens_where_nothing_is_recorded() {
    let program = TaskProgram::new("quiet", || async {
        info!(value = ?Panics, "never written");
    });
    let report =
        run(Arc::new(program), Options { schedules: 50, ..Options::default() }, Arc::new(()));
    assert_eq!((report.schedules, report.findings.len()), (50, 0));
    assert!(!tracing::enabled!(tracing::Level::ERROR));
}
