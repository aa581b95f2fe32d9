//! Files that are written on demand: P's own trace and coverage, diagrams, a crate for foreign functions.

use std::path::Path;

use dally::p::vm::{MachineCoverage, PProgram};
use dally::p::{Project, foreign_crate, peasy};
use dally::report::diagram::{Diagram, State, Way};
use dally::report::text;
use dally::search::Replayed;

use super::Row;
use crate::args::{NewForeignArgs, PArgs};
use crate::error::CliError;
use crate::save;

/// Writes the files of a test that were asked for. `passing` is the execution to show if there is no
/// finding.
pub fn write(
    asked: &PArgs,
    row: &Row,
    program: &PProgram,
    passing: Option<&Replayed>,
) -> Result<(), CliError> {
    if asked.p_files.is_none() && asked.diagrams.is_none() {
        return Ok(());
    }
    let machines = program.coverage_of_machines();
    if let Some(out) = &asked.p_files {
        let findings = &row.run.checked.report.findings;
        for (number, finding) in findings.iter().enumerate() {
            let number = if number == 0 { String::new() } else { format!("-{}", number + 1) };
            let told = text::bug(&finding.bug);
            let trace = peasy::trace(program, &finding.trace, Some((&finding.bug, &told)))?;
            save(out, &format!("{}{number}.trace.json", row.test), &trace)?;
        }
        if let Some(shown) = passing {
            let told = shown.bug.as_ref().map(|bug| (bug, text::bug(bug)));
            let bug = told.as_ref().map(|(bug, told)| (*bug, told.as_str()));
            let trace = peasy::trace(program, &shown.trace, bug)?;
            save(out, &format!("{}.trace.json", row.test), &trace)?;
        }
        save(out, &format!("{}.coverage.txt", row.test), &peasy::coverage(&machines))?;
    }
    if let Some(out) = &asked.diagrams {
        for machine in &machines {
            let name = format!("{}.{}.svg", row.test, machine.name);
            save(out, &name, &diagram(&row.test, machine).svg())?;
        }
    }
    Ok(())
}

fn diagram(test: &str, machine: &MachineCoverage) -> Diagram {
    let kind = if machine.spec { "spec" } else { "machine" };
    let state = |state: &dally::p::vm::StateCoverage| {
        let leaves = |event: &String| state.exits.iter().any(|exit| exit.on.contains(event));
        let handled = state.handles.iter().filter(|(event, _)| !leaves(event));
        let handled = handled.map(|(event, reached)| (format!("on {event}"), *reached));
        let list = |what: &str, events: &[String]| {
            (!events.is_empty()).then(|| (format!("{what} {}", events.join(", ")), state.reached))
        };
        let others = [list("defer", &state.defers), list("ignore", &state.ignores)];
        State {
            name: state.name.clone(),
            reached: state.reached,
            heat: state.heat,
            lines: handled.chain(others.into_iter().flatten()).collect(),
        }
    };
    let ways = machine.states.iter().enumerate().flat_map(|(from, state)| {
        state.exits.iter().map(move |exit| Way {
            from,
            to: exit.to,
            label: exit.on.join(", "),
            reached: exit.reached,
        })
    });
    Diagram {
        title: format!("{kind} {} in {test}", machine.name),
        start: machine.states.iter().position(|state| state.start).unwrap_or(0),
        states: machine.states.iter().map(state).collect(),
        ways: ways.collect(),
    }
}

/// Writes the crate for the foreign functions of a project, and says what to do with it.
pub fn new_foreign(project: &Project, arguments: &NewForeignArgs) -> Result<String, CliError> {
    let out = &arguments.out;
    if out.join("Cargo.toml").exists() {
        return Err(CliError::CrateThere { place: out.clone() });
    }
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|why| CliError::NoPlace { path: path.to_owned(), why })
    };
    let (to, from) = (absolute(&arguments.project)?, absolute(out)?);
    let name = from.file_name().map_or("foreign".into(), |name| name.to_string_lossy());
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let name: String = letters.collect::<String>().to_lowercase();
    let name = if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name
    } else {
        format!("foreign-{name}")
    };
    let dally = match &arguments.dally {
        Some(sources) => {
            let path = absolute(&sources.join("crates/dally"))?;
            format!("path = {:?}", path.display().to_string())
        }
        None => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
    };
    let files = foreign_crate::files(project, &name, &relative(&from, &to), &dally);
    let mut told = String::new();
    for (file, text) in &files {
        save(out, file, text)?;
        told += &format!("wrote {}\n", out.join(file).display());
    }
    told += &format!(
        "\nWrite the functions in {}, then: cargo test --manifest-path {}\n",
        out.join("src/lib.rs").display(),
        out.join("Cargo.toml").display()
    );
    Ok(told)
}

/// The way from one absolute directory to a path.
fn relative(from: &Path, to: &Path) -> String {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = to.components().skip(shared);
    let down = down.map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}
