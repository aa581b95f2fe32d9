//! Published crates, unmodified, under `cargo dally test`.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

mod mini_redis_server {
    use super::*;
    use mini_redis::client;
    use mini_redis::server;

    async fn serve() -> (std::net::SocketAddr, oneshot::Sender<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(async move {
            let _ = server::run(listener, async {
                let _ = stopped.await;
            })
            .await;
        });
        (at, stop)
    }

    #[tokio::test]
    async fn what_is_set_is_got() {
        let (at, _stop) = serve().await;
        let mut client = client::connect(at).await.unwrap();
        client.set("hello", "world".into()).await.unwrap();
        assert_eq!(client.get("hello").await.unwrap().unwrap(), &b"world"[..]);
    }

    /// `GET` does not look at when the key expires, and relies on a task that removes it in time.
    #[tokio::test]
    #[should_panic(expected = "a key is there that has expired")]
    async fn a_key_that_has_expired_is_gone() {
        let (at, _stop) = serve().await;
        let mut client = client::connect(at).await.unwrap();
        client.set_expires("hello", "world".into(), Duration::from_secs(1)).await.unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        let got = client.get("hello").await.unwrap();
        assert!(got.is_none(), "a key is there that has expired");
    }
}

mod pools {
    use super::*;

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
}

mod parts {
    use super::*;
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
}

mod http {
    use super::*;
    use http_body_util::{BodyExt, Empty, Full};
    use hyper::body::{Bytes, Incoming};
    use hyper::{Request, Response};
    use hyper_util::rt::TokioIo;

    #[tokio::test]
    async fn a_request_is_answered() {
        let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let answer = |request: Request<Incoming>| async move {
                let path = request.uri().path().to_owned();
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(path))))
            };
            let service = hyper::service::service_fn(answer);
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
        let stream = TcpStream::connect("localhost:80").await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(async move {
            let _ = connection.await;
        });
        let request = Request::get("/hello").header("host", "localhost");
        let response = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "/hello");
    }
}
