//! Tests that use what is not under control, in the shapes in which it is met.

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::io::{Read, Write};
    use std::pin::pin;
    use std::sync::{Arc, Condvar, Mutex};
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread;
    use std::time::Duration;

    use tokio::sync::Notify;

    #[tokio::test]
    async fn a_std_lock_across_an_await() {
        let (lock, ready) = (Arc::new(Mutex::new(0)), Arc::new(Notify::new()));
        let (theirs, told) = (Arc::clone(&lock), Arc::clone(&ready));
        let bystander = tokio::spawn(tokio::time::sleep(Duration::from_secs(1)));
        let mut value = lock.lock().unwrap();
        tokio::spawn(async move {
            *theirs.lock().unwrap() += 1;
            told.notify_one();
        });
        ready.notified().await;
        *value += 1;
        drop(value);
        bystander.await.unwrap();
    }

    #[tokio::test]
    async fn a_parking_lot_lock_across_an_await() {
        let (lock, ready) = (Arc::new(parking_lot::RwLock::new(0)), Arc::new(Notify::new()));
        let (theirs, told) = (Arc::clone(&lock), Arc::clone(&ready));
        let local = tokio::task::LocalSet::new();
        let holder = local.spawn_local(async move {
            let value = theirs.read();
            told.notified().await;
            *value
        });
        local
            .run_until(async {
                tokio::task::yield_now().await;
                *lock.write() += 1;
                ready.notify_one();
                holder.await.unwrap();
            })
            .await;
    }

    #[tokio::test]
    async fn a_thread_of_its_own() {
        let sum = thread::spawn(|| (1..10).sum::<u32>());
        tokio::task::yield_now().await;
        assert_eq!(sum.join().unwrap(), 45);
    }

    #[tokio::test]
    async fn a_sleep_of_its_thread() {
        tokio::task::yield_now().await;
        thread::sleep(Duration::from_micros(1));
    }

    #[tokio::test]
    async fn a_socket_of_the_system() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        tokio::task::yield_now().await;
        client.write_all(b"hello").unwrap();
        let mut text = [0; 5];
        server.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"hello");
    }

    #[tokio::test]
    async fn a_lock_of_a_real_file() {
        let file = std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        file.lock_shared().unwrap();
        tokio::task::yield_now().await;
        file.unlock().unwrap();
    }

    /// As the runtimes that are none of tokio's do: whoever waits is parked, and a thread of theirs wakes.
    fn block_on<T>(future: impl Future<Output = T>) -> T {
        struct Parked(Mutex<bool>, Condvar);
        impl Wake for Parked {
            fn wake(self: Arc<Self>) {
                *self.0.lock().unwrap() = true;
                self.1.notify_one();
            }
        }
        let parked = Arc::new(Parked(Mutex::new(false), Condvar::new()));
        let waker = Waker::from(Arc::clone(&parked));
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return done;
            }
            let woken = parked.0.lock().unwrap();
            *parked.1.wait_while(woken, |woken| !*woken).unwrap() = false;
        }
    }

    /// Work of a thread that is there before the test begins, for whoever awaits it.
    fn by_another_runtime() -> impl Future<Output = u32> {
        let shared = Arc::new(Mutex::new((None, None::<Waker>)));
        let theirs = Arc::clone(&shared);
        WORKER.with_borrow(|worker| {
            worker
                .send(Box::new(move || {
                    thread::sleep(Duration::from_millis(5));
                    let mut shared = theirs.lock().unwrap();
                    shared.0 = Some(7);
                    shared.1.take().map(Waker::wake);
                }))
                .unwrap();
        });
        std::future::poll_fn(move |cx| {
            let mut shared = shared.lock().unwrap();
            shared.1 = Some(cx.waker().clone());
            shared.0.map_or(Poll::Pending, Poll::Ready)
        })
    }

    type Work = Box<dyn FnOnce() + Send>;

    thread_local! {
        static WORKER: std::cell::RefCell<std::sync::mpsc::Sender<Work>> = {
            let (sender, work) = std::sync::mpsc::channel::<Work>();
            thread::spawn(move || work.into_iter().for_each(|work| work()));
            std::cell::RefCell::new(sender)
        };
    }

    #[tokio::test]
    async fn another_runtime_that_blocks() {
        tokio::task::yield_now().await;
        assert_eq!(block_on(by_another_runtime()), 7);
    }

    #[tokio::test]
    async fn another_runtime_that_is_awaited() {
        assert_eq!(by_another_runtime().await, 7);
    }
}
