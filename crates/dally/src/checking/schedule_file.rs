//! Schedules as users hand them in: pasted tokens, and files.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use dally_core::{Schedule, ScheduleError};
use thiserror::Error;

/// Why [`read_schedule`] gives no schedule.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadScheduleError {
    /// What was given is empty.
    #[error("no schedule was given: name a file or paste a token")]
    Nothing,
    /// A token is damaged, or of another version.
    #[error("the token cannot be read: {0}")]
    Token(ScheduleError),
    /// There is no such file, or it cannot be opened.
    #[error(
        "`{}` cannot be read: {why}\n  \
         a schedule is a file that Dally wrote, or a token that starts with `dally1-`",
        .path.display()
    )]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        why: io::Error,
    },
    /// A file is not even text.
    #[error("`{}` is not a Dally schedule: it is not text", .path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A file is no schedule, damaged, or of another version.
    #[error("`{}`, {why}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and in which line.
        why: ScheduleError,
    },
}

/// Reads a schedule from what a user gave: a token, or the path of a file.
pub fn read_schedule(given: impl AsRef<OsStr>) -> Result<Schedule, ReadScheduleError> {
    let given = given.as_ref();
    let path = Path::new(given.to_str().map_or(given, |text| text.trim().as_ref()));
    if path.as_os_str().is_empty() {
        return Err(ReadScheduleError::Nothing);
    }
    if let Some(token) = path.to_str()
        && token.trim_matches(['"', '\'', '`']).starts_with("dally")
        && !path.exists()
    {
        return Schedule::parse(token).map_err(ReadScheduleError::Token);
    }
    let file = || path.to_owned();
    let bytes = std::fs::read(path).map_err(|why| ReadScheduleError::File { path: file(), why })?;
    let text = str::from_utf8(&bytes).map_err(|_| ReadScheduleError::NotText { path: file() })?;
    Schedule::parse(text).map_err(|why| ReadScheduleError::Malformed { path: file(), why })
}
