//! A project, from its path to programs that can be run.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::compile::compile;
use crate::diagnostic::{self, Diagnostic, Severity};
use crate::program::Program;
use crate::project::{self, ProjectError};
use crate::source::Sources;
use crate::vm::{Foreign, PProgram};

/// A project without errors. Each of its tests is a [`dally_core::Program`]:
///
/// ```
/// use dally_core::Program;
/// use dally_p::{Project, vm::{Foreign, Value}};
///
/// let source = "fun Twice(n: int): int;
///     machine Main { start state S { entry { assert Twice(2) == 4; } } }
///     test t [main=Main]: { Main };";
/// let project = Project::of_source("twice.p", source).unwrap();
/// let foreign = Foreign::default().fun("Twice", |values| match values {
///     [Value::Int(n)] => Ok(Value::Int(2 * n)),
///     _ => Err("Twice takes a number".into()),
/// });
/// let test = project.test("t", foreign).unwrap();
/// assert!(test.start().is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Project {
    /// The compiled project.
    pub program: Arc<Program>,
    /// The compiler's warnings.
    pub warnings: Vec<Diagnostic>,
}

impl Project {
    /// The project at this path: a `.p` file, a folder or a `.pproj` file.
    pub fn open(path: impl AsRef<Path>) -> Result<Project, OpenError> {
        Project::open_all(&[path], &[])
    }

    /// The project of what is at these paths, together, with these files of stubs (see
    /// [`Sources::stubs`]).
    pub fn open_all(paths: &[impl AsRef<Path>], stubs: &[PathBuf]) -> Result<Project, OpenError> {
        let mut loaded = project::load(paths).map_err(OpenError::Files)?;
        for file in stubs {
            let text = project::read(file).map_err(OpenError::Files)?;
            loaded.sources.stubs(file.display().to_string(), text);
        }
        let mut project = Project::of_sources(loaded.sources)?;
        project.warnings.splice(0..0, loaded.warnings);
        Ok(project)
    }

    /// Shows the paths of files in this folder without it, as they are seen from there. Which bugs are
    /// the same goes by paths as they are shown.
    #[must_use]
    pub fn shown_from(mut self, folder: &Path) -> Project {
        Arc::make_mut(&mut self.program).sources.show_from(folder);
        self
    }

    /// A project of one file that is not on disk.
    pub fn of_source(path: &str, text: &str) -> Result<Project, OpenError> {
        let mut sources = Sources::default();
        sources.add(path, text);
        Project::of_sources(sources)
    }

    /// A project of these files.
    pub fn of_sources(sources: Sources) -> Result<Project, OpenError> {
        let compiled = compile(sources);
        match compiled.program {
            Some(program) => {
                Ok(Project { program: Arc::new(program), warnings: compiled.diagnostics })
            }
            None => Err(OpenError::Source {
                diagnostics: compiled.diagnostics,
                sources: Box::new(compiled.sources),
            }),
        }
    }

    /// The names of its tests, in the order of the source.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        self.program.tests.iter().map(|test| test.name.as_str())
    }

    /// The test of this name, with the foreign functions that it needs.
    pub fn test(&self, name: &str, foreign: Foreign) -> Result<PProgram, OpenError> {
        let program = match self.tests().position(|test| test == name) {
            Some(number) => PProgram::new(&self.program, number, foreign),
            None => Err(self.no_test(name)),
        };
        program.map_err(|wrong| OpenError::Source {
            diagnostics: vec![wrong],
            sources: Box::new(self.program.sources.clone()),
        })
    }

    fn no_test(&self, name: &str) -> Diagnostic {
        let names: Vec<&str> = self.tests().collect();
        let hint = match names.is_empty() {
            true => "declare one: `test t [main=M]: { M };`".to_owned(),
            false => format!("there are: {}", names.join(", ")),
        };
        Diagnostic::new(Severity::Error, format!("there is no test `{name}`")).hint(hint)
    }
}

/// Why a project cannot be run. `Debug` prints it as `Display` does, so that `unwrap` in a test says
/// what is wrong.
#[derive(Clone, thiserror::Error)]
pub enum OpenError {
    /// The files cannot be read.
    #[error("{0}")]
    Files(ProjectError),
    /// The files have errors.
    #[error("{}", diagnostic::render(diagnostics, sources, false))]
    Source {
        /// The errors, and warnings too.
        diagnostics: Vec<Diagnostic>,
        /// The files that the diagnostics point into.
        sources: Box<Sources>,
    },
}

impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
