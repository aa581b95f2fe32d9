//! Parts of a run, wherever they were run, make the report of the whole.

use std::sync::Arc;

use dally_core::Document;
use dally_search::{Batch, BatchOutcome, Options, Report, StrategyKind, run_batch, run_in_turn};

use crate::programs::{Scripts, check, options, random_scripts};

const SCHEDULES: u64 = 60;

/// Strategies whose schedules depend on the seed and their number alone.
const INDEPENDENT: [&str; 4] = ["random", "round-robin", "pos", "irs"];

fn settings(strategy: &str, keep_going: bool, observe_every: u64) -> Options {
    Options {
        strategy: strategy.parse::<StrategyKind>().unwrap().build(0, 200),
        seed: 11,
        schedules: SCHEDULES,
        max_steps: 200,
        threads: 2,
        keep_going,
        observe_every,
        ..options()
    }
}

/// The report of a batch, as it comes back from another process.
fn travelled(program: &Arc<Scripts>, options: Options, first: u64, end: u64) -> Report {
    let batch = Batch { first, count: end - first, seed: options.seed };
    let batch = Batch::read(&batch.write()).unwrap();
    let report = run_batch(program.clone(), batch, options, Arc::new(())).unwrap();
    Report::read(&report.write()).unwrap().without_times()
}

#[test]
fn batches_of_random_programs_merge_into_what_one_run_says() {
    let mut rng = fastrand::Rng::with_seed(3);
    let (mut late, mut repeated) = (0, 0);
    for round in 0..200 {
        let program = random_scripts(&mut rng, 5);
        let strategy = INDEPENDENT[round % INDEPENDENT.len()];
        let (keep_going, observe_every) = (rng.bool(), rng.u64(..3));
        let settings = || settings(strategy, keep_going, observe_every);
        let mut cuts = [rng.u64(..=SCHEDULES), rng.u64(..=SCHEDULES)];
        cuts.sort_unstable();
        let ends = [(0, cuts[0]), (cuts[0], cuts[1]), (cuts[1], SCHEDULES)];
        let mut parts = ends.map(|(first, end)| travelled(&program, settings(), first, end));
        let found = parts.each_ref().map(|part| part.findings.len());
        rng.shuffle(&mut parts);
        let merged = Report::merge(parts).unwrap().without_times();

        let mut whole = travelled(&program, settings(), 0, SCHEDULES);
        assert_eq!(merged.write(), whole.write(), "{strategy}, cut at {cuts:?}");
        assert_eq!(merged, whole);
        // A batch of all schedules says what a run says.
        whole.part = None;
        assert_eq!(check(&program, settings()).without_times(), whole);
        late += whole.findings.len() - found[0];
        repeated += found.iter().sum::<usize>() - whole.findings.len();
    }
    // Some bugs did not show in the first part, and some in several.
    assert!(late > 0 && repeated > 0, "{late}, {repeated}");
}

#[test]
fn strategies_whose_schedules_depend_on_those_before_run_no_batch() {
    let program = random_scripts(&mut fastrand::Rng::with_seed(1), 3);
    let batch = Batch { first: 5, count: 1, seed: 0 };
    let can = |name: &str| run_batch(program.clone(), batch, settings(name, true, 0), Arc::new(()));
    let names = StrategyKind::all().map(|kind| kind.to_string());
    let mut able: Vec<String> = names.filter(|name| can(name).is_ok()).collect();
    able.sort_unstable_by_key(|name| INDEPENDENT.iter().position(|known| known == name));
    assert_eq!(able, INDEPENDENT);
    insta::assert_snapshot!(can("dfs").unwrap_err(), @"the schedules of dfs depend on those before them, so a batch of them cannot be run alone: take a strategy that neither learns nor goes on from the schedule before, such as random or pos");
}

/// Strategies that learn, and tell what they have learnt.
const LEARNING: [&str; 13] = [
    "portfolio",
    "pct:3",
    "pctcp:3",
    "surw",
    "ql",
    "urw",
    "tapct:3",
    "ql-b",
    "ql-i",
    "ql-c",
    "ql-ndn",
    "bonus-max",
    "pct:1",
];

fn in_turn(
    program: &Arc<Scripts>,
    options: Options,
    first: u64,
    end: u64,
    learned: Option<&[u8]>,
) -> BatchOutcome {
    let batch = Batch { first, count: end - first, seed: options.seed };
    let BatchOutcome { report, learned } =
        run_in_turn(program.clone(), batch, learned, options, Arc::new(())).unwrap();
    let report = Report::read(&report.write()).unwrap().without_times();
    BatchOutcome { report, learned }
}

#[test]
fn a_strategy_that_learns_goes_on_from_batch_to_batch_as_in_one_run() {
    let mut rng = fastrand::Rng::with_seed(5);
    for round in 0..130 {
        let program = random_scripts(&mut rng, 5);
        let strategy = LEARNING[round % LEARNING.len()];
        let threads = rng.usize(1..4);
        let settings = || Options { threads, ..settings(strategy, true, 1) };
        // After the 16 schedules of its first batch every strategy learns, and so it does at the end of a part.
        let first = in_turn(&program, settings(), 0, 16, None);
        let learned = first.learned.unwrap();
        let second = in_turn(&program, settings(), 16, 32, Some(&learned));
        let whole = in_turn(&program, settings(), 0, 32, None);
        let merged = Report::merge([second.report, first.report]).unwrap().without_times();
        assert_eq!(merged.write(), whole.report.write(), "{strategy}");
        assert_eq!(second.learned, whole.learned, "{strategy}");
    }
}

#[test]
fn what_was_learnt_is_refused_where_it_is_missing_damaged_or_of_another() {
    let program = random_scripts(&mut fastrand::Rng::with_seed(1), 3);
    let options = |name: &str| settings(name, true, 0);
    let batch = |first| Batch { first, count: 4, seed: 11 };
    let run = |name: &str, first, learned: Option<&[u8]>| {
        run_in_turn(program.clone(), batch(first), learned, options(name), Arc::new(()))
    };
    for name in ["greedy", "idb", "period", "dfs"] {
        assert!(run(name, 0, None).is_err(), "{name}");
    }
    for name in LEARNING {
        assert!(run(name, 4, None).is_err(), "{name}");
        let learned = run(name, 0, None).unwrap().learned.unwrap();
        let other = if name == "ql" { "portfolio" } else { "ql" };
        let refused = run(other, 4, Some(&learned)).unwrap().report;
        assert_eq!((refused.ended, refused.schedules), (dally_search::Ended::Failed, 0));
        assert!(refused.notes[0].starts_with("What was learnt was learnt by the strategy"));
        let cut = run(name, 4, Some(&learned[..learned.len() - 1])).unwrap().report;
        assert!(cut.notes[0].starts_with("What was learnt is damaged"), "{:?}", cut.notes);
    }
    // What a strategy itself reads: nothing that is shorter or longer is taken for what it wrote.
    for name in LEARNING {
        let mut strategy = options(name).strategy;
        let learner = strategy.learner().unwrap();
        let words = learner.learned().unwrap();
        assert!(learner.recall(&words), "{name}");
        for length in 0..words.len() {
            let exact = matches!(name, "surw" | "urw" | "tapct:3") && length % 8 == 0;
            assert!(exact || !learner.recall(&words[..length]), "{name}, {length}");
        }
        assert!(!learner.recall(&[&words[..], &[0]].concat()), "{name}");
    }
}
