//! Sessions of a test of this workspace: cargo runs it, and it answers over its standard streams.

use std::io::{BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use dally::contract::Schedule;
use dally::explore::lines::Remote;
use dally::explore::{Reply, Request};
use dally::report::tell;

use super::{Ask, say};
use crate::cargo::{cargo, listed, of_recorded};
use crate::error::CliError;
use crate::tokio::Replaced;

/// A test that can be explored.
pub struct TestOf {
    name: String,
    /// What cargo is given before the name of the test: which crate it is in, if that is known.
    selection: Vec<String>,
    replaced: Option<Replaced>,
    /// The path to begin with, as the text of a schedule.
    path: Option<String>,
}

impl TestOf {
    /// The test of this workspace with this name or, if there is one, the only test with this in its name.
    pub fn named(name: &str) -> Result<TestOf, CliError> {
        let nothing =
            |why: Option<String>| CliError::NothingToExplore { name: name.to_owned(), why };
        let replaced = Replaced::by(&[]).map_err(|why| nothing(Some(why.to_string())))?;
        let test = TestOf { name: name.to_owned(), selection: Vec::new(), replaced, path: None };
        say(&format!("looking for the test `{name}` in this workspace\n"));
        let mut found = listed(test.command(&["--", "--list"]).stderr(Stdio::inherit()))?;
        if let Some(place) = found.iter().position(|found| found == name) {
            found = vec![found.swap_remove(place)];
        }
        match found.len() {
            0 => Err(nothing(None)),
            1 => Ok(TestOf { name: found.remove(0), ..test }),
            _ => Err(CliError::SeveralTests { name: name.to_owned(), known: found }),
        }
    }

    /// The test of a schedule.
    pub fn recorded(schedule: &Schedule) -> Result<TestOf, CliError> {
        let (selection, name, replaced) = of_recorded(schedule)?;
        Ok(TestOf { name, selection, replaced, path: Some(schedule.to_text()) })
    }

    fn command(&self, last: &[&str]) -> Command {
        let selected = self.selection.iter().map(String::as_str);
        let arguments: Vec<&str> =
            selected.chain([&*self.name]).chain(last.iter().copied()).collect();
        match &self.replaced {
            Some(replaced) => replaced.test(&arguments),
            None => {
                let mut cargo = cargo();
                cargo.arg("test").args(arguments);
                cargo
            }
        }
    }

    /// Starts the test in a process of its own, and waits until it answers.
    pub fn open(&self) -> Result<Ask, CliError> {
        let mut command = self.command(&["--", "--exact"]);
        command.env("DALLY_EXPLORE", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(CliError::Cargo)?;
        let (Some(requests), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both streams are pipes");
        };
        let remote = Remote::new(BufReader::new(replies), requests);
        let mut process = Process { child, remote: Some(remote) };
        let first = match &self.path {
            Some(schedule) => Request::Open { schedule: schedule.clone() },
            None => Request::Look,
        };
        let opened = process
            .try_ask(first)
            .map_err(|why| CliError::NotExplored { test: self.name.clone(), why })?;
        if let Some(why) = opened.error {
            say(&format!("note: {why}\n"));
        }
        Ok(Box::new(move |request| {
            process.try_ask(request).unwrap_or_else(|why| Reply::error(why.to_string()))
        }))
    }
}

/// The process of a test. It ends when it is no longer asked.
struct Process {
    child: Child,
    remote: Option<Remote<BufReader<ChildStdout>, ChildStdin>>,
}

impl Process {
    fn try_ask(&mut self, request: Request) -> std::io::Result<Reply> {
        let Some(remote) = &mut self.remote else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        // What cargo and the harness print before the test begins is not for whoever explores.
        remote.ask(0, request, &mut |line| {
            if !is_of_harness(line) {
                tell::err(line);
            }
        })
    }
}

fn is_of_harness(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with("running ") || line.starts_with("test ")
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without requests to come the test ends by itself, and cargo with it.
        self.remote = None;
        let _ = std::io::stderr().flush();
        let _ = self.child.wait();
    }
}
