//! A server of axum, and hyper's client with a pool of connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};

#[derive(Default)]
struct Calls {
    begun: AtomicUsize,
    answered: AtomicUsize,
}

async fn echo(State(calls): State<Arc<Calls>>, Path(word): Path<String>) -> String {
    calls.begun.fetch_add(1, Ordering::Relaxed);
    yield_now().await;
    calls.answered.fetch_add(1, Ordering::Relaxed);
    word
}

struct Served {
    at: SocketAddr,
    calls: Arc<Calls>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<std::io::Result<()>>,
}

async fn serve() -> Served {
    let calls = Arc::new(Calls::default());
    let app = Router::new().route("/{word}", get(echo)).with_state(Arc::clone(&calls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = axum::serve(listener, app).with_graceful_shutdown(async move {
        let _ = stopped.await;
    });
    Served { at, calls, stop, server: tokio::spawn(server.into_future()) }
}

fn client() -> Client<HttpConnector, Empty<Bytes>> {
    Client::builder(TokioExecutor::new()).build_http()
}

async fn fetch(
    client: &Client<HttpConnector, Empty<Bytes>>,
    at: SocketAddr,
    word: &str,
) -> Result<Bytes, Box<dyn std::error::Error + Send + Sync>> {
    let answer = client.get(format!("http://{at}/{word}").parse()?).await?;
    assert!(answer.status().is_success(), "{}", answer.status());
    Ok(answer.into_body().collect().await?.to_bytes())
}

#[tokio::test]
async fn requests_over_a_pool_of_connections_get_their_own_answers() {
    let served = serve().await;
    let client = client();
    let callers: Vec<_> = ["one", "two"]
        .map(|word| {
            let client = client.clone();
            let at = served.at;
            tokio::spawn(async move {
                assert_eq!(fetch(&client, at, word).await.unwrap(), word);
            })
        })
        .into();
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!(fetch(&client, served.at, "three").await.unwrap(), "three");
}

/// A graceful shutdown answers each request that a handler has begun with, and comes to its end.
#[tokio::test]
async fn a_graceful_shutdown_answers_what_it_has_begun() {
    let Served { at, calls, stop, server } = serve().await;
    let caller = tokio::spawn(async move {
        let client = client();
        fetch(&client, at, "word").await
    });
    yield_now().await;
    let _ = stop.send(());
    server.await.unwrap().unwrap();
    let (begun, answered) =
        (calls.begun.load(Ordering::Relaxed), calls.answered.load(Ordering::Relaxed));
    assert_eq!(begun, answered, "a handler was dropped");
    match caller.await.unwrap() {
        Ok(word) => assert_eq!((&word[..], begun), (&b"word"[..], 1)),
        Err(why) => assert_eq!(begun, 0, "it was handled, and the client got: {why}"),
    }
}

/// A client that gives up harms nobody else, and does not keep the server from ending.
#[tokio::test]
async fn a_client_that_gives_up_keeps_nobody_waiting() {
    let Served { at, stop, server, .. } = serve().await;
    let gives_up = tokio::spawn(async move {
        let client = client();
        let _ = fetch(&client, at, "no").await;
    });
    let stays = tokio::spawn(async move {
        let client = client();
        assert_eq!(fetch(&client, at, "yes").await.unwrap(), "yes");
    });
    gives_up.abort();
    stays.await.unwrap();
    let _ = stop.send(());
    server.await.unwrap().unwrap();
}
