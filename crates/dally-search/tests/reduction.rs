//! The reduction executes every class of schedules once: systems written by hand.

#[expect(dead_code, reason = "tests of systems that can be copied use the rest")]
mod classes;
#[path = "samplers/programs.rs"]
#[expect(dead_code, reason = "tests of samplers use the rest")]
mod programs;

use std::sync::Arc;

use classes::{Tally, compare, compare_rules, seeds, seen};
use dally_search::reduction::Reduction;
use dally_search::strata::{Plan, RoundRobin, SearchKind, explore};
use dally_search::{Ended, Expected, Options, Progress, Sink};
use fastrand::Rng;
use programs::{Do, Scripts};

fn random(seed: u64) -> Scripts {
    let mut rng = Rng::with_seed(seed);
    let workers = rng.usize(2..=4);
    let deed = |rng: &mut Rng| match rng.u8(..9) {
        0 => Do::Local,
        1 | 2 => Do::Write(rng.u32(..2)),
        3 | 4 => Do::Read(rng.u32(..2)),
        5 | 6 => Do::Send(rng.usize(..workers)),
        7 => Do::Receive,
        _ => Do::Any,
    };
    let longest = if workers == 2 { 5 } else { 3 };
    let mut scripts: Vec<Vec<Do>> = (0..workers)
        .map(|_| (0..rng.usize(1..=longest)).map(|_| deed(&mut rng)).collect())
        .collect();
    if rng.bool() {
        let at = rng.usize(..=scripts[0].len());
        scripts[0].insert(at, Do::Spawn(workers - 1));
    }
    let scripts: Vec<&[Do]> = scripts.iter().map(Vec::as_slice).collect();
    Scripts::new(&scripts)
}

#[test]
fn scripts_are_executed_once_for_each_class() {
    let mut tally = Tally::default();
    for seed in seeds(1_000) {
        let program = random(seed);
        let what = || {
            let scripts: Vec<&[Do]> = (0..program.len()).map(|n| program.script(n)).collect();
            format!("{seed}: {scripts:?}")
        };
        compare(program.clone(), seen, 3_000, &mut tally, &what);
    }
    classes::enough(&tally, 900, 2_000);
}

#[test]
fn other_rules_miss_no_class_within_their_bounds() {
    let mut tally = Tally::default();
    for seed in seeds(200) {
        let program = random(seed);
        let what = || {
            let scripts: Vec<&[Do]> = (0..program.len()).map(|n| program.script(n)).collect();
            format!("{seed}: {scripts:?}")
        };
        compare_rules(program.clone(), seen, 1_000, &mut tally, &what);
    }
    classes::enough(&tally, 100, 400);
}

/// A search that explored two subtrees at once missed a class here.
#[test]
fn other_picks_of_the_steps_of_a_beginning_are_explored() {
    let mut tally = Tally::default();
    compare(random(3_431), seen, 3_000, &mut tally, &String::new);
    assert_eq!(tally.classes, 12);
}

/// The classes of programs of scripts.
fn count(scripts: &[&[Do]]) -> u64 {
    let (report, executed) = classes::reduce(Arc::new(Scripts::new(scripts)));
    assert_eq!((report.schedules, report.redundant), (executed.len() as u64, 0));
    report.schedules
}

#[test]
fn litmus_tests_have_their_known_numbers_of_classes() {
    use Do::{Read, Receive, Send, Write};
    // Three senders and one receipt: which message is first. The order of the others in the queue
    // is one of it too.
    assert_eq!(count(&[&[Receive], &[Send(0)]]), 1);
    assert_eq!(count(&[&[Receive; 2], &[Send(0)], &[Send(0)]]), 2);
    assert_eq!(count(&[&[Receive; 6], &[Send(0); 2], &[Send(0); 2], &[Send(0); 2]]), 90);
    // Each has its own.
    assert_eq!(count(&[&[Receive], &[Send(0)], &[Receive], &[Send(2)]]), 1);
    // A lock is as a queue here: in which order it is taken.
    let locks = |tasks: usize, times| count(&vec![[Write(0)].repeat(times).as_slice(); tasks]);
    assert_eq!([locks(2, 1), locks(2, 2), locks(2, 3), locks(3, 2)], [2, 6, 20, 90]);
    assert_eq!(count(&[&[Write(0)], &[Write(0)], &[Write(0)]]), 6);
    assert_eq!(count(&[&[Write(0)], &[Read(0)], &[Read(0)]]), 4);
    assert_eq!(count(&[&[Read(0), Write(1)], &[Read(1), Write(0)]]), 3);
    assert_eq!(count(&[&[Read(0), Write(0)], &[Read(0), Write(0)]]), 4);
}

