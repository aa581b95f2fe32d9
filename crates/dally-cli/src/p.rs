//! `dally check` on a P project: all its tests, and a table of them.

mod coverage;
mod document;
mod files;
mod options;
mod table;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dally::checking::Checking;
use dally::contract::Schedule;
use dally::p::diagnostic::{self, Diagnostic};
use dally::p::program::{Heat, Program, Test};
use dally::p::source::Sources;
use dally::p::vm::{CoverageReport, Foreign, PProgram};
use dally::p::{OpenError, Project, project};
use dally::report::{About, Style, json, tell, text};
use dally::search::liveness::Fairness;
use dally::search::strata::SearchKind;
use dally::settings::Settings;
use serde_json::json;

use crate::args::{CheckArgs, Format, OfP, ReplayArgs};
use crate::check::{Run, settings};
use crate::error::CliError;
use crate::interrupt::stop_on_interrupt;
use crate::{BAD_INPUT, BUG, CLEAN, print};

/// The names of the project's path and of the granularity in the settings of a schedule. The program
/// of the schedule is the test.
const PROJECT_SETTING: &str = "project";
/// The same for a path that is not text: its bytes, as hexadecimal digits.
const PROJECT_BYTES_SETTING: &str = "project-bytes";
const ATOMIC_SETTING: &str = "atomic-handlers";
/// The stubs that a schedule was recorded with, so that a replay has the same.
const FOREIGN_SETTING: &str = "foreign";
const STUBBED_SETTING: &str = "stub-foreign";

/// How many values and events a step may have by default: more than a long loop of a model needs.
const STEP_BOUND: u32 = 200_000;

/// How many times as long as others a fair schedule with a hot spec may be by default, as in the
/// reference.
const FAIR_STEPS: usize = 10;

/// The path of a project, unless this is the name of a protocol.
pub fn path(subject: &OsStr) -> Option<&Path> {
    let path = Path::new(subject);
    let looks_so = path.extension().is_some_and(|ending| ending == "p" || ending == "pproj");
    (looks_so || project::is_project(path)).then_some(path)
}

pub use self::options::translated;

/// The paths of a project that several arguments make up.
pub fn paths(subjects: &[OsString]) -> Result<Vec<PathBuf>, CliError> {
    let path = |subject: &OsString| match path(subject) {
        Some(path) => Ok(path.to_owned()),
        None => Err(CliError::NotOfProject { subject: subject.clone() }),
    };
    subjects.iter().map(path).collect()
}

/// The project of the working directory.
pub fn here() -> Result<PathBuf, CliError> {
    let mut projects = project::projects_in(Path::new(".")).into_iter();
    let named = |path: PathBuf| match path.strip_prefix(".") {
        Ok(path) => path.to_owned(),
        Err(_) => path,
    };
    match (projects.next().map(named), projects.next().map(named)) {
        (Some(project), None) => Ok(project),
        (Some(one), Some(other)) => Err(CliError::SeveralProjects { one, other }),
        (None, _) => Err(CliError::NothingHere),
    }
}

/// `dally p`: what is there for P projects besides `dally check`.
pub fn other(command: &OfP) -> Result<u8, CliError> {
    match command {
        OfP::Help => print(&options::table()),
        OfP::Grammar => print(&dally::p::grammar::textmate()),
        OfP::NewForeign(arguments) => {
            let none = Stubs { files: Vec::new(), made: false };
            let Some(project) = open(slice::from_ref(&arguments.project), &none, Format::Text)?
            else {
                return Ok(BAD_INPUT);
            };
            print(&files::new_foreign(&project, arguments)?);
        }
    }
    Ok(CLEAN)
}

