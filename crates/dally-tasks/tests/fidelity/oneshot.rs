//! `oneshot`.

use super::*;

both!(run(seed) in |lib| {
    use lib::sync::oneshot;
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let mut log = Log::default();
    let (tx, rx) = oneshot::channel::<u32>();
    let (mut tx, mut rx) = (Some(tx), Some(rx));
    let flags: [Arc<Flag>; 2] = Default::default();
    // Whoever is gone need not be woken.
    macro_rules! woken {
        () => {{
            let woken = flags.each_ref().map(|flag| flag.0.swap(0, Relaxed) > 0);
            format!(" wakes {:?}", (rx.is_some() && woken[0], tx.is_some() && woken[1]))
        }};
    }
    let wakers = flags.each_ref().map(|flag| Waker::from(flag.clone()));
    for _ in 0..12 {
        match rng.usize(..12) {
            0 => {
                let Some(sender) = tx.take() else { continue };
                let sent = sender.send(rng.u32(..9));
                log.add("send", sent, woken!());
            }
            1 if rng.bool() => {
                tx = None;
                log.add("drop sender", (), woken!());
            }
            2 if rng.bool() => {
                rx = None;
                log.add("drop receiver", (), woken!());
            }
            3..6 => {
                let Some(receiver) = &mut rx else { continue };
                if receiver.is_terminated() { continue }
                let polled = Pin::new(receiver).poll(&mut Context::from_waker(&wakers[0]));
                log.add("receive", &polled, woken!());
                if polled.is_ready() && rng.bool() {
                    rx = None;
                }
            }
            6 => {
                let Some(receiver) = &mut rx else { continue };
                let tried = receiver.try_recv();
                log.add("try to receive", tried, woken!());
            }
            7 => {
                let Some(receiver) = &mut rx else { continue };
                receiver.close();
                log.add("close", (), woken!());
            }
            8 => {
                let Some(receiver) = &mut rx else { continue };
                log.add("look", (receiver.is_empty(), receiver.is_terminated()), woken!());
            }
            9 | 10 => {
                let Some(sender) = &mut tx else { continue };
                let polled = sender.poll_closed(&mut Context::from_waker(&wakers[1]));
                log.add("closed", polled, woken!());
            }
            _ => {
                let Some(sender) = &tx else { continue };
                log.add("is closed", sender.is_closed(), woken!());
            }
        }
    }
    log
});

#[test]
fn oneshot_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
