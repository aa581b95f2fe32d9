//! `dally check` on a P project: all its tests, one after the other, and a table of them.

mod coverage;
mod table;

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dally::checking::Checking;
use dally::contract::Schedule;
use dally::p::diagnostic::{self, Diagnostic};
use dally::p::program::{Heat, Program, Test};
use dally::p::vm::{CoverageReport, Foreign, PProgram};
use dally::p::{OpenError, Project, project};
use dally::report::{Style, json, text};
use dally::search::strata::SearchKind;
use serde_json::json;

use crate::args::{CheckArgs, Format, ReplayArgs};
use crate::check::{Run, settings};
use crate::interrupt::stop_on_interrupt;
use crate::{BAD_INPUT, BUG, CLEAN, print};

/// The names under which a schedule remembers the path of its project and its granularity. The
/// name of its program is that of the test.
const PROJECT_SETTING: &str = "project";
const ATOMIC_SETTING: &str = "atomic-handlers";

/// How many steps a schedule has at most if nobody says otherwise.
const MAX_STEPS: usize = 10_000;

/// The path of a project, if this is one and not the name of a protocol.
pub fn path(subject: &str) -> Option<&Path> {
    let path = Path::new(subject);
    let looks_so = subject.ends_with(".p") || subject.ends_with(".pproj");
    (looks_so || project::is_project(path)).then_some(path)
}

/// Checks the tests of a project and prints what came of them; answers the exit code.
pub fn check(arguments: &CheckArgs, path: &Path) -> Result<u8, String> {
    if arguments.bug.is_some() {
        return Err("--bug is for protocols, and this is a P project".into());
    }
    if let Some(schedule) = &arguments.p.replay {
        return crate::replay::replay(&ReplayArgs {
            schedule: schedule.clone(),
            project: Some(path.to_owned()),
            best_effort: false,
            rounds: None,
            format: arguments.format,
            settings: arguments.settings.of_replays(),
        });
    }
    let project = match open(path, arguments.format)? {
        Some(project) => project,
        None => return Ok(BAD_INPUT),
    };
    let tests = chosen(&project, &arguments.p.tests)?;
    if arguments.p.list_tests {
        print(&list(&project, &tests, arguments.format));
        return Ok(CLEAN);
    }
    let Some(programs) = programs(&project, &tests, arguments)? else { return Ok(BAD_INPUT) };
    let rows = run(arguments, path, &project, programs)?;
    match arguments.format {
        Format::Text => print(&table::text(&rows)),
        Format::Json => print(&as_json(path, &project, &rows)),
    }
    let failed = rows.iter().any(|row| row.run.is_failed());
    let found = rows.iter().any(|row| !row.run.checked.report.findings.is_empty());
    match (found, failed) {
        (true, _) => Ok(BUG),
        (false, true) => Err("not all tests could be checked".into()),
        (false, false) => Ok(CLEAN),
    }
}

/// The test that a schedule of a P project is of, ready to be run; `None` if the project cannot be
/// compiled, which has been said. `path` is the project if it is not where the schedule says.
pub fn recorded(
    schedule: &Schedule,
    path: Option<&Path>,
    format: Format,
) -> Result<Option<PProgram>, String> {
    let Some(path) = path.or(schedule.setting(PROJECT_SETTING).map(Path::new)) else {
        return Err(format!("the schedule is of `{}`, which is no P project", schedule.program));
    };
    if !path.exists() {
        return Err(format!(
            "the schedule is of the P project `{}`, which is not there\n  \
             run this where it is, or name it: dally check PATH --replay SCHEDULE",
            path.display()
        ));
    }
    let Some(project) = open(path, format)? else { return Ok(None) };
    match project.test(&schedule.program, Foreign::default()) {
        Ok(program) => {
            let atomic = schedule.setting(ATOMIC_SETTING).is_some();
            Ok(Some(program.atomic_handlers(atomic)))
        }
        Err(error) => refuse(error, format).map(|()| None),
    }
}

/// Whether a schedule is of a P project.
pub fn is_recorded(schedule: &Schedule) -> bool {
    schedule.setting(PROJECT_SETTING).is_some()
}

