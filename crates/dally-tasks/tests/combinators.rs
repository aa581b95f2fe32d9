//! Several operations in one task, and futures that are not ours.

mod driver;

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use dally_core::{Bug, BugKind, Footprint, Problem, Program, Status, System};
use dally_tasks::sync::{mpsc, oneshot};
use dally_tasks::time::{Duration, sleep};
use dally_tasks::{TaskProgram, note, spawn, yield_now};
use driver::{explore, run_one};
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};

/// The first of two futures that is ready; the left one if both are.
async fn race<A: Future, B: Future>(a: A, b: B) -> Result<A::Output, B::Output> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|cx| {
        if let Poll::Ready(output) = a.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        b.as_mut().poll(cx).map(Err)
    })
    .await
}

#[test]
fn a_race_of_two_channels_goes_both_ways() {
    let program = TaskProgram::new("race", || async {
        let (left, mut a) = mpsc::channel(1);
        let (right, mut b) = mpsc::channel(1);
        spawn(async move { left.send("left").await });
        spawn(async move { right.send("right").await });
        let (Ok(first) | Err(first)) = race(a.recv(), b.recv()).await;
        note(first.unwrap());
    });
    assert_eq!(explore(&program).kinds(), ["left done", "right done"]);
}

#[test]
fn the_loser_of_a_race_loses_no_message() {
    let program = TaskProgram::new("race", || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel::<()>();
        spawn(async move {
            tx.send(1).unwrap();
            yield_now().await;
            let _ = stop.send(());
        });
        let mut sum = 0;
        let mut stopped = pin!(stopped);
        while let Ok(Some(n)) = race(rx.recv(), stopped.as_mut()).await {
            sum += n;
        }
        rx.close();
        while let Some(n) = rx.recv().await {
            sum += n;
        }
        assert_eq!(sum, 1);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_task_with_two_operations_stands_before_the_one_that_it_polls() {
    let program = TaskProgram::new("pending", || async {
        let (tx, mut rx) = mpsc::channel(2);
        let _ = futures_util::future::join(tx.send(1), rx.recv()).await;
    });
    let mut system = program.start().unwrap();
    let main = system.enabled()[0];
    let mut pending = Footprint::default();
    system.pending(main, &mut pending);
    assert!(pending.is_unknown());
    struct Silent;
    impl dally_core::Env for Silent {
        fn value(&mut self, _: u32, _: dally_core::Tag) -> Result<u32, dally_core::Cut> {
            Ok(0)
        }
        fn delivery(&mut self, _: &[dally_core::MessageId]) -> Result<usize, dally_core::Cut> {
            Ok(0)
        }
        fn event(
            &mut self,
            _: dally_core::Event<dally_core::Text<'_>>,
        ) -> Result<(), dally_core::Cut> {
            Ok(())
        }
    }
    for _ in 0..2 {
        system.step(main, &mut Silent).unwrap();
        system.pending(main, &mut pending);
        assert_eq!(pending.accesses().len(), 1, "{pending:?}");
        assert_eq!(system.status(), Status::Running);
    }
    system.end().unwrap();
}

#[test]
fn futures_unordered_keeps_the_points_of_its_futures() {
    // Its wakers are its own: each future must still stand before its operation for a step, so
    // that the other task can come in between.
    let program = TaskProgram::new("unordered", || async {
        let (tx, mut rx) = mpsc::channel(4);
        let other = tx.clone();
        spawn(async move { other.send("x").await });
        let sends = ["a", "b"].map(|name| {
            let tx = tx.clone();
            async move { tx.send(name).await.unwrap() }
        });
        let mut sends: FuturesUnordered<_> = sends.into_iter().collect();
        while sends.next().await.is_some() {}
        drop((sends, tx));
        let mut got = String::new();
        while let Some(name) = rx.recv().await {
            got += name;
        }
        note(got);
    });
    // The sends are done in the order of the collection, and each is a step of its own.
    assert_eq!(explore(&program).kinds(), ["abx done", "axb done", "xab done"]);
}

#[test]
fn now_or_never_does_what_can_be_done() {
    let program = TaskProgram::new("now", || async {
        let (tx, mut rx) = mpsc::channel(1);
        assert_eq!(rx.recv().now_or_never(), None);
        assert!(tx.send(7).now_or_never().unwrap().is_ok());
        assert!(tx.send(8).now_or_never().is_none());
        assert_eq!(rx.recv().now_or_never(), Some(Some(7)));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_foreign_channel_works_by_its_wakers() {
    let program = TaskProgram::new("tokio's own", || async {
        let (tx, rx) = tokio::sync::oneshot::channel();
        spawn(async move {
            yield_now().await;
            tx.send(7).unwrap();
        });
        note(rx.await.unwrap());
    });
    assert_eq!(explore(&program).kinds(), ["7 done"]);
}

#[test]
fn a_foreign_future_that_nobody_wakes_is_named_as_such() {
    let program = TaskProgram::new("foreign", || async { std::future::pending().await });
    let (_, _, status) = run_one(&program, &[]);
    let Status::Stuck(waiting) = status else { panic!("{status:?}") };
    insta::assert_snapshot!(dally_report::text::bug(&Bug::new(Problem::Deadlock { waiting })), @"
    no worker can step, and one still waits:
      main (0) waits for a future that Dally does not control and that nobody has woken
    ");
}

#[test]
fn a_thread_that_wakes_a_task_is_uncontrolled_nondeterminism() {
    // A timer is there to step, so the engine gets to see it.
    let program = TaskProgram::new("thread", || async {
        drop(spawn(sleep(Duration::from_secs(1))));
        yield_now().await;
        let mut asked = false;
        poll_fn(|cx| {
            if !asked {
                asked = true;
                let waker = cx.waker().clone();
                std::thread::spawn(move || waker.wake()).join().unwrap();
            }
            Poll::<()>::Pending
        })
        .await;
    });
    let explored = explore(&program);
    let bug = &explored.bugs[0];
    assert_eq!(bug.kind(), BugKind::Uncontrolled);
    assert!(
        dally_report::text::bug(bug)
            .starts_with("a task was woken by a thread that Dally does not control")
    );
}
