//! `JoinSet` and `AbortHandle`, with tasks that end, panic and are aborted one at a time.

use super::*;

both!(run(seed) in |lib| {
    use lib::sync::oneshot;
    use lib::task::{JoinSet, yield_now};
    let mut rng = fastrand::Rng::with_seed(seed);
    let rng = &mut rng;
    let mut set: JoinSet<u32> = JoinSet::new();
    let mut tasks = Vec::new();
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    let waits = Cell::new(false);
    let mut log = Log::default();
    let shown = |joined: Result<u32, lib::task::JoinError>| match joined {
        Ok(value) => format!("{value}"),
        Err(error) => format!("{} {}", error.is_cancelled(), error.is_panic()),
    };
    for turn in 0..25 {
        match rng.usize(..12) {
            0..3 => {
                let (tx, rx) = oneshot::channel::<u32>();
                let handle = set.spawn(async move {
                    match rx.await {
                        Ok(value) if value % 3 == 0 => std::panic::resume_unwind(Box::new(value)),
                        Ok(value) => value,
                        Err(_) => 1_000,
                    }
                });
                tasks.push((Some(tx), handle));
                log.add("spawn", set.len(), String::new());
            }
            3..6 => {
                if tasks.is_empty() { continue }
                let at = rng.usize(..tasks.len());
                let sent = tasks[at].0.take().map(|tx| tx.send(turn).is_ok());
                log.add("end", sent, String::new());
            }
            6 => {
                if tasks.is_empty() { continue }
                let at = rng.usize(..tasks.len());
                tasks[at].1.abort();
                log.add("abort", at, String::new());
            }
            7 | 8 => {
                let next = set.poll_join_next(&mut Context::from_waker(&waker));
                let next = flag.after(next, &waits);
                log.add("join", next.map(|next| next.map(shown)), String::new());
            }
            9 => log.add("try to join", set.try_join_next().map(shown), String::new()),
            10 if rng.usize(..6) == 0 => {
                set.abort_all();
                log.add("abort all", set.len(), String::new());
            }
            _ => {
                let finished: Vec<_> = tasks.iter().map(|task| task.1.is_finished()).collect();
                log.add("look", (set.len(), set.is_empty(), finished), String::new());
            }
        }
        for _ in 0..4 {
            yield_now().await;
        }
        let woken = flag.woken(&waits);
        log.add("then", woken, String::new());
    }
    set.abort_all();
    while set.join_next().await.is_some() {}
    log
});

#[test]
fn join_sets_do_what_tokios_do() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    compare(|seed| runtime.block_on(theirs::run(seed)), ours::run);
}
