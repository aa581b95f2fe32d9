//! How the tests of the protocols run them.

use std::sync::Arc;

use dally::machines::MachineProgram;
use dally::search::{self, Options, Report, StrategyKind};
use dally_protocols::Protocol;

/// One run that stops at the first bug.
pub fn run(
    protocol: &Protocol,
    program: MachineProgram,
    strategy: &str,
    schedules: u64,
    seed: u64,
) -> Report {
    let strategy: StrategyKind = strategy.parse().unwrap();
    let options = Options {
        strategy: strategy.build(seed, protocol.max_steps),
        seed,
        schedules,
        max_steps: protocol.max_steps,
        shrink: false,
        ..Options::default()
    };
    search::run(Arc::new(program), options, Arc::new(()))
}
