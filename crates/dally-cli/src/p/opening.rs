//! Which project is meant, and opening it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use dally::p::diagnostic::{self, Diagnostic};
use dally::p::source::Sources;
use dally::p::{OpenError, Project, project};
use dally::report::{Style, tell};
use serde_json::json;

use super::as_text;
use crate::args::Format;
use crate::error::CliError;
use crate::print;

/// The path of a project, unless this is the name of a protocol.
pub fn path(subject: &OsStr) -> Option<&Path> {
    let path = Path::new(subject);
    let looks_so = path.extension().is_some_and(|ending| ending == "p" || ending == "pproj");
    (looks_so || project::is_project(path)).then_some(path)
}

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

/// What stands for foreign functions.
pub struct Stubs {
    pub files: Vec<PathBuf>,
    /// Whether those that no file has are made up.
    pub made: bool,
}

impl Stubs {
    fn applied(&self, paths: &[PathBuf]) -> Result<Project, OpenError> {
        let project = Project::open_all(paths, &self.files)?;
        Ok(if self.made { project.with_stubs() } else { project })
    }
}

/// The project; `None` if it has errors, which have been printed.
pub fn open(paths: &[PathBuf], stubs: &Stubs, format: Format) -> Result<Option<Project>, CliError> {
    match stubs.applied(paths) {
        Ok(project) => {
            if format == Format::Text {
                tell::err(&rendered(&project.warnings, &project.program.sources));
            }
            Ok(Some(project))
        }
        Err(error) => refuse(error, format).map(|()| None),
    }
}

fn rendered(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let colour = Style::of(&std::io::stderr()) == Style::Colour;
    diagnostic::render(diagnostics, sources, colour)
}

pub fn refuse(error: OpenError, format: Format) -> Result<(), CliError> {
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
