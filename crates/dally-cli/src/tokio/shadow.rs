//! A directory that looks like a workspace and has a lock file of its own.
//!
//! Cargo writes to the lock file beside the manifest of the workspace, and nothing but an unstable option
//! says otherwise. So the manifest and the lock file are copied, and all else is linked to.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::CliError;

/// The shadow of a workspace.
pub struct Shadow {
    /// The directory that is shadowed: the workspace, or one above it where packages outside of the
    /// workspace are used, by paths that lead upwards.
    top: PathBuf,
    /// Its shadow.
    place: PathBuf,
    /// The shadow of the workspace.
    root: PathBuf,
    /// Its manifest or its lock file is not that of an earlier run.
    pub is_new: bool,
}

impl Shadow {
    /// Makes the shadow of a workspace at this place, or brings it up to date.
    pub fn of(root: &Path, outside: &[PathBuf], place: &Path) -> Result<Shadow, CliError> {
        let top = outside.iter().fold(root, |top, path| {
            top.ancestors().find(|above| path.starts_with(above)).unwrap_or(top)
        });
        let mut shadow = Shadow {
            top: top.to_owned(),
            place: place.to_owned(),
            root: place.join(root.strip_prefix(top).unwrap_or(Path::new(""))),
            is_new: false,
        };
        shadow.update(root).map_err(|why| CliError::NoShadow { place: place.to_owned(), why })?;
        Ok(shadow)
    }

    /// Where the shadow of the workspace is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the shadow of a file or directory is.
    pub fn path_of(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.top).map_or_else(|_| path.to_owned(), |rest| self.place.join(rest))
    }

    fn update(&mut self, root: &Path) -> io::Result<()> {
        // From the top down to the workspace.
        let mut levels: Vec<&Path> =
            root.ancestors().take_while(|above| above.starts_with(&self.top)).collect();
        levels.reverse();
        for (depth, level) in levels.iter().enumerate() {
            let next = levels.get(depth + 1).and_then(|next| next.file_name());
            self.link_all_in(level, next)?;
        }
        for name in ["Cargo.toml", "Cargo.lock"] {
            let (from, to) = (root.join(name), self.root.join(name));
            match fs::read(&from) {
                Ok(bytes) => self.is_new |= write_if_changed(&to, &bytes)?,
                Err(why) if why.kind() == io::ErrorKind::NotFound => {}
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }

    /// Links to whatever is in a directory, but for what is copied and for what has a shadow of its own.
    fn link_all_in(&self, directory: &Path, deeper: Option<&OsStr>) -> io::Result<()> {
        let shadow = self.path_of(directory);
        fs::create_dir_all(&shadow)?;
        // The user may have removed or replaced what an earlier run linked to.
        for entry in fs::read_dir(&shadow)? {
            let entry = entry?;
            if entry.file_type()?.is_symlink() {
                fs::remove_file(entry.path())?;
            }
        }
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let at_root = deeper.is_none();
            let copied = at_root && (name == "Cargo.toml" || name == "Cargo.lock");
            // Cargo and git look for these upwards too, and would find them twice.
            let found_upwards =
                (name == ".cargo" || name == ".git") && self.place.starts_with(directory);
            let holds_the_shadow = self.place.starts_with(entry.path());
            if copied || found_upwards || holds_the_shadow || Some(name.as_os_str()) == deeper {
                continue;
            }
            link(&entry.path(), &shadow.join(name))?;
        }
        Ok(())
    }
}

/// The lock file of the shadow goes on from the user's wherever that has changed. Answers whether it has.
fn write_if_changed(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    // What an earlier run was given is kept beside what cargo has made of it.
    let mut given = path.as_os_str().to_owned();
    given.push(".given");
    let same = fs::read(&given).is_ok_and(|earlier| earlier == bytes) && path.exists();
    if !same {
        fs::write(path, bytes)?;
        fs::write(given, bytes)?;
    }
    Ok(!same)
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        std::os::windows::fs::symlink_dir(from, to)
    } else {
        std::os::windows::fs::symlink_file(from, to)
    }
}
