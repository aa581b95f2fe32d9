//! Why a database cannot be used, in words that say what to do.

use std::io;
use std::path::{Path, PathBuf};

use dally_core::report::MergeError;
use rusqlite::ErrorCode;

use super::VERSION;

/// Why a database cannot be used. Nothing of it was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory cannot be made or written to.
    #[error("the campaign in `{}` cannot be kept: {why}\n  name a directory that can be written to: --dir DIR", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// Another process works on it.
    #[error("another campaign is under way in `{}`\n  wait for it to end, or name another directory: --dir DIR", .path.display())]
    Taken {
        /// The directory.
        path: PathBuf,
    },
    /// There is none.
    #[error("there is no campaign in `{}`: `dally campaign run --dir {0}` begins one", .path.display())]
    None {
        /// The directory.
        path: PathBuf,
    },
    /// It is of another Dally.
    #[error("the campaign in `{}` is of version {found}, and this Dally knows version {VERSION}\n  it is left as it is: take {} Dally, or another directory", .path.display(), if *.found > VERSION { "a newer" } else { "the older" })]
    Version {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i32,
    },
    /// It is something else.
    #[error("`{}` is no database of a campaign\n  it is left as it is: name another directory", .path.display())]
    Stranger {
        /// The file.
        path: PathBuf,
    },
    /// It is damaged.
    #[error("the database `{}` is damaged: {why}\n  it is left as it is: `sqlite3 FILE .recover` may save what is in it, and the schedules beside it are whole", .path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is no room.
    #[error("the disk of `{}` is full: what was run before is kept, and the same command goes on when there is room", .path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// What was kept does not go together with what comes next.
    #[error("what the campaign has of {cell} cannot be gone on from: {why}")]
    Merge {
        /// The program and the strategy.
        cell: String,
        /// Why not.
        why: MergeError,
    },
    /// Something else went wrong in the database.
    #[error("the database `{}` cannot be used: {why}", .path.display())]
    Other {
        /// The database.
        path: PathBuf,
        /// What the library says.
        why: rusqlite::Error,
    },
}

impl StoreError {
    /// A file beside the database could not be written.
    pub(crate) fn of_file(path: PathBuf, why: io::Error) -> StoreError {
        match why.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
            _ => StoreError::Directory { path, why },
        }
    }
}

/// What went wrong with the database at this path.
pub(super) fn wrong(path: &Path, why: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    match why.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::Stranger { path },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, why: why.to_string() },
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::Directory { path, why: io::Error::other(why.to_string()) }
        }
        _ => StoreError::Other { path, why },
    }
}
