//! `dally check` on a P project: all its tests, and a table of them.

mod coverage;
mod document;
mod files;
mod opening;
mod options;
pub mod recorded;
mod table;

use std::path::PathBuf;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dally::checking::Checking;
use dally::contract::Schedule;
use dally::p::Project;
use dally::p::program::{Heat, Program, Test};
use dally::p::vm::{CoverageReport, Foreign, PProgram};
use dally::report::{About, Style, json, tell, text};
use dally::search::first_schedule;
use dally::search::liveness::Fairness;
use dally::search::strata::SearchKind;
use dally::settings::{OutputFormat, Settings};
use serde_json::json;

use self::opening::{Stubs, open, refuse};
pub use self::opening::{here, path, paths};
pub use self::options::translated;
use crate::args::{CheckArgs, Format, OfP, PArgs, ReplayArgs};
use crate::check::{self, Run, settings};
use crate::error::CliError;
use crate::interrupt::stop_on_interrupt;
use crate::{BAD_INPUT, BUG, CLEAN, print};

/// How many values and events a step may have by default: more than a long loop of a model needs.
const STEP_BOUND: u32 = 200_000;

/// How many times as long as others a fair schedule with a hot spec may be by default, as in the
/// reference.
const FAIR_STEPS: usize = 10;

/// How many times as long a spec that is too hot has to stay hot by default. If what it waits for is
/// as likely to come about as not in each stretch, that is a false alarm once in a hundred thousand.
const CONFIRM_TEMPERATURE: u32 = 16;

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
            format: arguments.format(),
            settings: arguments.settings.of_replays(),
        });
    }
    let stubs = Stubs { files: arguments.p.foreign.clone(), made: arguments.p.stub_foreign };
    let Some(project) = open(paths, &stubs, arguments.format())? else { return Ok(BAD_INPUT) };
    if project.program.tests.is_empty() && arguments.p.tests.is_empty() {
        tell::err("the project compiles; it has no tests, so nothing was checked\n");
    }
    let tests = chosen(&project, &arguments.p.tests)?;
    if arguments.p.list_tests {
        print(&list(&project, &tests, arguments.format()));
        return Ok(CLEAN);
    }
    let Some(programs) = programs(&project, &tests, arguments)? else { return Ok(BAD_INPUT) };
    let rows = run(arguments, paths, &project, programs)?;
    match arguments.output() {
        OutputFormat::Text if rows.is_empty() => {}
        OutputFormat::Text => print(&table::text(&rows)),
        OutputFormat::Json => print(&document::write(paths, &project, &rows)),
        output => {
            let outcomes: Vec<_> = rows.iter().map(|row| row.run.outcome(&row.test)).collect();
            print(&check::document(output, &outcomes));
        }
    }
    let failed = rows.iter().any(|row| row.run.is_failed());
    let found = rows.iter().any(|row| !row.run.checked.report.findings.is_empty());
    match (found, failed) {
        (true, _) => Ok(BUG),
        (false, true) => Err(CliError::NotAllChecked),
        (false, false) => Ok(CLEAN),
    }
}

/// The settings that suit tests of P projects.
pub fn suits() -> Settings {
    Settings {
        fairness: Fairness::Strong,
        step_bound: Some(STEP_BOUND),
        confirm_temperature: Some(CONFIRM_TEMPERATURE),
        ..Settings::default()
    }
}

/// The same settings, with how long fair schedules may be if they do not say it.
pub fn with_fair_steps(mut settings: Settings) -> Settings {
    let longest = settings.max_steps.saturating_mul(FAIR_STEPS);
    settings.max_fair_steps.get_or_insert(longest);
    settings
}

/// What schedules of the one test that is asked for are headed by; `None` if the project has errors, which
/// have been printed.
pub fn heading(paths: &[PathBuf], asked: &PArgs) -> Result<Option<Schedule>, CliError> {
    let stubs = Stubs { files: asked.foreign.clone(), made: asked.stub_foreign };
    let Some(project) = open(paths, &stubs, Format::Text)? else { return Ok(None) };
    let tests = chosen(&project, &asked.tests)?;
    let mut names: Vec<String> =
        tests.iter().map(|&test| project.program.tests[test].name.clone()).collect();
    let program = match names.len() {
        0 => return Err(CliError::NoTests),
        1 => names.remove(0),
        _ => return Err(CliError::WhichTest { known: names }),
    };
    Ok(Some(Schedule {
        program,
        settings: recorded::settings(paths, asked),
        ..Schedule::default()
    }))
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
            Err(error) => return refuse(error, arguments.format()).map(|()| None),
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
        let search = arguments.p.exhaustive.then(|| exhaustive(&project.program, test));
        let settings = with_fair_steps(settings(arguments, search, suits())?);
        let checking = Checking {
            replay_settings: recorded::settings(paths, &arguments.p),
            stop: Arc::clone(&stop),
            ..Checking::new(test.name.clone(), settings)
        };
        let options = checking.options();
        let note = match of {
            1 => String::new(),
            _ => format!("{} ({} of {of}) ", test.name, done + 1),
        };
        let program = Arc::new(program);
        let how = format!("strategy {}, seed {}", options.strategy.name(), options.seed);
        let run = Run::of(program.clone(), checking, &note);
        let row = Row { test: test.name.clone(), run, coverage: program.coverage() };
        let tells_all = arguments.p.verbose && arguments.output() == OutputFormat::Text;
        let is_wanted = arguments.p.p_files.is_some() || tells_all;
        let passing = (is_wanted && row.run.checked.report.findings.is_empty())
            .then(|| first_schedule(program.clone(), options));
        files::write(&arguments.p, &row, &program, passing.as_ref())?;
        if arguments.output() == OutputFormat::Text {
            let shown = (!arguments.p.verbose).then_some(About::STEPS_SHOWN);
            print(&row.run.findings(&row.test, shown));
            if let Some(passing) = passing.filter(|_| tells_all) {
                let style = Style::of(&std::io::stdout());
                let how = format!("{how}, granularity {}", passing.granularity);
                print(&text::execution(&passing.trace, program.name(), &how, style));
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
