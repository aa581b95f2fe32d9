//! The directory where findings are kept.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use dally_core::draft::Draft;
use dally_core::{Finding, Report, fingerprint};

use crate::json;

/// A directory of findings: for each a schedule file and, beside it, a JSON trace.
///
/// Files are written whole or not at all, and exist when [`Store::save`] returns: a run that is killed
/// later loses nothing. A trace always belongs to the schedule beside it, even if the disk is full or
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
                write(&path, &finding.schedule.to_text(), Some(trace.as_bytes()))
            })
            .map_err(|why| {
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
            })?;
        Ok(path)
    }
}

/// The files of a finding as they were on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The path of the schedule.
    pub path: PathBuf,
    /// The text of the schedule.
    pub schedule: String,
    /// The JSON trace beside it, if there was one.
    trace: Option<Vec<u8>>,
}

impl Saved {
    /// The saved finding with this path of a schedule; `None` if there is no schedule.
    pub fn read(path: &Path) -> Option<Saved> {
        let schedule = fs::read_to_string(path).ok()?;
        let trace = fs::read(path.with_extension("json")).ok();
        Some(Saved { path: path.to_owned(), schedule, trace })
    }

    /// Writes the files to disk again, in place of those that are there now.
    pub fn put_back(&self) -> io::Result<()> {
        write(&self.path, &self.schedule, self.trace.as_deref())
    }
}

/// Removes the files of a finding, given the path of its schedule.
pub fn remove(schedule: &Path) -> io::Result<()> {
    let trace = fs::remove_file(schedule.with_extension("json"));
    fs::remove_file(schedule).and(trace)
}

/// Writes a schedule and its trace, in place of those that are there. Nothing is replaced before both
/// are on disk. The old trace is removed first, so that no trace is ever beside another schedule.
fn write(path: &Path, schedule: &str, trace: Option<&[u8]>) -> io::Result<()> {
    let beside = path.with_extension("json");
    let schedule = Draft::write(path, schedule.as_bytes())?;
    let trace = trace.map(|bytes| Draft::write(&beside, bytes)).transpose()?;
    match fs::remove_file(&beside) {
        Err(why) if why.kind() != ErrorKind::NotFound => return Err(why),
        _ => schedule.publish()?,
    }
    trace.map_or(Ok(()), Draft::publish)
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
