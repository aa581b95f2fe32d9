//! URW is uniform over all interleavings, SURW over those of the steps on one shared thing.

use std::collections::BTreeMap;

use dally_search::research::Urw;
use dally_search::sampling::{Random, Sampler, Surw};

use crate::programs::{Do, Scripts};

/// Pearson's statistic, less its mean, in its standard deviations, under the hypothesis that all
/// `cells` are equally likely.
fn deviation(counts: &BTreeMap<Vec<usize>, u64>, cells: usize) -> f64 {
    let expected = counts.values().sum::<u64>() as f64 / cells as f64;
    let missing = (cells - counts.len()) as f64 * expected;
    let statistic: f64 =
        counts.values().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    let freedom = cells as f64 - 1.0;
    (statistic + missing - freedom) / (2.0 * freedom).sqrt()
}

fn straight() -> Vec<Scripts> {
    use Do::{Local, Read, Spawn, Write};
    vec![
        Scripts::new(&[&[Local; 1], &[Local; 6]]),
        Scripts::new(&[&[Write(0); 2], &[Read(0); 3], &[Local; 2]]),
        // A worker that starts two others, one of which starts a fourth.
        Scripts::new(&[
            &[Write(0), Spawn(1), Local, Spawn(2), Local],
            &[Spawn(3), Write(0), Write(0)],
            &[Local],
            &[Write(0)],
        ]),
        Scripts::new(&[&[Spawn(2), Local], &[Local; 2], &[Local; 3]]),
    ]
}

#[test]
fn all_interleavings_are_equally_likely_under_urw() {
    for program in straight() {
        let all = program.all();
        let counts = program.sample(Box::new(Urw::default().seeded(0)), 40 * all.len() as u64);
        let deviation = deviation(&counts, all.len());
        assert!(deviation < 5.0, "{program:?}: {deviation} over {} interleavings", all.len());
    }
}

#[test]
fn they_are_not_under_a_uniform_choice_of_workers() {
    for program in straight() {
        let all = program.all();
        let counts = program.sample(Box::new(Random.seeded(0)), 40 * all.len() as u64);
        assert!(deviation(&counts, all.len()) > 10.0, "{program:?}");
    }
}

#[test]
fn the_interleavings_of_one_object_are_equally_likely_under_surw() {
    use Do::{Local, Spawn, Write};
    let programs = [
        // Only object 0 is shared. The first worker has far more to do elsewhere.
        Scripts::new(&[
            &[Write(1), Local, Write(1), Write(0), Local, Write(1), Write(0), Local, Local],
            &[Write(0), Write(0), Write(0)],
        ]),
        Scripts::new(&[
            &[Write(0), Spawn(1), Local, Local, Write(0), Spawn(2)],
            &[Local, Write(0), Write(0)],
            &[Write(0)],
        ]),
    ];
    for program in programs {
        let on_object = |word: &[usize]| -> Vec<usize> {
            let mut at = [0; 3];
            let steps = word.iter().filter(|&&worker| {
                at[worker] += 1;
                program.script(worker)[at[worker] - 1] == Write(0)
            });
            steps.copied().collect()
        };
        let mut classes: Vec<Vec<usize>> =
            program.all().iter().map(|word| on_object(word)).collect();
        classes.sort();
        classes.dedup();
        let mut counts: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
        for (word, count) in
            program.sample(Box::new(Surw::default().seeded(0)), 400 * classes.len() as u64)
        {
            *counts.entry(on_object(&word)).or_default() += count;
        }
        let deviation = deviation(&counts, classes.len());
        assert!(deviation < 5.0, "{program:?}: {deviation} over {classes:?}: {counts:?}");
    }
}

#[test]
fn surw_is_about_the_inbox_that_several_send_to() {
    use Do::{Local, Receive, Send};
    // One sender has much to do before it sends, and the other after.
    let program = Scripts::new(&[
        &[Local, Local, Local, Local, Local, Local, Send(2)],
        &[Send(2), Local, Local, Local, Local, Local],
        &[Receive, Receive],
    ]);
    let late = |word: &[usize]| {
        let first = word.iter().position(|&worker| worker == 1);
        let second = word.iter().enumerate().filter(|step| *step.1 == 0).nth(6);
        first > second.map(|step| step.0)
    };
    let share = |counts: BTreeMap<Vec<usize>, u64>| {
        let lates = counts.iter().filter(|(word, _)| late(word)).map(|(_, count)| count);
        lates.sum::<u64>() as f64 / 4_000.0
    };
    let surw = share(program.sample(Box::new(Surw::default().seeded(0)), 4_000));
    let random = share(program.sample(Box::new(Random.seeded(0)), 4_000));
    // Binomial(4,000, 1/2) has a standard deviation of 32, which is 0.008.
    assert!((surw - 0.5).abs() < 0.04, "{surw}");
    assert!(random < 0.02, "{random}");
}

#[test]
fn the_orders_of_sends_to_one_inbox_are_equally_likely_under_surw_whoever_receives_them() {
    use Do::{Local, Receive, Send};
    // Only the inbox of worker 2 has several senders; in the second program it is one itself.
    let programs = [
        Scripts::new(&[
            &[Send(2), Local, Send(2), Send(2)],
            &[Local, Local, Send(2), Send(2)],
            &[Receive; 5],
        ]),
        Scripts::new(&[
            &[Send(2), Send(2)],
            &[Local],
            &[Send(2), Local, Send(2), Receive, Receive, Receive, Receive],
        ]),
    ];
    for program in programs {
        let sends = |word: &[usize]| -> Vec<usize> {
            let mut at = [0; 3];
            let steps = word.iter().filter(|&&worker| {
                at[worker] += 1;
                program.script(worker)[at[worker] - 1] == Send(2)
            });
            steps.copied().collect()
        };
        let mut classes: Vec<Vec<usize>> = program.all().iter().map(|word| sends(word)).collect();
        classes.sort();
        classes.dedup();
        let mut counts: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
        for (word, count) in
            program.sample(Box::new(Surw::default().seeded(0)), 400 * classes.len() as u64)
        {
            *counts.entry(sends(&word)).or_default() += count;
        }
        let deviation = deviation(&counts, classes.len());
        assert!(deviation < 5.0, "{deviation} over {classes:?}: {counts:?}");
    }
}
