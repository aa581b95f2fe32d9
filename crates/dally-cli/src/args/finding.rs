//! What shows a finding in other ways: its page, and formats of other viewers.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Which finding to show.
#[derive(Args, Debug)]
pub struct FindingArgs {
    /// A finding: the JSON trace or the schedule that `dally check` or a test wrote, or a token. A
    /// schedule without a trace beside it is run again first.
    #[arg(value_name = "FILE")]
    pub finding: OsString,

    /// The P project of the schedule, if it is not where the schedule says.
    #[arg(long, value_name = "PATH")]
    pub project: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub struct PageArgs {
    #[command(flatten)]
    pub of: FindingArgs,

    /// Where to write the page, by default beside the file, and `finding.html` for a token.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportArgs {
    #[command(flatten)]
    pub of: FindingArgs,

    /// What to write, to standard output.
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    pub format: Export,
}

/// A format of another viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Export {
    /// A log with vector clocks, for ShiViz.
    Shiviz,
    /// A Chrome trace, for chrome://tracing and Perfetto.
    Chrome,
    /// A sequence diagram, for documents that show Mermaid.
    Mermaid,
    /// P's own trace, for Peasy: of a test of a P project.
    P,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  dally export .dally/raft-v1-duplicate-votes-beb56cce.schedule --as mermaid > raft.mmd
  dally export target/dally/pool.drains-5f0c9a12.json --as shiviz > pool.log
  dally export .dally/tcSilentOnTimeout-5f0c9a12.schedule --as p > trace.json";
