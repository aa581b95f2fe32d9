//! Schedules in processes of their own: what one leaves in statics is not there in the next.
//!
//! This process runs nothing of the program. It starts the test once more for each schedule, as a campaign does,
//! and puts together what the schedules come to.

use std::io;
use std::process::Command;

use dally_core::{Document, Program};
use dally_search::strata::Explorer;
use dally_search::{Batch, Ended, Report, Stopwatch};

use super::campaign::{Answer, Asked, SERVED};
use super::{Test, TestProcess};
use crate::checking::{Checked, Checking};

impl<E: Explorer> Test<E> {
    /// Runs each schedule in a process of its own; an error is the text of why that cannot be done.
    pub(super) fn run_isolated<P: Program>(
        &self,
        program: &P,
        checking: Checking,
    ) -> Result<Checked, String> {
        if checking.settings.plan().is_some() || checking.strategy.is_some() {
            return Err(format!(
                "error: {} cannot be isolated: only schedules of a strategy that has a name can each have a process \
                 of their own\n",
                self.path
            ));
        }
        let (strategy, seed) = (checking.settings.strategy.to_string(), checking.settings.seed);
        let begun = Stopwatch::start();
        let mut parts: Vec<Report> = Vec::new();
        let mut learned = None;
        let mut ended = None;
        for first in 0..checking.settings.schedules() {
            if checking.settings.time.is_some_and(|time| begun.is_past(time)) {
                ended = Some(Ended::Time);
                break;
            }
            let batch = Batch { first, count: 1, seed };
            let asked = Asked::RunOnce { strategy: strategy.clone(), batch, learned };
            let Answer::Ran { mut report, learned: more } = self.ask(&asked)? else {
                return Err(self.unfit());
            };
            learned = more;
            for finding in &mut report.findings {
                let asked = Asked::Confirm {
                    strategy: strategy.clone(),
                    seed,
                    finding: Box::new(finding.clone()),
                };
                let Answer::Shrunk { finding: again } = self.ask(&asked)? else {
                    return Err(self.unfit());
                };
                *finding = *again;
            }
            let found = !report.findings.is_empty();
            parts.push(*report);
            if found && !checking.settings.keep_going {
                break;
            }
        }
        let mut report = if parts.is_empty() {
            Report::new(self.path, program.granularity())
        } else {
            for part in &mut parts {
                // Each was run to its end, and the next one begins where it stops.
                if part.ended == Ended::Bug && checking.settings.keep_going {
                    part.ended = Ended::Schedules;
                }
            }
            Report::merge(parts).map_err(|why| format!("error: {}: {why}\n", self.path))?
        };
        report.part = None;
        report.ended = ended.unwrap_or(report.ended);
        report.elapsed = begun.elapsed();
        Ok(checking.settle(report))
    }

    /// Asks a process that has done nothing yet.
    fn ask(&self, asked: &Asked) -> Result<Answer, String> {
        let mut process = self.started().map_err(|why| {
            format!("error: a process for a schedule of {} cannot be started: {why}\n", self.path)
        })?;
        let told = process.exchange(&asked.write()).map_err(|why| {
            format!("error: the process of a schedule of {} gives no answer: {why}\n", self.path)
        })?;
        match Answer::read(&told) {
            Ok(Answer::Refused { why }) => {
                Err(format!("error: {} cannot be isolated: {why}\n", self.path))
            }
            Ok(told) => Ok(told),
            Err(why) => Err(format!("error: {}: {why}\n", self.path)),
        }
    }

    fn unfit(&self) -> String {
        format!("error: the process of a schedule of {} has answered something else\n", self.path)
    }

    /// This test alone, in another process of this executable.
    fn started(&self) -> io::Result<TestProcess> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([self.name(), "--exact", "--nocapture", "--include-ignored"]).env(SERVED, "1");
        TestProcess::start(command)
    }
}
