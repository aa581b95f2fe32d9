//! `SetOnce`.

use super::*;

both!(run(seed) in |lib| {
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let cell = Arc::new(lib::sync::SetOnce::new_with((rng.usize(..8) == 0).then_some(9)));
    let mut futures = Futures::default();
    let mut log = Log::default();
    for _ in 0..20 {
        match rng.usize(..10) {
            0..3 => {
                let cell = cell.clone();
                futures.add(async move { *cell.wait().await });
                log.add("begin", (), futures.woken());
            }
            3..6 => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll", (at, got), futures.woken());
            }
            6 => {
                let Some(at) = futures.pick(rng) else { continue };
                futures.drop_one(at);
                log.add("cancel", at, futures.woken());
            }
            7 => {
                let set = cell.set(rng.u32(..9));
                log.add("set", set.map_err(|error| (error.to_string(), error.0)), futures.woken());
            }
            8 => log.add("get", (cell.get(), cell.initialized()), futures.woken()),
            _ => log.add("show", &cell, futures.woken()),
        }
    }
    log
});

#[test]
fn set_once_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
