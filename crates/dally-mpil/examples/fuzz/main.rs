//! Compiles random texts, and runs those that are programs under a few schedules: nothing panics and
//! nothing hangs. `cargo run --release -p dally-mpil --example fuzz -- 1000000`

mod text;

use std::sync::Arc;

use dally_mpil::MpilProgram;
use dally_search::Options;
use fastrand::Rng;

fn main() {
    let texts: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let mut rng = Rng::with_seed(1);
    let mut programs = 0;
    for _ in 0..texts {
        let text = text::text(&mut rng);
        match MpilProgram::compile("fuzz.mpil", &text, &[]) {
            Err(wrong) => drop(wrong.render(false)),
            Ok(program) => {
                programs += 1;
                // To run one takes far longer than to compile it.
                if programs % 20 == 0 {
                    let options = Options {
                        schedules: 3,
                        max_steps: 50,
                        step_items: 1_000,
                        shrink: false,
                        ..Options::default()
                    };
                    dally_search::run(Arc::new(program), options, Arc::new(()));
                }
            }
        }
    }
    println!("{texts} texts, {programs} of them programs");
}
