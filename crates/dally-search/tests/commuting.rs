//! Steps of systems written by hand whose footprints commute can be exchanged.

#[path = "samplers/programs.rs"]
#[expect(dead_code, reason = "tests of samplers use the rest")]
mod programs;
#[expect(dead_code, reason = "tests of captured systems use the rest")]
mod swaps;

use fastrand::Rng;
use programs::{Do, Scripts};
use swaps::{How, Tally, seen, try_swaps};

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
    let mut scripts: Vec<Vec<Do>> =
        (0..workers).map(|_| (0..rng.usize(1..=6)).map(|_| deed(&mut rng)).collect()).collect();
    // The last of them may be spawned by the first.
    if rng.bool() {
        let at = rng.usize(..=scripts[0].len());
        scripts[0].insert(at, Do::Spawn(workers - 1));
    }
    let scripts: Vec<&[Do]> = scripts.iter().map(Vec::as_slice).collect();
    Scripts::new(&scripts)
}

#[test]
fn exchanging_steps_of_scripts_that_commute_makes_no_difference() {
    let how = How { state: seen, happens_before: true };
    let mut tally = Tally::default();
    for seed in 0..4_000 {
        let program = random(seed);
        for schedule in 0..2 {
            tally += try_swaps(&program, &how, seed << 8 | schedule, &|| format!("{program:?}"));
        }
    }
    assert!(tally.swaps > 10_000, "{tally:?}");
    assert_eq!(tally.foreseen, tally.steps, "scripts say all");
}
