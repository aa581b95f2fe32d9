//! Stratified sampling against brute force: Theorem 3 of Desai, Qadeer and Seshia, "Systematic Testing
//! of Asynchronous Reactive Systems", says that an execution with `d` delays is sampled with a
//! probability of at least `1/L^d`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dally_search::strata::{ExplorerKind, Plan, SearchKind, explore};
use dally_search::{Ended, Options};

use crate::how_many::programs;
use crate::straight::{Execution, Rerun, Straight, delays_of_all};

/// How often each execution is the last one of a sample with so many delays.
fn sampled(
    program: &Straight,
    kind: ExplorerKind,
    delays: u32,
    samples: u64,
    captured: bool,
) -> BTreeMap<Execution, u64> {
    let plan = Plan {
        search: SearchKind::Ss,
        delays: Some(delays),
        samples: (samples - 1, 1),
        ..Plan::default()
    };
    let options = Options { schedules: u64::MAX, ..Options::default() };
    let (straight, explorer) = (program.clone(), kind.build(0));
    let report = if captured {
        explore(Arc::new(straight), explorer, plan, options, Arc::new(()))
    } else {
        explore(Arc::new(Rerun(straight)), explorer, plan, options, Arc::new(()))
    };
    assert_eq!(report.ended, Ended::Bound);
    let done = report.states.unwrap().samples.unwrap();
    assert_eq!((done.samples, done.delays), (samples * u64::from(delays), delays));
    assert!(done.longest <= program.longest() as usize);
    assert!(done.longest == program.longest() as usize || program.prolongs);
    // Each sample begins with the execution without delays, and no later one is equal to it.
    let ended = std::mem::take(&mut *program.ended.lock().unwrap());
    let own = ended[0].clone();
    let mut lasts = BTreeMap::new();
    let groups = ended.split(|execution| *execution == own).skip(1);
    for group in groups.skip((samples * u64::from(delays - 1)) as usize) {
        let last = group.last().unwrap_or(&own).clone();
        *lasts.entry(last).or_default() += 1;
    }
    assert_eq!(lasts.values().sum::<u64>(), samples);
    lasts
}

#[test]
fn every_execution_with_d_delays_has_a_chance_of_at_least_one_in_l_to_the_d() {
    let programs = [
        Straight::new(&[&[0, 0], &[0, 0], &[0]]),
        Straight::new(&[&[0, 2], &[0, 0]]),
        Straight::new(&[&[3], &[0], &[2]]),
        Straight::new(&[&[0], &[0], &[0], &[0]]),
        Straight::of_different_lengths(&[&[4], &[0, 0]]),
        Straight::of_different_lengths(&[&[0, 3], &[3], &[0]]),
    ];
    const SAMPLES: u64 = 20_000;
    for program in &programs {
        for kind in [ExplorerKind::RoundRobin, ExplorerKind::RunToCompletion] {
            let all = delays_of_all(program, kind, 2);
            for delays in [1, 2] {
                let seen = sampled(program, kind, delays, SAMPLES, true);
                let chance = f64::from(program.longest()).powi(-(delays as i32));
                let expected = SAMPLES as f64 * chance;
                // Five standard deviations: by chance once in three million.
                let least = expected - 5.0 * (expected * (1.0 - chance)).sqrt();
                for (execution, _) in all.iter().filter(|(_, cost)| **cost == delays) {
                    let times = seen.get(execution).copied().unwrap_or(0) as f64;
                    assert!(
                        times >= least,
                        "{kind}: {execution:?} was sampled {times} times, and not {expected}"
                    );
                }
                for execution in seen.keys() {
                    assert!(all[execution] <= delays, "{execution:?}");
                }
            }
        }
    }
}

/// Of each of many random programs one execution, drawn from all with so many delays: together they
/// are sampled as often as the bound says, or more.
#[test]
fn so_it_is_over_many_random_programs() {
    const SAMPLES: u64 = 12;
    let (mut seen, mut expected, mut variance) = (0, 0.0, 0.0);
    let (mut tried, mut of_different_lengths) = (0, 0);
    for seed in 0.. {
        if tried == programs() {
            break;
        }
        let mut rng = fastrand::Rng::with_seed(seed);
        let program = Straight::random(&mut rng);
        let kind = [ExplorerKind::RoundRobin, ExplorerKind::RunToCompletion][rng.usize(..2)];
        let delays = rng.u32(1..=2);
        let all = delays_of_all(&program, kind, delays);
        let with_all: Vec<_> = all.iter().filter(|(_, cost)| **cost == delays).collect();
        let Some((target, _)) = rng.choice(with_all) else { continue };
        let lasts = sampled(&program, kind, delays, SAMPLES, true);
        assert!(lasts.keys().all(|execution| all[execution] <= delays), "seed {seed}");
        let chance = f64::from(program.longest()).powi(-(delays as i32));
        seen += lasts.get(target).copied().unwrap_or(0);
        expected += SAMPLES as f64 * chance;
        variance += SAMPLES as f64 * chance * (1.0 - chance);
        tried += 1;
        let lengths: BTreeSet<usize> = all.keys().map(Vec::len).collect();
        of_different_lengths += u64::from(lengths.len() > 1);
    }
    println!(
        "ss: {tried} programs, {of_different_lengths} with executions of different lengths: the \
         executions looked for were sampled {seen} times, {expected:.0} are promised"
    );
    assert!(of_different_lengths >= tried / 20, "{of_different_lengths} of {tried}");
    assert!(seen as f64 >= expected - 5.0 * f64::sqrt(variance), "{seen} and not {expected}");
}

#[test]
fn samples_are_the_same_where_states_are_copied_and_where_prefixes_run_again() {
    let program = Straight::new(&[&[0, 2], &[0, 0], &[2]]);
    let kind = ExplorerKind::RoundRobin;
    // To come back to a state runs its prefix again, which ends no execution.
    let copied = sampled(&program, kind, 2, 300, true);
    let again = sampled(&program, kind, 2, 300, false);
    assert_eq!(copied, again);
}

/// Which samples are drawn does not depend on how fast the threads are.
#[test]
fn samples_are_the_same_on_several_threads() {
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let workers = (0..rng.usize(2..=3)).map(|_| vec![[0, 2, 3][rng.usize(..3)]; 2]).collect();
        let program = Straight { workers, prolongs: rng.bool(), ended: Arc::default() };
        let drawn = [1, 2, 3].map(|threads| {
            let plan = Plan {
                search: SearchKind::Ss,
                delays: Some(2),
                samples: (20, 1),
                ..Plan::default()
            };
            let options = Options { seed, threads, schedules: u64::MAX, ..Options::default() };
            let explorer = ExplorerKind::ALL[seed as usize % 4].build(seed);
            let report = explore(Arc::new(program.clone()), explorer, plan, options, Arc::new(()));
            let mut ended = std::mem::take(&mut *program.ended.lock().unwrap());
            ended.sort();
            (ended, report.states.unwrap().samples)
        });
        assert_eq!(drawn[0], drawn[1], "seed {seed}");
        assert_eq!(drawn[0], drawn[2], "seed {seed}");
    }
}
