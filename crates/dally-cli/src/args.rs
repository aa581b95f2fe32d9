//! The command line.

mod compare;
mod finding;
mod p;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use dally::settings::{OutputFormat, parse_bytes, parse_time};

pub use self::compare::CompareArgs;
pub use self::finding::{Export, ExportArgs, FindingArgs, PageArgs};
pub use self::p::{NewForeignArgs, OfP, PArgs, PCommand};
use crate::flags::{All, OfReplays};

/// Finds the bugs of asynchronous systems by controlling who runs next.
///
/// Dally runs a program under thousands of schedules: which worker steps next, which message
/// arrives, which value a choice returns. When a schedule fails, Dally shrinks it, tells its
/// story and hands back a file and a token that replay it every time.
///
/// Start with `dally list`, then `dally check raft-v1 --bug duplicate-votes`, or with a project in
/// the language P: `dally check Model.pproj`.
#[derive(Debug, Parser)]
#[command(name = "dally", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  no bug was found
  1  a bug was found, or a replayed schedule showed its bug
  2  bad usage or bad input; nothing was checked
`dally compare` exits with 0 when it is done, whatever was found, and with 130 when interrupted.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the bundled protocols and the bugs planted in them.
    List(ListArgs),
    /// Check a protocol or the tests of a P project under many schedules.
    Check(CheckArgs),
    /// Run one recorded schedule again: of a protocol, a P project or a test of this workspace.
    Replay(ReplayArgs),
    /// Make the page of a finding: one HTML file with a diagram of what happened.
    Page(PageArgs),
    /// Write a finding in the format of another viewer: ShiViz, Chrome, Mermaid, Peasy.
    Export(ExportArgs),
    /// Run many programs under many strategies within a budget, and remember what came of it.
    Campaign(CampaignCommand),
    /// Explore an execution by hand, in a browser or in the terminal.
    Explore(ExploreArgs),
    /// Run the tests of a crate with `cargo test`, with settings of Dally as flags.
    Test(TestArgs),
    /// The schedules that tests of this workspace have failed under, and run first from then on.
    #[command(subcommand)]
    Regressions(RegressionsCommand),
    /// For P projects: the options of `p check`, foreign functions, editors.
    P(PCommand),
    /// Compare strategies: how often, how soon and at what cost each finds a planted bug.
    Compare(CompareArgs),
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs; the schema is in docs/json.md.
    Json,
}

#[derive(Args, Debug)]
pub struct ListArgs {
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// A P project: `.p` files, a folder or a `.pproj` file, by default the one of this directory; a
    /// program in MPIL, a `.mpil` file; or a protocol, one of `dally list`.
    #[arg(value_name = "PATH|PROTOCOL")]
    pub subjects: Vec<OsString>,

    /// Of a protocol: switch on this planted bug; without it the correct version is checked.
    #[arg(long)]
    pub bug: Option<String>,

    /// Of a program in MPIL: give this parameter this value, as in `--param n=4`; can be given several
    /// times.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub parameters: Vec<String>,

    /// How to check.
    #[command(flatten)]
    pub settings: All,

    // Last: its heading holds for all that follows.
    #[command(flatten)]
    pub p: PArgs,
}

impl CheckArgs {
    /// How what was checked is printed.
    pub fn output(&self) -> OutputFormat {
        // A variable with another value is refused with the other settings.
        let variable = std::env::var("DALLY_FORMAT").ok();
        let given = self.settings.given("format").or(variable.as_deref());
        given.and_then(|given| given.parse().ok()).unwrap_or(OutputFormat::Text)
    }

    /// How everything else is printed, such as the errors of a project.
    pub fn format(&self) -> Format {
        if self.output() == OutputFormat::Json { Format::Json } else { Format::Text }
    }
}

