//! What was checked, for other programs: JUnit for CI servers, annotations for GitHub, SARIF for code scanning.

mod github;
mod junit;
mod sarif;

use dally_core::{Ended, Finding, Report};

use crate::about::About;
use crate::text;

pub use github::github;
pub use junit::junit;
pub use sarif::sarif;

/// A program that was checked.
pub struct Outcome<'a> {
    /// Its name.
    pub name: &'a str,
    /// What was found and covered.
    pub report: &'a Report,
    /// How each finding is shown, in the order of the report's findings.
    pub abouts: Vec<About>,
    /// Why the program does not pass although it has no findings: it could not be checked, or it should
    /// have failed.
    pub error: Option<String>,
}

impl<'a> Outcome<'a> {
    /// The outcome of a run, with the abouts of its findings.
    pub fn new(name: &'a str, report: &'a Report, abouts: Vec<About>) -> Outcome<'a> {
        let failed = matches!(report.ended, Ended::Failed | Ended::Unsound);
        let error = (failed && report.findings.is_empty()).then(|| report.notes.join("\n"));
        Outcome { name, report, abouts, error }
    }

    fn findings(&self) -> impl Iterator<Item = (&'a Finding, &About)> {
        self.report.findings.iter().zip(&self.abouts)
    }
}

/// The headline of a finding, what would have had to be otherwise, and the best command that replays it.
fn brief(finding: &Finding, about: &About) -> (String, String) {
    let parts = text::parts(finding, &Report::default(), about);
    let mut lines = parts.more;
    lines.extend(parts.nearest.map(|nearest| nearest.sentence));
    lines.extend(parts.replay.last().map(|command| format!("Replay it with: {command}")));
    (parts.headline, lines.join("\n"))
}
