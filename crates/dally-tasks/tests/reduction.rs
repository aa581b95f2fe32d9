//! The reduction executes every class of schedules of tasks once.

#[path = "../../dally-search/tests/classes/mod.rs"]
#[expect(dead_code, reason = "tests of captured systems use the rest")]
mod classes;
mod programs;

use std::future::pending;
use std::sync::Arc;

use classes::{Tally, compare, compare_rules, seen};
use dally_tasks::sync::{Mutex, mpsc};
use dally_tasks::task::block_in_place;
use dally_tasks::{TaskProgram, spawn, yield_now};
use programs::{Outcomes, generate};

#[test]
fn tasks_are_executed_once_for_each_class() {
    let mut tally = Tally::default();
    for seed in classes::seeds(250) {
        let generated = generate(seed, 2);
        let program = generated.program(&Outcomes::default());
        compare(program, seen, 400, &mut tally, &|| format!("{seed}: {generated:?}"));
    }
    classes::enough(&tally, 100, 300);
}

#[test]
fn other_rules_miss_no_class_of_tasks_within_their_bounds() {
    let mut tally = Tally::default();
    for seed in classes::seeds(60) {
        let generated = generate(seed, 2);
        let program = generated.program(&Outcomes::default());
        compare_rules(program, seen, 200, &mut tally, &|| format!("{seed}: {generated:?}"));
    }
    classes::enough(&tally, 30, 100);
}

/// A timer that a receipt cancels fires before it, and before a look at the clock. A search that explored two
/// subtrees at once missed a class here.
#[test]
fn a_timer_fires_before_the_receipt_that_cancels_it_and_before_a_look_at_the_clock() {
    let mut tally = Tally::default();
    let program = generate(1_646, 2).program(&Outcomes::default());
    compare(program, seen, 400, &mut tally, &String::new);
    assert_eq!(tally.classes, 62);
}

/// The classes of so many tasks that add to a counter under a lock so many times each.
fn counters([tasks, times]: [u32; 2]) -> (u64, u64) {
    let program = TaskProgram::new("counters", move || async move {
        let counter = Arc::new(Mutex::new(0));
        for _ in 0..tasks {
            let counter = counter.clone();
            spawn(async move {
                for _ in 0..times {
                    *counter.lock().await += 1;
                }
            });
        }
        // It waits in vain, so that its end does not end the others.
        pending::<()>().await;
    });
    let (report, _) = classes::reduce(Arc::new(program));
    (report.schedules, report.redundant)
}

#[test]
fn tasks_and_a_lock_have_as_many_classes_as_orders_in_which_it_is_taken() {
    let known = [(2, 0), (6, 0), (20, 0), (90, 0)];
    assert_eq!([[2, 1], [2, 2], [2, 3], [3, 2]].map(counters), known);
}

/// The classes of so many tasks that send so many values each to the main task. It is the other task that
/// receives: the main one waits in vain.
fn senders([tasks, values]: [usize; 2], capacity: Option<usize>) -> u64 {
    let program = TaskProgram::new("senders", move || async move {
        let (unbounded, mut receiver) = mpsc::unbounded_channel();
        let (bounded, mut within) = mpsc::channel(capacity.unwrap_or(1));
        for task in 0..tasks {
            let (unbounded, bounded) = (unbounded.clone(), bounded.clone());
            spawn(async move {
                for value in 0..values {
                    match capacity {
                        None => {
                            unbounded.send((task, value)).unwrap();
                            yield_now().await;
                        }
                        Some(_) => bounded.send((task, value)).await.unwrap(),
                    }
                }
                pending::<()>().await;
            });
        }
        for _ in 0..tasks * values {
            match capacity {
                None => receiver.recv().await,
                Some(_) => within.recv().await,
            };
        }
        pending::<()>().await;
    });
    let (report, _) = classes::reduce(Arc::new(program));
    report.schedules
}

/// A send commutes with the receipt of another value, so there are as many classes as orders of sends, times
/// two for each receipt that may have to wait or not; the first one always waits.
#[test]
fn senders_have_a_class_for_each_order_of_sends_and_for_each_receipt_that_waits() {
    for capacity in [None, Some(4)] {
        assert_eq!(senders([2, 1], capacity), 2 * 2, "{capacity:?}");
        assert_eq!(senders([2, 2], capacity), 6 << 3, "{capacity:?}");
        assert_eq!(senders([3, 1], capacity), 6 << 2, "{capacity:?}");
    }
}

/// The main task blocks its thread for all values, and its end orders its last step with all others. That it cannot
/// receive the last value before that is sent needs no execution that shows it.
#[test]
fn a_task_that_ends_with_the_value_that_it_waited_for_is_not_tried_before_the_value_is_sent() {
    let program = |tasks: u32, values: u32| {
        TaskProgram::new("senders", move || async move {
            let (sender, mut receiver) = mpsc::channel((tasks * values) as usize);
            for task in 0..tasks {
                let sender = sender.clone();
                spawn(async move {
                    for value in 0..values {
                        sender.send((task, value)).await.unwrap();
                    }
                });
            }
            block_in_place(|| {
                for _ in 0..tasks * values {
                    receiver.blocking_recv().unwrap();
                }
            });
        })
    };
    let executed = |[tasks, values]: [u32; 2]| {
        let (report, _) = classes::reduce(Arc::new(program(tasks, values)));
        (report.schedules, report.redundant)
    };
    let known = [(2, 0), (6, 0), (6, 0), (90, 0)];
    assert_eq!([[2, 1], [2, 2], [3, 1], [3, 2]].map(executed), known);
}

