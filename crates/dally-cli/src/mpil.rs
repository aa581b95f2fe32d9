//! `dally check` on a program in MPIL.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use dally::checking::Checking;
use dally::contract::Schedule;
use dally::mpil::MpilProgram;
use dally::report::{Style, tell};
use dally::settings::Settings;

use crate::args::CheckArgs;
use crate::check::{Run, settings};
use crate::error::CliError;
use crate::interrupt::stop_on_interrupt;
use crate::{BAD_INPUT, BUG, CLEAN};

/// The names of the file and of its parameters in the settings of a schedule.
const FILE_SETTING: &str = "mpil";
const PARAMETER_SETTING: &str = "param";

/// Whether this names a program in MPIL.
pub fn is_program(subject: &OsStr) -> bool {
    Path::new(subject).extension().is_some_and(|ending| ending == "mpil")
}

/// Checks a program and prints the result; answers the exit code.
pub fn check(arguments: &CheckArgs, subject: &OsStr) -> Result<u8, CliError> {
    let given = arguments.p.given().or(arguments.bug.as_ref().map(|_| "--bug"));
    if let Some(flag) = given {
        return Err(CliError::NotForMpil { flag });
    }
    let parameters = arguments.parameters.iter().map(|given| parameter(given));
    let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
    let path = Path::new(subject);
    let Some(program) = compiled(path, &parameters)? else { return Ok(BAD_INPUT) };
    let name = path.file_stem().unwrap_or(subject).to_string_lossy().into_owned();
    let checking = Checking {
        replay_settings: settings_of(path, &parameters),
        stop: stop_on_interrupt()?,
        ..Checking::new(name.clone(), settings(arguments, None, Settings::default())?)
    };
    let run = Run::of(std::sync::Arc::new(program), checking, "");
    run.print(&name, &name, arguments.output());
    if run.is_failed() {
        return Err(CliError::NotChecked { program: name, notes: run.notes() });
    }
    run.tell_notes();
    Ok(if run.checked.report.findings.is_empty() { CLEAN } else { BUG })
}

/// What schedules of this program are headed by.
pub fn heading(subject: &OsStr, parameters: &[String]) -> Result<Schedule, CliError> {
    let parameters = parameters.iter().map(|given| parameter(given));
    let parameters = parameters.collect::<Result<Vec<_>, _>>()?;
    let path = Path::new(subject);
    let program = path.file_stem().unwrap_or(subject).to_string_lossy().into_owned();
    Ok(Schedule { program, settings: settings_of(path, &parameters), ..Schedule::default() })
}

/// What a replay of this program needs to know.
fn settings_of(path: &Path, parameters: &[(String, i64)]) -> Vec<(String, String)> {
    let mut settings = vec![(FILE_SETTING.to_owned(), path.display().to_string())];
    let shown = parameters.iter().map(|(name, value)| format!("{name}={value}"));
    settings.extend(shown.map(|given| (PARAMETER_SETTING.to_owned(), given)));
    settings
}

fn parameter(given: &str) -> Result<(String, i64), CliError> {
    let read = given.split_once('=').and_then(|(name, value)| {
        let value = value.trim().parse().ok()?;
        Some((name.trim().to_owned(), value))
    });
    read.ok_or_else(|| CliError::NoParameter { given: given.to_owned() })
}

/// The program; `None` if it has errors, which have been printed.
fn compiled(path: &Path, parameters: &[(String, i64)]) -> Result<Option<MpilProgram>, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|why| CliError::NotRead { path: path.to_owned(), why })?;
    match MpilProgram::compile(&path.display().to_string(), &text, parameters) {
        Ok(program) => Ok(Some(program)),
        Err(wrong) => {
            let colour = Style::of(&std::io::stderr()) == Style::Colour;
            tell::err(&wrong.render(colour));
            Ok(None)
        }
    }
}

/// Whether a schedule is of a program in MPIL.
pub fn is_recorded(schedule: &Schedule) -> bool {
    schedule.setting(FILE_SETTING).is_some()
}

/// The program of a schedule, looked for where the command was run and above the schedule's file;
/// `None` if it has errors, which have been printed.
pub fn recorded(schedule: &Schedule, file: &Path) -> Result<Option<MpilProgram>, CliError> {
    let path = PathBuf::from(schedule.setting(FILE_SETTING).unwrap_or_default());
    let there = std::path::absolute(file).unwrap_or_default();
    let above = there.ancestors().skip(1).map(|folder| folder.join(&path));
    let found = std::iter::once(path.clone()).chain(above).find(|path| path.exists());
    let given = schedule.settings.iter().filter(|(name, _)| name == PARAMETER_SETTING);
    let parameters = given.map(|(_, given)| parameter(given)).collect::<Result<Vec<_>, _>>()?;
    compiled(&found.unwrap_or(path), &parameters)
}
