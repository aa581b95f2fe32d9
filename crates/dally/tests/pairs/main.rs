//! Concolic search against enumeration: random machines and tasks that branch on inputs execute every
//! pair of a class of orders and a path once, and nothing else.

mod oracle;
mod scripts;

use fastrand::Rng;
use oracle::{compare, programs};
use scripts::Script;

#[test]
fn machines_execute_every_pair_of_class_and_path_once() {
    let mut rng = Rng::with_seed(1);
    let (mut compared, mut pairs) = (0, 0);
    for number in 0..programs(250) {
        let script = Script::random(&mut rng, 2..=3);
        if let Some(found) = compare(scripts::machines(&script), 3_000, &|| {
            format!("machines {number}: {script:#?}")
        }) {
            compared += 1;
            pairs += found;
        }
    }
    assert!(compared > 150 && pairs > 600, "{compared} programs, {pairs} pairs");
}

#[test]
fn tasks_execute_every_pair_of_class_and_path_once() {
    let mut rng = Rng::with_seed(2);
    let (mut compared, mut pairs) = (0, 0);
    for number in 0..programs(150) {
        let script = Script::random(&mut rng, 2..=2);
        if let Some(found) =
            compare(scripts::tasks(&script), 3_000, &|| format!("tasks {number}: {script:#?}"))
        {
            compared += 1;
            pairs += found;
        }
    }
    assert!(compared > 50 && pairs > 200, "{compared} programs, {pairs} pairs");
}
