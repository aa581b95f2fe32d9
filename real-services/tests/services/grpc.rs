//! A service of tonic, with tonic's own client: the health of a server, as its crate ships it.

use std::future::Future;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Channel, Endpoint, Error, Server};
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus as Answer;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::server::{HealthReporter, health_reporter};

struct Served {
    reporter: HealthReporter,
    stop: oneshot::Sender<()>,
    server: JoinHandle<Result<(), Error>>,
    client: HealthClient<Channel>,
}

fn stopped(by: oneshot::Receiver<()>) -> impl Future<Output = ()> {
    async move {
        let _ = by.await;
    }
}

async fn serve() -> Served {
    let (reporter, service) = health_reporter();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let (stop, by) = oneshot::channel();
    let server = Server::builder()
        .add_service(service)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), stopped(by));
    let server = tokio::spawn(server);
    let endpoint = Endpoint::from_shared(format!("http://{at}")).unwrap();
    let client = HealthClient::new(endpoint.connect_lazy());
    Served { reporter, stop, server, client }
}

fn whole_server() -> HealthCheckRequest {
    HealthCheckRequest { service: String::new() }
}

#[tokio::test]
async fn who_watches_sees_what_was_reported_last() {
    let Served { reporter, mut client, stop: _stop, .. } = serve().await;
    let mut changes = client.watch(whole_server()).await.unwrap().into_inner();
    let task = tokio::spawn(async move {
        reporter.set_service_status("", ServingStatus::Unknown).await;
        reporter.set_service_status("", ServingStatus::NotServing).await;
    });
    loop {
        let change = changes.message().await.unwrap().expect("the server goes on");
        if change.status == Answer::NotServing as i32 {
            break;
        }
    }
    task.await.unwrap();
    let now = client.check(whole_server()).await.unwrap().into_inner();
    assert_eq!(now.status, Answer::NotServing as i32);
}

/// A shutdown while a call is on its way: the server comes to its end, and the caller is answered or told that the server
/// is not available, so that it may ask another. It is told of an internal error.
#[tokio::test]
#[should_panic(expected = "GoAway")]
async fn a_call_during_the_shutdown_is_answered_or_refused() {
    let Served { stop, server, mut client, .. } = serve().await;
    let caller = tokio::spawn(async move { client.check(whole_server()).await });
    yield_now().await;
    let _ = stop.send(());
    server.await.unwrap().unwrap();
    match caller.await.unwrap() {
        Ok(answer) => assert_eq!(answer.into_inner().status, Answer::Serving as i32),
        Err(status) => {
            assert!(
                matches!(
                    status.code(),
                    tonic::Code::Unavailable | tonic::Code::Unknown | tonic::Code::Cancelled
                ),
                "{status:?}"
            );
        }
    }
}
