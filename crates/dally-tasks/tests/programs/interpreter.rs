//! The ops of random programs, performed by Dally's primitives and by tokio's.

use super::{COUNTERS, Logs, Op, Open, Outcomes};

/// Panics when it is dropped, unless the task is left by a panic already.
struct Armed;

impl Drop for Armed {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped while it was armed");
        }
    }
}

fn bump(count: &mut u64, me: usize) -> String {
    *count = *count * 10 + me as u64 + 1;
    format!("count:{count}")
}

macro_rules! interpreter {
    ($name:ident, $choose:path, $($runtime:tt)*) => {
        pub mod $name {
            use std::future::{poll_fn, ready};
            use std::pin::pin;
            use std::sync::{Arc, Mutex, PoisonError};
            use std::task::Poll;

            use futures_util::FutureExt;
            use futures_util::stream::{FuturesUnordered, StreamExt};
            use $($runtime)*::spawn;
            use $($runtime)*::sync::{self, Notify, mpsc, oneshot};
            use $($runtime)*::task::{AbortHandle, yield_now};
            use $($runtime)*::time::{self, Duration, Instant};

            use super::{Armed, COUNTERS, Logs, Op, Open, Outcomes, bump};
            use $choose as choose;

            /// What a task has to do its ops with.
            struct Means {
                me: usize,
                logs: Logs,
                counters: Arc<[sync::Mutex<u64>]>,
                /// To each task; its own sender is left out, so that its channel closes some time.
                senders: Vec<Option<mpsc::Sender<usize>>>,
                receiver: mpsc::Receiver<usize>,
                answer: Option<oneshot::Sender<usize>>,
                ask: Option<oneshot::Receiver<usize>>,
                notify: Arc<Notify>,
                /// Panics when it is dropped.
                armed: Option<Armed>,
                /// All tasks: filled before any of them steps, and not changed after that.
                handles: Arc<Mutex<Vec<AbortHandle>>>,
            }

            pub async fn main(tasks: Vec<Vec<Op>>, joined: usize, outcomes: Outcomes) {
                let count = tasks.len();
                let logs = Logs::new(count + 1, &outcomes);
                let _open = Open(logs.clone());
                let counters: Arc<[_]> = (0..COUNTERS).map(|_| sync::Mutex::new(0)).collect();
                let notify = Arc::new(Notify::new());
                let handles = Arc::new(Mutex::new(Vec::new()));
                let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel(1)).unzip();
                let (mut answers, asks): (Vec<_>, Vec<_>) =
                    (0..count).map(|_| oneshot::channel()).map(|(tx, rx)| (Some(tx), Some(rx))).unzip();
                answers.rotate_left(1);
                let mut joins = Vec::new();
                let ends = receivers.into_iter().zip(answers).zip(asks);
                for (me, (ops, ((receiver, answer), ask))) in tasks.into_iter().zip(ends).enumerate() {
                    let others = senders.iter().enumerate();
                    let means = Means {
                        me,
                        logs: logs.clone(),
                        counters: counters.clone(),
                        senders: others.map(|(to, tx)| (to != me).then(|| tx.clone())).collect(),
                        receiver,
                        answer,
                        ask,
                        notify: notify.clone(),
                        armed: None,
                        handles: handles.clone(),
                    };
                    joins.push(spawn(work(means, ops)));
                }
                drop(senders);
                let aborts = joins.iter().map(|join| join.abort_handle());
                handles.lock().unwrap_or_else(PoisonError::into_inner).extend(aborts);
                for (task, join) in joins.into_iter().enumerate().take(joined) {
                    if join.await.is_err() {
                        logs.add(count, &format!("{task} aborted"));
                    }
                }
                logs.add(count, "end");
            }

            async fn work(mut means: Means, ops: Vec<Op>) {
                for (number, op) in ops.into_iter().enumerate() {
                    let seen = means.perform(number, op).await;
                    means.logs.add(means.me, &seen);
                }
            }

            impl Means {
                async fn perform(&mut self, number: usize, op: Op) -> String {
                    let content = self.me * 10 + number;
                    match op {
                        Op::Count(counter) => bump(&mut *self.counters[counter].lock().await, self.me),
                        Op::CountSlowly(counter) => {
                            let mut count = self.counters[counter].lock().await;
                            yield_now().await;
                            bump(&mut count, self.me)
                        }
                        Op::TryCount(counter) => match self.counters[counter].try_lock() {
                            Ok(mut count) => bump(&mut count, self.me),
                            Err(_) => "held".into(),
                        },
                        Op::Send(to) => match &self.senders[to] {
                            Some(tx) => format!("sent:{}", tx.send(content).await.is_ok()),
                            None => "-".into(),
                        },
                        Op::TrySend(to) => match &self.senders[to] {
                            Some(tx) => format!("tried:{}", tx.try_send(content).is_ok()),
                            None => "-".into(),
                        },
                        Op::Receive => format!("{:?}", self.receiver.recv().await),
                        Op::TryReceive => format!("{:?}", self.receiver.try_recv()),
                        Op::ReceiveInTime => {
                            let received = time::timeout(Duration::from_millis(1), self.receiver.recv());
                            format!("{:?}", received.await)
                        }
                        Op::Answer => match self.answer.take() {
                            Some(tx) => format!("answered:{}", tx.send(content).is_ok()),
                            None => "-".into(),
                        },
                        Op::Ask => match self.ask.take() {
                            Some(rx) => format!("{:?}", rx.await.ok()),
                            None => "-".into(),
                        },
                        Op::NotifyOne => {
                            self.notify.notify_one();
                            "one".into()
                        }
                        Op::NotifyAll => {
                            self.notify.notify_waiters();
                            "all".into()
                        }
                        Op::Notified => {
                            self.notify.notified().await;
                            "notified".into()
                        }
                        Op::Either => self.either().await,
                        Op::Unordered => self.unordered().await,
                        Op::Yield => {
                            yield_now().await;
                            ".".into()
                        }
                        Op::Choose => format!("chose:{}", choose(2)),
                        Op::Sleep => {
                            time::sleep(Duration::from_millis(1 + self.me as u64)).await;
                            "slept".into()
                        }
                        Op::Now => format!("{:?}", Instant::now()),
                        Op::Abort(task) => {
                            self.handle(task).abort();
                            "abort".into()
                        }
                        Op::IsOver(task) => format!("over:{}", self.handle(task).is_finished()),
                        Op::Senders => {
                            let sender = self.senders.iter().flatten().next();
                            format!("{:?}", sender.map(|tx| (tx.strong_count(), tx.capacity())))
                        }
                        Op::ReceiveOrNot => tokio::select! {
                            biased;
                            received = self.receiver.recv() => format!("{received:?}"),
                            () = ready(()) => "not".into(),
                        },
                        Op::CountOrNot(counter) => tokio::select! {
                            biased;
                            mut count = self.counters[counter].lock() => bump(&mut count, self.me),
                            () = async {} => "not".into(),
                        },
                        Op::YieldOrCount(counter) => tokio::select! {
                            biased;
                            () = yield_now() => "yielded".into(),
                            mut count = self.counters[counter].lock() => bump(&mut count, self.me),
                        },
                        Op::ReceiveNow => format!("{:?}", self.receiver.recv().now_or_never()),
                        Op::CountNow(counter) => {
                            let count = self.counters[counter].lock().now_or_never();
                            count.map_or("held".into(), |mut count| bump(&mut count, self.me))
                        }
                        Op::EnrolThenWait => {
                            let notified = self.notify.notified();
                            yield_now().await;
                            notified.await;
                            "enrolled and notified".into()
                        }
                        Op::EnrolThenNotifyAll => {
                            let notified = self.notify.notified();
                            self.notify.notify_waiters();
                            notified.await;
                            "notified by itself".into()
                        }
                        Op::Show(counter) => format!("{:?}", self.counters[counter]),
                        Op::Arm => {
                            self.armed = Some(Armed);
                            "armed".into()
                        }
                        Op::Disarm => {
                            self.armed.take().map(std::mem::forget);
                            "disarmed".into()
                        }
                    }
                }

                fn handle(&self, task: usize) -> AbortHandle {
                    self.handles.lock().unwrap_or_else(PoisonError::into_inner)[task].clone()
                }

                async fn either(&mut self) -> String {
                    let (mut received, mut notified) =
                        (pin!(self.receiver.recv()), pin!(self.notify.notified()));
                    poll_fn(|cx| {
                        if let Poll::Ready(received) = received.as_mut().poll(cx) {
                            return Poll::Ready(format!("{received:?}"));
                        }
                        notified.as_mut().poll(cx).map(|()| "notified".into())
                    })
                    .await
                }

                async fn unordered(&mut self) -> String {
                    let (receiver, ask, notify) = (&mut self.receiver, self.ask.take(), &self.notify);
                    let received = async move { format!("{:?}", receiver.recv().await) };
                    let asked = async move {
                        match ask {
                            Some(rx) => format!("{:?}", rx.await.ok()),
                            None => "-".into(),
                        }
                    };
                    let notified = async move {
                        notify.notified().await;
                        "notified".to_owned()
                    };
                    let all: [std::pin::Pin<Box<dyn Future<Output = String> + Send + '_>>; 3] =
                        [Box::pin(received), Box::pin(asked), Box::pin(notified)];
                    let mut all = all.into_iter().collect::<FuturesUnordered<_>>();
                    let (first, second) = (all.next().await, all.next().await);
                    format!("{first:?} then {second:?}")
                }
            }
        }
    };
}

interpreter!(under_control, dally_tasks::choose, dally_tasks);
interpreter!(on_tokio, super::first, tokio);

/// Tokio knows no choices.
fn first(_: usize) -> usize {
    0
}
