//! Every text that people see, as they see it.

use dally_core::Ended;
use dally_report::{Style, text};

use crate::findings;

macro_rules! text_of {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let (finding, run, about) = findings::$name();
            insta::assert_snapshot!(text::finding(&finding, &run, &about));
        })*
    };
}

text_of! {
    two_phase_commit deadlock unhandled_event hot_at_end uncontrolled panic_with_source no_trace
    long no_failure livelock
}

#[test]
fn colours_change_nothing_but_colours() {
    for (finding, run, mut about) in [findings::two_phase_commit(), findings::long()] {
        let plain = text::finding(&finding, &run, &about);
        about.style = Style::Colour;
        let coloured = text::finding(&finding, &run, &about);
        assert!(coloured.contains("\x1b[1;31mbug[") && !plain.contains('\x1b'));
        let stripped: String = coloured
            .split('\x1b')
            .enumerate()
            .map(|(index, part)| if index == 0 { part } else { part.split_once('m').unwrap().1 })
            .collect();
        assert_eq!(stripped, plain);
    }
}

#[test]
fn the_last_line_is_the_command_that_replays() {
    let (finding, run, mut about) = findings::two_phase_commit();
    let text = text::finding(&finding, &run, &about);
    assert_eq!(text.lines().last().map(str::trim), about.replay.last().map(String::as_str));
    about.replay.clear();
    let text = text::finding(&finding, &run, &about);
    let token = finding.schedule.to_token();
    assert_eq!(text.lines().last(), Some(format!("  dally replay {token}").as_str()));
}

#[test]
fn a_loop_whose_beginning_is_not_shown_says_where_it_is() {
    let (finding, run, mut about) = findings::livelock();
    let divider = |about: &_| {
        let text = text::finding(&finding, &run, about);
        let line = text.lines().find(|line| line.contains("again and again")).unwrap();
        line.split_once("...").unwrap().1.trim_start().to_owned()
    };
    let from_here = "from here on again and again, with monitor Answered in Waiting:";
    assert_eq!(divider(&about), from_here);
    about.steps_shown = Some(3);
    assert_eq!(divider(&about), from_here);
    about.steps_shown = Some(2);
    assert_eq!(divider(&about), from_here.replace("here", "step 3"));
}

#[test]
fn every_step_is_shown_on_demand() {
    let (finding, run, mut about) = findings::long();
    about.steps_shown = None;
    let text = text::finding(&finding, &run, &about);
    assert!(text.contains("\n    1  Ping 0  sends Ball { hits: 0 } to Pong 1 (-> step 2)\n"));
    assert!(!text.contains("not shown"));
}

#[test]
fn a_payload_of_any_size_stays_on_its_line() {
    let (mut finding, run, about) = findings::hot_at_end();
    let blob = "x".repeat(100_000);
    finding.trace.steps[0].items =
        vec![dally_core::Item::Event(dally_core::Event::Announced { payload: blob })];
    let text = text::finding(&finding, &run, &about);
    assert!(text.lines().all(|line| line.chars().count() < 220));
    assert!(text.contains("xxx... (99,860 characters more)\n"), "{text}");
}

#[test]
fn a_clean_run_says_what_it_covered() {
    let (_, mut run, _) = findings::two_phase_commit();
    (run.schedules, run.steps, run.threads) = (100_000, 8_712_345, 2);
    run.ended = Ended::Schedules;
    run.elapsed = std::time::Duration::from_millis(12_340);
    insta::assert_snapshot!(text::summary("two-phase-commit", &run, Style::Plain), @"
    no bug found in 100,000 schedules of two-phase-commit
      covered   sampled 100,000 schedules by random
      work      8,712,345 steps (per-send), 2,917 distinct observations
      strategy  random, seed 7
      stopped   all schedules were run
      time      12.3 s on 2 threads, 8,103 schedules/s, 706,024 steps/s
    ");
}

#[test]
fn a_run_that_goes_on_lists_its_bugs() {
    let (first, mut run, _) = findings::two_phase_commit();
    run.findings = vec![first, findings::deadlock().0];
    run.elapsed = std::time::Duration::from_secs(2);
    insta::assert_snapshot!(
        text::summary("two-phase-commit", &run, Style::Plain),
        @"
    2 bugs found in 412 schedules of two-phase-commit
      monitor: transaction 1 is committed by one participant and aborted by another (Atomicity) at two_phase_commit.rs.txt:9:13 (schedule 412)
      deadlock: no worker can step, and 3 still wait (schedule 3, 38 times)
      covered   sampled 412 schedules by random, up to the first bug
      work      35,844 steps (per-send), 2,917 distinct observations
      strategy  random, seed 7
      stopped   a bug was found
      time      2.0 s, 206 schedules/s, 17,922 steps/s
    "
    );
}
