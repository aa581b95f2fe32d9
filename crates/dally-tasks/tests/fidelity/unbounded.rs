//! `mpsc` without a capacity.

use super::*;

both!(run(seed) in |lib| {
    use lib::sync::mpsc;
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let (tx, rx) = mpsc::unbounded_channel::<u32>();
    let (mut txs, mut rx) = (vec![tx], Some(rx));
    let mut futures = Futures::default();
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
    for turn in 0..20 {
        match rng.usize(..14) {
            0..3 => {
                let Some(tx) = txs.first() else { continue };
                log.add("send", tx.send(turn).map_err(|error| error.0), woken!());
            }
            3..7 => {
                let Some(rx) = &mut rx else { continue };
                let got = rx.poll_recv(&mut Context::from_waker(&waker));
                let got = receiver.after(got, &waits);
                log.add("receive", got, woken!());
            }
            7 => {
                let Some(rx) = &mut rx else { continue };
                log.add("try to receive", rx.try_recv(), woken!());
            }
            8 => {
                let Some(tx) = txs.first().cloned() else { continue };
                txs.push(tx);
                log.add("clone", txs.len(), woken!());
            }
            9 => {
                txs.pop();
                log.add("drop a sender", txs.len(), woken!());
            }
            10 => {
                let Some(tx) = txs.first().cloned() else { continue };
                futures.add(async move { tx.closed().await });
                log.add("closed", (), woken!());
            }
            11 => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll", (at, got), woken!());
            }
            12 => {
                let (Some(rx), true) = (&mut rx, rng.usize(..3) == 0) else { continue };
                rx.close();
                log.add("close", rx.is_closed(), woken!());
            }
            _ if rng.usize(..4) == 0 => {
                rx = None;
                log.add("drop the receiver", (), woken!());
            }
            _ => {
                let receiver = rx.as_ref().map(|rx| (rx.len(), rx.is_empty(), rx.is_closed()));
                log.add("look", receiver, woken!());
            }
        }
    }
    log
});

#[test]
fn an_unbounded_channel_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