/// The classes of two or three tasks that each do something with one primitive. The main task makes them and
/// waits in vain, so that its end does not end the others.
fn classes_of<F: Future<Output = ()> + 'static>(
    what: &str,
    main: impl Fn() -> F + Send + Sync + 'static,
) -> String {
    let program = move || {
        let main = main();
        async move {
            main.await;
            pending::<()>().await;
        }
    };
    let mut tally = Tally::default();
    let named = || what.to_owned();
    compare(TaskProgram::new("litmus", program), seen, 4_000, &mut tally, &named);
    assert_eq!(tally.programs, 1, "{what} is too large to be enumerated");
    format!("{what}: {} of {} schedules\n", tally.classes, tally.executions)
}

/// Each number is compared with enumeration.
#[test]
fn every_primitive_has_as_many_classes_as_orders_that_make_a_difference() {
    use dally_tasks::sync::{
        Barrier, Notify, OnceCell, RwLock, Semaphore, broadcast, oneshot, watch,
    };
    use dally_tasks::time::sleep;
    use std::time::Duration;

    let mut table = String::new();
    table += &classes_of("mutex, 2 tasks", || async {
        let shared = Arc::new(Mutex::new(0));
        for _ in 0..2 {
            let shared = shared.clone();
            spawn(async move { *shared.lock().await += 1 });
        }
    });
    table += &classes_of("rwlock, 2 readers and a writer", || async {
        let shared = Arc::new(RwLock::new(0));
        for _ in 0..2 {
            let shared = shared.clone();
            spawn(async move { assert!(*shared.read().await < 2) });
        }
        spawn(async move { *shared.write().await += 1 });
    });
    table += &classes_of("semaphore, 2 tasks and 1 permit", || async {
        let permits = Arc::new(Semaphore::new(1));
        for _ in 0..2 {
            let permits = permits.clone();
            spawn(async move { drop(permits.acquire().await) });
        }
    });
    table += &classes_of("notify, 1 waits and 1 notifies", || async {
        let notify = Arc::new(Notify::new());
        let waits = notify.clone();
        spawn(async move { waits.notified().await });
        spawn(async move { notify.notify_one() });
    });
    table += &classes_of("notify, 1 waits and 1 notifies all", || async {
        let notify = Arc::new(Notify::new());
        let waits = notify.clone();
        spawn(async move { waits.notified().await });
        spawn(async move { notify.notify_waiters() });
    });
    table += &classes_of("mpsc unbounded, 2 senders and 2 receipts", || async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for sent in 0..2 {
            let sender = sender.clone();
            spawn(async move {
                sender.send(sent).unwrap();
                pending::<()>().await;
            });
        }
        receiver.recv().await;
        receiver.recv().await;
    });
    table += &classes_of("mpsc bounded by 1, 2 senders and 2 receipts", || async {
        let (sender, mut receiver) = mpsc::channel(1);
        for sent in 0..2 {
            let sender = sender.clone();
            spawn(async move {
                sender.send(sent).await.unwrap();
                pending::<()>().await;
            });
        }
        receiver.recv().await;
        receiver.recv().await;
    });
    table += &classes_of("oneshot, sent and received", || async {
        let (sender, receiver) = oneshot::channel();
        spawn(async move { sender.send(1).unwrap() });
        spawn(async move { assert_eq!(receiver.await, Ok(1)) });
    });
    table += &classes_of("watch, 1 change and 1 look", || async {
        let (sender, receiver) = watch::channel(0);
        spawn(async move {
            sender.send(1).unwrap();
            pending::<()>().await;
        });
        spawn(async move {
            let seen = *receiver.borrow();
            pending::<()>().await;
            drop((seen, receiver));
        });
    });
    table += &classes_of("broadcast, 1 send and 2 receivers", || async {
        let (sender, _) = broadcast::channel(4);
        for _ in 0..2 {
            let mut receiver = sender.subscribe();
            spawn(async move { assert_eq!(receiver.recv().await, Ok(1)) });
        }
        spawn(async move {
            sender.send(1).unwrap();
            pending::<()>().await;
        });
    });
    table += &classes_of("barrier of 2", || async {
        let barrier = Arc::new(Barrier::new(2));
        for _ in 0..2 {
            let barrier = barrier.clone();
            spawn(async move { _ = barrier.wait().await });
        }
    });
    table += &classes_of("oncecell, 2 that set it", || async {
        let cell = Arc::new(OnceCell::new());
        for of in 0..2 {
            let cell = cell.clone();
            spawn(async move { _ = cell.get_or_init(|| async move { of }).await });
        }
    });
    table += &classes_of("join of 2 tasks that share nothing", || async {
        let tasks = [(); 2].map(|()| spawn(async {}));
        for task in tasks {
            task.await.unwrap();
        }
    });
    table += &classes_of("2 timers", || async {
        for seconds in [1, 2] {
            spawn(async move { sleep(Duration::from_secs(seconds)).await });
        }
    });
    insta::assert_snapshot!(table, @"
    mutex, 2 tasks: 2 of 6 schedules
    rwlock, 2 readers and a writer: 6 of 90 schedules
    semaphore, 2 tasks and 1 permit: 2 of 6 schedules
    notify, 1 waits and 1 notifies: 3 of 3 schedules
    notify, 1 waits and 1 notifies all: 3 of 3 schedules
    mpsc unbounded, 2 senders and 2 receipts: 4 of 4 schedules
    mpsc bounded by 1, 2 senders and 2 receipts: 4 of 14 schedules
    oneshot, sent and received: 2 of 2 schedules
    watch, 1 change and 1 look: 2 of 2 schedules
    broadcast, 1 send and 2 receivers: 12 of 16 schedules
    barrier of 2: 2 of 6 schedules
    oncecell, 2 that set it: 4 of 6 schedules
    join of 2 tasks that share nothing: 2 of 3 schedules
    2 timers: 8 of 20 schedules
    ");
}
