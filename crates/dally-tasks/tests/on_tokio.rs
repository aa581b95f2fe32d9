//! What tokio does with a program is among what Dally explores.

mod programs;

use programs::{Generated, Op, Outcomes, all_outcomes, generate, how_many};

/// Compares one program; whether it is small enough for that.
fn compare(generated: &Generated, what: &str) -> bool {
    let outcomes = Outcomes::default();
    let Some(all) = all_outcomes(generated.program(&outcomes), &outcomes, 5_000) else {
        return false;
    };
    let there = generated.outcomes_on_tokio();
    let missed: Vec<_> = there.difference(&all).collect();
    assert!(missed.is_empty(), "{what}: only tokio shows {missed:?}");
    true
}

#[test]
fn what_tokio_does_is_among_what_is_explored() {
    let count = how_many(400) as usize;
    let programs = (0..).map(|seed| (seed, generate(seed, 3)));
    let programs = programs.filter(|(_, generated)| generated.is_tokios());
    let compared = programs
        .take(count)
        .filter(|(seed, generated)| compare(generated, &format!("seed {seed}: {generated:?}")))
        .count();
    println!("{compared} programs compared with tokio");
    assert!(compared > count / 2, "only {compared} programs are small enough");
}

#[test]
fn a_task_that_waits_after_all_were_notified_finds_the_permit() {
    // The sequence that the generator seldom makes.
    let notified = vec![Op::NotifyOne, Op::EnrolThenWait, Op::Notified];
    let generated = Generated { tasks: vec![notified, vec![Op::NotifyAll]], joined: 2 };
    assert!(compare(&generated, "permit"));
}
