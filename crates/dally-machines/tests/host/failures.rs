//! What a failing machine does to itself and to others.

use std::sync::{Arc, Mutex};

use dally_core::{BugKind, WorkerId};
use dally_machines::host::{Host, SendError};
use dally_machines::{Addr, Cx};
use dally_macros::machine;

use crate::log::quiet;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Divide(u32);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Odd;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tell(&'static str);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Diary;

#[machine(states(Open))]
impl Diary {
    #[on(Open, Tell)]
    fn tell(&mut self, cx: &mut Cx<Self>, Tell(text): Tell) {
        cx.announce(text);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Divider {
    diary: Addr<Diary>,
    by: u32,
}

#[machine(states(Ready, Busy))]
impl Divider {
    #[on(Ready, Divide)]
    fn divide(&mut self, cx: &mut Cx<Self>, Divide(by): Divide) {
        self.by = by;
        cx.send(self.diary, Tell("before"));
        assert_ne!(by, 0, "cannot divide by zero");
        cx.send(self.diary, Tell("after"));
    }

    #[on(Ready, Tell)]
    fn tell(&mut self, cx: &mut Cx<Self>) {
        cx.goto(Busy);
    }

    #[on(Busy, Odd)]
    fn odd(&mut self) {}
}

#[tokio::test]
async fn a_panic_stops_its_machine_after_the_sends_before_it_and_no_other() {
    let (builder, log) = quiet();
    let host = builder.build();
    let diary = host.create(Diary);
    let divider = host.create(Divider { diary, by: 1 });
    host.send(divider, Divide(0)).unwrap();
    host.send(divider, Divide(1)).unwrap();
    host.wait_for(divider).await;
    assert_eq!(host.send(divider, Divide(2)), Err(SendError::Gone));
    host.send(diary, Tell("still there")).unwrap();
    let report = host.shutdown().await;
    assert_eq!(log.lines(), ["before", "still there"]);
    assert_eq!((report.failed, report.stopped, report.left), (1, 1, 1));
    let failure = &report.failures[0];
    assert_eq!(failure.worker, Some(WorkerId::root(1)));
    assert_eq!(failure.bug.kind(), BugKind::Panic);
    assert!(dally_report::text::bug(&failure.bug).contains("cannot divide by zero"));
    let location = failure.bug.location.as_ref().unwrap();
    assert!(location.file.ends_with("failures.rs"), "{location}");
    let (told, place) = (failure.to_string(), format!("cannot divide by zero at {location}"));
    assert!(told.starts_with("machine `Divider(1)` stopped: assertion"), "{told}");
    assert!(told.ends_with(&place), "{told}");
}

#[tokio::test]
async fn an_event_without_a_rule_stops_the_machine_and_names_the_sender() {
    let (builder, _) = quiet();
    let host = builder.build();
    let diary = host.create(Diary);
    let divider = host.create(Divider { diary, by: 1 });
    host.send(divider, Odd).unwrap();
    host.wait_for(divider).await;
    let divider = host.create(Divider { diary, by: 1 });
    host.create(Meddler { divider });
    host.wait_for(divider).await;
    let report = host.shutdown().await;
    let told: Vec<_> = report.failures.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "machine `Divider(1)` stopped: `Divider(1)` in state `Ready` has no handler for event \
             `Odd` from outside the host",
            "machine `Divider(2)` stopped: `Divider(2)` in state `Ready` has no handler for event \
             `Odd` from `Meddler(3)`",
        ]
    );
}

/// Sends what its victim does not expect.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Meddler {
    divider: Addr<Divider>,
}

#[machine(states(Meddling))]
impl Meddler {
    #[entry(Meddling)]
    fn meddle(&mut self, cx: &mut Cx<Self>) {
        cx.send(self.divider, Odd);
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Endless;

#[machine(states(Sending))]
impl Endless {
    #[entry(Sending)]
    fn send(&mut self, cx: &mut Cx<Self>) {
        loop {
            cx.send(cx.me(), Odd);
        }
    }

    #[on(Sending, Odd)]
    fn odd(&mut self) {}
}

#[tokio::test]
async fn a_handler_that_sends_without_end_is_stopped() {
    let host = quiet().0.build();
    host.create(Endless);
    host.wait().await;
    let report = host.shutdown().await;
    assert_eq!(report.failures[0].bug.kind(), BugKind::EndlessStep);
}

#[derive(Debug)]
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[machine(uncaptured, states(Lying))]
impl Grenade {
    #[on(Lying, Odd)]
    fn throw(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }
}

#[tokio::test]
async fn a_panic_in_a_destructor_is_a_failure_of_the_machine() {
    let host = quiet().0.build();
    let grenade = host.create(Grenade);
    host.send(grenade, Odd).unwrap();
    host.wait().await;
    let report = host.shutdown().await;
    assert_eq!((report.halted, report.failed), (0, 1));
    assert_eq!(dally_report::text::bug(&report.failures[0].bug), "dropped");
}

#[tokio::test]
async fn failures_are_told_at_once_and_a_teller_that_panics_does_no_harm() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let event_sink = Arc::clone(&told);
    let host = Host::builder()
        .on_failure(move |failure| {
            event_sink.lock().unwrap().push(failure.bug.kind());
            panic!("no more paper");
        })
        .build();
    let diary = host.create(Diary);
    let divider = host.create(Divider { diary, by: 1 });
    host.send(divider, Divide(0)).unwrap();
    host.wait_for(divider).await;
    assert_eq!(told.lock().unwrap().len(), 1);
    assert_eq!(host.send(diary, Tell("still there")), Ok(()));
    assert_eq!(host.shutdown().await.failed, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_very_many_failures_the_first_are_kept_and_all_are_counted() {
    let host = quiet().0.build();
    let diary = host.create(Diary);
    for _ in 0..1100 {
        let divider = host.create(Divider { diary, by: 1 });
        host.send(divider, Divide(0)).unwrap();
    }
    let report = host.shutdown().await;
    assert_eq!((report.failed, report.failures.len()), (1100, 1000));
}
