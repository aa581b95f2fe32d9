//! The command `dally` as a subcommand of cargo, `cargo dally`.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Cargo passes the name of the subcommand as the first argument.
    let is_subcommand = std::env::args_os().nth(1).is_some_and(|name| name == "dally");
    let repeated = usize::from(is_subcommand);
    dally_cli::run(std::env::args_os().skip(repeated))
}
