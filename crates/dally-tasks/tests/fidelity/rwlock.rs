//! `RwLock`.

use super::*;

/// A guard of either kind.
enum Either<R, W> {
    Read(R),
    Write(W),
}

both!(run(seed) in |lib| {
    use lib::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let lock = Arc::new(RwLock::with_max_readers(0u32, 3));
    let mut futures: Futures<Either<OwnedRwLockReadGuard<u32>, OwnedRwLockWriteGuard<u32>>> = Futures::default();
    let mut reads = Vec::new();
    let mut writes = Vec::new();
    let mut log = Log::default();
    for _ in 0..30 {
        match rng.usize(..15) {
            0 | 1 => {
                let lock = lock.clone();
                futures.add(async move { Either::Read(lock.read_owned().await) });
                log.add("read", (), futures.woken());
            }
            2 => {
                let lock = lock.clone();
                futures.add(async move { Either::Write(lock.write_owned().await) });
                log.add("write", (), futures.woken());
            }
            3..8 => {
                let Some(at) = futures.pick(rng) else { continue };
                let shown = match futures.poll(at) {
                    Some(Either::Read(guard)) => {
                        reads.push(guard);
                        "reads"
                    }
                    Some(Either::Write(mut guard)) => {
                        *guard += 1;
                        writes.push(guard);
                        "writes"
                    }
                    None => "waits",
                };
                log.add("poll", (at, shown), futures.woken());
            }
            8 => {
                let Some(at) = futures.pick(rng) else { continue };
                futures.drop_one(at);
                log.add("cancel", at, futures.woken());
            }
            9 | 10 => {
                let gone = if rng.bool() { reads.pop().is_some() } else { writes.pop().is_some() };
                log.add("unlock", gone, futures.woken());
            }
            11 => {
                let tried = lock.clone().try_read_owned();
                log.add("try read", tried.as_ref().map_err(|e| e.to_string()), futures.woken());
                reads.extend(tried);
            }
            12 => {
                let tried = lock.clone().try_write_owned();
                log.add("try write", tried.as_ref().map_err(|e| e.to_string()), futures.woken());
                writes.extend(tried);
            }
            13 => {
                let Some(guard) = writes.pop() else { continue };
                reads.push(guard.downgrade());
                log.add("downgrade", reads.len(), futures.woken());
            }
            _ => log.add("show", &lock, futures.woken()),
        }
    }
    log
});

#[test]
fn rwlock_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
