//! The nearest schedule that does not fail passes, and fails again where its edit is undone.

use std::sync::Arc;
use std::time::Duration;

use dally::contract::{Choice, Edit, Finding, Schedule};
use dally::search::{Mode, Options, StrategyKind};
use dally_protocols::{PlantedBug, Protocol, all};

fn finding(protocol: &Protocol, bug: &PlantedBug) -> Option<Finding> {
    let options = Options {
        program: protocol.name.into(),
        strategy: StrategyKind::default().build(1, protocol.max_steps),
        seed: 1,
        schedules: 60,
        max_steps: protocol.max_steps,
        ..Options::default()
    };
    (protocol.program)(Some(bug.name)).run(options, Arc::new(())).findings.pop()
}

/// The choices with the edit of the finding undone: the steps that it moved go back to their places.
fn undone(edit: &Edit, edited: &[Choice]) -> Vec<Choice> {
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

#[test]
fn the_nearest_schedule_passes_and_fails_with_its_edit_undone() {
    let (mut found, mut told, mut orders) = (0, 0, 0);
    for protocol in all() {
        for bug in protocol.bugs {
            let Some(finding) = finding(protocol, bug) else { continue };
            found += 1;
            let Some(nearest) = &finding.nearest else { continue };
            told += 1;
            orders += usize::from(matches!(nearest.edit, Edit::Order { .. }));
            let context = format!("{} {} {:?}", protocol.name, bug.name, nearest.edit);
            let run = |choices: &[Choice]| {
                let (choices, enabled) = (choices.to_vec(), Vec::new());
                let schedule = Schedule { choices, enabled, ..finding.schedule.clone() };
                let program = (protocol.program)(Some(bug.name));
                program.replay(&schedule, Mode::Exact, 1, Duration::from_secs(10))
            };
            // It passes. A replay of a schedule that was recorded with a bug and shows none says so at its end.
            let passing = run(&nearest.choices);
            assert_eq!(passing.bug, None, "{context}");
            assert_eq!(passing.schedule.choices, nearest.choices, "{context}");
            assert_eq!(passing.trace, nearest.trace, "{context}");
            // It follows the edited schedule up to the edit, at least.
            let edited = nearest.edit.applied_to(&finding.schedule.choices);
            let common = edited.iter().zip(&nearest.choices).take_while(|(a, b)| a == b);
            let steps = common.filter(|(choice, _)| matches!(choice, Choice::Worker(_))).count();
            assert!(steps >= nearest.edit.step(), "{context}: {steps}");
            // With the edit undone it fails.
            let back = undone(&nearest.edit, &edited);
            assert_eq!(back, finding.schedule.choices, "{context}");
            assert_eq!(
                run(&back).bug.map(|bug| bug.cause()),
                Some(finding.bug.cause()),
                "{context}"
            );
        }
    }
    println!("{found} findings, {told} with a nearest schedule, {orders} of them another order");
    assert!(told * 10 >= found * 6 && orders * 2 >= told, "{found} {told} {orders}");
}
