//! `Notify`.

use super::*;

both!(run(seed) in |lib| {
    use lib::sync::Notify;
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let notify = Arc::new(Notify::new());
    let mut futures = Futures::default();
    let mut log = Log::default();
    for _ in 0..30 {
        match rng.usize(..14) {
            0..3 => {
                let mut notified = Box::pin(notify.clone().notified_owned());
                let enabled = rng.usize(..3) == 0 && notified.as_mut().enable();
                futures.add(notified);
                log.add("begin", enabled, futures.woken());
            }
            3..8 => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll", (at, got), futures.woken());
            }
            8 | 9 => {
                let Some(at) = futures.pick(rng) else { continue };
                futures.drop_one(at);
                log.add("cancel", at, futures.woken());
            }
            10 | 11 => {
                notify.notify_one();
                log.add("one", (), futures.woken());
            }
            12 => {
                notify.notify_last();
                log.add("last", (), futures.woken());
            }
            _ => {
                notify.notify_waiters();
                log.add("all", (), futures.woken());
            }
        }
    }
    log
});

#[test]
fn notify_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
