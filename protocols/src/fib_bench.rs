//! Fib-Bench: two tasks compute Fibonacci's numbers from each other's.
//!
//! Two numbers start as 1. One task adds the second to the first so many times, the other the
//! first to the second, each time after a switch point and under a lock. Only if they take turns
//! all the way does one of the numbers become the largest that it can be: 144 after 5 rounds,
//! 46,368 after 11. With [`Bug::Alternation`] the program claims that neither gets that far, the
//! correct version that neither gets further.
//!
//! From SV-COMP (`fib_bench-2`, `fib_bench_longest-2`), as used in "Learning-based controlled
//! concurrency testing" (Mukherjee et al., OOPSLA 2020). Scheduling points are the switch point
//! and the lock: two steps a round.

use std::sync::Arc;

use dally::tasks::sync::Mutex;
use dally::tasks::{self, TaskProgram};

pub use crate::alternation::Bug;
use crate::alternation::protocol;
use crate::registry::Protocol;

/// `fib-bench` of the command line: 5 rounds.
pub const SHORT: Protocol = protocol(
    "fib-bench",
    "two tasks compute Fibonacci's numbers from each other's, 5 rounds each",
    |name| Arc::new(program(5, Bug::named(name))),
);

/// `fib-bench-longest` of the command line: 11 rounds.
pub const LONGEST: Protocol = protocol(
    "fib-bench-longest",
    "two tasks compute Fibonacci's numbers from each other's, 11 rounds each",
    |name| Arc::new(program(11, Bug::named(name))),
);

/// The two tasks with so many rounds, with this bug or without any.
pub fn program(rounds: u32, bug: Option<Bug>) -> TaskProgram {
    let name = if rounds == 5 { SHORT.name } else { LONGEST.name };
    TaskProgram::new(name, move || async move {
        let numbers = Arc::new(Mutex::new([1_u64, 1]));
        let adders = [0, 1].map(|mine| {
            let numbers = numbers.clone();
            tasks::spawn(async move {
                for _ in 0..rounds {
                    tasks::yield_now().await;
                    let mut numbers = numbers.lock().await;
                    numbers[mine] += numbers[1 - mine];
                    tasks::observe_shared("numbers", &*numbers);
                }
            })
        });
        for adder in adders {
            adder.await.expect("adders do not fail");
        }
        let numbers = *numbers.lock().await;
        let limit = largest(rounds) + u64::from(bug.is_none());
        assert!(numbers.iter().all(|&number| number < limit), "{numbers:?} reach {limit}");
    })
}

/// What one of the numbers is after so many rounds in turns.
fn largest(rounds: u32) -> u64 {
    let (mut ahead, mut behind) = (1, 1);
    for _ in 0..rounds {
        behind += ahead;
        ahead += behind;
    }
    ahead
}
