//! Creation, halting, default handlers, bursts, choices.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dally_core::WorkerId;
use dally_machines::host::{Host, SendError};
use dally_machines::{Addr, Cx};
use dally_macros::machine;

use crate::log::quiet;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Split(u32);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Grown(Addr<Tree>);

/// Creates two children, down to some depth, and each tells its parent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Tree {
    parent: Option<Addr<Tree>>,
    depth: u32,
}

#[machine(states(Growing))]
impl Tree {
    #[entry(Growing)]
    fn grow(&mut self, cx: &mut Cx<Self>) {
        for _ in 0..if self.depth > 0 { 2 } else { 0 } {
            cx.create(Tree { parent: Some(cx.me()), depth: self.depth - 1 });
        }
        if let Some(parent) = self.parent {
            cx.send(parent, Grown(cx.me()));
        }
    }

    #[on(Growing, Grown)]
    fn grown(&mut self, cx: &mut Cx<Self>, Grown(child): Grown) {
        cx.announce(child);
    }

    #[on(Growing, Split)]
    fn split(&mut self, cx: &mut Cx<Self>, Split(depth): Split) {
        cx.create(Tree { parent: Some(cx.me()), depth });
    }
}

#[tokio::test]
async fn machines_have_the_same_ids_as_under_test() {
    let (builder, log) = quiet();
    let host = builder.build();
    assert_eq!(host.create(Tree { parent: None, depth: 0 }).id(), WorkerId::root(0));
    let tree = host.create(Tree { parent: None, depth: 2 });
    host.idle().await;
    host.send(tree, Split(0)).unwrap();
    host.idle().await;
    let mut lines = log.lines();
    lines.sort();
    let grown = [
        "Tree(1.0)",
        "Tree(1.0.0)",
        "Tree(1.0.1)",
        "Tree(1.1)",
        "Tree(1.1.0)",
        "Tree(1.1.1)",
        "Tree(1.2)",
    ];
    assert_eq!(lines, grown);
    assert_eq!(host.shutdown().await.created, 9);
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Work(u64);
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Quit;
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Flood {
    to: Addr<Sink>,
    count: u64,
}

/// Sums what it gets, and checks that it comes in order.
#[derive(Debug)]
struct Sink {
    next: u64,
    total: Arc<AtomicU64>,
}

#[machine(uncaptured, states(Open))]
impl Sink {
    #[on(Open, Work)]
    fn work(&mut self, _: &mut Cx<Self>, Work(n): Work) {
        assert_eq!(n, self.next);
        self.next += 1;
        self.total.fetch_add(n, Relaxed);
    }

    #[on(Open, Quit)]
    fn quit(&mut self, cx: &mut Cx<Self>) {
        cx.halt();
    }
}

/// Sends a flood in bursts of what one handler may send.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Source {
    sent: u64,
}

#[machine(states(Open))]
impl Source {
    #[on(Open, Flood)]
    fn flood(&mut self, cx: &mut Cx<Self>, flood: Flood) {
        for _ in 0..5_000.min(flood.count) {
            cx.send(flood.to, Work(self.sent));
            self.sent += 1;
        }
        if let Some(count) = flood.count.checked_sub(5_000) {
            cx.raise(Flood { count, ..flood });
        }
    }
}

async fn burst_from_outside() {
    let host = Host::new();
    let total = Arc::new(AtomicU64::new(0));
    let sink = host.create(Sink { next: 0, total: Arc::clone(&total) });
    for n in 0..100_000 {
        host.send(sink, Work(n)).unwrap();
    }
    let report = host.shutdown().await;
    assert!(report.is_clean(), "{report}");
    assert_eq!(total.load(Relaxed), 100_000 * 99_999 / 2);
}