/// Checks the tests of a project and prints the results; answers the exit code.
pub fn check(arguments: &CheckArgs, paths: &[PathBuf]) -> Result<u8, CliError> {
    if arguments.bug.is_some() {
        return Err(CliError::ForProtocols);
    }
    if let Some(schedule) = &arguments.p.replay {
        return crate::replay::replay(&ReplayArgs {
            schedule: schedule.clone(),
            project: paths.to_vec(),
            best_effort: false,
            rounds: None,
            format: arguments.format,
            settings: arguments.settings.of_replays(),
        });
    }
    let stubs = Stubs { files: arguments.p.foreign.clone(), made: arguments.p.stub_foreign };
    let Some(project) = open(paths, &stubs, arguments.format)? else { return Ok(BAD_INPUT) };
    if project.program.tests.is_empty() && arguments.p.tests.is_empty() {
        tell::err("the project compiles; it has no tests, so nothing was checked\n");
    }
    let tests = chosen(&project, &arguments.p.tests)?;
    if arguments.p.list_tests {
        print(&list(&project, &tests, arguments.format));
        return Ok(CLEAN);
    }
    let Some(programs) = programs(&project, &tests, arguments)? else { return Ok(BAD_INPUT) };
    let rows = run(arguments, paths, &project, programs)?;
    match arguments.format {
        Format::Text if rows.is_empty() => {}
        Format::Text => print(&table::text(&rows)),
        Format::Json => print(&document::write(paths, &project, &rows)),
    }
    let failed = rows.iter().any(|row| row.run.is_failed());
    let found = rows.iter().any(|row| !row.run.checked.report.findings.is_empty());
    match (found, failed) {
        (true, _) => Ok(BUG),
        (false, true) => Err(CliError::NotAllChecked),
        (false, false) => Ok(CLEAN),
    }
}

/// The test of a schedule of a P project, and the directory from which its files are seen; `None` if
/// the project has errors, which have been printed. `paths` are the project if it is not where the
/// schedule says, and `file` that of the schedule.
pub fn recorded(
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
    return Some(PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&bytes)));
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

/// What stands for foreign functions.
struct Stubs {
    files: Vec<PathBuf>,
    /// Whether those that no file has are made up.
    made: bool,
}

impl Stubs {
    fn applied(&self, paths: &[PathBuf]) -> Result<Project, OpenError> {
        let project = Project::open_all(paths, &self.files)?;
        Ok(if self.made { project.with_stubs() } else { project })
    }
}

/// The project; `None` if it has errors, which have been printed.
fn open(paths: &[PathBuf], stubs: &Stubs, format: Format) -> Result<Option<Project>, CliError> {
    match stubs.applied(paths) {
        Ok(project) => {
            if format == Format::Text {
                tell(&project.warnings, &project.program);
            }
            Ok(Some(project))
        }
        Err(error) => refuse(error, format).map(|()| None),
    }
}

fn tell(warnings: &[Diagnostic], program: &Program) {
    tell::err(&rendered(warnings, &program.sources));
}

fn rendered(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let colour = Style::of(&std::io::stderr()) == Style::Colour;
    diagnostic::render(diagnostics, sources, colour)
}

fn refuse(error: OpenError, format: Format) -> Result<(), CliError> {
    match (error, format) {
        (OpenError::Files(error), _) => Err(error.into()),
        (OpenError::Source { diagnostics, sources }, Format::Text) => {
            tell::err(&rendered(&diagnostics, &sources));
            Ok(())
        }
        (OpenError::Source { diagnostics, sources }, Format::Json) => {
            let reports = diagnostic::Report::all(&diagnostics, &sources);
            let document = json!({
                "format": "dally-diagnostics",
                "version": 1,
                "diagnostics": reports,
            });
            print(&as_text(&document));
            Ok(())
        }
    }
}

