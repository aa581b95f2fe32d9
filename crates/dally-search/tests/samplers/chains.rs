//! PCTCP keeps the promise of its paper: a bug of depth `d + 1` shows with a probability of at
//! least `1 / (w^2 n^d)`. So does taPCT, with the racing steps alone for `n`.

use dally_search::Strategy;
use dally_search::research::TaPct;
use dally_search::sampling::{Pct, Pctcp, Sampler};

use crate::programs::{Do, Scripts, any_of};

const SCHEDULES: u64 = 20_000;

/// How often `hits` holds of the order of steps.
fn hits(program: &Scripts, strategy: Box<dyn Strategy>, hits: impl Fn(&[usize]) -> bool) -> f64 {
    let counts = program.sample(strategy, SCHEDULES);
    counts.iter().filter(|(word, _)| hits(word)).map(|(_, &count)| count).sum::<u64>() as f64
}

/// The bound for width `w` and `n` steps, less four standard deviations.
fn promised(w: f64, n: f64, d: i32) -> f64 {
    let mean = SCHEDULES as f64 / (w * w * n.powi(d));
    mean - 4.0 * mean.sqrt()
}

/// Where the `n`-th step of a worker is, from 0.
fn place(word: &[usize], worker: usize, n: usize) -> usize {
    word.iter().enumerate().filter(|step| *step.1 == worker).nth(n).unwrap().0
}

/// A request goes round eight workers, one after another, while one worker sends to the last.
/// All steps of the round are one chain: the width is 2.
fn round() -> Scripts {
    let relay: Vec<[Do; 2]> = (0..8).map(|n| [Do::Receive, Do::Send(n + 1)]).collect();
    let mut scripts: Vec<&[Do]> = relay.iter().map(|script| &script[..]).collect();
    scripts.push(&[Do::Receive, Do::Receive]);
    scripts.push(&[Do::Send(0)]);
    scripts.push(&[Do::Send(8)]);
    Scripts::new(&scripts)
}

#[test]
fn the_bound_counts_chains_and_not_workers() {
    let program = round();
    let late = |word: &[usize]| place(word, 10, 0) > place(word, 7, 1);
    // The other sender comes last, behind a round through eight workers: depth 1.
    let found = hits(&program, Box::new(Pctcp::new(0).seeded(0)), late);
    assert!(found >= promised(2.0, 1.0, 0), "{found}");
    // PCT needs it to have the lowest of ten priorities.
    let found = hits(&program, Box::new(Pct::new(0).seeded(0)), late);
    assert!(found < SCHEDULES as f64 / 8.0, "{found}");
}

#[test]
fn a_step_in_the_middle_of_a_chain_needs_one_change() {
    let program = round();
    // The sender comes between two steps in the middle of the round: depth 2.
    let between = |word: &[usize]| {
        let sent = place(word, 10, 0);
        place(word, 4, 1) < sent && sent < place(word, 5, 0)
    };
    assert_eq!(hits(&program, Box::new(Pctcp::new(0).seeded(0)), between), 0.0);
    // 18 steps of the round, and the other message sent and received.
    let found = hits(&program, Box::new(Pctcp::new(1).seeded(0)), between);
    assert!(found >= promised(2.0, 20.0, 1), "{found}");
}

#[test]
fn only_racing_steps_count_for_tapct() {
    // Two workers with much to do elsewhere send twice to a third: a message of the second in
    // between those of the first.
    let quiet = [Do::Write(1); 20];
    let loud = [Do::Write(2); 20];
    let first = [&quiet[..], &[Do::Send(2), Do::Send(2)]].concat();
    let second = [&loud[..], &[Do::Send(2)]].concat();
    let program = Scripts::new(&[&first, &second, &[Do::Receive; 3]]);
    let between = |word: &[usize]| {
        let sent = place(word, 1, 20);
        place(word, 0, 20) < sent && sent < place(word, 0, 21)
    };
    // Three racing steps; the two workers and the messages to the third are five chains at most.
    let tapct = hits(&program, Box::new(TaPct::new(1).seeded(0)), between);
    assert!(tapct >= promised(2.0, 3.0, 1), "{tapct}");
    let pctcp = hits(&program, Box::new(Pctcp::new(1).seeded(0)), between);
    assert!(tapct > 5.0 * pctcp, "{tapct} and {pctcp}");
}

#[test]
fn many_short_lived_workers_are_few_chains() {
    // Each worker starts the next and is done.
    let spawns: Vec<[Do; 2]> = (1..12).map(|n| [Do::Write(0), Do::Spawn(n)]).collect();
    let mut scripts: Vec<&[Do]> = spawns.iter().map(|script| &script[..]).collect();
    scripts.push(&[Do::Write(0)]);
    scripts.push(&[Do::Write(0)]);
    let program = Scripts::new(&scripts);
    let late = |word: &[usize]| word.last() == Some(&12);
    // Of width 2 there are three chains at most, and PCT has 13 workers.
    let found = hits(&program, Box::new(Pctcp::new(0).seeded(0)), late);
    assert!((found - SCHEDULES as f64 / 3.0).abs() < 350.0, "{found}");
    let found = hits(&program, Box::new(Pct::new(0).seeded(0)), late);
    assert!((found - SCHEDULES as f64 / 13.0).abs() < 200.0, "{found}");
}

/// A message that is sent before the other worker begins is received after what that sends last.
/// Only a mailbox that is no queue allows for it. The width is 2, and it takes one change.
fn overtaken() -> (Scripts, impl Fn(&[usize]) -> bool) {
    let slow = [&[Do::Write(1); 8][..], &[Do::Send(2)]].concat();
    let program = Scripts::new(&[&[Do::Send(2)], &slow, &[Do::Any; 2]]);
    let hits = |word: &[usize]| {
        let received = |sender| place(word, any_of(sender), 0);
        place(word, 0, 0) < place(word, 1, 0) && received(0) > received(1)
    };
    (program, hits)
}

#[test]
fn in_a_mailbox_that_is_no_queue_a_message_can_be_made_to_wait() {
    let (program, late) = overtaken();
    // Ten sends and writes, and two messages received.
    let found = hits(&program, Box::new(Pctcp::new(1).seeded(0)), &late);
    assert!(found >= promised(2.0, 12.0, 1), "{found}");
    // Two sends and two receipts race.
    let found = hits(&program, Box::new(TaPct::new(1).seeded(0)), &late);
    assert!(found >= promised(2.0, 4.0, 1), "{found}");
}

#[test]
fn in_a_queue_a_message_waits_however_urgent_those_behind_it_are() {
    // The request of worker 0 is first in the queue of worker 3, since worker 1 waits for it to
    // be sent. It is to be received after all that worker 2 does, at the lowest priority; what
    // worker 1 sends behind it must not hurry it.
    let steps = [Do::Write(0); 8];
    let program = Scripts::new(&[
        &[Do::Send(3), Do::Send(1)],
        &[Do::Receive, Do::Send(3), Do::Send(3), Do::Send(3)],
        &steps,
        &[Do::Receive; 4],
    ]);
    // The fall of one step, the receipt of the request: depth 2.
    let late = |word: &[usize]| {
        let received = place(word, 3, 0);
        place(word, 1, 3) < received && place(word, 2, 7) < received
    };
    // Width 3: the request, what worker 1 does and sends, and worker 2. 18 steps.
    let found = hits(&program, Box::new(Pctcp::new(1).seeded(0)), late);
    assert!(found >= promised(3.0, 18.0, 1), "{found}");
}
