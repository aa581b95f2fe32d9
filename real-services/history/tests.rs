//! Bugs that published versions of crates had. The same tests are run with the versions that have a bug, where each of
//! them fails, and with those in which it is mended, where none does: `history.sh`.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::task::yield_now;

/// async_singleflight up to 0.6.1: followers of a leader that is dropped forget the new leader's entry, and each of
/// them becomes a leader (issue 12 of its repository).
#[tokio::test]
async fn one_call_at_a_time_runs_after_its_leader_was_dropped() {
    use async_singleflight::DefaultUnaryGroup;

    let group = Arc::new(DefaultUnaryGroup::<u32>::new());
    let running = Arc::new(AtomicUsize::new(0));
    let leads = Arc::clone(&group);
    let leader = tokio::spawn(async move { leads.work("key", std::future::pending()).await });
    let followers: Vec<_> = (0..2)
        .map(|n| {
            let (group, running) = (Arc::clone(&group), Arc::clone(&running));
            tokio::spawn(async move {
                let work = async {
                    assert_eq!(running.fetch_add(1, Ordering::Relaxed), 0, "two run at once");
                    yield_now().await;
                    running.fetch_sub(1, Ordering::Relaxed);
                    n
                };
                group.work("key", work).await
            })
        })
        .collect();
    yield_now().await;
    leader.abort();
    for follower in followers {
        follower.await.unwrap();
    }
}

/// tokio-util 0.7.0: a future of a `CancellationToken` keeps the waker of the task that polled it first (pull request
/// 4497 of tokio).
#[tokio::test]
async fn a_wait_for_cancellation_can_be_handed_to_another_task() {
    use tokio_util::sync::CancellationToken;

    let token = CancellationToken::new();
    let waits = token.clone();
    let mut cancelled = Box::pin(async move { waits.cancelled().await });
    if tokio::time::timeout(Duration::from_secs(1), &mut cancelled).await.is_err() {
        let handed_over = tokio::spawn(cancelled);
        yield_now().await;
        token.cancel();
        handed_over.await.unwrap();
    }
}

/// deadpool 0.12.1: a pool that is made smaller and larger while its objects are in use counts below zero.
#[tokio::test]
async fn a_pool_in_use_can_be_made_smaller_and_larger() {
    use deadpool::managed::{Manager, Metrics, Pool, RecycleResult};

    struct Numbers;

    impl Manager for Numbers {
        type Type = u32;
        type Error = Infallible;

        async fn create(&self) -> Result<u32, Infallible> {
            Ok(0)
        }

        async fn recycle(&self, _: &mut u32, _: &Metrics) -> RecycleResult<Infallible> {
            Ok(())
        }
    }

    let pool = Pool::<Numbers>::builder(Numbers).max_size(3).build().unwrap();
    let users: Vec<_> = (0..3)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let _number = pool.get().await.unwrap();
                yield_now().await;
            })
        })
        .collect();
    pool.resize(1);
    yield_now().await;
    pool.resize(2);
    for user in users {
        user.await.unwrap();
    }
}

/// deadpool 0.9.4: an object that cannot be recycled gives its place back twice, and the pool grows beyond its size.
#[tokio::test]
async fn a_pool_keeps_its_size_when_objects_cannot_be_recycled() {
    use deadpool_recycling::managed::{Manager, Pool, RecycleError, RecycleResult};

    #[derive(Default)]
    struct Counted {
        live: Arc<AtomicUsize>,
    }

    struct Object(Arc<AtomicUsize>);

    impl Drop for Object {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[async_trait::async_trait]
    impl Manager for Counted {
        type Type = Object;
        type Error = Infallible;

        async fn create(&self) -> Result<Object, Infallible> {
            let others = self.live.fetch_add(1, Ordering::Relaxed);
            assert_eq!(others, 0, "the pool has room for one");
            Ok(Object(Arc::clone(&self.live)))
        }

        async fn recycle(&self, _: &mut Object) -> RecycleResult<Infallible> {
            Err(RecycleError::Message("it is broken".into()))
        }
    }

    let pool = Pool::<Counted>::builder(Counted::default()).max_size(1).build().unwrap();
    let users: Vec<_> = (0..3)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let _object = pool.get().await.unwrap();
                yield_now().await;
            })
        })
        .collect();
    for user in users {
        user.await.unwrap();
    }
}

/// kameo up to 0.12: an actor says in its own mailbox that it has started, and waits for ever if messages have filled
/// that before (pull request 84 of its repository).
#[tokio::test]
async fn an_actor_starts_though_its_mailbox_is_full() {
    use kameo::Actor;
    use kameo::message::{Context, Message};
    use kameo::request::MessageSend;

    #[derive(Actor)]
    #[actor(mailbox = bounded(1))]
    struct Counter(u32);

    struct Add(u32);

    impl Message<Add> for Counter {
        type Reply = ();

        async fn handle(&mut self, Add(n): Add, _: Context<'_, Self, Self::Reply>) {
            self.0 += n;
        }
    }

    let counter = kameo::spawn(Counter(0));
    counter.tell(Add(1)).send().await.unwrap();
    counter.tell(Add(2)).send().await.unwrap();
    counter.stop_gracefully().await.unwrap();
    counter.wait_for_stop().await;
}

/// bb8 0.8.0: who waits for a connection gets none when the one in use turns out to be broken, and times out (issue 167
/// of its repository). Timers fire only when nobody can go on: see `dally.toml`.
#[tokio::test]
async fn who_waits_gets_a_connection_when_another_breaks() {
    use bb8::{ManageConnection, Pool};

    struct Broken;

    #[async_trait::async_trait]
    impl ManageConnection for Broken {
        type Connection = ();
        type Error = Infallible;

        async fn connect(&self) -> Result<(), Infallible> {
            Ok(())
        }

        async fn is_valid(&self, _: &mut ()) -> Result<(), Infallible> {
            Ok(())
        }

        fn has_broken(&self, _: &mut ()) -> bool {
            true
        }
    }

    let pool = Pool::builder().max_size(1).max_lifetime(None).idle_timeout(None);
    let pool = pool.build(Broken).await.unwrap();
    let users: Vec<_> = (0..2)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let _connection = pool.get().await.expect("a connection");
                yield_now().await;
            })
        })
        .collect();
    for user in users {
        user.await.unwrap();
    }
}
