//! `mpsc` with a capacity.

use super::*;

both!(run(seed) in |lib| {
    use lib::sync::mpsc;
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let (tx, rx) = mpsc::channel::<u32>(1 + rng.usize(..3));
    let (mut txs, mut rx) = (vec![tx], Some(rx));
    let mut weak = Vec::new();
    let mut futures = Futures::default();
    let mut permits: Vec<mpsc::OwnedPermit<u32>> = Vec::new();
    let receiver = Arc::new(Flag::default());
    let waker = Waker::from(receiver.clone());
    let waits = Cell::new(false);
    let mut log = Log::default();
    macro_rules! woken {
        () => {{
            let receives = if receiver.woken(&waits) { " wakes the receiver" } else { "" };
            futures.woken() + receives
        }};
    }
    for turn in 0..40 {
        match rng.usize(..28) {
            0..3 => {
                let Some(tx) = txs.first().cloned() else { continue };
                futures.add(async move {
                    let sent = tx.send(turn).await.map_err(|error| error.0);
                    (sent, None)
                });
                log.add("send", turn, woken!());
            }
            3 | 4 => {
                let Some(tx) = txs.first().cloned() else { continue };
                futures.add(async move {
                    match tx.reserve_owned().await {
                        Ok(permit) => (Ok(()), Some(permit)),
                        Err(_) => (Err(0), None),
                    }
                });
                log.add("reserve", (), woken!());
            }
            5 => {
                let (Some(tx), n) = (txs.first().cloned(), rng.usize(..4)) else { continue };
                futures.add(async move {
                    let sent = match tx.reserve_many(n).await {
                        Ok(permits) => {
                            permits.take(1).for_each(|permit| permit.send(100 + turn));
                            Ok(())
                        }
                        Err(_) => Err(0),
                    };
                    (sent, None)
                });
                log.add("reserve many", n, woken!());
            }
            6..11 => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll", (at, got.as_ref().map(|got| (got.0, got.1.is_some()))), woken!());
                permits.extend(got.and_then(|got| got.1));
            }
            11 => {
                let Some(at) = futures.pick(rng) else { continue };
                futures.drop_one(at);
                log.add("cancel", at, woken!());
            }
            12..15 => {
                let Some(rx) = &mut rx else { continue };
                let got = rx.poll_recv(&mut Context::from_waker(&waker));
                let got = receiver.after(got, &waits);
                log.add("receive", got, woken!());
            }
            15 => {
                let (Some(rx), mut got) = (&mut rx, Vec::new()) else { continue };
                let many = rx.poll_recv_many(&mut Context::from_waker(&waker), &mut got, rng.usize(..3));
                let many = receiver.after(many, &waits);
                log.add("receive many", (many, got), woken!());
            }
            16 => {
                let Some(rx) = &mut rx else { continue };
                log.add("try to receive", rx.try_recv(), woken!());
            }
            17 => {
                let Some(tx) = txs.first() else { continue };
                log.add("try to send", tx.try_send(turn), woken!());
            }
            18 => {
                let Some(tx) = txs.first().cloned() else { continue };
                let tried = tx.try_reserve_owned();
                let shown = tried.as_ref().map(|_| ()).map_err(|error| error.to_string());
                log.add("try to reserve", shown, woken!());
                permits.extend(tried);
            }
            19 | 20 => {
                let Some(permit) = permits.pop() else { continue };
                match rng.usize(..3) {
                    0 => drop(permit.send(turn)),
                    1 => drop(permit.release()),
                    _ => drop(permit),
                }
                log.add("use a permit", turn, woken!());
            }
            21 => {
                let (Some(rx), true) = (&mut rx, rng.usize(..3) == 0) else { continue };
                rx.close();
                log.add("close", rx.is_closed(), woken!());
            }
            22 if rng.usize(..4) == 0 => {
                rx = None;
                log.add("drop the receiver", (), woken!());
            }
            23 => {
                if rng.bool() {
                    weak.extend(txs.first().map(|tx| tx.downgrade()));
                    txs.pop();
                } else if let Some(tx) = weak.last().and_then(|weak| weak.upgrade()) {
                    txs.push(tx);
                }
                log.add("senders", txs.len(), woken!());
            }
            24 => {
                let Some(tx) = txs.first() else { continue };
                let closed = tx.clone();
                futures.add(async move {
                    closed.closed().await;
                    (Ok(()), None)
                });
                log.add("closed", (tx.is_closed(), tx.strong_count(), tx.weak_count()), woken!());
            }
            _ => {
                let senders = txs.first().map(|tx| (tx.capacity(), tx.max_capacity()));
                let receiver = rx.as_ref().map(|rx| (rx.len(), rx.is_closed(), rx.capacity(), rx.sender_strong_count()));
                log.add("look", (senders, receiver), woken!());
            }
        }
    }
    log
});

#[test]
fn a_bounded_channel_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
