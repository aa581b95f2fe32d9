//! The command `dally`.

use std::process::ExitCode;

fn main() -> ExitCode {
    dally_cli::run(std::env::args_os())
}
