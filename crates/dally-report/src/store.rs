//! The directory where findings are kept.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use dally_core::draft::Draft;
use dally_core::{Finding, Report, fingerprint};

use crate::{About, json, page};

/// A directory of findings: for each a schedule file and, beside it, a JSON trace and a page.
///
/// Files are written whole or not at all, and exist when [`Store::save`] returns: a run that is killed
/// later loses nothing. Trace and page always belong to the schedule beside them, even if the disk is full or
/// the process is killed in between. A finding is named after its program and its cause, so the shrunk
/// form of a finding replaces the raw one, and a finding of a later run that of an earlier one with
/// the same cause. The directory is made when the first finding is saved.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// A store in this directory, which need not exist yet.
    pub fn new(directory: impl Into<PathBuf>) -> Store {
        Store { directory: directory.into() }
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the schedule of this finding goes.
    ///
    /// ```
    /// use dally_core::{Bug, Problem};
    /// use dally_report::Store;
    ///
    /// let bug = Bug::new(Problem::Deadlock { waiting: Vec::new() });
    /// let path = Store::new("findings").path("pool::tests::drains", &bug);
    /// let name = format!("findings/pool.tests.drains-{}.schedule", bug.cause());
    /// assert_eq!(path.to_str(), Some(name.as_str()));
    /// ```
    pub fn path(&self, program: &str, bug: &dally_core::Bug) -> PathBuf {
        self.directory.join(format!("{}-{}.schedule", file_name(program), bug.cause()))
    }

    /// Saves a finding of this run in place of an earlier one of the same program and cause;
    /// answers the path of the schedule. The JSON trace has the same name and the extension `json`.
    pub fn save(&self, program: &str, finding: &Finding, run: &Report) -> io::Result<PathBuf> {
        let path = self.path(program, &finding.bug);
        fs::create_dir_all(&self.directory)
            .and_then(|()| {
                let trace = json::finding(finding, run);
                write(&path, &finding.schedule.to_text(), Some(trace.as_bytes()), None)
            })
            .map_err(|why| self.cannot(why))?;
        Ok(path)
    }

    /// Writes the page of a saved finding beside its schedule and answers its path.
    pub fn save_page(&self, finding: &Finding, run: &Report, about: &About) -> io::Result<PathBuf> {
        let saved = about.saved.clone();
        let path = saved.unwrap_or_else(|| self.path(&about.program, &finding.bug));
        let path = path.with_extension(PAGE);
        let html = page::finding(finding, run, about);
        fs::create_dir_all(&self.directory)
            .and_then(|()| Draft::write(&path, html.as_bytes())?.publish())
            .map_err(|why| self.cannot(why))?;
        Ok(path)
    }

    /// Writes a document about a program beside its findings, and answers its path.
    pub fn save_document(&self, program: &str, kind: &str, document: &str) -> io::Result<PathBuf> {
        let path = self.directory.join(format!("{}.{kind}", file_name(program)));
        fs::create_dir_all(&self.directory)
            .and_then(|()| Draft::write(&path, document.as_bytes())?.publish())
            .map_err(|why| self.cannot(why))?;
        Ok(path)
    }

    fn cannot(&self, why: io::Error) -> io::Error {
        let reason = match self.directory.is_file() {
            true => "it is a file".to_owned(),
            false => why.to_string(),
        };
        let message = format!(
            "cannot save the finding in the directory `{}`: {reason}; make it a \
             directory that can be written to, or name another one",
            self.directory.display()
        );
        io::Error::new(why.kind(), message)
    }
}

/// The extension of pages.
const PAGE: &str = "html";

/// The files of a finding as they were on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The path of the schedule.
    pub path: PathBuf,
    /// The text of the schedule.
    pub schedule: String,
    /// The JSON trace beside it, if there was one.
    trace: Option<Vec<u8>>,
    /// The page beside it, if there was one.
    page: Option<Vec<u8>>,
}

impl Saved {
    /// The saved finding with this path of a schedule; `None` if there is no schedule.
    pub fn read(path: &Path) -> Option<Saved> {
        let schedule = fs::read_to_string(path).ok()?;
        let [trace, page] = ["json", PAGE].map(|kind| fs::read(path.with_extension(kind)).ok());
        Some(Saved { path: path.to_owned(), schedule, trace, page })
    }

    /// Writes the files to disk again, in place of those that are there now.
    pub fn put_back(&self) -> io::Result<()> {
        write(&self.path, &self.schedule, self.trace.as_deref(), self.page.as_deref())
    }
}

/// Removes the files of a finding, given the path of its schedule.
pub fn remove(schedule: &Path) -> io::Result<()> {
    remove_if_there(&schedule.with_extension(PAGE))?;
    let trace = fs::remove_file(schedule.with_extension("json"));
    fs::remove_file(schedule).and(trace)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
        _ => Ok(()),
    }
}

/// Writes a schedule with its trace and page, in place of those that are there. Nothing is replaced before
/// all are on disk. What was beside the old schedule is removed first, so that nothing is ever beside
/// another schedule than its own.
fn write(path: &Path, schedule: &str, trace: Option<&[u8]>, page: Option<&[u8]>) -> io::Result<()> {
    let schedule = Draft::write(path, schedule.as_bytes())?;
    let mut beside = Vec::new();
    for (kind, bytes) in [("json", trace), (PAGE, page)] {
        let path = path.with_extension(kind);
        beside.extend(bytes.map(|bytes| Draft::write(&path, bytes)).transpose()?);
    }
    for kind in ["json", PAGE] {
        remove_if_there(&path.with_extension(kind))?;
    }
    schedule.publish()?;
    beside.into_iter().try_for_each(Draft::publish)
}

/// The program's name as part of a file name on any system. `::` becomes a dot. Any other character
/// that is not portable becomes `_`, and a hash of the name is added to keep file names distinct.
fn file_name(program: &str) -> String {
    const LONGEST: usize = 100;
    let dotted = program.replace("::", ".");
    let plain = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
    let safe: String =
        dotted.chars().map(|char| if plain(char) { char } else { '_' }).take(LONGEST).collect();
    let faithful = safe == dotted && !program.contains('.');
    if faithful && !safe.starts_with(['.', '-']) && !safe.is_empty() {
        return safe;
    }
    let hash = fingerprint::of_bytes(program.as_bytes()) as u32;
    match safe.trim_start_matches(['.', '-']) {
        "" => format!("program-{hash:08x}"),
        rest => format!("{rest}-{hash:08x}"),
    }
}
