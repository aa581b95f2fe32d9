//! Files. On the hosts that the test has started, disks are simulated, and a crash leaves of what was not synced
//! what the search wants; on the test's own host files are those of the system.
//!
//! There is a scheduling point before each operation, and the operation is done at once.

mod disk;
mod file;
mod metadata;

use std::ffi::OsString;
use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};
use std::vec;

use dally_tasks::faults;
use dally_tasks::hosts::Host;
use dally_tasks::pipe::Pipe;

use self::disk::{Disk, Entry, place};
pub use self::file::{File, OpenOptions};
pub use self::metadata::Metadata;
use crate::io::{AsyncReadExt, AsyncWriteExt};

/// Whether the files of the running task are the system's.
fn is_real() -> bool {
    Host::here().number() == 0
}

/// The scheduling point before an operation, at which one of these faults can strike.
async fn step(can_fail: &[&str]) -> io::Result<Pipe<()>> {
    let gate = disk::gate(Host::here());
    poll_fn(|cx| gate.poll_writable(cx)).await;
    // Files of the system do not fail by choice.
    let struck = (!is_real()).then(|| faults::strike(can_fail)).flatten();
    if !Host::here().is_up() {
        // The host has crashed in this step: it does nothing more.
        std::future::pending::<()>().await;
    }
    match struck.map(|struck| can_fail[struck]) {
        None => Ok(gate),
        Some(what) => Err(io::Error::other(format!("injected: {what}"))),
    }
}

/// An operation on names: on those of the system, or on a simulated disk.
async fn on_names<R>(
    real: impl FnOnce() -> io::Result<R>,
    simulated: impl FnOnce(&mut Disk) -> io::Result<R>,
) -> io::Result<R> {
    step(&[]).await?;
    if is_real() { real() } else { disk::with(Host::here(), simulated) }
}

/// All that is in a file.
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).await?.read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// All that is in a file, as text.
pub async fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read(path).await?).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
    })
}

/// Makes a file of these bytes, in the place of one that is there.
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = File::create(path).await?;
    file.write_all(contents.as_ref()).await?;
    file.flush().await
}

/// Copies what is in a file; answers how many bytes these are.
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    let bytes = read(from).await?;
    write(to, &bytes).await?;
    Ok(bytes.len() as u64)
}

/// Gives a file or a directory another name, in the place of what has that.
pub async fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    let (from, to) = (from.as_ref(), to.as_ref());
    on_names(|| std::fs::rename(from, to), |disk| disk.rename(&place(from), &place(to))).await
}

/// Removes a file.
pub async fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    on_names(|| std::fs::remove_file(path), |disk| disk.remove_file(&place(path))).await
}

/// Removes an empty directory.
pub async fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    on_names(|| std::fs::remove_dir(path), |disk| disk.remove_directory(&place(path))).await
}

/// Removes a directory and all that is in it.
pub async fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    on_names(|| std::fs::remove_dir_all(path), |disk| remove_all(disk, &place(path))).await
}

fn remove_all(disk: &mut Disk, path: &Path) -> io::Result<()> {
    for (inside, entry) in disk.list(path) {
        match entry {
            Entry::Directory => remove_all(disk, &inside)?,
            Entry::File(_) => disk.remove_file(&inside)?,
        }
    }
    disk.remove_directory(path)
}

/// Makes a directory.
pub async fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    on_names(|| std::fs::create_dir(path), |disk| disk.make_directory(place(path))).await
}

/// Makes a directory and those that it is in, where they are not there.
pub async fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let path = path.as_ref();
    let simulated = |disk: &mut Disk| {
        let place = place(path);
        let mut above: Vec<_> = place.ancestors().collect();
        above.reverse();
        for directory in above {
            match disk.entry(directory) {
                Ok(Entry::Directory) => {}
                Ok(Entry::File(_)) if directory == place => {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                Ok(Entry::File(_)) => return Err(io::ErrorKind::NotADirectory.into()),
                Err(_) => disk.make_directory(directory.to_owned())?,
            }
        }
        Ok(())
    };
    on_names(|| std::fs::create_dir_all(path), simulated).await
}

/// What is known of a file or a directory.
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    let path = path.as_ref();
    let simulated = |disk: &mut Disk| Ok(Metadata::simulated(disk, disk.entry(&place(path))?));
    on_names(|| Ok(Metadata::real(std::fs::metadata(path)?)), simulated).await
}

/// Whether there is something at this path.
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    let path = path.as_ref();
    let simulated = |disk: &mut Disk| match disk.entry(&place(path)) {
        Ok(_) => Ok(true),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(why) => Err(why),
    };
    on_names(|| path.try_exists(), simulated).await
}

/// The path without links, and without `.` and `..`.
pub async fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref();
    let simulated = |disk: &mut Disk| {
        let place = place(path);
        disk.entry(&place).map(|_| place)
    };
    on_names(|| path.canonicalize(), simulated).await
}

/// What is in a directory, in the order of names.
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref();
    let real = || {
        let entries = std::fs::read_dir(path)?.map(|entry| {
            let entry = entry?;
            Ok(DirEntry { path: entry.path(), metadata: Metadata::real(entry.metadata()?) })
        });
        let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(entries)
    };
    let simulated = |disk: &mut Disk| {
        let directory = place(path);
        if disk.entry(&directory)? != Entry::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let entries = disk.list(&directory).into_iter().map(|(inside, entry)| {
            let name = inside.file_name().unwrap_or_default();
            DirEntry { path: path.join(name), metadata: Metadata::simulated(disk, entry) }
        });
        Ok(entries.collect())
    };
    Ok(ReadDir(on_names(real, simulated).await?.into_iter()))
}

/// What is in a directory, as it was when [`read_dir`] looked.
#[derive(Debug)]
pub struct ReadDir(vec::IntoIter<DirEntry>);

impl ReadDir {
    /// The next one.
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        Ok(self.0.next())
    }
}

/// A file or a directory in a directory.
#[derive(Debug)]
pub struct DirEntry {
    path: PathBuf,
    metadata: Metadata,
}

impl DirEntry {
    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Its name.
    pub fn file_name(&self) -> OsString {
        self.path.file_name().unwrap_or_default().to_owned()
    }

    /// What is known of it.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        Ok(self.metadata.clone())
    }
}
