//! Pools of connections: bb8 and deadpool.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Default)]
struct Connections {
    live: AtomicUsize,
    most: AtomicUsize,
}

impl Connections {
    fn open(self: &Arc<Self>) -> Connection {
        let live = self.live.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(live, Ordering::Relaxed);
        Connection(Arc::clone(self))
    }
}

struct Connection(Arc<Connections>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Manager(Arc<Connections>);

impl bb8::ManageConnection for Manager {
    type Connection = Connection;
    type Error = Infallible;

    async fn connect(&self) -> Result<Connection, Infallible> {
        tokio::task::yield_now().await;
        Ok(self.0.open())
    }

    async fn is_valid(&self, _: &mut Connection) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, _: &mut Connection) -> bool {
        false
    }
}

impl deadpool::managed::Manager for Manager {
    type Type = Connection;
    type Error = Infallible;

    async fn create(&self) -> Result<Connection, Infallible> {
        tokio::task::yield_now().await;
        Ok(self.0.open())
    }

    async fn recycle(
        &self,
        _: &mut Connection,
        _: &deadpool::managed::Metrics,
    ) -> deadpool::managed::RecycleResult<Infallible> {
        Ok(())
    }
}

#[tokio::test]
async fn bb8_never_has_more_connections_than_allowed() {
    let connections = Arc::new(Connections::default());
    let pool = bb8::Pool::builder()
        .max_size(2)
        // The task that closes old connections goes by the clock of the system.
        .max_lifetime(None)
        .idle_timeout(None)
        .build(Manager(Arc::clone(&connections)))
        .await
        .unwrap();
    let users: Vec<_> = (0..3)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                // It may give up: whoever has a connection may be slow.
                let Ok(_connection) = pool.get().await else { return };
                tokio::task::yield_now().await;
            })
        })
        .collect();
    for user in users {
        user.await.unwrap();
    }
    assert!(connections.most.load(Ordering::Relaxed) <= 2);
}

#[tokio::test]
async fn deadpool_serves_all_though_one_gives_up() {
    let connections = Arc::new(Connections::default());
    let pool = deadpool::managed::Pool::<Manager>::builder(Manager(Arc::clone(&connections)))
        .max_size(1)
        .build()
        .unwrap();
    let users: Vec<_> = (0..2)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let _connection = pool.get().await.unwrap();
                tokio::task::yield_now().await;
            })
        })
        .collect();
    let other = pool.clone();
    let aborted = tokio::spawn(async move { other.get().await.map(drop).is_ok() });
    aborted.abort();
    for user in users {
        user.await.unwrap();
    }
    drop(pool.get().await.unwrap());
    assert_eq!(connections.most.load(Ordering::Relaxed), 1);
}
