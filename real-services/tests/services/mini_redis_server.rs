//! mini-redis: client and server over TCP in memory.

use std::time::Duration;

use mini_redis::client;
use mini_redis::server;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

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
