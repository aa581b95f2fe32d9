//! What programs ask of the platform below tokio: clocks, random numbers, and the order of hash maps.
#![cfg(target_os = "linux")]

mod driver;

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use dally_tasks::time::sleep;
use dally_tasks::{TaskProgram, note, spawn, time, yield_now};
use driver::explore;

/// The order of a map with the seeds of the standard library.
#[expect(clippy::disallowed_types, reason = "its order is what is tested")]
fn order() -> String {
    let map: std::collections::HashMap<u32, ()> = (0..20).map(|key| (key, ())).collect();
    map.keys().map(|key| format!("{key} ")).collect()
}

#[test]
fn hash_maps_have_the_same_order_in_every_execution_on_every_thread() {
    let program = TaskProgram::new("maps", || async {
        let other = spawn(async { order() });
        let own = order();
        note(format!("{own}/ {}", other.await.unwrap()));
    });
    let outcomes = || explore(&program).kinds().join("\n");
    let here = outcomes();
    // Maps that are made outside of executions take seeds too.
    let outside = [order(), order()];
    assert_ne!(outside[0], outside[1]);
    let there = thread::scope(|scope| scope.spawn(outcomes).join().unwrap());
    assert_eq!(here, outcomes());
    assert_eq!(here, there);
    let two: Vec<_> = here.split('/').map(str::trim).collect();
    assert_ne!(two[0], two[1].trim_end_matches(" done"), "maps of one execution differ");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "virtual in here")]
fn clocks_of_the_standard_library_show_virtual_time() {
    let program = TaskProgram::new("clocks", || async {
        let (instant, system) = (Instant::now(), SystemTime::now());
        let own = time::Instant::now();
        assert_eq!(system.duration_since(UNIX_EPOCH).unwrap().as_secs(), 1_767_225_600);
        sleep(Duration::from_secs(3_600)).await;
        assert_eq!(instant.elapsed(), Duration::from_secs(3_600));
        assert_eq!(system.elapsed().unwrap(), Duration::from_secs(3_600));
        // One clock in two shapes.
        assert_eq!(time::Instant::from_std(instant), own);
        assert_eq!(time::Instant::now().into_std(), Instant::now());
    });
    let before = Instant::now();
    let explored = explore(&program);
    assert_eq!(explored.kinds(), ["done"]);
    let elapsed = before.elapsed();
    assert!(elapsed > Duration::ZERO, "outside of executions the clock is the system's");
    assert!(SystemTime::now() > UNIX_EPOCH + Duration::from_secs(1_767_225_600));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "virtual in here")]
fn a_step_that_reads_a_clock_depends_on_the_timers() {
    // Whether the clock shows the second that passes is explored.
    let program = TaskProgram::new("reads", || async {
        let begin = Instant::now();
        let sleeper = spawn(sleep(Duration::from_secs(1)));
        yield_now().await;
        note(begin.elapsed().as_secs());
        sleeper.await.unwrap();
    });
    assert_eq!(explore(&program).kinds(), ["0 done", "1 done"]);
}

fn random() -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

#[test]
fn random_numbers_are_an_input_of_the_schedule() {
    let program = TaskProgram::new("random", || async {
        let first = random();
        let other = spawn(async { random() });
        note(format!("{first:x} {:x} {:x}", random(), other.await.unwrap()));
    });
    let outcomes = || explore(&program).kinds().join("\n");
    let first = outcomes();
    assert_eq!(first, outcomes(), "the input is given");
    let there = thread::scope(|scope| scope.spawn(outcomes).join().unwrap());
    assert_eq!(first, there);
    assert_ne!(random(), random(), "outside of executions they are the system's");
}

#[test]
fn random_numbers_differ_from_each_other_and_fill_whole_buffers() {
    let program = TaskProgram::new("bytes", || async {
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..100 {
            assert!(seen.insert(random()));
        }
        let mut bytes = [0_u8; 100];
        getrandom::fill(&mut bytes).unwrap();
        assert!(bytes.chunks(10).all(|chunk| chunk.iter().any(|&byte| byte != 0)));
    });
    assert_eq!(explore(&program).kinds(), ["done"]);
}
