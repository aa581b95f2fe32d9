//! What is told of a finding beside its steps is true of random programs: the bug shows without the steps that
//! did not lead to it, and the nearest schedule that passes does pass, and fails with its edit undone.
//! Tests of front ends use this file too.

use std::sync::Arc;
use std::time::Duration;

use dally_core::{BugKind, Choice, Edit, Finding, Program, Schedule};
use dally_search::{Mode, Options, Replayed, StrategyKind, replay, run};

/// How much was tried.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    /// Findings of which steps were left out.
    pub sliced: u64,
    /// Steps that were left out.
    pub left_out: u64,
    /// Nearest schedules that pass.
    pub nearest: u64,
}

/// Looks for bugs of the program with random schedules, and tries what is told of each.
///
/// # Panics
/// If it is not true.
pub fn check<P: Program + 'static>(
    program: &Arc<P>,
    seed: u64,
    tally: &mut Tally,
    what: &dyn Fn() -> String,
) {
    let found = |shrink| {
        let strategy = "random".parse::<StrategyKind>().unwrap().build(seed, 200);
        let (program, options) = (Arc::clone(program), Options::default());
        let options = Options { strategy, seed, shrink, schedules: 40, max_steps: 200, ..options };
        run(program, Options { keep_going: true, ..options }, Arc::new(())).findings
    };
    for finding in found(false) {
        slice(program, &finding, tally, what);
    }
    for finding in found(true) {
        nearest(program, &finding, tally, what);
    }
}

/// Steps outside of the causal past of a bug commute with all that led to it, so it shows without them.
fn slice<P: Program + 'static>(
    program: &Arc<P>,
    finding: &Finding,
    tally: &mut Tally,
    what: &dyn Fn() -> String,
) {
    // Other bugs are about the end of an execution, which leaving out steps changes.
    let past = finding.past();
    let is_of_end =
        matches!(finding.bug.kind(), BugKind::Deadlock) || finding.shows_in().len() != 1;
    if is_of_end || past.iter().all(|past| *past) {
        return;
    }
    let schedule = only(&finding.schedule, &past);
    let again = replayed(program, &schedule, Mode::BestEffort);
    let (all, few) = (finding.schedule.to_text(), schedule.to_text());
    let context = || format!("{all}\nand without what did not lead to it\n{few}\nof {}", what());
    assert_eq!(again.bug.map(|bug| bug.cause()), Some(finding.bug.cause()), "{}", context());
    tally.sliced += 1;
    tally.left_out += past.iter().filter(|past| !**past).count() as u64;
}

fn nearest<P: Program + 'static>(
    program: &Arc<P>,
    finding: &Finding,
    tally: &mut Tally,
    what: &dyn Fn() -> String,
) {
    let Some(nearest) = &finding.nearest else { return };
    let context = || format!("{:?} in {}\nof {}", nearest.edit, finding.schedule.to_text(), what());
    let with = |choices: &[Choice]| {
        let (choices, enabled) = (choices.to_vec(), Vec::new());
        replayed(program, &Schedule { choices, enabled, ..finding.schedule.clone() }, Mode::Exact)
    };
    let passing = with(&nearest.choices);
    assert_eq!(passing.bug, None, "{}", context());
    assert_eq!(passing.schedule.choices, nearest.choices, "{}", context());
    assert_eq!(passing.trace, nearest.trace, "{}", context());
    // It follows the edited schedule to the end of the edit, at least.
    let edited = nearest.edit.applied_to(&finding.schedule.choices);
    let of_edit = match &nearest.edit {
        Edit::Order { steps, before } => before - 1 + steps.len(),
        Edit::Value { step, .. } => *step,
    };
    let is_worker = |choice: &&Choice| matches!(choice, Choice::Worker(_));
    let workers = |choices: &[Choice]| -> Vec<Choice> {
        choices.iter().filter(is_worker).take(of_edit).copied().collect()
    };
    assert_eq!(workers(&nearest.choices), workers(&edited), "{}", context());
    let back = undone(&nearest.edit, &edited);
    assert_eq!(back, finding.schedule.choices, "{}", context());
    let failing = with(&back).bug.map(|bug| bug.cause());
    assert_eq!(failing, Some(finding.bug.cause()), "{}", context());
    // What comes after a loop or a hot monitor can only be judged at an end.
    let is_of_end = matches!(finding.bug.kind(), BugKind::Livelock | BugKind::HotAtEnd);
    assert!(nearest.ends || !is_of_end, "{}", context());
    tally.nearest += 1;
}

fn replayed<P: Program + 'static>(program: &Arc<P>, schedule: &Schedule, mode: Mode) -> Replayed {
    replay(Arc::clone(program), schedule, mode, 1, Duration::from_secs(10))
}

/// The schedule with some of its steps.
pub fn only(schedule: &Schedule, kept: &[bool]) -> Schedule {
    let mut step = 0;
    let choices = schedule.choices.iter().filter(|choice| {
        step += usize::from(matches!(choice, Choice::Worker(_)));
        kept[step - 1]
    });
    Schedule { choices: choices.copied().collect(), enabled: Vec::new(), ..schedule.clone() }
}

/// The choices with an edit undone: the steps that it moved go back to their places.
pub fn undone(edit: &Edit, edited: &[Choice]) -> Vec<Choice> {
    match edit {
        Edit::Order { steps, before } => {
            let mut units: Vec<Vec<Choice>> = Vec::new();
            for &choice in edited {
                match choice {
                    Choice::Worker(_) => units.push(vec![choice]),
                    inside => units.last_mut().unwrap().push(inside),
                }
            }
            let moved: Vec<Vec<Choice>> =
                units.drain(before - 1..before - 1 + steps.len()).collect();
            for (step, unit) in steps.iter().zip(moved) {
                units.insert(step - 1, unit);
            }
            units.concat()
        }
        Edit::Value { step, choice, was, instead } => {
            let back = Edit::Value { step: *step, choice: *choice, was: *instead, instead: *was };
            back.applied_to(edited)
        }
    }
}
