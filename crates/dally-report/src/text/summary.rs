//! What a run covered.

use std::time::Duration;

use dally_core::Finding;

use super::style::{Ink, Style};
use super::words::{count, grouped};
use crate::about::Statistics;

/// What a run covered and found; for a clean run too, never just "no bug".
pub fn summary(
    program: &str,
    statistics: &Statistics,
    findings: &[Finding],
    style: Style,
) -> String {
    let tried = format!("in {} of {program}", count(statistics.schedules, "schedule"));
    let mut out = match findings.len() {
        0 => style.paint(Ink::Heading, format!("no bug found {tried}")),
        n => style.paint(Ink::Bug, format!("{} found {tried}", count(n as u64, "bug"))),
    };
    out.push('\n');
    for finding in findings {
        let times = match finding.occurrences {
            0 | 1 => format!("schedule {}", grouped(finding.found_at)),
            n => format!("schedule {}, {} times", grouped(finding.found_at), grouped(n)),
        };
        out += &format!("  {} ({times})\n", finding.bug);
    }
    let mut row = |label: &str, value: String| {
        if !value.is_empty() {
            out += &format!("  {}  {value}\n", style.paint(Ink::Faint, format!("{label:<8}")));
        }
    };
    let mut work = count(statistics.steps, "step");
    if !statistics.granularity.is_empty() {
        work += &format!(" ({})", statistics.granularity);
    }
    if let Some(observations) = statistics.distinct_observations {
        work += &format!(", {}", count(observations, "distinct observation"));
    }
    row("covered", statistics.coverage.clone());
    row("work", work);
    row("strategy", format!("{}, seed {}", statistics.strategy, statistics.seed));
    row("stopped", statistics.stopped.clone());
    if let Some(elapsed) = statistics.elapsed {
        row("time", time(elapsed, statistics));
    }
    out
}

fn time(elapsed: Duration, statistics: &Statistics) -> String {
    let seconds = elapsed.as_secs_f64();
    let rate = |number: u64| grouped((number as f64 / seconds.max(0.001)) as u64);
    // Threads change how long it takes and nothing else.
    let threads = match statistics.threads {
        0 | 1 => String::new(),
        n => format!(" on {}", count(n as u64, "thread")),
    };
    format!(
        "{seconds:.1} s{threads}, {} schedules/s, {} steps/s",
        rate(statistics.schedules),
        rate(statistics.steps)
    )
}
