//! Printing: the last place where texts of strangers are made visible, whatever made them.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "all printing is done here")]

use std::io::{self, Write as _};

use crate::Style;

/// Prints to standard output, so that a test harness can keep it.
pub fn out(text: &str) {
    print!("{}", Style::of(&io::stdout()).shown(text));
}

/// Prints to standard error, so that a test harness can keep it.
pub fn err(text: &str) {
    eprint!("{}", Style::of(&io::stderr()).shown(text));
}

/// Prints to standard error at once, whoever keeps what a test prints. Nobody is left to be told if it fails.
pub fn err_at_once(text: &str) {
    let _ = io::stderr().write_all(Style::of(&io::stderr()).shown(text).as_bytes());
}

/// Writes to standard output, which may be closed or a full disk.
pub fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(Style::of(&out).shown(text).as_bytes())?;
    out.flush()
}
