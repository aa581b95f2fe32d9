//! Whether a test passes, and the text of its result.

use std::fmt::Debug;

use dally_core::words::visible;
use dally_core::{Bug, Finding, Problem, Schedule};
use dally_report::{About, Style, tell, text};
use dally_search::Ended;
use dally_search::strata::Explorer;

use super::Test;
use super::what_else::what_else;
use crate::checking::Checked;

/// The result of a test's body.
pub trait Verdict {
    /// Panics if the test failed.
    fn check(self);
}

impl Verdict for () {
    fn check(self) {}
}

impl<E: Debug> Verdict for Result<(), E> {
    #[track_caller]
    fn check(self) {
        if let Err(error) = self {
            panic!("the test returned an error: {error:?}");
        }
    }
}

impl<E: Explorer> Test<E> {
    /// The text of a test that passes, or of one that fails.
    pub(super) fn verdict(&self, checked: &Checked, all_steps: bool) -> Result<String, String> {
        let (report, findings) = (&checked.report, &checked.report.findings);
        if matches!(report.ended, Ended::Failed | Ended::Unsound) && findings.is_empty() {
            let why = report.notes.join("\n  ");
            return Err(format!("error: {} could not be checked:\n  {why}\n", self.name()));
        }
        if report.cut == report.schedules && report.cut > 0 && findings.is_empty() {
            let bound = report.max_steps;
            tell::err(&format!(
                "dally: no schedule of {} came to its end within {bound} steps; \
                 `fail_on_max_steps` makes that a bug\n",
                self.name()
            ));
        }
        match self.expected {
            None if findings.is_empty() => return Ok(self.passed(checked)),
            Some(expected) if findings.iter().any(|found| matches(&found.bug, expected)) => {
                return Ok(self.passed(checked));
            }
            Some(expected) if findings.is_empty() => {
                return Err(self.no_failure(expected, checked));
            }
            _ => {}
        }
        let mut out = String::new();
        for ((finding, saved), page) in findings.iter().zip(&checked.saved).zip(&checked.pages) {
            let about = self.about(&finding.schedule, saved.clone(), all_steps);
            let about = About { page: page.clone(), ..about };
            out += &text::finding(finding, report, &about);
            out.push('\n');
        }
        if let Some(expected) = self.expected {
            out += &format!(
                "The test expects another failure: one of the kind `{expected}`, or with that text.\n"
            );
        }
        Err(out + &notes(checked))
    }

    /// The coverage. It begins with a line break, since the test harness has left its line unfinished.
    fn passed(&self, checked: &Checked) -> String {
        let summary = text::summary(self.name(), &checked.report, Style::default());
        format!("\n{summary}{}", notes(checked))
    }

    fn no_failure(&self, expected: &str, checked: &Checked) -> String {
        let report = &checked.report;
        let bug = Bug::new(Problem::NoFailure { expected: expected.to_owned() });
        let mut finding = Finding::new(bug, Schedule::default(), report.schedules);
        let what_else = what_else(report, checked.strategy);
        let what_else = what_else.map_or_else(String::new, |what| format!("; {what}"));
        finding.notes = vec![text::coverage(report) + &what_else];
        text::finding(&finding, report, &About::new(self.name()))
    }
}

fn matches(bug: &Bug, expected: &str) -> bool {
    bug.kind().name() == expected || text::bug(bug).contains(&*visible(expected))
}

fn notes(checked: &Checked) -> String {
    let notes = checked.saving.iter().cloned().chain(text::notes(&checked.report));
    notes.map(|note| format!("note: {note}\n")).collect()
}