/// The project; `None` if there are errors in it, which have been told.
fn open(path: &Path, format: Format) -> Result<Option<Project>, String> {
    match Project::open(path) {
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
    let colour = std::io::stderr().is_terminal();
    eprint!("{}", diagnostic::render(warnings, &program.sources, colour));
}

/// Tells why a project cannot be run.
fn refuse(error: OpenError, format: Format) -> Result<(), String> {
    match (error, format) {
        (OpenError::Files(error), _) => Err(error.to_string()),
        (OpenError::Source { diagnostics, sources }, Format::Text) => {
            let colour = std::io::stderr().is_terminal();
            eprint!("{}", diagnostic::render(&diagnostics, &sources, colour));
            Ok(())
        }
        (OpenError::Source { diagnostics, sources }, Format::Json) => {
            let reports = diagnostic::Report::all(&diagnostics, &sources);
            let document = json!({
                "format": "dally-diagnostics",
                "version": 1,
                "diagnostics": reports,
            });
            print(&format!("{document:#}\n"));
            Ok(())
        }
    }
}

/// The numbers of the tests that are asked for: that of a name, or else those that begin with it.
fn chosen(project: &Project, asked: &[String]) -> Result<Vec<usize>, String> {
    let names: Vec<&str> = project.tests().collect();
    if names.is_empty() {
        return Err("the project has no tests\n  \
             declare one: test t [main=M]: { M };"
            .into());
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
            return Err(format!(
                "no test is called `{asked}` or begins so; there are: {}",
                names.join(", ")
            ));
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
            format!("{document:#}\n")
        }
    }
}

/// The programs of the tests; `None` if one cannot be had, which has been told.
fn programs(
    project: &Project,
    tests: &[usize],
    arguments: &CheckArgs,
) -> Result<Option<Vec<(usize, PProgram)>>, String> {
    let mut programs = Vec::new();
    for &test in tests {
        let name = &project.program.tests[test].name;
        let program = match project.test(name, Foreign::default()) {
            Ok(program) => program.atomic_handlers(arguments.p.atomic_handlers),
            Err(error) => return refuse(error, arguments.format).map(|()| None),
        };
        if let (true, Some(caveat)) = (arguments.p.atomic_handlers, program.caveat()) {
            eprintln!("note: {name}: atomic handlers can miss bugs: {caveat}");
        }
        programs.push((test, program));
    }
    Ok(Some(programs))
}

/// A test that was run.
pub struct Row {
    /// Its name.
    pub test: String,
    /// What came of it.
    pub run: Run,
    /// What it reached.
    pub coverage: CoverageReport,
}

/// Runs the tests, and tells what is found as it is found.
fn run(
    arguments: &CheckArgs,
    path: &Path,
    project: &Project,
    programs: Vec<(usize, PProgram)>,
) -> Result<Vec<Row>, String> {
    let stop = stop_on_interrupt()?;
    let of = programs.len();
    let mut rows = Vec::new();
    for (done, (number, program)) in programs.into_iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let test = &project.program.tests[number];
        let mut replay_settings = vec![(PROJECT_SETTING.to_owned(), path.display().to_string())];
        if arguments.p.atomic_handlers {
            replay_settings.push((ATOMIC_SETTING.to_owned(), "1".to_owned()));
        }
        let search = arguments.p.exhaustive.then(|| exhaustive(&project.program, test));
        let settings = settings(arguments, search, MAX_STEPS).map_err(|why| why.to_string())?;
        let checking = Checking {
            replay_settings,
            stop: Arc::clone(&stop),
            ..Checking::new(test.name.clone(), settings)
        };
        let note = match of {
            1 => String::new(),
            _ => format!("{} ({} of {of}) ", test.name, done + 1),
        };
        let program = Arc::new(program);
        let run = Run::of(program.clone(), checking, &note);
        let row = Row { test: test.name.clone(), run, coverage: program.coverage() };
        if arguments.format == Format::Text {
            print(&row.run.findings(&row.test));
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

/// What goes through all states of a test. Hot states are waited in for ever on cycles, so those
/// are looked for.
fn exhaustive(program: &Program, test: &Test) -> SearchKind {
    let hot = test.specs.iter().any(|(spec, _)| {
        let states = &program.machines[spec.index()].states;
        states.iter().any(|state| state.heat == Some(Heat::Hot))
    });
    if hot { SearchKind::Map } else { SearchKind::Ses }
}

fn as_json(path: &Path, project: &Project, rows: &[Row]) -> String {
    let tests: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            json!({
                "test": row.test,
                "verdict": table::verdict(row),
                "coverage": coverage::json(&row.coverage),
                "run": json::run_document(&row.run.checked.report),
            })
        })
        .collect();
    let document = json!({
        "format": "dally-p-run",
        "version": 2,
        "project": path.display().to_string(),
        "warnings": diagnostic::Report::all(&project.warnings, &project.program.sources),
        "tests": tests,
    });
    format!("{document:#}\n")
}
