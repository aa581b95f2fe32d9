//! Takes random inputs through the front end: `fuzz COUNT [FIRST]`. Stops at the first input that
//! makes it panic or point outside of the text, and names an input that takes longer than ten
//! seconds.

#[path = "../tests/random/mod.rs"]
mod random;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use random::Outcome;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let (Some(Ok(count)), first) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: fuzz COUNT [FIRST]");
        return ExitCode::from(2);
    };
    let Ok(first) = first.unwrap_or(Ok(0)) else {
        eprintln!("usage: fuzz COUNT [FIRST]");
        return ExitCode::from(2);
    };
    let current = AtomicU64::new(first);
    let (done, over) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let over = over;
            let mut last = None;
            while over.recv_timeout(Duration::from_secs(10)) == Err(RecvTimeoutError::Timeout) {
                let now = current.load(Relaxed);
                if last == Some(now) {
                    println!("input {now} hangs:\n{}", random::input(now));
                    std::process::exit(1);
                }
                last = Some(now);
            }
        });
        let done = done;
        let (mut accepted, mut tests) = (0, 0);
        for number in first..first.saturating_add(count) {
            current.store(number, Relaxed);
            let text = random::input(number);
            match random::check(&text, number.is_multiple_of(16)) {
                Ok(Outcome::Accepted(with)) => {
                    accepted += 1;
                    tests += with;
                }
                Ok(Outcome::Rejected) => {}
                Err(why) => {
                    println!("input {number}: {why}\n{text}");
                    drop(done);
                    return ExitCode::from(1);
                }
            }
        }
        drop(done);
        println!("{count} inputs: {accepted} accepted with {tests} tests, the others rejected");
        ExitCode::SUCCESS
    })
}