/// The numbers of the tests with these names, or else of those whose names begin so.
fn chosen(project: &Project, asked: &[String]) -> Result<Vec<usize>, CliError> {
    let names: Vec<&str> = project.tests().collect();
    if names.is_empty() && !asked.is_empty() {
        return Err(CliError::NoTests);
    }
    if asked.is_empty() {
        return Ok((0..names.len()).collect());
    }
    let mut chosen = Vec::new();
    for asked in asked {
        let exact = names.iter().position(|name| name == asked);
        let some: Vec<usize> = match exact {
            Some(number) => vec![number],
            None => (0..names.len()).filter(|&number| names[number].starts_with(asked)).collect(),
        };
        if some.is_empty() {
            let known = names.into_iter().map(str::to_owned).collect();
            return Err(CliError::NoTest { name: asked.clone(), known });
        }
        chosen.extend(some);
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

fn list(project: &Project, tests: &[usize], format: Format) -> String {
    let names = tests.iter().map(|&test| project.program.tests[test].name.as_str());
    match format {
        Format::Text => names.map(|name| format!("{name}\n")).collect(),
        Format::Json => {
            let names: Vec<&str> = names.collect();
            let document = json!({ "format": "dally-tests", "version": 1, "tests": names });
            as_text(&document)
        }
    }
}

/// The programs of the tests; `None` after an error, which has been printed.
fn programs(
    project: &Project,
    tests: &[usize],
    arguments: &CheckArgs,
) -> Result<Option<Vec<(usize, PProgram)>>, CliError> {
    let mut programs = Vec::new();
    for &test in tests {
        let name = &project.program.tests[test].name;
        let program = match project.test(name, Foreign::default()) {
            Ok(program) => program.atomic_handlers(arguments.p.atomic_handlers),
            Err(error) => return refuse(error, arguments.format).map(|()| None),
        };
        if let (true, Some(caveat)) = (arguments.p.atomic_handlers, program.caveat()) {
            tell::err(&format!("note: {name}: atomic handlers can miss bugs: {caveat}\n"));
        }
        programs.push((test, program));
    }
    Ok(Some(programs))
}

pub struct Row {
    pub test: String,
    pub run: Run,
    pub coverage: CoverageReport,
}

fn run(
    arguments: &CheckArgs,
    paths: &[PathBuf],
    project: &Project,
    programs: Vec<(usize, PProgram)>,
) -> Result<Vec<Row>, CliError> {
    let stop = stop_on_interrupt()?;
    let of = programs.len();
    let mut rows = Vec::new();
    for (done, (number, program)) in programs.into_iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let test = &project.program.tests[number];
        let mut replay_settings: Vec<_> = paths.iter().map(|path| path_setting(path)).collect();
        if arguments.p.atomic_handlers {
            replay_settings.push((ATOMIC_SETTING.to_owned(), "1".to_owned()));
        }
        let stubs = arguments.p.foreign.iter().map(|file| file.display().to_string());
        replay_settings.extend(stubs.map(|file| (FOREIGN_SETTING.to_owned(), file)));
        if arguments.p.stub_foreign {
            replay_settings.push((STUBBED_SETTING.to_owned(), "1".to_owned()));
        }
        let search = arguments.p.exhaustive.then(|| exhaustive(&project.program, test));
        let suits = Settings {
            fairness: Fairness::Strong,
            step_bound: Some(STEP_BOUND),
            confirm_temperature: Some(1),
            ..Settings::default()
        };
        let mut settings = settings(arguments, search, suits)?;
        let longest = settings.max_steps.saturating_mul(FAIR_STEPS);
        settings.max_fair_steps.get_or_insert(longest);
        let checking = Checking {
            replay_settings,
            stop: Arc::clone(&stop),
            ..Checking::new(test.name.clone(), settings.clone())
        };
        let note = match of {
            1 => String::new(),
            _ => format!("{} ({} of {of}) ", test.name, done + 1),
        };
        let program = Arc::new(program);
        let run = Run::of(program.clone(), checking, &note);
        let row = Row { test: test.name.clone(), run, coverage: program.coverage() };
        files::write(&arguments.p, &row, &program, &settings)?;
        if arguments.format == Format::Text {
            let shown = (!arguments.p.verbose).then_some(About::STEPS_SHOWN);
            print(&row.run.findings(&row.test, shown));
            if arguments.p.verbose && row.run.checked.report.findings.is_empty() {
                print(&files::execution(&program, &settings));
            }
            if of == 1 && !row.run.is_failed() {
                let style = Style::of(&std::io::stdout());
                print(&(text::summary(&row.test, &row.run.checked.report, style) + "\n"));
            }
        }
        row.run.tell_notes();
        rows.push(row);
    }
    Ok(rows)
}

/// The search that visits all states of a test. With hot states it is one that also finds cycles.
fn exhaustive(program: &Program, test: &Test) -> SearchKind {
    let hot = test.specs.iter().any(|(spec, _)| {
        let states = &program.machines[spec.index()].states;
        states.iter().any(|state| state.heat == Heat::Hot)
    });
    if hot { SearchKind::Map } else { SearchKind::Ses }
}

fn as_text(document: &serde_json::Value) -> String {
    json::visible(&format!("{document:#}\n"))
}
