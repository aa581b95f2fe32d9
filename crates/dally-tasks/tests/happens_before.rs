//! Random programs that share only through Dally: a search that goes by what happened before what
//! sees all that can happen.

mod programs;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use dally_core::BugKind;
use dally_search::strata::{ExplorerKind, Plan, SearchKind, explore};
use dally_search::{Ended, Options, Report};
use dally_tasks::sync::{Mutex, Notify, mpsc, oneshot};
use dally_tasks::time::{Duration, sleep};
use dally_tasks::{TaskProgram, spawn, yield_now};
use futures_util::future::join;
use futures_util::stream::{FuturesUnordered, StreamExt};
use programs::{Generated, Op, Outcomes, all_outcomes, behind_dallys_back, generate, how_many};

fn outcomes_of(generated: &Generated) -> Option<Vec<String>> {
    let outcomes = Outcomes::default();
    let seen = all_outcomes(generated.program(&outcomes), &outcomes, 20_000)?;
    Some(seen.into_iter().filter(|line| line.ends_with("end ")).collect())
}

#[test]
fn two_tasks_that_count_are_seen_in_both_orders() {
    let generated = Generated { tasks: vec![vec![Op::Count(0)], vec![Op::Count(0)]], joined: 2 };
    assert_eq!(
        outcomes_of(&generated).unwrap(),
        ["count:1 | count:12 | end ", "count:21 | count:2 | end "],
    );
}

#[test]
fn a_seed_gives_the_same_program_and_the_same_outcomes_every_time() {
    let exhausted: usize = (0..60)
        .map(|seed| {
            let generated = generate(seed, 2);
            assert_eq!(generated, generate(seed, 2));
            let outcomes = outcomes_of(&generated);
            assert_eq!(outcomes, outcomes_of(&generated), "{generated:?}");
            usize::from(outcomes.is_some())
        })
        .sum();
    assert!(exhausted > 30, "only {exhausted} of 60 programs are small enough");
}

#[test]
fn sharing_behind_dallys_back_is_seen_by_enumeration() {
    let outcomes = Outcomes::default();
    let program = behind_dallys_back(&outcomes);
    let seen = all_outcomes(program, &outcomes, 20_000).unwrap();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["1", "2"]);
}

/// A search that prunes by happens-before, with an explorer that depends on the seed.
fn pruned(program: TaskProgram, search: SearchKind, seed: u64) -> Report {
    let kinds = ExplorerKind::ALL;
    let explorer = kinds[seed as usize / SEARCHES.len() % kinds.len()].build(seed);
    let plan = Plan { search, ..Plan::default() };
    let threads = if seed.is_multiple_of(7) { 2 } else { 1 };
    let options = Options { keep_going: true, shrink: false, seed, threads, ..Options::default() };
    explore(Arc::new(program), explorer, plan, options, Arc::new(()))
}

const SEARCHES: [SearchKind; 4] =
    [SearchKind::Ses, SearchKind::Dfs, SearchKind::Bfs, SearchKind::Preemptions];

/// Compares what enumeration sees with what a pruned search sees; whether the program is small
/// enough for that.
fn compare(make: impl Fn(&Outcomes) -> TaskProgram, seed: u64, what: &str) -> bool {
    let outcomes = Outcomes::default();
    let Some(all) = all_outcomes(make(&outcomes), &outcomes, 20_000) else { return false };
    let search = SEARCHES[seed as usize % SEARCHES.len()];
    let report = pruned(make(&outcomes), search, seed);
    assert_eq!(report.ended, Ended::Exhausted, "{what}");
    for finding in &report.findings {
        // Anything else means that two states were taken for one.
        assert_eq!(finding.bug.kind(), BugKind::Deadlock, "{what}: {}", finding.bug);
    }
    let seen = outcomes.take();
    let missed: Vec<_> = all.difference(&seen).collect();
    assert!(missed.is_empty(), "{what}: misses {missed:?}");
    assert!(seen.is_subset(&all), "{what}");
    true
}

#[test]
fn pruning_loses_no_outcome_of_programs_that_share_only_through_dally() {
    let programs = how_many(600);
    let mut compared = [0; SEARCHES.len()];
    for seed in 0..programs {
        let generated = generate(seed, if seed.is_multiple_of(2) { 2 } else { 3 });
        let what = format!("seed {seed}: {generated:?}");
        let is_small = compare(|outcomes| generated.program(outcomes), seed, &what);
        compared[seed as usize % SEARCHES.len()] += u64::from(is_small);
    }
    println!("{SEARCHES:?} of tasks: {compared:?} programs");
    let fewest = compared.into_iter().min();
    assert!(fewest > Some(programs / 8), "only {compared:?} programs are small enough");
}

