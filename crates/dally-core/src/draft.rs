//! Files that are there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is written and synced under a temporary name beside its place. [`Draft::publish`]
/// moves it there; a draft that is dropped before leaves nothing behind.
///
/// The file is always new: where a link or a file has the temporary name already, the draft takes
/// another one and never writes through it.
///
/// ```
/// use dally_core::draft::Draft;
///
/// let path = std::env::temp_dir().join(format!("dally-draft-{}", std::process::id()));
/// let draft = Draft::write(&path, b"all of it")?;
/// assert!(!path.exists());
/// draft.publish()?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Draft {
    place: PathBuf,
    /// The temporary name, until the draft is published.
    aside: Option<PathBuf>,
}

impl Draft {
    /// Writes a draft for this place.
    pub fn write(place: &Path, bytes: &[u8]) -> io::Result<Draft> {
        let (aside, mut file) = create(place)?;
        let draft = Draft { place: place.to_owned(), aside: Some(aside) };
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(draft)
    }

    /// Moves it to its place, in place of what is there.
    pub fn publish(mut self) -> io::Result<()> {
        let Some(aside) = &self.aside else { return Ok(()) };
        fs::rename(aside, &self.place)?;
        self.aside = None;
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(aside) = &self.aside {
            // An error here is not reported: the one that kept the draft from being published is.
            let _ = fs::remove_file(aside);
        }
    }
}

/// Makes a new file beside this place.
fn create(place: &Path) -> io::Result<(PathBuf, File)> {
    // Other threads and processes (nextest has one per test) may write here, or have left drafts.
    static UNIQUE: AtomicU64 = AtomicU64::new(0);
    const MOST_TAKEN: u64 = 10_000;
    let mut last = io::Error::from(ErrorKind::AlreadyExists);
    for _ in 0..MOST_TAKEN {
        let unique = UNIQUE.fetch_add(1, Ordering::Relaxed);
        let aside = place.with_extension(format!("{}-{unique}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&aside) {
            Ok(file) => return Ok((aside, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_never_written_through_a_link_whose_name_was_guessed() {
        let directory = std::env::temp_dir().join(format!("dally-drafts-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (place, victim) = (directory.join("found.schedule"), directory.join("victim"));
        fs::write(&victim, "precious").unwrap();
        for guess in 0..100 {
            let name = place.with_extension(format!("{}-{guess}.tmp", std::process::id()));
            std::os::unix::fs::symlink(&victim, name).unwrap();
        }
        Draft::write(&place, b"a schedule").unwrap().publish().unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(fs::read_to_string(&place).unwrap(), "a schedule");
        assert!(!fs::symlink_metadata(&place).unwrap().is_symlink());
        fs::remove_dir_all(directory).unwrap();
    }
}
