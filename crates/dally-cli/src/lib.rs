//! The `dally` command and its twin `cargo dally`: arguments and wiring only.

mod args;
mod cargo;
mod check;
mod compare;
mod flags;
mod interrupt;
mod list;
mod p;
mod progress;
mod replay;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};

/// No bug was found.
const CLEAN: u8 = 0;
/// A bug was found.
const BUG: u8 = 1;
/// Nothing was checked: bad usage or bad input.
const BAD_INPUT: u8 = 2;
/// A comparison was interrupted.
const INTERRUPTED: u8 = 130;

/// Does what the arguments say, of which the first is the name of the program.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let command = Cli::parse_from(arguments).command;
    dally::variables::warn_of_unknown();
    let result = match command {
        Command::List(arguments) => {
            print(&list::list(arguments.format));
            Ok(CLEAN)
        }
        Command::Check(arguments) => check::check(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Test(arguments) => cargo::test(&arguments.arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
    };
    ExitCode::from(result.unwrap_or_else(|why| {
        eprintln!("error: {why}");
        BAD_INPUT
    }))
}

/// Prints to standard output. A reader that has gone away, as `head` does, or a full disk is not
/// the program's business: the exit code still tells.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(why) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && why.kind() != std::io::ErrorKind::BrokenPipe
    {
        eprintln!("error: the output cannot be written: {why}");
    }
}