/// Compares a program that is written out, under each explorer.
fn compare_all<F>(name: &str, main: impl Fn(Outcomes) -> F + Clone + Send + Sync + 'static)
where
    F: Future<Output = ()> + 'static,
{
    for seed in 0..16 {
        let make = |outcomes: &Outcomes| {
            let (main, outcomes) = (main.clone(), outcomes.clone());
            TaskProgram::new(name, move || main(outcomes.clone()))
        };
        assert!(compare(make, seed, name), "{name} is too large");
    }
}

/// Does this while it says that it has begun: the second future goes on when the first one has
/// passed its scheduling point, in the same step.
async fn and_say<F: Future>(future: F, begun: oneshot::Sender<()>) -> F::Output {
    let say = async {
        yield_now().await;
        let _ = begun.send(());
    };
    join(future, say).await.0
}

/// Polls once; whether that was not enough.
async fn waits<F: Future>(mut future: Pin<&mut F>) -> bool {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}

#[test]
fn places_in_the_queue_of_a_lock_are_not_confused() {
    compare_all("lock", |outcomes| async move {
        let log = Arc::new(Mutex::new(String::new()));
        let guard = log.lock().await;
        let (tell, told): (Vec<_>, Vec<_>) = (0..2).map(|_| oneshot::channel()).unzip();
        let tasks: Vec<_> = tell
            .into_iter()
            .zip(["a", "b"])
            .map(|(tell, name)| {
                let log = log.clone();
                spawn(async move { *and_say(log.lock(), tell).await += name })
            })
            .collect();
        for told in told {
            told.await.unwrap();
        }
        drop(guard);
        for task in tasks {
            task.await.unwrap();
        }
        outcomes.add(log.lock().await.clone());
    });
}

#[test]
fn places_in_the_queue_for_room_are_not_confused() {
    compare_all("room", |outcomes| async move {
        let (tx, mut rx) = mpsc::channel(1);
        tx.send("first").await.unwrap();
        let (tell, told): (Vec<_>, Vec<_>) = (0..2).map(|_| oneshot::channel()).unzip();
        for (tell, name) in tell.into_iter().zip(["a", "b"]) {
            let tx = tx.clone();
            spawn(async move { and_say(tx.send(name), tell).await });
        }
        for told in told {
            told.await.unwrap();
        }
        rx.recv().await.unwrap();
        outcomes.add(format!("{:?} {:?}", rx.recv().await, rx.recv().await));
    });
}

#[test]
fn places_in_the_queue_of_a_notification_are_not_confused() {
    compare_all("notify", |outcomes| async move {
        let notify = Arc::new(Notify::new());
        let (tell, told): (Vec<_>, Vec<_>) = (0..2).map(|_| oneshot::channel()).unzip();
        let (tx, mut rx) = mpsc::unbounded_channel();
        for (tell, name) in tell.into_iter().zip(["a", "b"]) {
            let (notify, tx) = (notify.clone(), tx.clone());
            spawn(async move {
                and_say(notify.notified(), tell).await;
                tx.send(name).unwrap();
            });
        }
        for told in told {
            told.await.unwrap();
        }
        notify.notify_one();
        outcomes.add(format!("{:?}", rx.recv().await));
    });
}

#[test]
fn the_order_of_wakes_that_a_combinator_keeps_is_not_confused() {
    compare_all("wakes", |outcomes| async move {
        let (tell, told): (Vec<_>, Vec<_>) = (0..2).map(|_| oneshot::channel()).unzip();
        let mut told: FuturesUnordered<_> = told.into_iter().collect();
        assert!(waits(pin!(told.next())).await);
        let tasks: Vec<_> = tell
            .into_iter()
            .zip(["a", "b"])
            .map(|(tell, name)| spawn(async move { tell.send(name) }))
            .collect();
        yield_now().await;
        // Whoever drains in between sees the order by that; here both have sent before.
        if tasks.iter().all(|task| task.is_finished()) {
            outcomes.add(format!("{:?} {:?}", told.next().await, told.next().await));
        }
    });
}

#[test]
fn a_look_at_the_clock_is_not_confused_with_one_after_a_timer() {
    compare_all("clock", |outcomes| async move {
        let late = spawn(sleep(Duration::from_millis(5)));
        let soon = pin!(sleep(Duration::from_millis(1)));
        yield_now().await;
        yield_now().await;
        let elapsed = soon.is_elapsed();
        late.await.unwrap();
        outcomes.add(format!("{elapsed}"));
    });
    compare_all("due", |outcomes| async move {
        let late = spawn(sleep(Duration::from_millis(5)));
        let soon = sleep(Duration::from_millis(1));
        yield_now().await;
        // Waits for its timer, or sees that there is no need to.
        let mut soon = pin!(soon);
        let waited = waits(soon.as_mut()).await;
        soon.await;
        late.await.unwrap();
        outcomes.add(format!("{waited}"));
    });
}

#[test]
fn an_abort_is_not_confused_with_one_that_comes_too_late() {
    compare_all("abort", |outcomes| async move {
        let victim = spawn(yield_now());
        yield_now().await;
        victim.abort();
        yield_now().await;
        outcomes.add(format!("{}", victim.await.is_err()));
    });
}

#[test]
fn a_search_that_prunes_says_on_what_assumption() {
    let outcomes = Outcomes::default();
    let report = pruned(behind_dallys_back(&outcomes), SearchKind::Ses, 0);
    assert_eq!(report.ended, Ended::Exhausted);
    assert!(report.states.is_some_and(|states| states.replayed));
    // What the tasks share behind its back it cannot know: one of the two results is lost.
    assert_eq!(outcomes.take().len(), 1);
}
