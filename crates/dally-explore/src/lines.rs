//! Requests to another process and its replies, one a line, over its standard streams.
//!
//! A test explores its program in its own process, which cargo starts; whoever called cargo asks. Other lines
//! that the process prints are left alone, so a line begins with a mark. A campaign asks tests in the same way.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use dally_core::Document;
use serde::{Deserialize, Serialize};

use crate::request::{Reply, Request};
use crate::session::Session;

/// What a line of the protocol begins with, after whatever the program has printed before.
const MARK: &str = "\u{1e}dally ";

/// A request to the session of this number.
#[derive(Serialize, Deserialize)]
struct Asked {
    session: u64,
    request: Request,
}

impl Document for Asked {
    const FORMAT: &'static str = "dally-explore-asked";
    const VERSION: u32 = 1;
}

/// Answers the requests of `input` until there are no more. Every session begins as a copy of `first`.
pub fn serve(first: &Session, input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<()> {
    let mut sessions: BTreeMap<u64, Session> = BTreeMap::new();
    answer(input, out, &mut |document| {
        let reply = match Asked::read(document) {
            Ok(Asked { session, request }) => {
                sessions.entry(session).or_insert_with(|| first.another()).ask(request)
            }
            Err(why) => Reply::error(format!("the request cannot be read: {why}")),
        };
        reply.write()
    })
}

/// Answers each document of `input` with another one, until there are no more.
pub fn answer(
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    reply: &mut dyn FnMut(&str) -> String,
) -> io::Result<()> {
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let Some(document) = document(&line) else { continue };
        let reply = reply(document);
        write(out, &reply)?;
    }
}

/// Writes a document as an answer.
pub fn write(out: &mut dyn Write, document: &str) -> io::Result<()> {
    writeln!(out, "\n{MARK}{document}")?;
    out.flush()
}

fn document(line: &str) -> Option<&str> {
    line.rfind(MARK).map(|at| line[at + MARK.len()..].trim_end())
}

/// The other end: a process that [`answer`]s.
pub struct Remote<R, W> {
    replies: R,
    requests: W,
}

impl<R: BufRead, W: Write> Remote<R, W> {
    /// Over the streams of a process.
    pub fn new(replies: R, requests: W) -> Remote<R, W> {
        Remote { replies, requests }
    }

    /// Asks nothing more, and waits until the process has closed its end.
    pub fn close(mut self) {
        drop(self.requests);
        let _ = io::copy(&mut self.replies, &mut io::sink());
    }

    /// Asks the session of this number, which begins with its first request. Lines that are not of the
    /// protocol go to `printed`.
    pub fn ask(
        &mut self,
        session: u64,
        request: Request,
        printed: &mut dyn FnMut(&str),
    ) -> io::Result<Reply> {
        let reply = self.exchange(&Asked { session, request }.write(), printed)?;
        Reply::read(&reply).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))
    }

    /// Sends a document and waits for the one that answers it. Lines that are not of the protocol go to
    /// `printed`.
    pub fn exchange(
        &mut self,
        document: &str,
        printed: &mut dyn FnMut(&str),
    ) -> io::Result<String> {
        writeln!(self.requests, "{MARK}{document}")?;
        self.requests.flush()?;
        loop {
            let mut line = Vec::new();
            if self.replies.read_until(b'\n', &mut line)? == 0 {
                let why = "the process of the program has ended";
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
            }
            let line = String::from_utf8_lossy(&line);
            match self::document(&line) {
                Some(reply) => return Ok(reply.to_owned()),
                None if line.trim().is_empty() => {}
                None => printed(&line),
            }
        }
    }
}
