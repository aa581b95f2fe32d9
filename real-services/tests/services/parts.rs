//! Parts that services are made of: tokio-util and tower.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::{Service, ServiceBuilder, ServiceExt};

#[tokio::test]
async fn a_tracker_waits_for_tasks_that_a_token_stops() {
    let (token, tracker) = (CancellationToken::new(), TaskTracker::new());
    let ended = Arc::new(AtomicUsize::new(0));
    for _ in 0..2 {
        let (token, ended) = (token.child_token(), Arc::clone(&ended));
        tracker.spawn(async move {
            token.cancelled().await;
            ended.fetch_add(1, Ordering::Relaxed);
        });
    }
    tracker.close();
    token.cancel();
    tracker.wait().await;
    assert_eq!(ended.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_buffered_and_limited_service_answers_all() {
    let within = Arc::new(AtomicUsize::new(0));
    let inner = tower::service_fn(move |n: u32| {
        let within = Arc::clone(&within);
        async move {
            assert_eq!(within.fetch_add(1, Ordering::Relaxed), 0, "two at a time");
            tokio::task::yield_now().await;
            within.fetch_sub(1, Ordering::Relaxed);
            Ok::<u32, Infallible>(n + 1)
        }
    });
    let service = ServiceBuilder::new().buffer(2).concurrency_limit(1).service(inner);
    let calls: Vec<_> = (0..2)
        .map(|n| {
            let mut service = service.clone();
            tokio::spawn(async move { service.ready().await.unwrap().call(n).await.unwrap() })
        })
        .collect();
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap() as usize, n + 1);
    }
}
