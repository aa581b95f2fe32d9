//! moka's cache of values that are computed by futures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use moka::future::Cache;
use moka::ops::compute::{CompResult, Op};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

const LIFE: Duration = Duration::from_secs(10);

/// A value says when it was put in, so that whoever gets it sees whether it had expired when the call began.
#[tokio::test]
async fn what_had_expired_before_the_call_is_not_got() {
    let cache: Cache<u32, Instant> = Cache::builder().time_to_live(LIFE).build();
    cache.insert(1, Instant::now()).await;
    let other = cache.clone();
    let writer = tokio::spawn(async move {
        sleep(LIFE / 2).await;
        other.insert(1, Instant::now()).await;
        sleep(LIFE).await;
        other.run_pending_tasks().await;
    });
    for _ in 0..3 {
        sleep(LIFE / 2).await;
        let called = Instant::now();
        if let Some(since) = cache.get(&1).await {
            assert!(since + LIFE > called, "it was put in at {since:?}, and is got at {called:?}");
        }
    }
    writer.await.unwrap();
    sleep(LIFE).await;
    assert_eq!(cache.get(&1).await, None);
}

/// One computes while the others wait for it, and if that one is aborted another goes on.
#[tokio::test]
async fn one_computes_at_a_time_though_callers_give_up() {
    let cache: Cache<u32, u32> = Cache::new(10);
    let (running, completed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    struct Within(Arc<AtomicUsize>);
    impl Drop for Within {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let callers: Vec<_> = (0..3)
        .map(|_| {
            let (cache, running) = (cache.clone(), Arc::clone(&running));
            let completed = Arc::clone(&completed);
            tokio::spawn(async move {
                let init = async move {
                    assert_eq!(running.fetch_add(1, Ordering::Relaxed), 0, "two compute at once");
                    let within = Within(running);
                    yield_now().await;
                    drop(within);
                    completed.fetch_add(1, Ordering::Relaxed);
                    7
                };
                cache.get_with(1, init).await
            })
        })
        .collect();
    callers[0].abort();
    for (n, caller) in callers.into_iter().enumerate() {
        match caller.await {
            Ok(value) => assert_eq!(value, 7),
            Err(why) => assert!(n == 0 && why.is_cancelled(), "{why}"),
        }
    }
    assert_eq!(completed.load(Ordering::Relaxed), 1, "it was in the cache, and was computed again");
}

#[tokio::test]
async fn no_update_is_lost_though_one_who_updates_gives_up() {
    let cache: Cache<&str, u32> = Cache::new(10);
    let increment = |cache: Cache<&'static str, u32>| async move {
        let put = |entry: Option<moka::Entry<_, u32>>| async move {
            yield_now().await;
            Op::Put(entry.map_or(0, moka::Entry::into_value) + 1)
        };
        let done = cache.entry("count").and_compute_with(put).await;
        assert!(matches!(done, CompResult::Inserted(_) | CompResult::ReplacedWith(_)));
    };
    let aborted = tokio::spawn(increment(cache.clone()));
    let others: Vec<_> = (0..2).map(|_| tokio::spawn(increment(cache.clone()))).collect();
    aborted.abort();
    let mut done = u32::from(aborted.await.is_ok());
    for other in others {
        other.await.unwrap();
        done += 1;
    }
    let count = cache.get("count").await.unwrap();
    // Who is aborted may have updated without having been told.
    assert!(count == done || count == done + 1 && done == 2, "{count} after {done} updates");
}

/// Each value that was put in is told to be gone once, whoever removes it.
#[tokio::test]
async fn each_value_goes_once() {
    let gone = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&gone);
    let listener = move |_: Arc<u32>, _: u32, _| {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    let cache: Cache<u32, u32> =
        Cache::builder().max_capacity(10).eviction_listener(listener).build();
    let users: Vec<_> = (0..2)
        .map(|user| {
            let cache = cache.clone();
            tokio::spawn(async move {
                cache.insert(1, user).await;
                u32::from(cache.remove(&1).await.is_some())
            })
        })
        .collect();
    let mut removed = 0;
    for user in users {
        removed += user.await.unwrap();
    }
    assert!((1..=2).contains(&removed), "{removed} were removed by those who have put in two");
    cache.run_pending_tasks().await;
    assert_eq!(cache.get(&1).await, None);
    assert_eq!(gone.load(Ordering::Relaxed), 2);
}
