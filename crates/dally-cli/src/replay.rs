use std::path::{Path, PathBuf};
use std::sync::Arc;

use dally::checking::{AnyProgram, ROUNDS, read_schedule, retell, shell_word};
use dally::contract::Schedule;
use dally::report::{About, Style, json, tell, text};
use dally::search::{self, Mode, Replayed, Report};
use dally::settings::Settings;

use crate::args::{Format, ReplayArgs};
use crate::cargo;
use crate::check::BUG_SETTING;
use crate::error::CliError;
use crate::list::look_up;
use crate::{BAD_INPUT, BUG, CLEAN, mpil, p, print};

/// Runs a schedule again and prints what happens; answers the exit code.
pub fn replay(arguments: &ReplayArgs) -> Result<u8, CliError> {
    let schedule = read_schedule(&arguments.schedule)?;
    if cargo::is_of_test(&schedule) {
        return cargo::replay(&schedule, &arguments.schedule, arguments.best_effort);
    }
    if arguments.rounds.is_some() && !search::ends_in_loop(&schedule) {
        let outcome = schedule.bug.as_ref().map_or("no bug".into(), ToString::to_string);
        return Err(CliError::NoLoop { outcome });
    }
    let rounds = arguments.rounds.unwrap_or(ROUNDS);
    let variable = |name: &str| std::env::var_os(name);
    let step_time = arguments.settings.over(Settings::default(), variable)?.step_time;
    let mode = if arguments.best_effort { Mode::BestEffort } else { Mode::Exact };
    let file = Path::new(&arguments.schedule);
    let (project, format) = (&arguments.project[..], arguments.format);
    let Some(recorded) = program(&schedule, project, file, format)? else { return Ok(BAD_INPUT) };
    let Recorded { program, source_root } = recorded;
    let replayed = program.replay(&schedule, mode, rounds, step_time);
    let mut report = run_of(&schedule, &replayed);
    let go_on = "With --best-effort it goes on as far as it can.";
    let retold = retell(&schedule, replayed, mode, go_on);
    match (arguments.format, &retold.finding) {
        (Format::Json, finding) => {
            report.findings.extend(finding.clone());
            print(&json::run(&report));
        }
        (Format::Text, Some(finding)) => {
            let about = About {
                steps_shown: None,
                source_root,
                replay: vec![format!("dally replay {}", shell_word(&arguments.schedule))],
                style: Style::of(&std::io::stdout()),
                ..About::new(&schedule.program)
            };
            print(&(text::finding(finding, &report, &about) + "\n"));
        }
        (Format::Text, None) => {}
    }
    for remark in &retold.remarks {
        tell::err(&format!("{remark}\n"));
    }
    Ok(match retold.finding {
        Some(_) => BUG,
        None if retold.gave_up => BAD_INPUT,
        None => CLEAN,
    })
}

/// The program that a schedule is of.
pub struct Recorded {
    pub program: Arc<dyn AnyProgram>,
    /// The directory from which its sources are seen, if not the present one.
    pub source_root: Option<PathBuf>,
}

/// Finds the program of a schedule; `None` if it does not compile, which was told.
pub fn program(
    schedule: &Schedule,
    project: &[PathBuf],
    file: &Path,
    format: Format,
) -> Result<Option<Recorded>, CliError> {
    if project.is_empty() && mpil::is_recorded(schedule) {
        let program = mpil::recorded(schedule, file)?;
        return Ok(
            program.map(|program| Recorded { program: Arc::new(program), source_root: None })
        );
    }
    if project.is_empty() && !p::recorded::is_recorded(schedule) {
        return Ok(Some(Recorded { program: protocol(schedule)?, source_root: None }));
    }
    let program = p::recorded::program(schedule, project, file, format)?;
    Ok(program.map(|(program, place)| {
        let source_root = Some(place).filter(|place| !place.as_os_str().is_empty());
        Recorded { program: Arc::new(program), source_root }
    }))
}

/// The run that a replay was.
pub fn run_of(schedule: &Schedule, replayed: &Replayed) -> Report {
    let mut report = Report::new(&schedule.program, replayed.granularity);
    (report.schedules, report.steps) = (1, replayed.schedule.steps() as u64);
    report
}

fn protocol(schedule: &Schedule) -> Result<Arc<dyn AnyProgram>, CliError> {
    let (protocol, bug) =
        look_up(&schedule.program, schedule.setting(BUG_SETTING)).map_err(|why| {
            CliError::OfProtocol { why: Box::new(why), program: schedule.program.clone() }
        })?;
    Ok((protocol.program)(bug))
}
