//! The reduction executes every class of schedules once: systems written by hand.

#[expect(dead_code, reason = "tests of systems that can be copied use the rest")]
mod classes;
#[path = "samplers/programs.rs"]
#[expect(dead_code, reason = "tests of samplers use the rest")]
mod programs;

use classes::{Tally, compare, programs as how_many, seen};
use fastrand::Rng;
use programs::{Do, Scripts};

fn random(seed: u64) -> Scripts {
    let mut rng = Rng::with_seed(seed);
    let workers = rng.usize(2..=4);
    let deed = |rng: &mut Rng| match rng.u8(..9) {
        0 => Do::Local,
        1 | 2 => Do::Write(rng.u32(..2)),
        3 | 4 => Do::Read(rng.u32(..2)),
        5 | 6 => Do::Send(rng.usize(..workers)),
        7 => Do::Receive,
        _ => Do::Any,
    };
    let longest = if workers == 2 { 5 } else { 3 };
    let mut scripts: Vec<Vec<Do>> = (0..workers)
        .map(|_| (0..rng.usize(1..=longest)).map(|_| deed(&mut rng)).collect())
        .collect();
    if rng.bool() {
        let at = rng.usize(..=scripts[0].len());
        scripts[0].insert(at, Do::Spawn(workers - 1));
    }
    let scripts: Vec<&[Do]> = scripts.iter().map(Vec::as_slice).collect();
    Scripts::new(&scripts)
}

#[test]
fn scripts_are_executed_once_for_each_class() {
    let mut tally = Tally::default();
    for seed in 0..how_many(1_000) {
        let program = random(seed);
        let what = || {
            let scripts: Vec<&[Do]> = (0..program.len()).map(|n| program.script(n)).collect();
            format!("{seed}: {scripts:?}")
        };
        compare(program.clone(), seen, 3_000, &mut tally, &what);
    }
    println!("{tally:?}");
    assert!(tally.programs > 900 && tally.classes > 2_000, "{tally:?}");
}

/// The classes of programs of scripts.
fn count(scripts: &[&[Do]]) -> u64 {
    let (report, executed) = classes::reduce(std::sync::Arc::new(Scripts::new(scripts)));
    assert_eq!((report.schedules, report.redundant), (executed.len() as u64, 0));
    report.schedules
}

#[test]
fn litmus_tests_have_their_known_numbers_of_classes() {
    use Do::{Read, Receive, Send, Write};
    // Three senders and one receipt: which message is first. The order of the others in the queue
    // is one of it too.
    assert_eq!(count(&[&[Receive], &[Send(0)]]), 1);
    assert_eq!(count(&[&[Receive; 2], &[Send(0)], &[Send(0)]]), 2);
    assert_eq!(count(&[&[Receive; 6], &[Send(0); 2], &[Send(0); 2], &[Send(0); 2]]), 90);
    // Each has its own.
    assert_eq!(count(&[&[Receive], &[Send(0)], &[Receive], &[Send(2)]]), 1);
    assert_eq!(count(&[&[Write(0)], &[Write(0)], &[Write(0)]]), 6);
    assert_eq!(count(&[&[Write(0)], &[Read(0)], &[Read(0)]]), 4);
    assert_eq!(count(&[&[Read(0), Write(1)], &[Read(1), Write(0)]]), 3);
    assert_eq!(count(&[&[Read(0), Write(0)], &[Read(0), Write(0)]]), 4);
}
