//! Findings and runs as text for a terminal.

mod style;

use dally_core::Finding;

pub use self::style::Style;
use crate::about::{About, Statistics};

/// What a failing test prints: what broke and where, after how much work, what happened step by
/// step, and, last, the command that replays it.
pub fn finding(finding: &Finding, about: &About) -> String {
    let mut out = format!("bug[{}]: {}\n", finding.bug.kind, finding.bug.message);
    for command in &about.replay {
        out += &format!("  {command}\n");
    }
    out
}

/// What a run covered and found; for a clean run too, never just "no bug".
pub fn summary(
    program: &str,
    statistics: &Statistics,
    findings: &[Finding],
    _style: Style,
) -> String {
    format!(
        "{} in {} schedules of {program}\n",
        match findings.len() {
            0 => "no bug".to_owned(),
            n => format!("{n} bugs"),
        },
        statistics.schedules
    )
}
