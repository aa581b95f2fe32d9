//! Sessions of a test of this workspace: cargo runs it, and it answers over its standard streams.

use std::process::{Command, Stdio};

use dally::contract::Schedule;
use dally::explore::{Reply, Request};

use super::{Ask, say};
use crate::cargo::{cargo, listed, of_recorded};
use crate::error::CliError;
use crate::tokio::Replaced;
use dally::testing::TestProcess;

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
        command.env("DALLY_EXPLORE", "1");
        let mut process = TestProcess::start(command).map_err(CliError::Cargo)?;
        let first = match &self.path {
            Some(schedule) => Request::Open { schedule: schedule.clone() },
            None => Request::Look,
        };
        let opened = process
            .ask(first)
            .map_err(|why| CliError::NotExplored { test: self.name.clone(), why })?;
        if let Some(why) = opened.error {
            say(&format!("note: {why}\n"));
        }
        Ok(Box::new(move |request| {
            process.ask(request).unwrap_or_else(|why| Reply::error(why.to_string()))
        }))
    }
}
