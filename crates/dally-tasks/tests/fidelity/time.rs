//! `sleep`, `timeout` and `interval`, on a clock that is stopped.

use super::*;

both!(run(seed) in |lib| {
    use lib::time::{self, Duration, Instant, MissedTickBehavior};
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let start = Instant::now();
    let ms = Duration::from_millis;
    let mut sleeps: Vec<(Pin<Box<time::Sleep>>, Arc<Flag>)> = Vec::new();
    let mut futures = Futures::default();
    let mut interval = time::interval_at(start + ms(rng.u64(1..20)), ms(rng.u64(1..15)));
    interval.set_missed_tick_behavior(match rng.usize(..3) {
        0 => MissedTickBehavior::Burst,
        1 => MissedTickBehavior::Delay,
        _ => MissedTickBehavior::Skip,
    });
    let ticks = Arc::new(Flag::default());
    let mut log = Log::default();
    macro_rules! woken {
        () => {{
            let of = |(at, flag): (usize, &Arc<Flag>)| (flag.0.swap(0, Relaxed) > 0).then(|| format!(" rings {at}"));
            let sleeps: String = sleeps.iter().map(|sleep| &sleep.1).enumerate().filter_map(of).collect();
            let ticks = if ticks.0.swap(0, Relaxed) > 0 { " ticks" } else { "" };
            futures.woken() + &sleeps + ticks
        }};
    }
    for turn in 0..30 {
        match rng.usize(..15) {
            0..2 => {
                sleeps.push((Box::pin(time::sleep(ms(rng.u64(1..30)))), Arc::default()));
                log.add("sleep", (), woken!());
            }
            2..5 => {
                if sleeps.is_empty() { continue }
                let at = rng.usize(..sleeps.len());
                let waker = Waker::from(sleeps[at].1.clone());
                let over = sleeps[at].0.as_mut().poll(&mut Context::from_waker(&waker));
                log.add("poll", (at, over, sleeps[at].0.is_elapsed()), woken!());
                if over.is_ready() {
                    drop(sleeps.remove(at));
                }
            }
            5 => {
                if sleeps.is_empty() { continue }
                let at = rng.usize(..sleeps.len());
                let deadline = Instant::now() + ms(rng.u64(1..20));
                sleeps[at].0.as_mut().reset(deadline);
                log.add("reset", (at, sleeps[at].0.deadline() - start), woken!());
            }
            6 => {
                if sleeps.is_empty() { continue }
                drop(sleeps.remove(rng.usize(..sleeps.len())));
                log.add("drop", (), woken!());
            }
            7..10 => {
                time::advance(ms(rng.u64(1..12))).await;
                log.add("advance", start.elapsed(), woken!());
            }
            10 | 11 => {
                let waker = Waker::from(ticks.clone());
                let tick = interval.poll_tick(&mut Context::from_waker(&waker));
                log.add("tick", tick.map(|due| due - start), woken!());
            }
            12 => {
                let after = ms(rng.u64(1..12));
                if rng.bool() { interval.reset() } else { interval.reset_after(after) }
                log.add("reset ticks", (interval.period(), interval.missed_tick_behavior()), woken!());
            }
            13 => {
                let sleep = time::sleep(ms(rng.u64(1..12)));
                let given = ms(rng.u64(1..12));
                futures.add(async move { time::timeout(given, sleep).await.map(|()| turn).map_err(|e| e.to_string()) });
                log.add("timeout", (), woken!());
            }
            _ => {
                let Some(at) = futures.pick(rng) else { continue };
                let got = futures.poll(at);
                log.add("poll a timeout", (at, got), woken!());
            }
        }
    }
    log
});

async fn ours_paused(seed: u64) -> Log {
    dally_tasks::time::pause();
    ours::run(seed).await
}

#[test]
fn time_does_what_tokios_does() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().unwrap()
    };
    compare(|seed| runtime().block_on(theirs::run(seed)), ours_paused);
}