#[tokio::test]
async fn a_burst_of_100_000_events_waits_in_the_inbox_of_a_machine_on_one_thread() {
    burst_from_outside().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_100_000_events_waits_in_the_inbox_of_a_machine_on_two_threads() {
    burst_from_outside().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn machines_that_flood_each_other_do_not_wait_for_each_other() {
    let host = Host::new();
    let totals = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
    for total in &totals {
        let sink = host.create(Sink { next: 0, total: Arc::clone(total) });
        let source = host.create(Source { sent: 0 });
        for _ in 0..12 {
            host.send(source, Flood { to: sink, count: 4_000 }).unwrap();
        }
    }
    let report = host.shutdown().await;
    assert!(report.is_clean(), "{report}");
    for total in totals {
        assert_eq!(total.load(Relaxed), 48_000 * 47_999 / 2);
    }
}

#[tokio::test]
async fn what_is_sent_to_a_halted_machine_is_dropped() {
    let host = Host::new();
    let total = Arc::new(AtomicU64::new(0));
    let sink = host.create(Sink { next: 0, total });
    let source = host.create(Source { sent: 0 });
    host.send(sink, Quit).unwrap();
    host.send(sink, Work(7)).unwrap();
    host.wait_for(sink).await;
    assert_eq!(host.send(sink, Work(0)), Err(SendError::Gone));
    host.send(source, Flood { to: sink, count: 10 }).unwrap();
    let report = host.shutdown().await;
    assert_eq!(report.to_string(), "2 machines: 1 halted, 1 stopped, 0 failed");
    assert!(report.is_clean());
}

/// Counts down in its default handler, then waits.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Countdown {
    left: u32,
}

#[machine(states(Counting, Waiting))]
impl Countdown {
    #[default(Counting)]
    fn count(&mut self, cx: &mut Cx<Self>) {
        self.left -= 1;
        cx.announce(self.left);
        if self.left == 0 {
            cx.goto(Waiting);
        }
    }

    #[on(Counting | Waiting, Work)]
    fn work(&mut self, cx: &mut Cx<Self>) {
        cx.announce("work");
    }
}

#[tokio::test]
async fn a_default_handler_runs_while_there_is_nothing_else_to_do() {
    let (builder, log) = quiet();
    let host = builder.build();
    host.create(Countdown { left: 3 });
    while log.lines().len() < 3 {
        tokio::task::yield_now().await;
    }
    host.idle().await;
    assert_eq!(log.lines(), ["2", "1", "0"]);
}

#[tokio::test]
async fn a_default_handler_lets_others_run_and_events_come_first() {
    let (builder, log) = quiet();
    let host = builder.build();
    let countdown = host.create(Countdown { left: u32::MAX });
    tokio::task::yield_now().await;
    // On one thread this line is reached only because the machine yields.
    host.send(countdown, Work(0)).unwrap();
    host.send(countdown, Work(1)).unwrap();
    while !log.lines().contains(&"work".to_owned()) {
        tokio::task::yield_now().await;
    }
    host.idle().await;
    let lines = log.lines();
    let first = lines.iter().position(|line| line == "work").unwrap();
    assert_eq!(lines[first + 1], "work");
    // The default handler never comes to an end; a shutdown does not wait for that.
    assert!(host.shutdown().await.is_clean());
}

#[tokio::test]
async fn a_default_handler_does_not_run_during_a_shutdown() {
    let (builder, log) = quiet();
    let host = builder.build();
    let countdown = host.create(Countdown { left: 3 });
    host.send(countdown, Work(0)).unwrap();
    assert!(host.shutdown().await.is_clean());
    assert_eq!(log.lines(), ["work"]);
}

/// Halts while an event of its own is under way to it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Hasty;

#[machine(states(Leaving))]
impl Hasty {
    #[entry(Leaving)]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.send(cx.me(), Quit);
        cx.halt();
    }

    #[on(Leaving, Quit)]
    fn quit(&mut self) {
        unreachable!("it has halted");
    }
}

#[tokio::test]
async fn events_under_way_to_a_machine_that_halts_keep_nobody_waiting() {
    let host = Host::new();
    host.create(Hasty);
    host.idle().await;
    let report = host.shutdown().await;
    assert_eq!(report.to_string(), "1 machine: 1 halted, 0 stopped, 0 failed");
    assert!(report.is_clean());
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Dice;

#[machine(states(Rolling))]
impl Dice {
    #[entry(Rolling)]
    fn roll(&mut self, cx: &mut Cx<Self>) {
        let rolled: Vec<usize> = (0..20).map(|_| cx.choose(6)).collect();
        cx.announce(rolled);
        cx.halt();
    }
}

#[tokio::test]
async fn choices_depend_on_the_seed_and_the_machine_alone() {
    let mut rolled = Vec::new();
    for seed in [1, 1, 2] {
        let (builder, log) = quiet();
        let host = builder.seed(seed).build();
        host.create(Dice);
        host.create(Dice);
        host.wait().await;
        let mut lines = log.lines();
        lines.sort();
        assert_ne!(lines[0], lines[1], "each machine has choices of its own");
        rolled.push(lines);
    }
    assert_eq!(rolled[0], rolled[1]);
    assert_ne!(rolled[0], rolled[2]);
}
