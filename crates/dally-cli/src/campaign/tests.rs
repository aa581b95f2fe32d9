//! The tests of this workspace as programs of a campaign: each answers in a process of its own.

use std::process::{Command, Stdio};

use dally::contract::{Document as _, Finding, Schedule};
use dally::search::Batch;
use dally::testing::campaign::{Answer, Asked, Present, SERVED, TOLD};
use dally_campaign::Ran;

use crate::cargo::{cargo, marker};
use crate::error::CliError;
use crate::tokio::Replaced;
use dally::testing::TestProcess as Process;

/// The tests of Dally in this workspace whose names have one of these in them; all if there are none. Cargo
/// builds them and calls each once, which tells that it is there and runs nothing. Other tests are run.
pub fn present(names: &[String]) -> Result<Vec<Present>, CliError> {
    let told = marker("campaign");
    let mut arguments = vec!["--tests", "--no-fail-fast", "--quiet"];
    if !names.is_empty() {
        arguments.push("--");
        arguments.extend(names.iter().map(String::as_str));
    }
    let mut command = match Replaced::by(&[])? {
        Some(replaced) => replaced.test(&arguments),
        None => {
            let mut cargo = cargo();
            cargo.arg("test").args(&arguments);
            cargo
        }
    };
    command.env(TOLD, &told).stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.status().map_err(CliError::Cargo)?;
    let text = std::fs::read_to_string(&told).unwrap_or_default();
    let _ = std::fs::remove_file(told);
    let mut found: Vec<Present> =
        text.lines().filter_map(|line| Present::read(line).ok()).collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found.dedup_by(|one, other| one.path == other.path);
    match found.is_empty() {
        true => Err(CliError::NoTestsToRun { built: status.success() }),
        false => Ok(found),
    }
}

/// A test, and the process that it runs in once it was asked something.
pub struct TestProcess {
    present: Present,
    process: Option<Process>,
}

impl TestProcess {
    pub fn new(present: Present) -> TestProcess {
        TestProcess { present, process: None }
    }

    pub fn run(
        &mut self,
        strategy: &str,
        batch: Batch,
        learned: Option<Vec<u8>>,
        threads: usize,
    ) -> Result<Ran, String> {
        let strategy = strategy.to_owned();
        match self.ask(&Asked::Run { strategy, batch, learned, threads })? {
            Answer::Ran { report, learned } => Ok(Ran { report: *report, learned }),
            other => Err(self.unfit(other)),
        }
    }

    pub fn shrink(
        &mut self,
        strategy: &str,
        seed: u64,
        finding: &Finding,
    ) -> Result<Finding, String> {
        let (strategy, finding) = (strategy.to_owned(), Box::new(finding.clone()));
        match self.ask(&Asked::Shrink { strategy, seed, finding })? {
            Answer::Shrunk { finding } => Ok(*finding),
            other => Err(self.unfit(other)),
        }
    }

    pub fn shows(&mut self, schedule: &Schedule) -> Result<Option<bool>, String> {
        match self.ask(&Asked::Replay { schedule: schedule.to_text() })? {
            Answer::Replayed { shows } => Ok(shows),
            other => Err(self.unfit(other)),
        }
    }

    fn ask(&mut self, asked: &Asked) -> Result<Answer, String> {
        let answer = self.exchange(&asked.write());
        let told = answer.and_then(|answer| Answer::read(&answer).map_err(|why| why.to_string()));
        if told.is_err() {
            // Another request gets another process.
            self.process = None;
        }
        told
    }

    fn exchange(&mut self, document: &str) -> Result<String, String> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(started(&self.present).map_err(|why| why.to_string())?),
        };
        process.exchange(document).map_err(|why| why.to_string())
    }

    fn unfit(&self, told: Answer) -> String {
        match told {
            Answer::Refused { why } => why,
            _ => format!("{} has answered something else", self.present.path),
        }
    }
}

/// Starts the test alone in its executable, where cargo would have started it.
fn started(present: &Present) -> std::io::Result<Process> {
    let name = present.path.split_once("::").map_or(&*present.path, |(_, name)| name);
    let mut command = Command::new(&present.executable);
    command.args([name, "--exact", "--nocapture"]).current_dir(&present.directory);
    command.env(SERVED, "1").env("CARGO_MANIFEST_DIR", &present.directory);
    Process::start(command)
}
