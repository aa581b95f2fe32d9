//! The commands `dally` and `cargo dally`: arguments and wiring only.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod campaign;
mod cargo;
mod check;
mod compare;
mod error;
mod explore;
mod flags;
mod interrupt;
mod list;
mod mpil;
mod p;
mod page;
mod progress;
mod regressions;
mod replay;
mod server;
mod tokio;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use dally::report::tell;

use crate::args::{Cli, Command};
use crate::error::CliError;

const CLEAN: u8 = 0;
const BUG: u8 = 1;
/// Nothing was checked: bad usage or bad input.
const BAD_INPUT: u8 = 2;
const INTERRUPTED: u8 = 130;

/// Runs the command; the first argument is the name of the program.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let result = p::translated(arguments).and_then(execute);
    ExitCode::from(result.unwrap_or_else(|why| {
        tell::err(&format!("error: {why}\n"));
        BAD_INPUT
    }))
}

fn execute(arguments: Vec<OsString>) -> Result<u8, CliError> {
    let command = Cli::parse_from(arguments).command;
    dally::variables::warn_of_unknown();
    match command {
        Command::List(arguments) => {
            print(&list::list(arguments.format));
            Ok(CLEAN)
        }
        Command::Check(arguments) => check::check(&arguments),
        Command::P(command) => p::other(&command.command),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Page(arguments) => page::page(&arguments),
        Command::Export(arguments) => page::export(&arguments),
        Command::Regressions(command) => regressions::regressions(&command),
        Command::Campaign(command) => campaign::campaign(&command.command),
        Command::Explore(arguments) => explore::explore(&arguments),
        Command::Test(arguments) => cargo::test(&arguments.arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
    }
}

/// Writes a file into a directory, and makes the directory if there is none.
fn save(directory: &Path, name: &str, text: &str) -> Result<(), CliError> {
    let path = directory.join(name);
    let folder = path.parent().unwrap_or(directory);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
    written.map_err(|why| CliError::NotWritten { path, why })
}

/// Prints to standard output. Errors, such as a closed pipe or a full disk, are ignored: the exit code
/// still tells the result.
fn print(text: &str) {
    if let Err(why) = tell::write(text)
        && why.kind() != std::io::ErrorKind::BrokenPipe
    {
        tell::err(&format!("error: the output cannot be written: {why}\n"));
    }
}
