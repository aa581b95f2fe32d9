//! `Barrier`.

use super::*;

both!(run(seed) in |lib| {
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let barrier = Arc::new(lib::sync::Barrier::new(rng.usize(..4)));
    let mut futures = Futures::default();
    let mut log = Log::default();
    for _ in 0..25 {
        match rng.usize(..8) {
            0..3 => {
                let barrier = barrier.clone();
                futures.add(async move { barrier.wait().await.is_leader() });
                log.add("begin", (), futures.woken());
            }
            3..7 => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll", (at, got), futures.woken());
            }
            _ => {
                let Some(at) = futures.pick(rng) else { continue };
                futures.drop_one(at);
                log.add("cancel", at, futures.woken());
            }
        }
    }
    log
});

#[test]
fn barrier_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
