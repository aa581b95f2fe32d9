//! The nearest schedule that does not fail passes, and fails again where its edit is undone.

#[path = "../../crates/dally-search/tests/past/mod.rs"]
#[expect(dead_code, reason = "tests of random programs use the rest")]
mod past;

use std::sync::Arc;
use std::time::Duration;

use dally::contract::{BugKind, Choice, Edit, Finding, Schedule};
use dally::search::{Mode, Options, StrategyKind};
use dally_protocols::{PlantedBug, Protocol, all};
use past::undone;

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

#[test]
fn the_nearest_schedule_passes_and_fails_with_its_edit_undone() {
    let (mut found, mut told, mut orders, mut loops) = (0, 0, 0, 0);
    for protocol in all() {
        for bug in protocol.bugs {
            let Some(finding) = finding(protocol, bug) else { continue };
            found += 1;
            let Some(nearest) = &finding.nearest else { continue };
            told += 1;
            orders += usize::from(matches!(nearest.edit, Edit::Order { .. }));
            loops += usize::from(finding.bug.kind() == BugKind::Livelock);
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
    println!(
        "{found} findings, {told} with a nearest schedule, {orders} of them another order, {loops} out of a loop"
    );
    assert!(
        told * 10 >= found * 6 && orders * 2 >= told && loops > 0,
        "{found} {told} {orders} {loops}"
    );
}
