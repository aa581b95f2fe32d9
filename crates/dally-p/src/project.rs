//! Which files make a project: a `.p` file, a folder, or a `.pproj` with the projects it includes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Sources;

/// The files of a project, and what is wrong with the list of them.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The source files.
    pub sources: Sources,
    /// Files and folders that are listed and are not there, as the reference leaves them out.
    pub warnings: Vec<Diagnostic>,
}

/// The source files of the project at these paths together: of a `.p` file itself, of a `.pproj` file
/// those it lists, of a folder those that the one `.pproj` file in it lists, or else all `.p` files in
/// it and its subfolders but hidden ones. Files are sorted by path and occur once. Paths are shown as
/// they were given.
pub fn load(paths: &[impl AsRef<Path>]) -> Result<Loaded, ProjectError> {
    let mut files = Files::default();
    for path in paths.iter().map(AsRef::as_ref) {
        let found = files.paths.len();
        if has_extension(path, "pproj") {
            files.project(path, None)?;
        } else if let Some(project) = only_project(path) {
            files.project(&project, None)?;
        } else {
            files.file_or_folder(path)?;
        }
        if files.paths.len() == found && found == 0 {
            let mut empty = ProjectError::new(path, "there is no P source file in it");
            // Where all that is listed is missing, that is the reason.
            empty.hint = Some(match files.warnings.first() {
                Some(warning) => warning.message.clone(),
                None => "source files end with `.p`".to_owned(),
            });
            return Err(empty);
        }
    }
    let mut sources = Sources::default();
    for (file, own) in &files.paths {
        let (path, text) = (file.display().to_string(), read(file)?);
        if *own {
            sources.add(path, text)
        } else {
            sources.include(path, text)
        };
    }
    Ok(Loaded { sources, warnings: files.warnings })
}

/// The project files of a folder, sorted.
pub fn projects_in(folder: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(folder).into_iter().flatten();
    let inside = inside.filter_map(|entry| Some(entry.ok()?.path()));
    let is_project = |path: &PathBuf| has_extension(path, "pproj") && path.is_file();
    let mut projects: Vec<PathBuf> =
        inside.filter(|path| !is_hidden(path)).filter(is_project).collect();
    projects.sort_unstable();
    projects
}

/// The project file of a folder, if there is exactly one.
fn only_project(folder: &Path) -> Option<PathBuf> {
    let mut projects = projects_in(folder);
    projects.pop().filter(|_| projects.is_empty())
}

/// Whether a path is one that [`load`] is meant for: an existing `.p` file, `.pproj` file or
/// folder.
pub fn is_project(path: &Path) -> bool {
    path.is_dir() || (path.is_file() && (has_extension(path, "p") || has_extension(path, "pproj")))
}

/// Why a project could not be loaded.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{}: {message}{}", path.display(), after(":", line), after("\nhelp: ", hint))]
pub struct ProjectError {
    /// The file or folder.
    pub path: PathBuf,
    /// The line in the file, if the error is about one.
    pub line: Option<u32>,
    /// What is wrong.
    pub message: String,
    /// How to correct it, if that is known.
    pub hint: Option<String>,
}

impl ProjectError {
    fn new(path: &Path, message: impl Into<String>) -> ProjectError {
        ProjectError { path: path.into(), line: None, message: message.into(), hint: None }
    }

    fn at(self, line: u32) -> ProjectError {
        ProjectError { line: Some(line), ..self }
    }

    fn hint(self, hint: impl Into<String>) -> ProjectError {
        ProjectError { hint: Some(hint.into()), ..self }
    }

    fn reading(path: &Path, error: &std::io::Error) -> ProjectError {
        ProjectError::new(path, format!("it cannot be read: {error}"))
    }
}

/// `what` after `text`, or nothing.
fn after(text: &str, what: &Option<impl Display>) -> String {
    what.as_ref().map_or(String::new(), |what| format!("{text}{what}"))
}

#[derive(Default)]
struct Files {
    /// Source files, and whether a project that is not included names them.
    paths: BTreeMap<PathBuf, bool>,
    /// How many project files are open: the first, and included ones.
    open: usize,
    /// Project files that have been opened, so that cycles and diamonds end.
    projects: BTreeSet<PathBuf>,
    /// The folder of the project file that was opened first.
    root: Option<PathBuf>,
    warnings: Vec<Diagnostic>,
}

/// Where something was asked for: a project file and the line in it.
type AskedBy<'a> = Option<(&'a Path, u32)>;

impl Files {
    fn file_or_folder(&mut self, path: &Path) -> Result<(), ProjectError> {
        if path.is_dir() {
            return self.folder(path);
        }
        if !path.exists() {
            return Err(asked(path, None, NOT_THERE));
        }
        if !has_extension(path, "p") {
            return Err(asked(path, None, NO_SOURCE).hint("source files end with `.p`"));
        }
        self.add(path);
        Ok(())
    }

