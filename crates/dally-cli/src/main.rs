//! The `dally` command: arguments and wiring only.

mod args;
mod check;
mod list;
mod progress;
mod replay;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};

/// No bug was found.
const CLEAN: u8 = 0;
/// A bug was found.
const BUG: u8 = 1;
/// Nothing was checked: bad usage or bad input.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::List(arguments) => {
            print!("{}", list::list(arguments.format));
            Ok(CLEAN)
        }
        Command::Check(arguments) => check::check(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
    };
    ExitCode::from(result.unwrap_or_else(|why| {
        eprintln!("error: {why}");
        BAD_INPUT
    }))
}
