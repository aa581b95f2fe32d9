//! `Mutex`.

use super::*;

both!(run(seed) in |lib| {
    use lib::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let mutex = Arc::new(Mutex::new((0u32, 0u32)));
    let mut futures = Futures::default();
    let mut guards: Vec<OwnedMutexGuard<(u32, u32)>> = Vec::new();
    let mut parts: Vec<OwnedMappedMutexGuard<(u32, u32), u32>> = Vec::new();
    let mut log = Log::default();
    for _ in 0..30 {
        match rng.usize(..13) {
            0 | 1 => {
                futures.add(mutex.clone().lock_owned());
                log.add("begin", (), futures.woken());
            }
            2..6 => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll", (at, &got), futures.woken());
                guards.extend(got);
            }
            6 => {
                let Some(at) = futures.pick(rng) else { continue };
                futures.drop_one(at);
                log.add("cancel", at, futures.woken());
            }
            7 | 8 => {
                if let Some(mut guard) = guards.pop() {
                    guard.0 += 1;
                }
                parts.pop();
                log.add("unlock", (), futures.woken());
            }
            9 => {
                let tried = mutex.clone().try_lock_owned();
                log.add("try", tried.as_ref().map_err(|error| error.to_string()), futures.woken());
                guards.extend(tried);
            }
            10 => {
                let tried = mutex.try_lock().map(|mut guard| { guard.1 += 1; guard.1 });
                log.add("try and unlock", tried.is_ok(), futures.woken());
            }
            11 => {
                let Some(guard) = guards.pop() else { continue };
                let mut part = OwnedMutexGuard::map(guard, |pair| &mut pair.1);
                *part += 1;
                log.add("map", &part, futures.woken());
                parts.push(part);
            }
            _ => log.add("show", &mutex, futures.woken()),
        }
    }
    log
});

#[test]
fn mutex_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
