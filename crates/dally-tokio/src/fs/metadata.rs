//! What is known of a file without reading it.

use std::io;
use std::time::SystemTime;

use super::disk::{Disk, Entry};

/// What is known of a file or a directory.
#[derive(Clone, Debug)]
pub struct Metadata(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Real(std::fs::Metadata),
    Simulated { is_file: bool, length: u64 },
}

impl Metadata {
    pub(super) fn real(metadata: std::fs::Metadata) -> Metadata {
        Metadata(Kind::Real(metadata))
    }

    pub(super) fn simulated(disk: &Disk, entry: Entry) -> Metadata {
        let (is_file, length) = match entry {
            Entry::Directory => (false, 0),
            Entry::File(file) => (true, disk.bytes(file).len() as u64),
        };
        Metadata(Kind::Simulated { is_file, length })
    }

    /// Whether it is of a file.
    pub fn is_file(&self) -> bool {
        match &self.0 {
            Kind::Real(real) => real.is_file(),
            Kind::Simulated { is_file, .. } => *is_file,
        }
    }

    /// Whether it is of a directory.
    pub fn is_dir(&self) -> bool {
        match &self.0 {
            Kind::Real(real) => real.is_dir(),
            Kind::Simulated { is_file, .. } => !is_file,
        }
    }

    /// Whether it is of a symbolic link, which simulated disks do not have.
    pub fn is_symlink(&self) -> bool {
        matches!(&self.0, Kind::Real(real) if real.is_symlink())
    }

    /// How many bytes the file has.
    #[expect(clippy::len_without_is_empty, reason = "as in the standard library")]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Kind::Real(real) => real.len(),
            Kind::Simulated { length, .. } => *length,
        }
    }

    /// When it was last written to, which simulated disks do not note.
    pub fn modified(&self) -> io::Result<SystemTime> {
        match &self.0 {
            Kind::Real(real) => real.modified(),
            Kind::Simulated { .. } => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}
