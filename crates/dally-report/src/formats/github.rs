//! Workflow commands of GitHub Actions: each finding is an annotation at its place in the source.

use dally_core::words::visible;

use super::{Outcome, brief};
use crate::text;

/// A line for each finding, and a notice for each program without one.
///
/// ```
/// use dally_core::Report;
/// use dally_report::formats::{Outcome, github};
///
/// let report = Report::new("pool", "");
/// let lines = github(&[Outcome::new("pool", &report, Vec::new())]);
/// assert!(lines.starts_with("::notice title=pool::"));
/// ```
pub fn github(outcomes: &[Outcome<'_>]) -> String {
    let mut out = String::new();
    for outcome in outcomes {
        for (finding, about) in outcome.findings() {
            let (headline, more) = brief(finding, about);
            let mut properties = Vec::new();
            if let Some(at) = &finding.bug.location {
                properties.push(format!("file={}", property(&at.file)));
                properties.push(format!("line={}", at.line));
                properties.push(format!("col={}", at.column));
            }
            let title = format!("bug[{}] in {}", finding.bug.kind(), outcome.name);
            properties.push(format!("title={}", property(&title)));
            let message = message(&format!("{headline}\n{more}"));
            out += &format!("::error {}::{message}\n", properties.join(","));
        }
        let title = property(outcome.name);
        match &outcome.error {
            Some(error) => out += &format!("::error title={title}::{}\n", message(error)),
            None if outcome.report.findings.is_empty() => {
                let coverage = message(&text::coverage(outcome.report));
                out += &format!("::notice title={title}::no bug found; covered: {coverage}\n");
            }
            None => {}
        }
    }
    out
}

/// A text in which nothing ends the command. GitHub reads `%0A` as the end of a line.
fn message(text: &str) -> String {
    let lines = text.trim_end().split('\n').map(|line| visible(line).replace('%', "%25"));
    lines.collect::<Vec<_>>().join("%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
