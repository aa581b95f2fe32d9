//! Hosts and the faults that they have.

mod driver;

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use dally_core::report::Report;
use dally_search::{Options, StrategyKind};
use dally_tasks::hosts::{self, Host};
use dally_tasks::pipe::Pipe;
use dally_tasks::sync::mpsc;
use dally_tasks::time::sleep;
use dally_tasks::{Clock, TaskProgram, faults, note, spawn, yield_now};
use driver::explore;

fn random(program: TaskProgram, schedules: u64) -> Report {
    let strategy = "random".parse::<StrategyKind>().unwrap().build(0, 10_000);
    let options = Options { strategy, schedules, ..Options::default() };
    dally_search::run(Arc::new(program), options, Arc::new(()))
}

/// Says so when it is dropped.
struct Told(Rc<RefCell<Vec<&'static str>>>, &'static str);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.borrow_mut().push(self.1);
    }
}

#[test]
fn a_crash_drops_what_a_host_runs_and_a_restart_runs_it_again() {
    let program = TaskProgram::new("crash", || async {
        let dropped = Rc::new(RefCell::new(Vec::new()));
        let (tx, mut rx) = mpsc::unbounded_channel();
        let told = dropped.clone();
        let server = hosts::start("server", move || {
            let (tx, told) = (tx.clone(), told.clone());
            async move {
                let _own = Told(told, "main");
                tx.send(Host::here().name()).unwrap();
                pending::<()>().await;
            }
        });
        assert_eq!(rx.recv().await.unwrap(), "server");
        assert!(server.is_up() && Host::here().name() == "localhost");
        server.crash();
        assert!(!server.is_up());
        yield_now().await;
        assert_eq!(*dropped.borrow(), ["main"]);
        server.restart();
        server.restart();
        assert_eq!(rx.recv().await.unwrap(), "server");
        assert_eq!(server.crashes(), 1);
        rx.close();
        assert!(rx.recv().await.is_none(), "it was started once");
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn tasks_that_a_host_spawns_are_on_it_and_locks_that_they_hold_are_free_after_a_crash() {
    let program = TaskProgram::new("spawned", || async {
        let lock = Arc::new(dally_tasks::sync::Mutex::new(()));
        let (tx, mut rx) = mpsc::unbounded_channel();
        let theirs = lock.clone();
        let server = hosts::start("server", move || {
            let (lock, tx) = (theirs.clone(), tx.clone());
            async move {
                spawn(async move {
                    assert_eq!(Host::here().name(), "server");
                    let _guard = lock.lock().await;
                    tx.send(()).unwrap();
                    sleep(Duration::from_secs(1)).await;
                    pending::<()>().await;
                });
            }
        });
        rx.recv().await.unwrap();
        server.crash();
        // Whoever waits for the lock is woken by the crash.
        drop(lock.lock().await);
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
fn a_poll_that_stands_half_way_is_left_by_a_crash() {
    let program = TaskProgram::new("half-way", || async {
        let dropped = Rc::new(RefCell::new(Vec::new()));
        let told = dropped.clone();
        let server = hosts::start("server", move || {
            let told = told.clone();
            async move {
                let _outer = Told(told.clone(), "outer");
                let (tx, _rx) = mpsc::channel(1);
                let _inner = Told(told, "inner");
                tx.send(()).await.unwrap();
                tx.send(()).await.unwrap();
                unreachable!("there is room for one");
            }
        });
        yield_now().await;
        server.crash();
        yield_now().await;
        let dropped = dropped.borrow().join(" ");
        note(if dropped.is_empty() { "not begun" } else { &dropped });
    });
    assert_eq!(explore(&program).kinds(), ["inner outer done", "not begun done"]);
}

#[test]
fn what_is_on_its_way_between_two_hosts_waits_while_the_way_is_cut() {
    let program = TaskProgram::new("cut", || async {
        let server = hosts::start("server", || async {});
        let pipe = Pipe::between(Host::here(), server, "pipe", 4);
        server.cut_off_from(Host::here());
        pipe.put(|queue| queue.push_back(7));
        let theirs = pipe.clone();
        let reader = spawn(async move {
            poll_fn(|cx| theirs.poll_readable(cx)).await;
            assert!(!server.is_cut_off_from(Host::here()));
            theirs.take(|queue| queue.pop_front())
        });
        yield_now().await;
        server.heal();
        assert_eq!(reader.await.unwrap(), Some(7));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::disallowed_methods, reason = "virtual in here")]
fn each_host_has_a_calendar_of_its_own() {
    use std::time::SystemTime;

    let program = TaskProgram::new("calendars", || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let (begin, instant) = (SystemTime::now(), std::time::Instant::now());
        let ask = move || {
            let tx = tx.clone();
            async move { tx.send((SystemTime::now(), std::time::Instant::now())).unwrap() }
        };
        let server = hosts::start("server", ask);
        assert_eq!(rx.recv().await, Some((begin, instant)));
        server.set_skew(-60);
        server.crash();
        yield_now().await;
        server.restart();
        assert_eq!(rx.recv().await, Some((begin - Duration::from_secs(60), instant)));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}

#[test]
#[should_panic = "the host of the test cannot crash"]
fn the_host_of_the_test_cannot_crash() {
    let program = TaskProgram::new("own", || async { Host::here().crash() });
    let explored = explore(&program);
    panic!("{}", explored.kinds()[0]);
}

/// A server that has to be up until somebody has asked it three times.
fn three_questions() -> TaskProgram {
    TaskProgram::new("three questions", || async {
        let (tx, mut rx) = mpsc::unbounded_channel::<u32>();
        hosts::start("server", move || {
            let tx = tx.clone();
            async move {
                for number in 0.. {
                    faults::strike(&[]);
                    if !Host::here().is_up() {
                        pending::<()>().await;
                    }
                    tx.send(number).unwrap();
                    sleep(Duration::from_secs(1)).await;
                }
            }
        });
        let mut expected = 0;
        while expected < 3 {
            let number = rx.recv().await.unwrap();
            assert_eq!(number, expected, "the server has started again");
            expected += 1;
        }
    })
    .clock(Clock::Idle)
}

#[test]
fn without_a_budget_there_are_no_faults() {
    let report = random(three_questions(), 200);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn a_crash_within_the_budget_is_found_and_shrinking_leaves_that_fault_alone() {
    let report = random(three_questions().fault_budget(3), 200);
    let finding = &report.findings[0];
    assert!(finding.bug.to_string().contains("the server has started again"));
    let faults = |finding: &dally_core::Finding| -> Vec<String> {
        let items = finding.trace.steps.iter().flat_map(|step| &step.items);
        items
            .filter_map(|item| match item {
                dally_core::Item::Event(dally_core::Event::Faulted { fault }) => {
                    Some(fault.clone())
                }
                _ => None,
            })
            .collect()
    };
    assert_eq!(faults(finding), ["server crashes", "server starts again"]);
}

#[test]
fn every_host_that_a_fault_has_hit_comes_back_and_then_everybody_is_in_time() {
    // A client that asks again whenever it has waited too long. It comes to an end because time moves only
    // when nobody can step, once all faults have happened and are over.
    let program = TaskProgram::new("retries", || async {
        let server = hosts::start("server", || async {
            faults::strike(&[]);
            pending::<()>().await;
        });
        let mut failures = 0;
        while server.is_cut_off_from(Host::here()) || !server.is_up() {
            sleep(Duration::from_secs(1)).await;
            failures += 1;
            assert!(failures < 1_000);
        }
    })
    .fault_budget(2);
    let report = random(program, 500);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(report.schedules, 500);
}
