//! The simulated disk of a host, and what is left on it after a crash.
//!
//! What was written to a file is safe when the file was synced. Of each write after that, a crash leaves all,
//! nothing or the first half, by choice of the search, whatever it leaves of the others. Names (files that were made,
//! removed or renamed, directories) are changed in an order that a crash keeps: what happened first is there if
//! anything later is, and a rename happened or did not. They are safe when any directory was synced after
//! them; to sync a file makes its content safe and not its name.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use dally_tasks::hosts::Host;
use dally_tasks::pipe::{self, Pipe};
use dally_tasks::{choose, note};

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    Directory,
    File(usize),
}

/// The names of a disk.
type Names = BTreeMap<PathBuf, Entry>;

enum Change {
    Put(PathBuf, Entry),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
}

enum Write {
    At(usize, Vec<u8>),
    Length(usize),
}

/// What is in a file.
#[derive(Default)]
struct Content {
    bytes: Vec<u8>,
    /// What it was when it was last synced, and what was written since.
    safe: Vec<u8>,
    writes: Vec<Write>,
}

pub(super) struct Disk {
    execution: u64,
    /// How often its host had crashed when this was last looked at.
    crashes: u32,
    names: Names,
    safe: Names,
    changes: Vec<Change>,
    files: Vec<Content>,
    /// Always has room: to wait for it is the scheduling point before an operation.
    gate: Pipe<()>,
}

thread_local! {
    static DISKS: RefCell<BTreeMap<Host, Disk>> = const { RefCell::new(BTreeMap::new()) };
}

/// The gate of this host's disk.
#[track_caller]
pub(super) fn gate(host: Host) -> Pipe<()> {
    with(host, |disk| disk.gate.clone())
}

/// Does something with the disk of this host.
#[track_caller]
pub(super) fn with<R>(host: Host, f: impl FnOnce(&mut Disk) -> R) -> R {
    let Some(execution) = pipe::execution() else {
        panic!("there is no reactor running: a file is used outside of an execution of Dally");
    };
    let known = DISKS.with_borrow_mut(|disks| disks.remove(&host));
    let known = known.filter(|disk| disk.execution == execution);
    let mut disk = known.unwrap_or_else(|| Disk::new(execution));
    if disk.crashes != host.crashes() {
        disk.crashes = host.crashes();
        disk.recover();
    }
    disk.gate.put(|_| ());
    let result = f(&mut disk);
    DISKS.with_borrow_mut(|disks| disks.insert(host, disk));
    result
}

impl Disk {
    fn new(execution: u64) -> Disk {
        let names = ["/", "/tmp"].map(|name| (PathBuf::from(name), Entry::Directory));
        Disk {
            execution,
            crashes: 0,
            names: names.clone().into(),
            safe: names.into(),
            changes: Vec::new(),
            files: Vec::new(),
            gate: Pipe::new("disk", 1),
        }
    }

