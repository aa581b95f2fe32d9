//! Line breaks in documents: every step is a line, and no line is more than a step, so that documents
//! can be read, searched and compared by line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The document as text, ending with a line break. What is nested deeper than `deepest` shares
/// the line of its container. A line begins with `indent` for each level.
pub(super) fn write(document: &impl Serialize, deepest: usize, indent: &'static str) -> String {
    let mut out = Vec::new();
    let layout = Layout { depth: 0, deepest, indent, empty: true };
    // Neither writing to memory nor serialising these documents, whose keys are strings, can fail.
    let _ = document.serialize(&mut Serializer::with_formatter(&mut out, layout));
    out.push(b'\n');
    super::visible(&String::from_utf8(out).unwrap_or_default())
}

struct Layout {
    depth: usize,
    deepest: usize,
    indent: &'static str,
    empty: bool,
}

impl Layout {
    fn open<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.empty = true;
        out.write_all(bracket)
    }

    fn item<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.empty = false;
        match (self.depth <= self.deepest, first) {
            (true, true) => {}
            (true, false) => out.write_all(b",")?,
            (false, true) => return Ok(()),
            (false, false) => return out.write_all(b", "),
        }
        self.line(out)
    }

    fn close<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.depth < self.deepest && !self.empty {
            self.line(out)?;
        }
        self.empty = false;
        out.write_all(bracket)
    }

    fn line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(self.indent.as_bytes()))
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.item(out, first)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.item(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }
}
