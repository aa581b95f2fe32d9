//! Open files.

use std::future::poll_fn;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use dally_tasks::hosts::Host;
use dally_tasks::pipe::Pipe;
use dally_tasks::{faults, pipe, task};

use super::disk::{self, Entry};
use super::{Metadata, is_real, step};
use crate::io::{AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

/// An open file. What is written to it is on its way until the next operation or a flush, as in tokio: a file
/// that is dropped before that is written to by a task of its own, later.
#[derive(Debug)]
pub struct File(Kind);

#[derive(Debug)]
enum Kind {
    Real { file: std::fs::File, gate: Pipe<()> },
    Simulated(Simulated),
}

#[derive(Debug)]
struct Simulated {
    host: Host,
    execution: Option<u64>,
    /// How often its host had crashed when it was opened.
    crashes: u32,
    gate: Pipe<()>,
    entry: Entry,
    can: OpenOptions,
    position: Mutex<Position>,
}

#[derive(Debug, Default)]
struct Position {
    at: u64,
    /// What is on its way to the file.
    written: Option<Vec<u8>>,
}

/// How a file is to be opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    read: bool,
    write: bool,
    append: bool,
    truncate: bool,
    create: bool,
    create_new: bool,
}

macro_rules! options {
    ($($(#[doc = $text:literal])* $name:ident),*) => {
        impl OpenOptions {$(
            $(#[doc = $text])*
            pub fn $name(&mut self, $name: bool) -> &mut OpenOptions {
                self.$name = $name;
                self
            }
        )*}
    };
}

options! {
    /// It can be read.
    read,
    /// It can be written.
    write,
    /// What is written comes to its end.
    append,
    /// It is emptied.
    truncate,
    /// It is made if there is none.
    create,
    /// It is made, and there is none.
    create_new
}

impl OpenOptions {
    /// Nothing is to be done with it.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Opens the file at this path.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let gate = step(&[]).await?;
        if is_real() {
            let OpenOptions { read, write, append, truncate, create, create_new } = *self;
            let mut options = std::fs::OpenOptions::new();
            options.read(read).write(write).append(append);
            options.truncate(truncate).create(create).create_new(create_new);
            let file = options.open(path)?;
            return Ok(File(Kind::Real { file, gate }));
        }
        let entry = self.open_simulated(disk::place(path.as_ref()))?;
        let host = Host::here();
        Ok(File(Kind::Simulated(Simulated {
            host,
            execution: pipe::execution(),
            crashes: host.crashes(),
            gate,
            entry,
            can: self.clone(),
            position: Mutex::default(),
        })))
    }

    fn open_simulated(&self, path: PathBuf) -> io::Result<Entry> {
        let writes = self.write || self.append;
        let makes = self.create || self.create_new;
        let possible = match writes {
            true => !(self.truncate && self.append && !self.create_new),
            false => self.read && !makes && !self.truncate,
        };
        if !possible {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        disk::with(Host::here(), |disk| match disk.entry(&path) {
            Ok(_) if self.create_new => Err(io::ErrorKind::AlreadyExists.into()),
            Ok(Entry::Directory) if writes => Err(io::ErrorKind::IsADirectory.into()),
            Ok(entry) => {
                if let (Entry::File(file), true) = (entry, self.truncate) {
                    disk.set_length(file, 0);
                }
                Ok(entry)
            }
            Err(_) if makes => disk.make_file(path).map(Entry::File),
            Err(why) => Err(why),
        })
    }
}

impl File {
    /// Opens a file to read it.
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().read(true).open(path).await
    }

    /// Opens a file to write it, empty.
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path).await
    }

    /// Opens a file to write it that is not there yet.
    pub async fn create_new(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path).await
    }

    /// How to open a file.
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Makes what was written safe from a crash. Of a directory, all changes of names.
    pub async fn sync_all(&self) -> io::Result<()> {
        self.sync().await
    }

    /// As [`File::sync_all`].
    pub async fn sync_data(&self) -> io::Result<()> {
        self.sync().await
    }

    async fn sync(&self) -> io::Result<()> {
        step(&["a sync fails"]).await?;
        match &self.0 {
            Kind::Real { file, .. } => file.sync_all(),
            Kind::Simulated(file) => {
                file.settle()?;
                disk::with(file.host, |disk| match file.entry {
                    Entry::Directory => disk.sync_names(),
                    Entry::File(file) => disk.sync(file),
                });
                Ok(())
            }
        }
    }

    /// Makes the file so long, with zeros at its end if it was shorter.
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        step(&["the disk is full"]).await?;
        match &self.0 {
            Kind::Real { file, .. } => file.set_len(size),
            Kind::Simulated(file) => {
                file.settle()?;
                file.check_writable()?;
                let content = file.content()?;
                let size = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
                disk::with(file.host, |disk| disk.set_length(content, size));
                Ok(())
            }
        }
    }

    /// What is known of it.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        step(&[]).await?;
        match &self.0 {
            Kind::Real { file, .. } => Ok(Metadata::real(file.metadata()?)),
            Kind::Simulated(file) => {
                file.settle()?;
                Ok(disk::with(file.host, |disk| Metadata::simulated(disk, file.entry)))
            }
        }
    }

    fn gate(&self) -> &Pipe<()> {
        match &self.0 {
            Kind::Real { gate, .. } => gate,
            Kind::Simulated(file) => &file.gate,
        }
    }
}

