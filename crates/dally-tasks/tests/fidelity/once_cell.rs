//! `OnceCell`.

use super::*;

both!(run(seed) in |lib| {
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let cell = Arc::new(lib::sync::OnceCell::<u32>::new());
    let mut futures = Futures::default();
    let mut gates = Vec::new();
    let mut log = Log::default();
    for _ in 0..30 {
        match rng.usize(..13) {
            0..3 => {
                let (cell, gate, value) = (cell.clone(), Gate::default(), rng.u32(..9));
                let fails = rng.bool();
                gates.push(gate.clone());
                futures.add(async move {
                    if fails {
                        let made = || async move {
                            gate.await;
                            if value < 5 { Err(value) } else { Ok(value) }
                        };
                        cell.get_or_try_init(made).await.copied()
                    } else {
                        let made = || async move {
                            gate.await;
                            value
                        };
                        Ok(*cell.get_or_init(made).await)
                    }
                });
                log.add("begin", value, futures.woken());
            }
            3..8 => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll", (at, got), futures.woken());
            }
            8 => {
                let Some(at) = futures.pick(rng) else { continue };
                futures.drop_one(at);
                log.add("cancel", at, futures.woken());
            }
            9 | 10 => {
                if gates.is_empty() { continue }
                let at = rng.usize(..gates.len());
                gates[at].open();
                log.add("open", at, futures.woken());
            }
            11 => {
                if rng.usize(..4) > 0 { continue }
                let set = cell.set(7);
                log.add("set", set.map_err(|error| error.to_string()), futures.woken());
            }
            _ => log.add("get", (cell.get(), cell.initialized(), &cell), futures.woken()),
        }
    }
    log
});

#[test]
fn once_cell_does_what_tokios_does() {
    compare(|seed| at_once(theirs::run(seed)), ours::run);
}
