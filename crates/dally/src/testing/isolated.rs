//! Schedules in processes of their own: what one leaves in statics is not there in the next.
//!
//! This process runs nothing of the program. It starts the test once more for each schedule, as a campaign does,
//! and puts together what the schedules come to.

use std::io;
use std::process::Command;

use dally_core::{Document, Finding, Program};
use dally_search::strata::Explorer;
use dally_search::{Batch, Ended, Report, Stopwatch};

use super::campaign::{Answer, Asked, SERVED};
use super::{Test, TestProcess};
use crate::checking::{Checked, Checking};

/// What ends a run before its schedules or its time do.
enum Last {
    /// A schedule has ended its process.
    Finding(Box<Finding>),
    /// There is no answer, for this reason.
    Lost(String),
}

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
                 of their own\n  leave out isolate, or search, or name a strategy such as random\n",
                self.path
            ));
        }
        let (strategy, seed) = (checking.settings.strategy.to_string(), checking.settings.seed);
        let begun = Stopwatch::start();
        let mut parts: Vec<Report> = Vec::new();
        let (mut learned, mut ended, mut last) = (None, None, None);
        for first in 0..checking.settings.schedules() {
            if checking.settings.time.is_some_and(|time| begun.is_past(time)) {
                ended = Some(Ended::Time);
                break;
            }
            let what = format!("schedule {}", first + 1);
            let batch = Batch { first, count: 1, seed };
            let asked = Asked::RunOnce { strategy: strategy.clone(), batch, learned };
            let mut report = match self.ask(&asked, &what, seed) {
                Ok(Answer::Ran { report, learned: more }) => {
                    learned = more;
                    report
                }
                Ok(Answer::Ending { finding }) => {
                    last = Some(Last::Finding(finding));
                    break;
                }
                Ok(_) => {
                    last = Some(Last::Lost(self.unfit()));
                    break;
                }
                Err(why) => {
                    last = Some(Last::Lost(why));
                    break;
                }
            };
            for finding in &mut report.findings {
                self.repeat(finding, &strategy, seed, &what);
            }
            let is_run = report.ended == Ended::Schedules;
            let goes_on = is_run || (report.ended == Ended::Bug && checking.settings.keep_going);
            if goes_on {
                // It was run to its end, and the next one begins where it stops.
                report.ended = Ended::Schedules;
            }
            parts.push(*report);
            if !goes_on {
                break;
            }
        }
        let mut report = if parts.is_empty() {
            let options = checking.options();
            let mut none = Report::new(self.path, program.granularity());
            (none.strategy, none.seed) = (options.strategy.name(), seed);
            (none.max_steps, none.threads) = (options.max_steps, 1);
            none
        } else {
            Report::merge(parts).map_err(|why| format!("error: {}: {why}\n", self.path))?
        };
        match last {
            None => {}
            Some(Last::Finding(finding)) => {
                report.schedules += 1;
                report.findings.push(*finding);
                ended = Some(Ended::Bug);
            }
            Some(Last::Lost(why)) if report.findings.is_empty() => {
                return Err(format!("error: {why}\n"));
            }
            Some(Last::Lost(why)) => {
                report.notes.push(why);
                ended = Some(Ended::Failed);
            }
        }
        report.part = None;
        report.ended = ended.unwrap_or(report.ended);
        report.elapsed = begun.elapsed();
        Ok(checking.settle(report))
    }

    /// Repeats a finding with a full record. If that is impossible, the finding stays and says why.
    fn repeat(&self, finding: &mut Finding, strategy: &str, seed: u64, what: &str) {
        let asked = Asked::Confirm {
            strategy: strategy.to_owned(),
            seed,
            finding: Box::new(finding.clone()),
        };
        let why = match self.ask(&asked, &format!("{what}, run again,"), seed) {
            Ok(Answer::Again { finding: again }) => {
                *finding = *again;
                return;
            }
            Ok(_) => self.unfit(),
            Err(why) => why,
        };
        let why = why.lines().next().unwrap_or_default();
        finding.notes.push(format!("It could not be repeated: {why}."));
    }

    /// Asks a process that has done nothing yet. `what` is what it runs.
    fn ask(&self, asked: &Asked, what: &str, seed: u64) -> Result<Answer, String> {
        let mut process = self.started().map_err(|why| {
            format!("a process for {what} of {} cannot be started: {why}", self.path)
        })?;
        let answer = process.exchange(&asked.write()).map_err(|why| {
            format!(
                "{what} of {} has ended its process ({why}), which leaves no schedule behind\n  run it in one \
                 process, where what ends it is saved: DALLY_ISOLATE=none DALLY_SEED={seed}",
                self.path
            )
        })?;
        match Answer::read(&answer) {
            Ok(Answer::Refused { why }) => Err(format!("{} cannot be isolated: {why}", self.path)),
            Ok(answer) => Ok(answer),
            Err(why) => Err(format!("{}: {why}", self.path)),
        }
    }

    fn unfit(&self) -> String {
        format!(
            "the process of a schedule of {} gave an answer of another kind: it is of another build of this test; \
             build it again",
            self.path
        )
    }

    /// This test alone, in another process of this executable.
    fn started(&self) -> io::Result<TestProcess> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([self.name(), "--exact", "--nocapture", "--include-ignored"]).env(SERVED, "1");
        TestProcess::start(command)
    }
}
