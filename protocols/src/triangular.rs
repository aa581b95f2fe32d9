//! Triangular: two tasks climb over each other, and a third looks how far they are.
//!
//! Two numbers start as 3 and 6. One task sets the first to one more than the second so many times,
//! the other the second to one more than the first, each time after a switch point and under a
//! lock. Meanwhile the main task reads both, each under the lock. Only if the two take turns all
//! the way, the first of them first, and main reads after the last of them, does it see a number of
//! 2n + 6. With [`Bug::Alternation`] the program claims that it never does, the correct version
//! that it sees nothing larger.
//!
//! From SV-COMP (`triangular-2`, `triangular-longest-2`), as used in "Learning-based controlled
//! concurrency testing" (Mukherjee et al., OOPSLA 2020). Scheduling points are the switch point
//! and the lock: two steps a round.

use std::sync::Arc;

use dally::tasks::sync::Mutex;
use dally::tasks::{self, TaskProgram};

pub use crate::alternation::Bug;
use crate::alternation::protocol;
use crate::registry::Protocol;

/// `triangular` of the command line: 5 rounds.
pub const SHORT: Protocol = protocol(
    "triangular",
    "two tasks climb over each other while a third looks on, 5 rounds each",
    |name| Arc::new(program(5, Bug::named(name))),
);

/// `triangular-longest` of the command line: 20 rounds.
pub const LONGEST: Protocol = protocol(
    "triangular-longest",
    "two tasks climb over each other while a third looks on, 20 rounds each",
    |name| Arc::new(program(20, Bug::named(name))),
);

/// The two tasks with so many rounds, with this bug or without any.
pub fn program(rounds: u64, bug: Option<Bug>) -> TaskProgram {
    let name = if rounds == 5 { SHORT.name } else { LONGEST.name };
    TaskProgram::new(name, move || async move {
        let numbers = Arc::new(Mutex::new([3, 6]));
        let climbers = [0, 1].map(|mine| {
            let numbers = numbers.clone();
            tasks::spawn(async move {
                for _ in 0..rounds {
                    tasks::yield_now().await;
                    let mut numbers = numbers.lock().await;
                    numbers[mine] = numbers[1 - mine] + 1;
                    tasks::observe_shared("numbers", &*numbers);
                }
            })
        });
        let first = numbers.lock().await[0];
        let seen = [first, numbers.lock().await[1]];
        let limit = 2 * rounds + 6 + u64::from(bug.is_none());
        assert!(seen.iter().all(|&number| number < limit), "{seen:?} reach {limit}");
        for climber in climbers {
            climber.await.expect("climbers do not fail");
        }
    })
}
