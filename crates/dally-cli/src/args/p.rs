//! What concerns projects in P.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `dally check` that only P projects know.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Of a P project")]
pub struct PArgs {
    /// Check the test of this name, or all tests whose names begin so; can be given several times.
    /// Without it all tests are checked.
    #[arg(short, long = "test", value_name = "TEST")]
    pub tests: Vec<String>,

    /// List the tests and check nothing.
    #[arg(long)]
    pub list_tests: bool,

    /// Search all states of each test: `--search map` where a spec has hot states, `--search ses`
    /// elsewhere.
    #[arg(long, conflicts_with = "search")]
    pub exhaustive: bool,

    /// Run handlers without scheduling points at their sends: far fewer schedules. Says so where
    /// bugs can be missed by it.
    #[arg(long)]
    pub atomic_handlers: bool,

    /// A file of stubs in P: it gives bodies to foreign functions (`fun f(): int { return
    /// choose(3); }`, those of a machine inside `machine M { ... }`) and says what foreign types are
    /// (`type T = int;`). Can be given several times.
    #[arg(long, value_name = "FILE")]
    pub foreign: Vec<PathBuf>,

    /// Let foreign functions without a body return any value of a small type, by choice, and the
    /// default of others.
    #[arg(long)]
    pub stub_foreign: bool,

    /// Show all steps of the first finding, or of one execution that passes, with what it prints.
    #[arg(short, long)]
    pub verbose: bool,

    /// Write what `p check` writes into this directory: the trace of each finding, or of one execution
    /// that passes, as `TEST.trace.json`, and `TEST.coverage.txt`.
    #[arg(long, value_name = "DIR")]
    pub p_files: Option<PathBuf>,

    /// Write a state diagram of each machine into this directory, with what was covered:
    /// `TEST.MACHINE.svg`.
    #[arg(long, value_name = "DIR")]
    pub diagrams: Option<PathBuf>,

    /// Run this schedule again, a file or a token, on the project as it is now.
    #[arg(long, value_name = "SCHEDULE")]
    pub replay: Option<OsString>,
}

/// `dally p`
#[derive(Args, Debug)]
#[command(disable_help_subcommand = true)]
pub struct PCommand {
    #[command(subcommand)]
    pub command: OfP,
}

#[derive(Debug, Subcommand)]
pub enum OfP {
    /// List the options of `p check` and what Dally calls them.
    Help,
    /// Print a TextMate grammar of P, which editors colour sources by.
    Grammar,
    /// Write a Rust crate for the foreign functions of a project, with their signatures and a test for
    /// each test of the project.
    NewForeign(NewForeignArgs),
}

#[derive(Args, Debug)]
pub struct NewForeignArgs {
    /// The project: a `.p` file, a folder or a `.pproj` file.
    #[arg(value_name = "PATH")]
    pub project: PathBuf,

    /// Where to write the crate.
    #[arg(long, value_name = "DIR", default_value = "foreign")]
    pub out: PathBuf,

    /// Depend on the sources of Dally in this directory instead of a published version.
    #[arg(long, value_name = "DIR")]
    pub dally: Option<PathBuf>,
}

impl PArgs {
    /// The first of them that was given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--test", !self.tests.is_empty()),
            ("--list-tests", self.list_tests),
            ("--exhaustive", self.exhaustive),
            ("--atomic-handlers", self.atomic_handlers),
            ("--foreign", !self.foreign.is_empty()),
            ("--stub-foreign", self.stub_foreign),
            ("--verbose", self.verbose),
            ("--p-files", self.p_files.is_some()),
            ("--diagrams", self.diagrams.is_some()),
            ("--replay", self.replay.is_some()),
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }
}
