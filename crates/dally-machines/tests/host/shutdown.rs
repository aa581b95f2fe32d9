//! The end of a host.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use dally_machines::host::{Host, SendError};
use dally_machines::{Addr, Cx};
use dally_macros::machine;

use crate::log::quiet;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Hop {
    left: u32,
}
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Meet(Addr<Runner>);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tick;

/// Passes a token to and fro.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Runner {
    other: Option<Addr<Runner>>,
}

#[machine(states(Alone, Running))]
impl Runner {
    #[on(Alone, Meet)]
    fn meet(&mut self, cx: &mut Cx<Self>, Meet(other): Meet) {
        self.other = Some(other);
        cx.every(Duration::from_millis(10), Tick);
        cx.goto(Running);
    }

    #[on(Running, Hop)]
    fn hop(&mut self, cx: &mut Cx<Self>, Hop { left }: Hop) {
        match self.other {
            Some(other) if left > 0 => cx.send(other, Hop { left: left - 1 }),
            _ => cx.announce("there"),
        }
    }

    #[on(Running, Tick)]
    fn tick(&mut self, cx: &mut Cx<Self>) {
        cx.announce("tick");
    }

    #[defer(Alone, Hop)]
    const RULES: () = ();
}

fn pair(host: &Host) -> [Addr<Runner>; 2] {
    let pair = [(); 2].map(|()| host.create(Runner { other: None }));
    host.send(pair[0], Meet(pair[1])).unwrap();
    host.send(pair[1], Meet(pair[0])).unwrap();
    pair
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_handles_what_is_under_way_and_all_that_follows_from_it() {
    let (builder, log) = quiet();
    let host = builder.build();
    let [runner, _] = pair(&host);
    host.send(runner, Hop { left: 10_000 }).unwrap();
    let handle = host.handle();
    let report = host.shutdown().await;
    // The timers of both were armed, and never ticked: the clock did not move.
    assert_eq!(log.timed(), ["0: there"]);
    assert_eq!(report.to_string(), "2 machines: 0 halted, 2 stopped, 0 failed");
    assert!(report.is_clean());
    assert_eq!(handle.send(runner, Tick), Err(SendError::ShuttingDown));
    let late = handle.create(Runner { other: None });
    assert_eq!(handle.send(late, Tick), Err(SendError::ShuttingDown));
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_always_has_something_to_do_lets_others_run() {
    let (builder, log) = quiet();
    let host = builder.build();
    let busy = host.create(Runner { other: None });
    host.send(busy, Meet(busy)).unwrap();
    host.send(busy, Hop { left: 10_000 }).unwrap();
    let other = host.create(Runner { other: None });
    host.send(other, Meet(other)).unwrap();
    host.send(other, Tick).unwrap();
    host.idle().await;
    assert_eq!(log.timed(), ["0: tick", "0: there"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_drains_on_several_threads() {
    for _ in 0..200 {
        let (builder, log) = quiet();
        let host = builder.build();
        for _ in 0..4 {
            let [runner, other] = pair(&host);
            host.send(runner, Hop { left: 20 }).unwrap();
            host.send(other, Hop { left: 20 }).unwrap();
        }
        let report = host.shutdown().await;
        assert!(report.is_clean() && report.stopped == 8, "{report}");
        assert_eq!(log.lines().iter().filter(|line| *line == "there").count(), 8);
    }
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_gives_up_at_its_deadline() {
    let (builder, log) = quiet();
    let host = builder.drain(Duration::from_millis(50)).build();
    let [runner, _] = pair(&host);
    host.send(runner, Hop { left: u32::MAX }).unwrap();
    // A paused clock stands still while machines are at work, so time is moved by hand.
    let mover = tokio::spawn(async {
        for _ in 0..60 {
            tokio::time::advance(Duration::from_millis(1)).await;
        }
    });
    let report = host.shutdown().await;
    assert!(!report.drained && !report.is_clean());
    assert_eq!(
        report.to_string(),
        "2 machines: 0 halted, 2 stopped, 0 failed; 1 event left unhandled\n\
         the inboxes were not empty at the deadline"
    );
    assert!(log.lines().is_empty(), "no timer ticks during a shutdown");
    mover.await.unwrap();
}

#[tokio::test]
async fn deferred_events_do_not_keep_a_shutdown_waiting_and_are_counted() {
    let (builder, _) = quiet();
    let host = builder.build();
    let runner = host.create(Runner { other: None });
    host.send(runner, Hop { left: 1 }).unwrap();
    host.idle().await;
    let report = host.shutdown().await;
    assert!(report.is_clean());
    let text = "1 machine: 0 halted, 1 stopped, 0 failed; 1 event left unhandled";
    assert_eq!(report.to_string(), text);
}

#[tokio::test(start_paused = true)]
async fn a_host_runs_until_it_is_told_to_stop() {
    let (builder, log) = quiet();
    let host = builder.build();
    pair(&host);
    let report = host.run_until(tokio::time::sleep(Duration::from_millis(25))).await;
    assert_eq!(log.timed(), ["10: tick", "10: tick", "20: tick", "20: tick"]);
    assert!(report.is_clean());
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Nap(Duration);

/// Blocks its thread, and counts when it is dropped.
#[derive(Debug)]
struct Sleeper {
    dropped: Arc<AtomicU64>,
}

#[machine(uncaptured, states(Awake))]
impl Sleeper {
    #[on(Awake, Nap)]
    fn nap(&mut self, _: &mut Cx<Self>, Nap(time): Nap) {
        std::thread::sleep(time);
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_whose_handler_does_not_return_is_named() {
    let (builder, _) = quiet();
    let host = builder.drain(Duration::from_millis(10)).build();
    let sleeper = host.create(Sleeper { dropped: Arc::default() });
    host.create(Sleeper { dropped: Arc::default() });
    host.send(sleeper, Nap(Duration::from_secs(2))).unwrap();
    let report = host.shutdown().await;
    assert_eq!(report.stuck, ["Sleeper(0)"]);
    assert_eq!(report.stopped, 1);
}

#[tokio::test]
async fn machines_are_dropped_before_a_shutdown_returns() {
    let dropped = Arc::new(AtomicU64::new(0));
    let host = Host::new();
    for _ in 0..10 {
        host.create(Sleeper { dropped: Arc::clone(&dropped) });
    }
    host.shutdown().await;
    assert_eq!(dropped.load(Relaxed), 10);
}

#[tokio::test]
async fn a_dropped_host_stops_its_machines() {
    let dropped = Arc::new(AtomicU64::new(0));
    let host = Host::new();
    host.create(Sleeper { dropped: Arc::clone(&dropped) });
    host.idle().await;
    drop(host);
    while dropped.load(Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_runtime_that_goes_away_takes_its_machines_along() {
    let dropped = Arc::new(AtomicU64::new(0));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let host = Host::builder().runtime(runtime.handle().clone()).build();
    let sleeper = host.create(Sleeper { dropped: Arc::clone(&dropped) });
    runtime.block_on(host.idle());
    drop(runtime);
    assert_eq!(dropped.load(Relaxed), 1);
    assert_eq!(host.send(sleeper, Nap(Duration::ZERO)), Err(SendError::Gone));
    // A machine created now is dropped at once.
    host.create(Sleeper { dropped: Arc::clone(&dropped) });
    assert_eq!(dropped.load(Relaxed), 2);
    let other = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let report = other.block_on(host.shutdown());
    assert!(report.is_clean() && report.stopped == 2, "{report}");
}
