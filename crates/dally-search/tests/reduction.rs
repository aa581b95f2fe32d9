//! The reduction executes every class of schedules once: systems written by hand.

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
}