const CHECK_EXAMPLES: &str = "\
Examples:
  dally check Model.pproj
  dally check Model.pproj -t tcSingle --exhaustive --threads 2
  dally check raft-v1 --bug duplicate-votes
  dally check two-phase-commit --schedules 100000 --threads 2
  dally check failure-detector --bug pings-pile-up --strategy pct:10 --seed 7
  dally check chord --bug missing-key --strategy ql --learned chord.learned
  dally check lcr --search ses --explorer rtc
  dally check chain-replication --bug two-neighbours --search ses --explorer rr --memory 1G
  dally check paxos --bug smallest-proposal --time 30s --keep-going --format json";

/// `dally campaign`
#[derive(Args, Debug)]
pub struct CampaignCommand {
    #[command(subcommand)]
    pub command: OfCampaigns,
}

#[derive(Debug, Subcommand)]
pub enum OfCampaigns {
    /// Begin a campaign, or go on with it.
    Run(CampaignArgs),
    /// Show what was run, found and covered.
    Show(CampaignAt),
    /// List the findings and what became of them.
    Findings(CampaignAt),
    /// Write one HTML page about all of it.
    Report(CampaignReportArgs),
    /// Run the schedules of findings again, and take note of those that no longer show their bug.
    Replay(CampaignReplayArgs),
}

/// Where a campaign is.
#[derive(Args, Debug)]
pub struct CampaignAt {
    /// The directory of the campaign.
    #[arg(long, value_name = "DIR", default_value = "campaign")]
    pub dir: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = CAMPAIGN_EXAMPLES)]
pub struct CampaignArgs {
    /// A plan, a TOML file; or programs: protocols (PROTOCOL:BUG with a planted bug), P projects, programs in
    /// MPIL. With `--tests` parts of names of tests.
    #[arg(required_unless_present = "tests", value_name = "PLAN|PROGRAM")]
    pub subjects: Vec<String>,

    /// The programs are the tests of this workspace, `#[dally::test]`, each in a process of its own; if names are
    /// given, those that have one of them in theirs.
    #[arg(long)]
    pub tests: bool,

    #[command(flatten)]
    pub at: CampaignAt,

    /// Serve a page that shows how far the campaign is, on the loopback address, to whoever knows the token in
    /// its URL.
    #[arg(long)]
    pub serve: bool,

    /// The port of that page; by default one that is free.
    #[arg(long, value_name = "N", requires = "serve")]
    pub port: Option<u16>,

    /// The strategies, separated by commas, instead of those of the plan. Those that learn go on from what they
    /// have learnt, also in later runs.
    #[arg(long, value_delimiter = ',', value_name = "A,B,C")]
    pub strategies: Vec<String>,

    /// How long to go on, such as 10m; without it until it is interrupted.
    #[arg(long, value_parser = parse_time, value_name = "TIME")]
    pub time: Option<Duration>,

    /// How many threads run schedules; by default as many as there are processors.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=256), value_name = "N")]
    pub threads: Option<u64>,

    /// How much memory the process may have before the run ends, such as 2G.
    #[arg(long, value_parser = parse_bytes, value_name = "BYTES")]
    pub memory: Option<u64>,

    /// Where all random choices start from.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

#[derive(Args, Debug)]
pub struct CampaignReportArgs {
    #[command(flatten)]
    pub at: CampaignAt,

    /// Where to write the page, by default `report.html` in the directory of the campaign.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct CampaignReplayArgs {
    /// The findings, by what their causes begin with; by default all.
    #[arg(value_name = "CAUSE")]
    pub causes: Vec<String>,

    #[command(flatten)]
    pub at: CampaignAt,
}

const CAMPAIGN_EXAMPLES: &str = "\
Examples:
  dally campaign run night.toml --time 8h
  dally campaign run raft-v1:duplicate-votes paxos --strategies random,pos --time 10m
  dally campaign run Model.pproj --dir model-campaign --time 1h
  dally campaign run --tests --strategies ql,pos --time 8h --serve
  dally campaign report

The same command goes on where a run ended, was interrupted or was killed. When it begins, the findings that
are known are replayed: one that no longer shows is fixed at the present revision of a git checkout. The exit
code is 1 if a finding is open, and 130 if the run was interrupted.";

#[derive(Args, Debug)]
#[command(after_help = EXPLORE_EXAMPLES)]
pub struct ExploreArgs {
    /// A protocol, one of `dally list`; a P project; a program in MPIL; a schedule, a file or a token, whose
    /// program it is then; or the name of a test of this workspace.
    #[arg(required = true, value_name = "PROGRAM")]
    pub subjects: Vec<OsString>,