    /// A file or folder that a project file lists. The reference leaves out what is not there and what
    /// is no source file, such as foreign code.
    fn listed(&mut self, path: &Path, by: AskedBy<'_>) -> Result<(), ProjectError> {
        let wrong = match path {
            path if !path.exists() => NOT_THERE,
            path if path.is_dir() || has_extension(path, "p") => return self.file_or_folder(path),
            path if FOREIGN.iter().any(|ending| has_extension(path, ending)) => return Ok(()),
            _ => NO_SOURCE,
        };
        let message = format!("{}, and is left out", asked(path, by, wrong));
        self.warnings.push(Diagnostic::new(Severity::Warning, message));
        Ok(())
    }

    fn add(&mut self, path: &Path) {
        *self.paths.entry(tidy(path)).or_default() |= self.open <= 1;
    }

    /// All source files in a folder and its subfolders. Links to folders are not followed, so there
    /// are no cycles.
    fn folder(&mut self, path: &Path) -> Result<(), ProjectError> {
        let entries = fs::read_dir(path).map_err(|error| ProjectError::reading(path, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| ProjectError::reading(path, &error))?;
            let kind = entry.file_type().map_err(|error| ProjectError::reading(path, &error))?;
            let inner = entry.path();
            if is_hidden(&inner) {
                continue;
            }
            if kind.is_dir() {
                self.folder(&inner)?;
            } else if has_extension(&inner, "p") && inner.is_file() {
                self.add(&inner);
            }
        }
        Ok(())
    }

    fn project(&mut self, path: &Path, by: AskedBy<'_>) -> Result<(), ProjectError> {
        if !path.is_file() {
            return Err(asked(path, by, NOT_THERE));
        }
        if !self.projects.insert(tidy(path)) {
            return Ok(());
        }
        self.open += 1;
        let text = read(path)?;
        let document = roxmltree::Document::parse(&text).map_err(|error| {
            // The position is in the error's first line already.
            let what = error.to_string().replace(&format!(" at {}", error.pos()), "");
            ProjectError::new(path, format!("it is no proper XML: {what}")).at(error.pos().row)
        })?;
        let line = |node: roxmltree::Node<'_, '_>| document.text_pos_at(node.range().start).row;
        let root = document.root_element();
        if root.tag_name().name() != "Project" {
            let found = root.tag_name().name();
            return Err(ProjectError::new(path, format!("expected <Project>, found <{found}>"))
                .at(line(root)));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let first = self.root.get_or_insert_with(|| folder.into()).clone();
        let mut listed = 0;
        for node in root.descendants().filter(roxmltree::Node::is_element) {
            let name = node.tag_name().name();
            if name != "PFile" && name != "IncludeProject" {
                continue;
            }
            let named = node.text().unwrap_or("").trim();
            if named.is_empty() {
                return Err(
                    ProjectError::new(path, format!("<{name}> names nothing")).at(line(node))
                );
            }
            // Windows separators are accepted on all systems.
            let named = PathBuf::from(named.replace('\\', "/"));
            let by = Some((path, line(node)));
            if name == "PFile" {
                self.listed(&folder.join(named), by)?;
            } else {
                // The reference goes by the directory that it is called in, which is mostly that of
                // the project that was asked for.
                let near = folder.join(&named);
                let mut others = [first.join(&named), named].into_iter();
                let there = |path: &PathBuf| path.is_file();
                let found = if near.is_file() { None } else { others.find(there) };
                self.project(&found.unwrap_or(near), by)?;
            }
            listed += 1;
        }
        self.open -= 1;
        if listed == 0 {
            return Err(ProjectError::new(path, "it lists no source files")
                .hint("write <InputFiles><PFile>./PSrc/</PFile></InputFiles> in <Project>"));
        }
        Ok(())
    }
}

const NOT_THERE: &str = "there is no such file or folder";
const NO_SOURCE: &str = "it is no P source file";

/// The endings of foreign code, which the reference compiles with a project.
const FOREIGN: [&str; 4] = ["cs", "java", "c", "h"];

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// An error about a path; located where a project file asks for the path, if one does.
fn asked(path: &Path, by: AskedBy<'_>, message: &str) -> ProjectError {
    match by {
        Some((project, line)) => {
            ProjectError::new(project, format!("{}: {message}", tidy(path).display())).at(line)
        }
        None => ProjectError::new(path, message),
    }
}

/// Spans are 32 bits wide.
const LARGEST: u64 = 1 << 30;

/// The text of a source file.
pub fn read(path: &Path) -> Result<String, ProjectError> {
    let failed = |error| ProjectError::reading(path, &error);
    if fs::metadata(path).map_err(failed)?.len() > LARGEST {
        return Err(ProjectError::new(path, "it is larger than 1 GiB"));
    }
    let bytes = fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count();
        ProjectError::new(path, "it is not UTF-8 text").at(line as u32 + 1)
    })
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// The path without `./` and `folder/..`, so that one file has one path. `..` stays after anything
/// but a plain name, because after a link to a folder it means another place.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(tidy.components().next_back(), Some(Component::Normal(_)))
                    && !tidy.is_symlink() =>
            {
                tidy.pop();
            }
            other => tidy.push(other),
        }
    }
    tidy
}
