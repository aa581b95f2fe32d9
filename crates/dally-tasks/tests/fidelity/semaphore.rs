//! `Semaphore`.

use super::*;

both!(run(seed) in |lib| {
    use lib::sync::{OwnedSemaphorePermit, Semaphore};
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let semaphore = Arc::new(Semaphore::new(rng.usize(..4)));
    let mut futures = Futures::default();
    let mut permits: Vec<OwnedSemaphorePermit> = Vec::new();
    let mut log = Log::default();
    for _ in 0..30 {
        match rng.usize(..16) {
            0..3 => {
                let (semaphore, n) = (semaphore.clone(), rng.u32(..4));
                futures.add(semaphore.acquire_many_owned(n));
                log.add("begin", n, futures.woken());
            }
            3..8 => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll", (at, got.as_ref().map(|got| got.as_ref().map(|p| p.num_permits()).map_err(|e| e.to_string()))), futures.woken());
                permits.extend(got.into_iter().flatten());
            }
            8 => {
                let Some(at) = futures.pick(rng) else { continue };
                futures.drop_one(at);
                log.add("cancel", at, futures.woken());
            }
            9 | 10 => {
                if permits.is_empty() { continue }
                drop(permits.swap_remove(rng.usize(..permits.len())));
                log.add("release", permits.len(), futures.woken());
            }
            11 => {
                let tried = semaphore.clone().try_acquire_many_owned(rng.u32(..3));
                log.add("try", tried.as_ref().map(|p| p.num_permits()), futures.woken());
                permits.extend(tried);
            }
            12 => {
                let n = rng.usize(..4);
                semaphore.add_permits(n);
                log.add("add", n, futures.woken());
            }
            13 => {
                let gone = semaphore.forget_permits(rng.usize(..3));
                log.add("forget", gone, futures.woken());
            }
            14 => match rng.usize(..3) {
                0 if rng.usize(..4) == 0 => {
                    semaphore.close();
                    log.add("close", semaphore.is_closed(), futures.woken());
                }
                1 if !permits.is_empty() => {
                    permits.pop().unwrap().forget();
                    log.add("forget one", permits.len(), futures.woken());
                }
                2 if !permits.is_empty() => {
                    let part = permits[0].split(1);
                    log.add("split", part.as_ref().map(|p| p.num_permits()), futures.woken());
                    permits.extend(part);
                }
                _ => {}
            },
            _ => log.add("free", format!("{:?}", semaphore), futures.woken()),
        }
    }
    log
});

#[test]
fn semaphore_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