impl Simulated {
    fn content(&self) -> io::Result<usize> {
        match self.entry {
            Entry::File(file) => Ok(file),
            Entry::Directory => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// As Linux says it.
    fn check_writable(&self) -> io::Result<()> {
        let writable = self.can.write || self.can.append;
        if writable { Ok(()) } else { Err(io::Error::from_raw_os_error(9)) }
    }

    fn position(&self) -> MutexGuard<'_, Position> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was written reaches the disk.
    fn settle(&self) -> io::Result<()> {
        let Some(bytes) = self.position().written.take() else { return Ok(()) };
        self.check_writable()?;
        if faults::strike(&["the disk is full"]).is_some() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if self.host.is_up() {
            let at = self.position().at;
            let after = put(self.host, self.entry, at, self.can.append, bytes);
            self.position().at = after;
        }
        Ok(())
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        let alive = self.check_writable().is_ok()
            && self.execution == pipe::execution()
            && self.crashes == self.host.crashes();
        let Position { at, written } = std::mem::take(&mut *self.position());
        let (Some(bytes), true) = (written, alive && self.host.is_up()) else { return };
        let gate = self.gate.clone();
        let (host, entry, append) = (self.host, self.entry, self.can.append);
        let write = async move {
            poll_fn(|cx| gate.poll_writable(cx)).await;
            put(host, entry, at, append, bytes);
        };
        drop(task::Builder::new().name("late write").spawn(write));
    }
}

/// Writes bytes to a file at this place, or at its end; answers where they end.
fn put(host: Host, entry: Entry, at: u64, append: bool, bytes: Vec<u8>) -> u64 {
    let Entry::File(file) = entry else { return at };
    disk::with(host, |disk| {
        let at = if append { disk.bytes(file).len() } else { at as usize };
        let after = (at + bytes.len()) as u64;
        disk.write(file, at, bytes);
        after
    })
}

impl AsyncRead for File {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.gate().poll_writable(cx));
        match &mut self.0 {
            Kind::Real { file, .. } => {
                let amount = file.read(buf.initialize_unfilled())?;
                buf.advance(amount);
            }
            Kind::Simulated(file) => {
                file.settle()?;
                if !file.can.read {
                    return Poll::Ready(Err(io::Error::from_raw_os_error(9)));
                }
                let content = file.content()?;
                let at = file.position().at as usize;
                let amount = disk::with(file.host, |disk| {
                    let rest = disk.bytes(content).get(at..).unwrap_or_default();
                    let amount = rest.len().min(buf.remaining());
                    buf.put_slice(&rest[..amount]);
                    amount
                });
                file.position().at += amount as u64;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for File {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.gate().poll_writable(cx));
        match &mut self.0 {
            Kind::Real { file, .. } => Poll::Ready(file.write(buf)),
            Kind::Simulated(file) => {
                file.settle()?;
                if !file.host.is_up() {
                    return Poll::Pending;
                }
                file.position().written = Some(buf.to_vec());
                Poll::Ready(Ok(buf.len()))
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.gate().poll_writable(cx));
        match &mut self.0 {
            Kind::Real { file, .. } => Poll::Ready(file.flush()),
            Kind::Simulated(file) => Poll::Ready(file.settle()),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl AsyncSeek for File {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        match &mut self.0 {
            Kind::Real { file, .. } => file.seek(to).map(|_| ()),
            Kind::Simulated(file) => {
                file.settle()?;
                let known = disk::with(file.host, |disk| Metadata::simulated(disk, file.entry));
                let length = known.len();
                let to = match to {
                    SeekFrom::Start(at) => Some(at),
                    SeekFrom::End(by) => length.checked_add_signed(by),
                    SeekFrom::Current(by) => file.position().at.checked_add_signed(by),
                };
                file.position().at = to.ok_or(io::ErrorKind::InvalidInput)?;
                Ok(())
            }
        }
    }

    fn poll_complete(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        match &mut self.0 {
            Kind::Real { file, .. } => Poll::Ready(file.stream_position()),
            Kind::Simulated(file) => Poll::Ready(Ok(file.position().at)),
        }
    }
}
