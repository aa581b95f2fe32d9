//! The first of several futures, begun with any of them.

mod driver;

use std::future::{pending, ready};
use std::sync::Arc;

use dally_core::BugKind;
use dally_search::Options;
use dally_search::strata::{Plan, RoundRobin, SearchKind, explore as search};
use dally_tasks::sync::{Mutex, mpsc};
use dally_tasks::{TaskProgram, note, select, spawn};
use driver::explore;

#[test]
fn every_branch_that_is_ready_is_explored() {
    let program = TaskProgram::new("three", || async {
        select! {
            _ = ready(1) => note("one"),
            _ = async { 2 } => { note("two") }
            name = ready("three") => {
                note(name);
            },
        }
    });
    let explored = explore(&program);
    assert_eq!(explored.kinds(), ["one done", "three done", "two done"]);
    assert_eq!(explored.schedules, 3);
}

#[test]
fn a_biased_one_goes_by_the_order_of_its_branches() {
    let program = TaskProgram::new("biased", || async {
        let lock = Mutex::new(7);
        let got = select! {
            biased;
            () = pending() => 0,
            n = async { 1 }, if *lock.lock().await == 8 => n,
            mut n = lock.lock() => {
                *n += 1;
                *n
            }
            n = ready(2) => n,
        };
        note(got);
    });
    let explored = explore(&program);
    assert_eq!(explored.kinds(), ["8 done"]);
}

#[test]
fn a_branch_whose_pattern_does_not_fit_is_left_out() {
    let program = TaskProgram::new("pattern", || async {
        let (tx, mut rx) = mpsc::unbounded_channel::<String>();
        tx.send("a".to_owned()).unwrap();
        drop(tx);
        let mut got = String::new();
        let mut rounds = 0;
        loop {
            select! {
                Some(mut text) = rx.recv() => {
                    text.push('!');
                    got += &text;
                }
                Err(_) = ready(Ok::<(), ()>(())) => unreachable!(),
                else => break,
            }
            rounds += 1;
        }
        note(format!("{got} {rounds}"));
    });
    assert_eq!(explore(&program).kinds(), ["a! 1 done"]);
}

#[test]
fn no_branch_and_no_else_is_a_panic() {
    let program = TaskProgram::new("none", || async {
        select! {
            _ = ready(1), if false => {}
        }
    });
    assert_eq!(
        explore(&program).kinds(),
        ["panic: all branches of a `select!` are disabled and there is no `else`"]
    );
}

#[test]
fn futures_are_dropped_before_the_handler_and_control_flow_leaves_it() {
    async fn take() -> Result<u8, ()> {
        let lock = Mutex::new(3);
        for _ in 0..2 {
            select! {
                guard = lock.lock() => {
                    drop(guard);
                    // The other branch has given its place up.
                    if *lock.lock().await == 3 {
                        Err::<(), ()>(())?;
                    }
                }
                _ = lock.lock() => continue,
            }
        }
        Ok(1)
    }
    let program = TaskProgram::new("flow", || async { note(format!("{:?}", take().await)) });
    assert_eq!(explore(&program).kinds(), ["Err(()) done", "Ok(1) done"]);
}

#[test]
fn a_branch_that_waits_loses_to_one_that_another_task_makes_ready() {
    let program = TaskProgram::new("wait", || async {
        let (left, mut lefts) = mpsc::channel(1);
        let (right, mut rights) = mpsc::channel(1);
        spawn(async move { left.send("left").await });
        spawn(async move { right.send("right").await });
        note(select! {
            first = lefts.recv() => first.unwrap(),
            first = rights.recv() => first.unwrap(),
        });
    });
    assert_eq!(explore(&program).kinds(), ["left done", "right done"]);
}

/// Tokio's own, without `biased`, draws a random number that nobody controls. Whatever it draws, every
/// run says so, and says what to do.
#[test]
fn a_select_of_tokio_that_draws_by_itself_has_one_clear_message() {
    let program = TaskProgram::new("drawn", || async {
        let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
        let theirs = locks.clone();
        let other = spawn(async move {
            for lock in theirs.iter() {
                *lock.lock().await += 1;
            }
        });
        for _ in 0..20 {
            tokio::select! {
                mut first = locks[0].lock() => *first += 1,
                mut second = locks[1].lock() => *second += 1,
            }
        }
        other.await.unwrap();
    });
    for _ in 0..8 {
        let plan = Plan { search: SearchKind::Ses, ..Plan::default() };
        let (explorer, options) = (RoundRobin::default(), Options::default());
        let report = search(Arc::new(program.clone()), explorer, plan, options, Arc::new(()));
        let [finding] = &report.findings[..] else { panic!("{:?}", report.findings) };
        assert_eq!(finding.bug.kind(), BugKind::Uncontrolled, "{}", finding.bug);
        let text = dally_report::text::bug(&finding.bug);
        assert!(text.contains("a `select!` of tokio or futures without `biased`"), "{text}");
        assert!(text.contains("`dally::tasks::select!` has it chosen by the search"), "{text}");
    }
}