    /// The host has crashed: what was not synced may be lost.
    fn recover(&mut self) {
        let changes = std::mem::take(&mut self.changes);
        let lost = if changes.is_empty() { 0 } else { choose(changes.len() + 1) };
        if lost > 0 {
            note(format!("the crash has undone the last {lost} changes of names"));
        }
        changes.iter().take(changes.len() - lost).for_each(|change| change.apply(&mut self.safe));
        self.names = self.safe.clone();
        for (path, entry) in &self.names {
            let Entry::File(file) = *entry else { continue };
            self.files[file].recover(path);
        }
        // Open files that have no name are gone with whoever had them.
        self.files.iter_mut().for_each(|content| content.writes.clear());
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.names);
        self.changes.push(change);
    }

    /// What is at this path.
    pub fn entry(&self, path: &Path) -> io::Result<Entry> {
        if let Some(entry) = self.names.get(path) {
            return Ok(*entry);
        }
        // Nothing is in a file.
        let is_file = |above| matches!(self.names.get(above), Some(Entry::File(_)));
        let why = match path.ancestors().any(is_file) {
            true => io::ErrorKind::NotADirectory,
            false => io::ErrorKind::NotFound,
        };
        Err(why.into())
    }

    /// An error unless there is a directory that this path can be in.
    fn check_parent(&self, path: &Path) -> io::Result<()> {
        let parent = path.parent().ok_or(io::ErrorKind::AlreadyExists)?;
        match self.entry(parent)? {
            Entry::Directory => Ok(()),
            Entry::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Makes an empty file.
    pub fn make_file(&mut self, path: PathBuf) -> io::Result<usize> {
        self.check_parent(&path)?;
        self.files.push(Content::default());
        let file = self.files.len() - 1;
        self.change(Change::Put(path, Entry::File(file)));
        Ok(file)
    }

    pub fn make_directory(&mut self, path: PathBuf) -> io::Result<()> {
        self.check_parent(&path)?;
        if self.names.contains_key(&path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.change(Change::Put(path, Entry::Directory));
        Ok(())
    }

    pub fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        match self.entry(path)? {
            Entry::Directory => Err(io::ErrorKind::IsADirectory.into()),
            Entry::File(_) => {
                self.change(Change::Remove(path.to_owned()));
                Ok(())
            }
        }
    }

    pub fn remove_directory(&mut self, path: &Path) -> io::Result<()> {
        if self.entry(path)? != Entry::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        if !self.list(path).is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        self.change(Change::Remove(path.to_owned()));
        Ok(())
    }

    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.check_parent(from)?;
        self.check_parent(to)?;
        let entry = self.entry(from)?;
        if to == from {
            return Ok(());
        }
        if to.starts_with(from) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if from.starts_with(to) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        match (entry, self.names.get(to)) {
            (Entry::File(_), Some(Entry::Directory)) => {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            (Entry::Directory, Some(Entry::File(_))) => {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            (Entry::Directory, Some(Entry::Directory)) if !self.list(to).is_empty() => {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            _ => {}
        }
        self.change(Change::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    /// What is in a directory.
    pub fn list(&self, path: &Path) -> Vec<(PathBuf, Entry)> {
        let inside = |(name, _): &(&PathBuf, &Entry)| name.parent() == Some(path);
        self.names.iter().filter(inside).map(|(name, entry)| (name.clone(), *entry)).collect()
    }

    /// All changes of names are safe.
    pub fn sync_names(&mut self) {
        self.changes.clear();
        self.safe = self.names.clone();
    }

    pub fn bytes(&self, file: usize) -> &[u8] {
        &self.files[file].bytes
    }

    pub fn write(&mut self, file: usize, at: usize, bytes: Vec<u8>) {
        self.files[file].write(Write::At(at, bytes));
    }

    pub fn set_length(&mut self, file: usize, length: usize) {
        self.files[file].write(Write::Length(length));
    }

    /// What is in a file is safe.
    pub fn sync(&mut self, file: usize) {
        let content = &mut self.files[file];
        content.writes.clear();
        content.safe.clone_from(&content.bytes);
    }
}

impl Change {
    fn apply(&self, names: &mut Names) {
        match self {
            Change::Put(path, entry) => {
                names.insert(path.clone(), *entry);
            }
            Change::Remove(path) => {
                names.remove(path);
            }
            Change::Rename(from, to) => {
                let moved: Vec<_> =
                    names.keys().filter(|name| name.starts_with(from)).cloned().collect();
                for name in moved {
                    let Some(entry) = names.remove(&name) else { continue };
                    let rest = name.strip_prefix(from).unwrap_or(Path::new(""));
                    let name = if rest.as_os_str().is_empty() { to.clone() } else { to.join(rest) };
                    names.insert(name, entry);
                }
            }
        }
    }
}

impl Content {
    fn write(&mut self, write: Write) {
        write.apply(&mut self.bytes);
        self.writes.push(write);
    }

    fn recover(&mut self, path: &Path) {
        let mut bytes = self.safe.clone();
        for write in std::mem::take(&mut self.writes) {
            match choose(3) {
                0 => write.apply(&mut bytes),
                1 => note(format!("the crash has lost a write to {}", path.display())),
                _ => {
                    note(format!("the crash has torn a write to {}", path.display()));
                    write.first_half().apply(&mut bytes);
                }
            }
        }
        self.safe.clone_from(&bytes);
        self.bytes = bytes;
    }
}

impl Write {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Write::Length(length) => to.resize(*length, 0),
            Write::At(at, bytes) => {
                let end = at + bytes.len();
                if to.len() < end {
                    to.resize(end, 0);
                }
                to[*at..end].copy_from_slice(bytes);
            }
        }
    }

    fn first_half(self) -> Write {
        match self {
            Write::Length(length) => Write::Length(length),
            Write::At(at, mut bytes) => {
                bytes.truncate(bytes.len() / 2);
                Write::At(at, bytes)
            }
        }
    }
}

/// A path as the disk has it: from the root, which is where relative ones begin.
pub(super) fn place(path: &Path) -> PathBuf {
    let mut place = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => place.push(name),
            Component::ParentDir => {
                place.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    place
}
