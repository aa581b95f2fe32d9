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

            use $($path)*::sync::{
                AcquireError, Barrier, BarrierWaitResult, MappedMutexGuard, Mutex, MutexGuard, Notify,
                OnceCell, OwnedMappedMutexGuard, OwnedMutexGuard, OwnedRwLockMappedWriteGuard,
                OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit, RwLock,
                RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard, Semaphore,
                SemaphorePermit, SetError, SetOnce, SetOnceError, TryAcquireError, TryLockError,
            };
            use $($path)*::sync::{broadcast, mpsc, oneshot, watch};
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

            async fn more_tasks() -> Result<u8, JoinError> {
                let mut set: task::JoinSet<u8> = sendable(task::JoinSet::new());
                let abort: AbortHandle = set.spawn(async { 1 });
                let _: AbortHandle = set.spawn_blocking(|| 2);
                let _: (task::Id, usize, bool) = (abort.id(), set.len(), set.is_empty());
                let _: Option<Result<u8, JoinError>> = set.join_next().await;
                let _: Option<Result<(task::Id, u8), JoinError>> = set.join_next_with_id().await;
                let _: Option<Result<u8, JoinError>> = set.try_join_next();
                set.abort_all();
                set.detach_all();
                set.shutdown().await;
                let _: Vec<u8> = set.join_all().await;
                task::unconstrained(task::coop::consume_budget()).await;
                let _: Option<task::Id> = task::try_id();
                let error: JoinError = spawn(async {}).await.unwrap_err();
                let _: std::io::Error = error.into();
                task::spawn_blocking(|| 3).await
            }

            async fn local_tasks() -> u8 {
                let set: task::LocalSet = task::LocalSet::new();
                let handle: JoinHandle<u8> = set.spawn_local(async { 1 });
                let entered: task::LocalEnterGuard = set.enter();
                drop::<JoinHandle<()>>(task::spawn_local(async {}));
                drop(entered);
                let got: u8 = set.run_until(async { handle.await.unwrap() }).await;
                set.await;
                got
            }

            async fn semaphores() -> Result<(), AcquireError> {
                static FREE: Semaphore = Semaphore::const_new(1);
                let semaphore: Arc<Semaphore> = shared(Arc::new(Semaphore::new(2)));
                let mut permit: SemaphorePermit<'_> = sendable(semaphore.acquire().await?);
                permit.merge(semaphore.acquire_many(1).await?);
                let _: Option<SemaphorePermit<'_>> = permit.split(1);
                let _: (&Semaphore, usize) = (permit.semaphore(), permit.num_permits());
                permit.forget();
                let owned: OwnedSemaphorePermit = semaphore.clone().acquire_owned().await?;
                drop(sendable(semaphore.clone().acquire_many_owned(1).await?));
                let _: &Arc<Semaphore> = owned.semaphore();
                match semaphore.try_acquire_many(2) {
                    Ok(_) | Err(TryAcquireError::NoPermits) | Err(TryAcquireError::Closed) => {}
                }
                let _ = semaphore.clone().try_acquire_owned();
                let _: usize = semaphore.available_permits() + semaphore.forget_permits(1);
                semaphore.add_permits(Semaphore::MAX_PERMITS);
                semaphore.close();
                let _: bool = semaphore.is_closed() || FREE.is_closed();
                Ok(())
            }

            async fn read_write_locks() -> u8 {
                static STATIC: RwLock<u8> = RwLock::const_new(1);
                let lock: Arc<RwLock<(u8, u8)>> = shared(Arc::new(RwLock::new((1, 2))));
                let read: RwLockReadGuard<'_, (u8, u8)> = sendable(lock.read().await);
                let _: RwLockReadGuard<'_, u8> = RwLockReadGuard::map(read, |pair| &pair.0);
                let write: RwLockWriteGuard<'_, (u8, u8)> = sendable(lock.write().await);
                let _: RwLockReadGuard<'_, (u8, u8)> = write.downgrade();
                let part: RwLockMappedWriteGuard<'_, u8> =
                    RwLockWriteGuard::map(lock.write().await, |pair| &mut pair.1);
                drop(part);
                let owned: OwnedRwLockReadGuard<(u8, u8)> = lock.clone().read_owned().await;
                let _: OwnedRwLockReadGuard<(u8, u8), u8> =
                    OwnedRwLockReadGuard::map(owned, |pair| &pair.0);
                let owned: OwnedRwLockWriteGuard<(u8, u8)> = lock.clone().write_owned().await;
                let _: &Arc<RwLock<(u8, u8)>> = OwnedRwLockWriteGuard::rwlock(&owned);
                let _: OwnedRwLockMappedWriteGuard<(u8, u8), u8> =
                    OwnedRwLockWriteGuard::map(owned, |pair| &mut pair.0);
                let _: Result<RwLockReadGuard<'_, (u8, u8)>, TryLockError> = lock.try_read();
                let _: Result<RwLockWriteGuard<'_, (u8, u8)>, TryLockError> = lock.try_write();
                let _: Arc<RwLock<dyn std::fmt::Debug + Send + Sync>> = Arc::new(RwLock::new(1));
                *STATIC.read().await
            }

            async fn mapped_and_unsized() {
                static STATIC: Mutex<u8> = Mutex::const_new(1);
                let lock: Arc<Mutex<(u8, u8)>> = Arc::new(Mutex::new((1, 2)));
                let part: MappedMutexGuard<'_, u8> =
                    MutexGuard::map(lock.lock().await, |pair| &mut pair.0);
                drop(sendable(part));
                let part: OwnedMappedMutexGuard<(u8, u8), u8> =
                    OwnedMutexGuard::map(lock.clone().lock_owned().await, |pair| &mut pair.0);
                drop(sendable(part));
                let _: &Mutex<(u8, u8)> = MutexGuard::mutex(&lock.lock().await);
                let slice: Arc<Mutex<[u8]>> = Arc::new(Mutex::new([1, 2]));
                slice.lock().await[0] += *STATIC.lock().await;
            }

            async fn watching() -> Result<(), watch::error::RecvError> {
                let (tx, mut rx): (watch::Sender<u8>, watch::Receiver<u8>) = shared(watch::channel(1));
                rx.changed().await?;
                let _: u8 = *rx.wait_for(|value| *value > 1).await?;
                let _: (bool, bool) = (rx.has_changed()?, rx.borrow().has_changed());
                let _: u8 = *rx.borrow_and_update();
                rx.mark_changed();
                rx.mark_unchanged();
                let _: Result<(), watch::error::SendError<u8>> = tx.send(2);
                let _: (bool, u8) = (tx.send_if_modified(|value| *value > 1), tx.send_replace(3));
                tx.send_modify(|value| *value += 1);
                let _: (usize, usize, bool) =
                    (tx.receiver_count(), tx.sender_count(), tx.is_closed());
                let _: watch::Receiver<u8> = tx.subscribe();
                tx.closed().await;
                Ok(())
            }

            async fn broadcasting() -> Result<u8, broadcast::error::RecvError> {
                let (tx, mut rx): (broadcast::Sender<u8>, broadcast::Receiver<u8>) =
                    shared(broadcast::channel(1));
                let _: Result<usize, broadcast::error::SendError<u8>> = tx.send(1);
                let _: Result<u8, broadcast::error::TryRecvError> = rx.try_recv();
                let weak: broadcast::WeakSender<u8> = tx.downgrade();
                let _: Option<broadcast::Sender<u8>> = weak.upgrade();
                let _: (usize, bool, usize) = (tx.len(), tx.is_empty(), tx.receiver_count());
                let _: (usize, bool, bool) = (rx.len(), rx.is_empty(), rx.is_closed());
                let _: broadcast::Receiver<u8> = rx.resubscribe();
                tx.closed().await;
                rx.recv().await
            }

            async fn once_and_all() -> u8 {
                static CELL: OnceCell<u8> = OnceCell::const_new();
                static SET: SetOnce<u8> = SetOnce::const_new();
                let barrier: Barrier = shared(Barrier::new(1));
                let _: BarrierWaitResult = barrier.wait().await;
                let _: Result<(), SetError<u8>> = CELL.set(1);
                let _: Result<&u8, ()> = CELL.get_or_try_init(|| async { Err(()) }).await;
                let _: Result<(), SetOnceError<u8>> = SET.set(1);
                let _: (Option<&u8>, bool) = (SET.get(), CELL.initialized());
                *CELL.get_or_init(|| async { 1 }).await + *SET.wait().await
            }

            async fn room() -> Result<(), mpsc::error::SendError<()>> {
                let (tx, mut rx) = mpsc::channel::<u8>(2);
                let permit: mpsc::Permit<'_, u8> = sendable(tx.reserve().await?);
                permit.send(1);
                let permits: mpsc::PermitIterator<'_, u8> = tx.reserve_many(2).await?;
                let _: usize = permits.len();
                let owned: mpsc::OwnedPermit<u8> = sendable(tx.clone().reserve_owned().await?);
                let tx: mpsc::Sender<u8> = owned.send(1);
                let _: Result<mpsc::Permit<'_, u8>, mpsc::error::TrySendError<()>> =
                    tx.try_reserve();
                let _: Result<(), mpsc::error::SendTimeoutError<u8>> =
                    tx.send_timeout(1, Duration::from_secs(1)).await;
                let _: (usize, usize) = (rx.capacity(), rx.sender_strong_count());
                let _: Poll<usize> = std::future::poll_fn(|cx| {
                    Poll::Ready(rx.poll_recv_many(cx, &mut Vec::new(), 1))
                })
                .await;
                Ok(())
            }

            async fn more_clocks() {
                time::pause();
                time::advance(Duration::from_millis(1)).await;
                time::resume();
                let mut ticks: time::Interval = time::interval(Duration::from_secs(1));
                ticks.set_missed_tick_behavior(time::MissedTickBehavior::Skip);
                let _: Instant = ticks.tick().await;
                ticks.reset_after(Duration::from_secs(1));
                let _: std::time::Instant = Instant::now().into_std();
                let limited: time::Timeout<std::future::Ready<u8>> =
                    time::timeout(Duration::from_secs(1), std::future::ready(1));
                let _: u8 = limited.into_inner().await;
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
                drop(spawn(more_tasks()));
                drop(spawn(semaphores()));
                drop(spawn(read_write_locks()));
                drop(spawn(mapped_and_unsized()));
                drop(spawn(broadcasting()));
                drop(spawn(once_and_all()));
                drop(spawn(room()));
                drop(spawn(more_clocks()));
            }
        }
    };
}

surface!(under_control, dally_tasks);
surface!(in_production, tokio);
