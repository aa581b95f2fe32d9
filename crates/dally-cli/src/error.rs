//! Why a command could not do what it was asked to.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use dally::checking::ReadScheduleError;
use dally::p::peasy::OtherProgram;
use dally::p::project::ProjectError;
use dally::settings::SettingsError;
use dally_settings::ValueError;

use crate::flags::in_flags;

/// An error of the command line; the exit code is that of bad input.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error("no protocol `{name}`; there are: {}\n  see `dally list`", .known.join(", "))]
    NoProtocol { name: String, known: Vec<&'static str> },
    #[error("`{protocol}` has no planted bugs")]
    NoBugs { protocol: &'static str },
    #[error("`{protocol}` has no bug `{bug}`; it has: {}", .known.join(", "))]
    NoBug { protocol: &'static str, bug: String, known: Vec<&'static str> },
    #[error("{flag} is for P projects, and `{protocol}` is a protocol")]
    ForProjects { flag: &'static str, protocol: &'static str },
    #[error("--bug is for protocols, and this is a P project")]
    ForProtocols,
    #[error("--param is for programs in MPIL, `.mpil` files")]
    ForMpil,
    #[error("{flag} is for P projects and protocols, and this is a program in MPIL")]
    NotForMpil { flag: &'static str },
    #[error(
        "{flag} is for tests, and what `dally check` runs has no statics of its own\n  leave it out, or \
         give it to a `#[dally::test]`"
    )]
    ForTests { flag: &'static str },
    #[error("programs in MPIL are checked one at a time")]
    SeveralPrograms,
    #[error("--param {given}: a parameter is given as NAME=VALUE, and the value is a number")]
    NoParameter { given: String },
    #[error("`{}` cannot be read: {why}", .path.display())]
    NotRead { path: PathBuf, why: io::Error },
    #[error("`{program}` could not be checked:\n  {}", .notes.join("\n  "))]
    NotChecked { program: String, notes: Vec<String> },
    #[error("not all tests could be checked")]
    NotAllChecked,
    #[error("{}", in_flags(.0.to_string()))]
    Settings(#[from] SettingsError),
    #[error("{flag} needs a value")]
    NoValue { flag: String },
    #[error("{flag} {value}: {why}")]
    Value { flag: String, value: String, why: ValueError },
    #[error("the {what} `{name}` is given twice")]
    Twice { what: &'static str, name: String },
    #[error(transparent)]
    Comparison(#[from] dally_compare::Problem),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    OtherProgram(#[from] OtherProgram),
    #[error(
        "`{}` is no P source file, project or folder, and only these can be checked together",
        .subject.display()
    )]
    NotOfProject { subject: OsString },
    #[error("there are several projects here: name one, such as {} or {}", .one.display(), .other.display())]
    SeveralProjects { one: PathBuf, other: PathBuf },
    #[error(
        "nothing was named, and there is no `.pproj` file here\n  name a P project (`dally check \
         Model.pproj`) or a protocol, one of `dally list`"
    )]
    NothingHere,
    #[error("`{}` cannot be written: {why}", .path.display())]
    NotWritten { path: PathBuf, why: io::Error },
    #[error("`{}` is no place for a crate: {why}", .path.display())]
    NoPlace { path: PathBuf, why: io::Error },
    #[error(
        "`{}` has a crate already, which is left as it is\n  name another place: --out DIR",
        .place.display()
    )]
    CrateThere { place: PathBuf },
    #[error("{option} needs a value\n  `dally p help` has the options of `p check`")]
    NoValueOfP { option: String },
    #[error(
        "{option} is an option of `p check` that Dally does not have: {instead}\n  `dally p help` \
         has them all"
    )]
    NotOfDally { option: String, instead: &'static str },
    #[error("the project has no tests\n  declare one: test t [main=M]: {{ M }};")]
    NoTests,
    #[error("no test is called `{name}` or begins so; there are: {}", .known.join(", "))]
    NoTest { name: String, known: Vec<String> },
    /// In the words of the facade, which tests print too.
    #[error(transparent)]
    Schedule(#[from] ReadScheduleError),
    #[error("{why}\n  the schedule is of `{program}`")]
    OfProtocol { why: Box<CliError>, program: String },
    #[error("the schedule is of `{program}`, which is no P project")]
    NoProject { program: String },
    #[error(
        "the schedule is of the P project `{}`, which is not there\n  run this where it is, or name \
         it: dally replay SCHEDULE --project PATH", .path.display()
    )]
    ProjectGone { path: PathBuf },
    #[error(
        "--rounds is for the schedule of a livelock, which leads into a loop, and this one is of \
         another outcome: leave it out\n  the schedule was recorded with: {outcome}"
    )]
    NoLoop { outcome: String },
    #[error(
        "several things were named, and one program is explored at a time\n  only a P project can have \
         several paths"
    )]
    SeveralExplored,
    #[error(
        "`{name}` is no protocol, no P project, no program in MPIL, no schedule, and no test of this \
         workspace{}\n  see `dally list`", .why.as_ref().map_or(String::new(), |why| format!(": {why}"))
    )]
    NothingToExplore { name: String, why: Option<String> },
    #[error("several tests have `{name}` in their names: {}\n  name one in full", .known.join(", "))]
    SeveralTests { name: String, known: Vec<String> },
    #[error("the project has several tests: {}\n  name one: -t TEST", .known.join(", "))]
    WhichTest { known: Vec<String> },
    #[error(
        "`{test}` did not begin to be explored\n  is it a test of Dally, `#[dally::test]`? {why}"
    )]
    NotExplored { test: String, why: io::Error },
    #[error(transparent)]
    Campaign(#[from] dally_campaign::StoreError),
    #[error("the plan `{}` cannot be read: {why}", .path.display())]
    Plan { path: PathBuf, why: dally_campaign::PlanError },
    #[error("{0}")]
    NoPlan(dally_campaign::PlanError),
    #[error("in the plan, {name} is `{value}`: {why}")]
    InPlan { name: &'static str, value: String, why: String },
    #[error("{program} cannot be run under {strategy}: {why}")]
    NotInCampaign { program: String, strategy: String, why: String },
    #[error(
        "no finding of the campaign has a cause that begins with `{cause}`\n  `dally campaign findings` lists them"
    )]
    NoCause { cause: String },
    #[error(
        "no test of this workspace is one of Dally, `#[dally::test]`, and has such a name{}",
        if *.built { "" } else { ", or cargo could not build it" }
    )]
    NoTestsToRun { built: bool },
    #[error("no page can be served on 127.0.0.1:{port}: {why}")]
    NotServed { port: u16, why: String },
    #[error("the terminal cannot be read or written: {0}")]
    Terminal(io::Error),
    #[error("cargo cannot be run: {0}")]
    Cargo(io::Error),
    /// In the words of cargo.
    #[error("{0}")]
    Metadata(String),
    #[error("`cargo metadata` cannot be read: {0}")]
    MetadataForm(#[from] serde_json::Error),
    #[error("the schedule is of the test `{test}`, which cargo cannot find: {why}")]
    NoPackage { test: String, why: Box<CliError> },
    #[error(
        "the schedule is of the test `{test}`, and no package of this workspace has a crate \
         `{krate}`\n  run the command in the workspace that the schedule was recorded in"
    )]
    NoCrate { test: String, krate: String },
    #[error(
        "the schedule is of the test `{name}`, and the crate `{krate}` has no such test\n  was it \
         renamed, or is it behind a feature?"
    )]
    TestGone { name: String, krate: String },
    #[error("`{}`: {why}", .path.display())]
    Trace { path: PathBuf, why: dally::contract::ReadError },
    #[error(
        "there is no JSON trace beside the schedule, and it is of the test `{test}`: run it again by \
         `cargo dally replay SCHEDULE`, which writes no page, or run the test"
    )]
    PageOfTest { test: String },
    #[error("the schedule shows no bug, so there is nothing to make a page of\n  {}", .remarks.join("\n  "))]
    NoFinding { remarks: Vec<String> },
    #[error(
        "nothing here is for Dally to explore: no package of this workspace depends on `dally`, and none \
         on tokio 1.x\n  see docs/first-test.md and docs/tokio.md of Dally"
    )]
    NoTokio,
    #[error(
        "this workspace uses tokio {}, and Dally can stand in for 1.x only\n  only tests that use \
         tokio 1.x can be explored", .versions.join(" and ")
    )]
    OtherTokio { versions: Vec<String> },
    #[error(
        "tokio {version} comes from {source_of_it}, and Dally can stand in for the one of crates.io \
         only\n  remove the `[patch]` or the path of tokio to explore the tests"
    )]
    ForeignTokio { version: String, source_of_it: String },
    #[error(
        "cargo does not use Dally's tokio in place of tokio {version}, so nothing would be \
         explored\n  does something pin tokio to a source of its own, such as `[patch]`, `[replace]` or \
         another registry?"
    )]
    NotReplaced { version: String },
    #[error(
        "{why}\n  offline, all that Dally's tokio depends on must have been downloaded: run the command \
         once without --offline"
    )]
    Offline { why: Box<CliError> },
    #[error(
        "`{}` cannot be written: {why}\n  a workspace that uses tokio is built there a second time; name \
         another place: --target-dir DIR", .place.display()
    )]
    NoShadow { place: PathBuf, why: io::Error },
    #[error(
        "no test took the schedule in DALLY_REPLAY, so nothing was replayed\n  was the test renamed, is it \
         behind a feature, or do the arguments leave it out? `cargo dally replay SCHEDULE` finds it"
    )]
    NothingReplayed,
    #[error(
        "this workspace uses dally {theirs}, and this is `cargo dally` {ours}: the tests and what stands in for tokio \
         need the same\n  install it: cargo install dally-cli --version {theirs}"
    )]
    OtherDally { theirs: String, ours: &'static str },
    #[error("the sources of dally-tokio {version} cannot be had: {why}")]
    NoSources { version: &'static str, why: Box<CliError> },
    #[error("Ctrl-C cannot be watched for: {0}")]
    Interrupt(#[from] ctrlc::Error),
}