#[test]
fn three_senders_of_four_messages_have_34650_classes() {
    use Do::{Receive, Send};
    let sender = [Send(0); 4];
    let scripts: [&[Do]; 4] = [&[Receive; 12], &sender, &sender, &sender];
    let options = Options { threads: 4, keep_going: true, ..Options::default() };
    let (report, executed) = classes::reduce_with(Arc::new(Scripts::new(&scripts)), options);
    assert_eq!((report.schedules, report.redundant, report.cut), (34_650, 0, 0));
    let distinct: std::collections::BTreeSet<String> =
        executed.iter().map(|choices| format!("{choices:?}")).collect();
    assert_eq!(distinct.len(), 34_650);
    assert_eq!(report.threads, 1);
}

/// How many schedules each rule runs of three programs, and what it gives up half-way besides.
#[test]
fn rules_run_as_many_schedules_as_they_find_races() {
    use Do::{Read, Receive, Send, Write};
    let programs: [(&str, &[&[Do]]); 4] = [
        ("3 senders x 2", &[&[Receive; 6], &[Send(0); 2], &[Send(0); 2], &[Send(0); 2]]),
        ("3 readers, 1 writer", &[&[Write(0)], &[Read(0)], &[Read(0)], &[Read(0)]]),
        ("2 pairs", &[&[Receive; 2], &[Send(0); 2], &[Receive; 2], &[Send(2); 2]]),
        ("2 x 2 variables", &[&[Write(0), Write(1)], &[Write(1), Write(0)], &[Write(2); 2]]),
    ];
    let mut table = String::new();
    for (name, scripts) in programs {
        for reduction in Reduction::ALL {
            let program = Arc::new(Scripts::new(scripts));
            let bound = reduction.is_bounded().then_some(1);
            let (report, _) = classes::reduce_by(program, reduction, bound);
            let classes = report.classes.unwrap().classes;
            let bound = bound.map(|bound| format!(", {bound}")).unwrap_or_default();
            table += &format!(
                "{name}, {reduction}{bound}: {classes} classes, {} schedules, {} given up\n",
                report.schedules, report.redundant
            );
        }
    }
    insta::assert_snapshot!(table, @"
    3 senders x 2, optimal: 90 classes, 90 schedules, 0 given up
    3 senders x 2, source: 90 classes, 90 schedules, 0 given up
    3 senders x 2, needs-delay: 90 classes, 90 schedules, 0 given up
    3 senders x 2, preemptions, 1: 24 classes, 108 schedules, 0 given up
    3 senders x 2, delays, 1: 5 classes, 5 schedules, 0 given up
    3 senders x 2, none: 90 classes, 11880 schedules, 0 given up
    3 readers, 1 writer, optimal: 8 classes, 8 schedules, 0 given up
    3 readers, 1 writer, source: 8 classes, 8 schedules, 0 given up
    3 readers, 1 writer, needs-delay: 8 classes, 16 schedules, 0 given up
    3 readers, 1 writer, preemptions, 1: 8 classes, 16 schedules, 0 given up
    3 readers, 1 writer, delays, 1: 2 classes, 2 schedules, 0 given up
    3 readers, 1 writer, none: 8 classes, 24 schedules, 0 given up
    2 pairs, optimal: 1 classes, 1 schedules, 0 given up
    2 pairs, source: 1 classes, 1 schedules, 0 given up
    2 pairs, needs-delay: 1 classes, 1 schedules, 0 given up
    2 pairs, preemptions, 1: 1 classes, 1 schedules, 0 given up
    2 pairs, delays, 1: 1 classes, 1 schedules, 0 given up
    2 pairs, none: 1 classes, 280 schedules, 0 given up
    2 x 2 variables, optimal: 3 classes, 3 schedules, 0 given up
    2 x 2 variables, source: 3 classes, 3 schedules, 0 given up
    2 x 2 variables, needs-delay: 3 classes, 24 schedules, 0 given up
    2 x 2 variables, preemptions, 1: 3 classes, 4 schedules, 0 given up
    2 x 2 variables, delays, 1: 3 classes, 3 schedules, 0 given up
    2 x 2 variables, none: 3 classes, 90 schedules, 0 given up
    ");
}

#[derive(Default)]
struct Watching(std::sync::Mutex<Vec<Expected>>);

impl Sink for Watching {
    fn progress(&self, progress: &Progress) {
        self.0.lock().unwrap().extend(progress.expected);
    }
}

#[test]
fn the_progress_of_a_search_tells_how_many_classes_are_expected() {
    // These have more classes than can be executed.
    let program = Arc::new(Scripts::new(&[[Do::Write(0); 4].as_slice(); 6]));
    let plan = Plan { search: SearchKind::Dpor, ..Plan::default() };
    let time = Some(std::time::Duration::from_millis(400));
    let options = Options { time, ..Options::default() };
    let watching = Arc::new(Watching::default());
    let report = explore(program, RoundRobin::default(), plan, options, watching.clone());
    assert_eq!(report.ended, Ended::Time);
    let told = watching.0.lock().unwrap();
    assert!(told.iter().any(|expected| expected.classes > report.schedules), "{told:?}");
}