    /// Of a protocol: switch on this planted bug.
    #[arg(long)]
    pub bug: Option<String>,

    /// Of a program in MPIL: give this parameter this value, as in `--param n=4`.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub parameters: Vec<String>,

    /// Of a P project: its test, if it has several.
    #[arg(short, long, value_name = "TEST")]
    pub test: Option<String>,

    /// Of a P project: run handlers without scheduling points at their sends.
    #[arg(long)]
    pub atomic_handlers: bool,

    /// Of a P project: a file of stubs for foreign functions.
    #[arg(long, value_name = "FILE")]
    pub foreign: Vec<PathBuf>,

    /// Of a P project: let foreign functions without a body return any value of a small type.
    #[arg(long)]
    pub stub_foreign: bool,

    /// Read commands from standard input instead of serving a page: `help` lists them.
    #[arg(long)]
    pub terminal: bool,

    /// The port of the page on the loopback address; by default one that is free.
    #[arg(long, value_name = "N", conflicts_with = "terminal")]
    pub port: Option<u16>,
}

const EXPLORE_EXAMPLES: &str = "\
Examples:
  dally explore raft-v1 --bug duplicate-votes
  dally explore Model.pproj -t tcSingle --terminal
  dally explore .dally/raft-v1-duplicate-votes-beb56cce.schedule
  cargo dally explore nobody_gets_money_that_is_not_there

The page is served on the loopback address, to whoever knows the token in its URL. In the terminal the
exit code is 2 if a command could not be done, so that scripts notice.";

#[derive(Args, Debug)]
#[command(after_help = TEST_EXAMPLES)]
pub struct TestArgs {
    /// Settings, as `dally check` takes them (`--schedules 100000`), and whatever `cargo test`
    /// takes. Settings apply to all tests that are run, whatever their attributes say. In a workspace
    /// that uses tokio and not `dally`, Dally stands in for tokio.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}

const TEST_EXAMPLES: &str = "\
Examples:
  cargo dally test
  cargo dally test --schedules 100000 --threads 2 -p bank
  cargo dally test --strategy pct:10 --seed 7 --test accounts -- --nocapture
  cargo dally test --search ses nobody_gets_money_that_is_not_there -- --exact

Each setting can also be given as an environment variable: `DALLY_SCHEDULES=100000 cargo test`.
The exit code is that of cargo.";

#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// A schedule: a file that `dally check` or a test wrote, or a token that starts with `dally1-`.
    pub schedule: OsString,

    /// The P project, if it is not where the schedule says.
    #[arg(long, value_name = "PATH")]
    pub project: Vec<PathBuf>,

    /// Where the program no longer fits the schedule, go on as far as possible instead of
    /// stopping, and say where the recording was left.
    #[arg(long)]
    pub best_effort: bool,

    /// Go round the loop that the schedule leads into this many times, by default 10, and see
    /// that the state repeats. For schedules of livelocks.
    #[arg(long, value_name = "N")]
    pub rounds: Option<u32>,

    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// How to run it.
    #[command(flatten)]
    pub settings: OfReplays,
}

#[derive(Debug, Subcommand)]
pub enum RegressionsCommand {
    /// List them, with their tests and bugs.
    List,
    /// Run them, and remove those that no longer fit the program.
    Prune(PruneArgs),
}

#[derive(Args, Debug)]
pub struct PruneArgs {
    /// Remove those that pass too.
    #[arg(long)]
    pub passing: bool,
}
