//! The same calls compile against the real tokio: what is tested here runs there unchanged.
//!
//! Only compiled, never run: a call that exists in one and not in the other, or with another
//! shape, is an error of this file.
#![allow(dead_code)]

macro_rules! surface {
    ($runtime:ident, $($path:tt)*) => {
        mod $runtime {
            use std::pin::{Pin, pin};
            use std::sync::Arc;
            use std::task::{Context, Poll};

            use $($path)*::sync::{Mutex, MutexGuard, Notify, OwnedMutexGuard, TryLockError};
            use $($path)*::sync::{mpsc, oneshot};
            use $($path)*::task::{self, AbortHandle, JoinError, JoinHandle, yield_now};
            use $($path)*::time::{self, Duration, Instant};
            use $($path)*::spawn;

            fn sendable<T: Send>(value: T) -> T {
                value
            }

            fn shared<T: Send + Sync>(value: T) -> T {
                value
            }

            async fn tasks() -> Result<u8, JoinError> {
                let handle: JoinHandle<u8> = spawn(async { 1 });
                let abort: AbortHandle = shared(handle.abort_handle());
                abort.abort();
                handle.abort();
                let _: (bool, bool) = (abort.is_finished(), handle.is_finished());
                let _: task::Id = handle.id();
                yield_now().await;
                match spawn(async {}).await {
                    Err(error) if error.is_cancelled() || error.is_panic() => {
                        let _: String = error.to_string();
                        let _: Box<dyn std::any::Any + Send> = error.try_into_panic()?;
                    }
                    _ => {}
                }
                handle.await
            }

            async fn bounded() -> Option<String> {
                let (tx, mut rx) = mpsc::channel::<String>(2);
                let tx: mpsc::Sender<String> = shared(tx.clone());
                sendable(tx.send(String::new())).await.ok()?;
                let back: mpsc::error::SendError<String> = tx.send(String::new()).await.err()?;
                let _: String = back.0;
                match tx.try_send(String::new()) {
                    Ok(()) => {}
                    Err(mpsc::error::TrySendError::Full(text)) => drop::<String>(text),
                    Err(mpsc::error::TrySendError::Closed(text)) => drop::<String>(text),
                }
                let _: (usize, usize, bool) = (tx.capacity(), tx.max_capacity(), tx.is_closed());
                let weak: mpsc::WeakSender<String> = tx.downgrade();
                let _: Option<mpsc::Sender<String>> = weak.upgrade();
                let _: (bool, usize, usize) =
                    (tx.same_channel(&tx), tx.strong_count(), tx.weak_count());
                tx.closed().await;
                let rx_ref: &mut mpsc::Receiver<String> = &mut rx;
                match rx_ref.try_recv() {
                    Ok(text) => drop::<String>(text),
                    Err(mpsc::error::TryRecvError::Empty) => {}
                    Err(mpsc::error::TryRecvError::Disconnected) => {}
                }
                let mut many = Vec::new();
                let _: usize = rx.recv_many(&mut many, 3).await;
                let _: (bool, bool, usize) = (rx.is_closed(), rx.is_empty(), rx.len());
                rx.close();
                sendable(rx.recv()).await
            }

            async fn unbounded() -> Option<u8> {
                let (tx, mut rx) = mpsc::unbounded_channel::<u8>();
                let tx: mpsc::UnboundedSender<u8> = shared(tx.clone());
                let _: Result<(), mpsc::error::SendError<u8>> = tx.send(1);
                let _: bool = tx.is_closed();
                let weak: mpsc::WeakUnboundedSender<u8> = tx.downgrade();
                let _: Option<mpsc::UnboundedSender<u8>> = weak.upgrade();
                let rx_ref: &mut mpsc::UnboundedReceiver<u8> = &mut rx;
                let _ = rx_ref.try_recv();
                rx_ref.close();
                rx.recv().await
            }

            fn by_hand(rx: &mut mpsc::Receiver<u8>, cx: &mut Context<'_>) -> Poll<Option<u8>> {
                rx.poll_recv(cx)
            }

            async fn once() -> Result<u8, oneshot::error::RecvError> {
                let (mut tx, mut rx): (oneshot::Sender<u8>, oneshot::Receiver<u8>) =
                    shared(oneshot::channel());
                tx.closed().await;
                let _: bool = tx.is_closed();
                let _: Result<(), u8> = tx.send(1);
                match rx.try_recv() {
                    Ok(1) => rx.close(),
                    Err(oneshot::error::TryRecvError::Empty) => {}
                    Ok(_) | Err(oneshot::error::TryRecvError::Closed) => {}
                }
                rx.await
            }

            async fn locks() -> u8 {
                let mut lock: Mutex<u8> = shared(Mutex::new(1));
                *lock.get_mut() += 1;
                {
                    let mut guard: MutexGuard<'_, u8> = sendable(lock.lock().await);
                    *guard += 1;
                    yield_now().await;
                }
                let tried: Result<MutexGuard<'_, u8>, TryLockError> = lock.try_lock();
                drop(tried);
                let lock = Arc::new(lock);
                let owned: OwnedMutexGuard<u8> = lock.clone().lock_owned().await;
                drop(sendable(owned));
                drop(lock.clone().try_lock_owned());
                let _: Mutex<u8> = Mutex::default();
                Arc::into_inner(lock).map_or(0, Mutex::into_inner)
            }

            async fn notifications() {
                let notify: Notify = shared(Notify::new());
                notify.notify_one();
                notify.notify_waiters();
                let mut notified = pin!(notify.notified());
                let _: bool = notified.as_mut().enable();
                notified.await;
                let _: Notify = Notify::default();
            }

            async fn clocks() -> Result<u8, time::error::Elapsed> {
                let start: Instant = Instant::now();
                time::sleep(Duration::from_millis(1)).await;
                time::sleep_until(start + Duration::from_secs(1)).await;
                let mut nap: Pin<Box<time::Sleep>> = Box::pin(time::sleep(Duration::ZERO));
                nap.as_mut().reset(start);
                let _: (Instant, bool) = (nap.deadline(), nap.is_elapsed());
                nap.await;
                let _: (Duration, Duration) = (start.elapsed(), Instant::now() - start);
                let _: Option<Instant> = start.checked_add(Duration::ZERO);
                let _ = time::timeout_at(start, async { 1 }).await;
                time::timeout(Duration::from_secs(1), async { 1 }).await
            }

            /// Everything can be spawned, that is, can move between threads in production.
            fn all_can_be_spawned() {
                drop(spawn(tasks()));
                drop(spawn(bounded()));
                drop(spawn(unbounded()));
                drop(spawn(once()));
                drop(spawn(locks()));
                drop(spawn(notifications()));
                drop(spawn(clocks()));
            }
        }
    };
}

surface!(under_control, dally_tasks);
surface!(in_production, tokio);
