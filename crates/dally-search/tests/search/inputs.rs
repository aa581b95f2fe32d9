//! Numbers from outside: varied, recorded, replayed and shrunk, or said to be as given.

use std::time::Duration;

use dally_core::{Choice, Item, Schedule};
use dally_search::{Ended, Mode, Options, StrategyKind, replay};

use crate::programs::{Do, check, only_finding, options, scripts, short};

#[test]
fn a_bug_at_the_end_of_a_range_is_found_by_every_strategy_that_varies_inputs() {
    let program = scripts([&[Do::Input(1, 65_535), Do::PanicIfRegister(65_535)], &[Do::Add(0, 1)]]);
    for kind in StrategyKind::all() {
        let strategy = kind.build(0, 1_000);
        let varies = strategy.properties().varies_inputs;
        let report = check(&program, Options { strategy, shrink: false, ..options() });
        assert_eq!(report.findings.len(), usize::from(varies), "{kind}");
        assert_eq!(report.given_inputs, !varies, "{kind}");
        // Only depth-first search does not.
        assert_eq!(varies, kind.to_string() != "dfs");
    }
}

#[test]
fn an_input_is_in_the_schedule_and_by_its_name_in_the_trace_and_comes_again() {
    let program = scripts([&[Do::Input(i64::MIN, i64::MAX), Do::PanicIfRegister(i64::MIN)]]);
    let finding = only_finding(&program, options());
    assert_eq!(finding.schedule.choices[1], Choice::Input(i64::MIN));
    let input = Item::Input { name: "number".into(), value: i64::MIN };
    assert!(finding.trace.steps[0].items.contains(&input), "{:?}", finding.trace.steps[0]);
    let schedule = Schedule::parse(&finding.schedule.to_token()).unwrap();
    let again = replay(program, &schedule, Mode::Exact, 1, Duration::from_secs(10));
    assert_eq!((again.left_at, again.bug), (None, Some(finding.bug)));
}

#[test]
fn inputs_count_as_steps_like_values() {
    let program = scripts([&[Do::Input(0, 3), Do::Choose(2)]]);
    let report = check(&program, Options { schedules: 1, ..options() });
    assert_eq!(report.steps, 4);
}

#[test]
fn an_input_is_shrunk_towards_0() {
    let shrunk = |least, most, fails: &[Do]| {
        let ops = [&[Do::Input(least, most)], fails].concat();
        short(&only_finding(&scripts([&ops]), options()).schedule.choices)
    };
    assert_eq!(shrunk(i64::MIN, i64::MAX, &[Do::PanicAbove(100)]), "0 ?101 0");
    assert_eq!(shrunk(-500, 500, &[Do::PanicAbove(-40)]), "0 ?0 0");
    // Any number will do: 0 is not in the range, and the end nearest to it is tried as well.
    assert_eq!(shrunk(-500, -20, &[Do::PanicAbove(-300)]), "0 ?-20 0");
}

#[test]
fn depth_first_search_uses_the_given_inputs_and_says_so() {
    let program = scripts([&[Do::Input(5, 9), Do::PanicIfRegister(6)], &[Do::Add(0, 1)]]);
    let dfs = || "dfs".parse::<StrategyKind>().unwrap().build(0, 1_000);
    let report = check(&program, Options { strategy: dfs(), ..options() });
    assert_eq!((report.ended, report.findings.len()), (Ended::Exhausted, 0));
    assert!(!report.is_exhausted(), "other inputs were not tried");
    assert_eq!((report.schedules, report.given_inputs), (3, true));
    let given = scripts([&[Do::Input(5, 9), Do::PanicIfRegister(5)]]);
    let finding = only_finding(&given, Options { strategy: dfs(), ..options() });
    assert_eq!(short(&finding.schedule.choices), "0 ?5 0");
}

#[test]
fn a_recorded_input_that_is_out_of_range_now_is_named() {
    let from = scripts([&[Do::Input(0, 9), Do::PanicIfRegister(9)]]);
    let schedule = only_finding(&from, options()).schedule;
    let left = |to: &[Do], mode| {
        let replayed = replay(scripts([to]), &schedule, mode, 1, Duration::from_secs(10));
        let left_at = replayed.left_at.map(|left| left.to_string()).unwrap_or_default();
        format!("{} {left_at}", short(&replayed.schedule.choices))
    };
    let narrow = [Do::Input(0, 3), Do::PanicIfRegister(3)];
    insta::assert_snapshot!(left(&narrow, Mode::Exact), @"0 step 1: the step of Script (0) asks for the input `number` from 0 to 3, and in the recording it is 9");
    insta::assert_snapshot!(left(&narrow, Mode::BestEffort), @"0 ?3 0 step 1: the step of Script (0) asks for the input `number` from 0 to 3, and in the recording it is 9");
    let other = [Do::Choose(2), Do::PanicIfRegister(1)];
    insta::assert_snapshot!(left(&other, Mode::Exact), @"0 step 1: the step of Script (0) asks for one of 2 values, and the recording has an input here");
    let none = [Do::Add(0, 1), Do::Input(0, 9)];
    insta::assert_snapshot!(left(&none, Mode::Exact), @"0 step 1: the recording makes 1 further choice inside the step of Script (0), the program none");
}
