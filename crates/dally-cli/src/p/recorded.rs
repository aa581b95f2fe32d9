//! The project of a schedule: what a schedule says of it, and where it is found again.

use std::path::{Path, PathBuf};

use dally::contract::{Finding, Schedule};
use dally::p::peasy;
use dally::p::vm::{Foreign, PProgram};
use dally::report::text;

use super::opening::{Stubs, open, refuse};
use crate::args::{Format, PArgs};
use crate::error::CliError;

/// The names of the project's path and of the granularity in the settings of a schedule. The program
/// of the schedule is the test.
const PROJECT_SETTING: &str = "project";
/// The same for a path that is not text: its bytes, as hexadecimal digits.
const PROJECT_BYTES_SETTING: &str = "project-bytes";
const ATOMIC_SETTING: &str = "atomic-handlers";
/// The stubs that a schedule was recorded with, so that a replay has the same.
const FOREIGN_SETTING: &str = "foreign";
const STUBBED_SETTING: &str = "stub-foreign";

/// What a replay of a test of the project at these paths needs to know.
pub fn settings(paths: &[PathBuf], asked: &PArgs) -> Vec<(String, String)> {
    let flag = |is_set: bool, name: &str| is_set.then(|| (name.to_owned(), "1".to_owned()));
    let mut settings: Vec<_> = paths.iter().map(|path| path_setting(path)).collect();
    settings.extend(flag(asked.atomic_handlers, ATOMIC_SETTING));
    let stubs = asked.foreign.iter().map(|file| file.display().to_string());
    settings.extend(stubs.map(|file| (FOREIGN_SETTING.to_owned(), file)));
    settings.extend(flag(asked.stub_foreign, STUBBED_SETTING));
    settings
}

/// The test of a schedule of a P project, and the directory from which its files are seen; `None` if
/// the project has errors, which have been printed. `paths` are the project if it is not where the
/// schedule says, and `file` that of the schedule.
pub fn program(
    schedule: &Schedule,
    paths: &[PathBuf],
    file: &Path,
    format: Format,
) -> Result<Option<(PProgram, PathBuf)>, CliError> {
    let recorded = paths_of(schedule);
    let paths = if paths.is_empty() { &recorded } else { paths };
    let Some(first) = paths.first() else {
        return Err(CliError::NoProject { program: schedule.program.clone() });
    };
    let Some(place) = place_of(paths, file) else {
        let missing = paths.iter().find(|path| !path.exists()).unwrap_or(first);
        return Err(CliError::ProjectGone { path: missing.to_owned() });
    };
    let files = schedule.settings.iter().filter(|(name, _)| name == FOREIGN_SETTING);
    let stubs = Stubs {
        files: files.map(|(_, file)| place.join(file)).collect(),
        made: schedule.setting(STUBBED_SETTING).is_some(),
    };
    let paths: Vec<PathBuf> = paths.iter().map(|path| place.join(path)).collect();
    let Some(project) = open(&paths, &stubs, format)? else { return Ok(None) };
    // As when it was recorded: where a bug showed is part of what it is.
    let moved = paths.first().zip(recorded.first()).and_then(|(now, then)| seen_from(now, then));
    let place = moved.unwrap_or(place);
    let project = project.shown_from(&place);
    match project.test(&schedule.program, Foreign::default()) {
        Ok(program) => {
            let atomic = schedule.setting(ATOMIC_SETTING).is_some();
            Ok(Some((program.atomic_handlers(atomic), place)))
        }
        Err(error) => refuse(error, format).map(|()| None),
    }
}

/// A finding of a P project in the form of P's own checker; `None` if the project has errors, which have been
/// printed.
pub fn trace(
    finding: &Finding,
    paths: &[PathBuf],
    file: &Path,
) -> Result<Option<String>, CliError> {
    let program = program(&finding.schedule, paths, file, Format::Text)?;
    let written = program.map(|(program, _)| {
        let told = text::bug(&finding.bug);
        peasy::trace(&program, &finding.trace, Some((&finding.bug, &told)))
    });
    Ok(written.transpose()?)
}

pub fn is_recorded(schedule: &Schedule) -> bool {
    !paths_of(schedule).is_empty()
}

fn path_setting(path: &Path) -> (String, String) {
    match path.to_str() {
        Some(text) => (PROJECT_SETTING.to_owned(), text.to_owned()),
        None => {
            let bytes = path.as_os_str().as_encoded_bytes();
            let digits = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            (PROJECT_BYTES_SETTING.to_owned(), digits)
        }
    }
}

fn paths_of(schedule: &Schedule) -> Vec<PathBuf> {
    let path = |(name, text): &(String, String)| match &**name {
        PROJECT_SETTING => Some(PathBuf::from(text)),
        PROJECT_BYTES_SETTING => path_of_digits(text),
        _ => None,
    };
    schedule.settings.iter().filter_map(path).collect()
}

fn path_of_digits(digits: &str) -> Option<PathBuf> {
    let byte = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>()?;
    #[cfg(unix)]
    return Some(PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(
        &bytes,
    )));
    #[cfg(not(unix))]
    return String::from_utf8(bytes).ok().map(PathBuf::from);
}

/// The directory that paths are meant from: the present one or one above it, or one above the file of
/// the schedule, where the command ran that wrote it. Empty for the present one.
fn place_of(paths: &[PathBuf], file: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let there = std::path::absolute(file).unwrap_or_default();
    let above = there.ancestors().chain(here.ancestors()).skip(1).map(Path::to_owned);
    let mut places = std::iter::once(PathBuf::new()).chain(above);
    places.find(|place| paths.iter().all(|path| place.join(path).exists()))
}

/// The directory from which a path, or what is in it, is the one that was recorded.
fn seen_from(path: &Path, recorded: &Path) -> Option<PathBuf> {
    match path.ends_with(recorded) {
        true => path.ancestors().nth(recorded.components().count()).map(Path::to_owned),
        false => path.join(recorded).exists().then(|| path.to_owned()),
    }
}
