//! `watch`.

use super::*;

both!(run(seed) in |lib| {
    use lib::sync::watch;
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let (tx, rx) = watch::channel(0u32);
    let (mut txs, mut rxs) = (vec![tx], vec![rx]);
    let mut futures: Futures<(Option<watch::Receiver<u32>>, Option<u32>)> = Futures::default();
    let mut log = Log::default();
    for turn in 1..40 {
        match rng.usize(..22) {
            0..3 => {
                let Some(mut rx) = rxs.pop() else { continue };
                futures.add(async move {
                    let changed = rx.changed().await.is_ok();
                    (Some(rx), changed.then_some(0))
                });
                log.add("changed", (), futures.woken());
            }
            3 => {
                let Some(mut rx) = rxs.pop() else { continue };
                futures.add(async move {
                    let found = rx.wait_for(|value| value % 3 == 0).await.map(|found| (*found, found.has_changed()));
                    (Some(rx), found.ok().map(|found| found.0 * 2 + u32::from(found.1)))
                });
                log.add("wait for", (), futures.woken());
            }
            4..9 => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll", (at, got.as_ref().map(|got| got.1)), futures.woken());
                rxs.extend(got.and_then(|got| got.0));
            }
            9 => {
                let Some(at) = futures.pick(rng) else { continue };
                futures.drop_one(at);
                log.add("cancel", at, futures.woken());
            }
            10 | 11 => {
                let Some(tx) = txs.first() else { continue };
                log.add("send", tx.send(turn).map_err(|error| error.0), futures.woken());
            }
            12 => {
                let Some(tx) = txs.first() else { continue };
                let odd = rng.bool();
                let modified = tx.send_if_modified(|value| { *value += 1; odd });
                log.add("modify", (modified, tx.send_replace(turn)), futures.woken());
            }
            13 => {
                let Some(rx) = rxs.first_mut() else { continue };
                let seen = rx.borrow_and_update();
                log.add("see", (*seen, seen.has_changed()), futures.woken());
            }
            14 => {
                let Some(rx) = rxs.first() else { continue };
                let (seen, changed) = (rx.borrow(), rx.has_changed().ok());
                log.add("look", (*seen, seen.has_changed(), changed, rx.is_closed()), futures.woken());
            }
            15 => {
                let Some(rx) = rxs.first_mut() else { continue };
                if rng.bool() { rx.mark_changed() } else { rx.mark_unchanged() }
                log.add("mark", rx.has_changed().ok(), futures.woken());
            }
            16 => {
                rxs.extend(rxs.first().cloned());
                log.add("clone a receiver", rxs.len(), futures.woken());
            }
            17 => {
                rxs.extend(txs.first().map(|tx| tx.subscribe()));
                log.add("subscribe", rxs.len(), futures.woken());
            }
            18 => {
                rxs.pop();
                log.add("drop a receiver", rxs.len(), futures.woken());
            }
            19 if rng.usize(..4) == 0 => {
                txs.pop();
                log.add("drop a sender", txs.len(), futures.woken());
            }
            19 => {
                txs.extend(txs.first().cloned());
                log.add("clone a sender", txs.len(), futures.woken());
            }
            20 => {
                let Some(tx) = txs.first().cloned() else { continue };
                futures.add(async move {
                    tx.closed().await;
                    (None, None)
                });
                log.add("closed", (), futures.woken());
            }
            _ => {
                let Some(tx) = txs.first() else { continue };
                let counts = (tx.receiver_count(), tx.sender_count(), tx.is_closed(), *tx.borrow());
                log.add("count", counts, futures.woken());
            }
        }
    }
    log
});

#[test]
fn watch_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
