//! Jobs spread over threads.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Does the jobs of these numbers on so many threads, which take them in order, and hands what
/// came of each to `each`, on the calling thread and in the order in which they end. No more jobs
/// are begun once `stop` is set or `each` has failed.
pub(crate) fn spread<T: Send, E>(
    threads: usize,
    jobs: Range<usize>,
    stop: &AtomicBool,
    job: impl Fn(usize) -> T + Sync,
    mut each: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(jobs.start);
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, 256).min(jobs.len()) {
            let (tell, next, job) = (tell.clone(), &next, &job);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    // Nobody listens any more once `each` has failed.
                    if number >= jobs.end || tell.send((number, job(number))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(tell);
        told.into_iter().try_for_each(|(number, came)| each(number, came))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_job_is_done_once_on_any_number_of_threads() {
        for threads in [0, 1, 2, 7, 100] {
            let mut done = BTreeSet::new();
            let each = |number, squared| {
                assert_eq!(squared, number * number);
                assert!(done.insert(number));
                Ok::<(), ()>(())
            };
            spread(threads, 3..20, &AtomicBool::new(false), |number| number * number, each)
                .unwrap();
            assert_eq!(done.into_iter().collect::<Vec<_>>(), (3..20).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_failure_ends_it() {
        let each = |number, ()| if number == 5 { Err("five") } else { Ok(()) };
        assert_eq!(spread(2, 0..1_000_000, &AtomicBool::new(false), |_| (), each), Err("five"));
    }
}
