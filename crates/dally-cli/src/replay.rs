//! `dally replay`.

use std::time::Duration;

use dally::checking::read_schedule;
use dally::core::Finding;
use dally::report::{About, Statistics, Style, json, text};
use dally::search::{Mode, Replayed};

use crate::args::{Format, ReplayArgs};
use crate::check::BUG_SETTING;
use crate::list::look_up;
use crate::{BAD_INPUT, BUG, CLEAN};

/// How long a step may take before it counts as blocking its thread.
const STEP_TIME: Duration = Duration::from_secs(10);

/// Runs a schedule again and prints what happens; answers the exit code.
pub fn replay(arguments: &ReplayArgs) -> Result<u8, String> {
    let schedule = read_schedule(&arguments.schedule)?;
    let (protocol, bug) =
        look_up(&schedule.program, schedule.setting(BUG_SETTING)).map_err(|why| {
            format!(
                "{why}\n  the schedule is of `{}`; the schedule of a test is replayed with \
                 DALLY_REPLAY=... cargo test",
                schedule.program
            )
        })?;
    let mode = if arguments.best_effort { Mode::BestEffort } else { Mode::Exact };
    let replayed = (protocol.program)(bug).replay(&schedule, mode, STEP_TIME);
    let code = exit_code(&replayed, mode);
    let statistics = Statistics {
        schedules: 1,
        steps: replayed.schedule.choices.len() as u64,
        strategy: "replay".into(),
        ..Statistics::default()
    };
    let left = replayed.left_at.clone();
    let finding = replayed.bug.map(|bug| Finding {
        bug,
        schedule: replayed.schedule,
        trace: replayed.trace,
        found_at: 1,
        occurrences: 1,
        shrunk: None,
        notes: replayed.notes,
    });
    match (arguments.format, &finding) {
        (Format::Json, _) => {
            print!("{}", json::run(protocol.name, &statistics, finding.as_slice()))
        }
        (Format::Text, Some(finding)) => {
            let about = About {
                statistics,
                steps_shown: None,
                replay: vec![format!("dally replay {}", arguments.schedule)],
                style: Style::of(&std::io::stdout()),
                ..About::new(protocol.name)
            };
            print!("{}", text::finding(finding, &about));
        }
        (Format::Text, None) => {
            println!(
                "The schedule was run, and no bug showed. It was recorded with: {}",
                schedule.outcome
            );
        }
    }
    if let Some(left) = left {
        eprintln!("The program does not follow the schedule: step {}: {}", left.step, left.message);
        if mode == Mode::Exact {
            eprintln!("  with --best-effort the replay goes on as far as it can");
        }
    }
    Ok(code)
}

fn exit_code(replayed: &Replayed, mode: Mode) -> u8 {
    match (&replayed.bug, &replayed.left_at, mode) {
        (Some(_), ..) => BUG,
        (None, Some(_), Mode::Exact) => BAD_INPUT,
        (None, ..) => CLEAN,
    }
}
