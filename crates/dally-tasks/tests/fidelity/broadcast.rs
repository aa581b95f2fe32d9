//! `broadcast`.

use super::*;

both!(run(seed) in |lib| {
    use lib::sync::broadcast;
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let (tx, rx) = broadcast::channel::<Rc<u32>>(1 + rng.usize(..4));
    let (mut txs, mut rxs) = (vec![tx], vec![rx]);
    let mut weak = Vec::new();
    let mut futures = Futures::default();
    // Who holds a value sees when the channel drops it.
    let mut values = Vec::new();
    let mut log = Log::default();
    for turn in 0..40 {
        match rng.usize(..20) {
            0..4 => {
                let Some(mut rx) = rxs.pop() else { continue };
                futures.add(async move {
                    let got = rx.recv().await;
                    (Some(rx), got)
                });
                log.add("receive", (), futures.woken());
            }
            4..8 => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll", (at, got.as_ref().map(|got| &got.1)), futures.woken());
                rxs.extend(got.and_then(|got| got.0));
            }
            8 => {
                let Some(at) = futures.pick(rng) else { continue };
                futures.drop_one(at);
                log.add("cancel", at, futures.woken());
            }
            9..12 => {
                let Some(tx) = txs.first() else { continue };
                let value = Rc::new(turn);
                values.push(Rc::downgrade(&value));
                log.add("send", tx.send(value).map_err(|error| error.to_string()), futures.woken());
            }
            12 => {
                let Some(rx) = rxs.first_mut() else { continue };
                log.add("try to receive", rx.try_recv(), futures.woken());
            }
            13 => {
                let more = if rng.bool() {
                    rxs.first().map(|rx| rx.resubscribe())
                } else {
                    txs.first().map(|tx| tx.subscribe())
                };
                rxs.extend(more);
                log.add("subscribe", rxs.len(), futures.woken());
            }
            14 => {
                rxs.pop();
                log.add("drop a receiver", rxs.len(), futures.woken());
            }
            15 if rng.usize(..4) == 0 => {
                txs.pop();
                log.add("drop a sender", txs.len(), futures.woken());
            }
            15 => {
                weak.extend(txs.first().map(|tx| tx.downgrade()));
                let upgraded = weak.first().and_then(|weak| weak.upgrade());
                txs.extend(upgraded);
                log.add("upgrade", txs.len(), futures.woken());
            }
            16 => {
                let Some(tx) = txs.first().cloned() else { continue };
                futures.add(async move {
                    tx.closed().await;
                    (None, Err(broadcast::error::RecvError::Closed))
                });
                log.add("closed", (), futures.woken());
            }
            17 => {
                let kept = values.iter().filter(|value| value.strong_count() > 0).count();
                log.add("kept", kept, futures.woken());
            }
            _ => {
                let senders = txs.first().map(|tx| (tx.len(), tx.is_empty(), tx.receiver_count(), tx.strong_count(), tx.weak_count()));
                let receiver = rxs.first().map(|rx| (rx.len(), rx.is_empty(), rx.is_closed(), rx.sender_strong_count()));
                log.add("look", (senders, receiver), futures.woken());
            }
        }
    }
    log
});

#[test]
fn broadcast_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
