use dally::tasks::sync::{mpsc, oneshot};
use dally::tasks::time::{Duration, timeout};
use dally::tasks::{flip, spawn};

/// A server that may drop a request on the floor.
async fn serve(mut requests: mpsc::Receiver<oneshot::Sender<u32>>) {
    while let Some(reply) = requests.recv().await {
        if flip() {
            reply.send(7).ok();
        }
    }
}

#[dally::test(schedules = 200)]
async fn a_client_with_a_timeout_is_never_stuck() {
    let (server, requests) = mpsc::channel(1);
    spawn(serve(requests));
    let (reply, answer) = oneshot::channel();
    server.send(reply).await.unwrap();
    match timeout(Duration::from_secs(1), answer).await {
        Ok(Ok(value)) => assert_eq!(value, 7),
        Ok(Err(_dropped)) => {}
        Err(_elapsed) => {}
    }
}
