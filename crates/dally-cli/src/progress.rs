//! The progress bar.

use dally::search::{Phase, Progress};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error, where that is a terminal; invisible otherwise.
pub fn bar(schedules: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(schedules), ProgressDrawTarget::stderr());
    let template = "{bar:30} {human_pos}/{human_len} schedules, {msg} {elapsed}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// Brings the bar up to date.
pub fn show(bar: &ProgressBar, progress: &Progress) {
    bar.set_position(progress.schedules);
    bar.set_message(message(progress));
}

fn message(progress: &Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64();
    let rate = if seconds > 0.0 { progress.steps as f64 / seconds } else { 0.0 };
    let mut text = format!(
        "{} steps/s, {} distinct observations",
        HumanCount(rate as u64),
        HumanCount(progress.observations)
    );
    if progress.findings > 0 {
        text += &format!(", {} found", progress.findings);
    }
    if progress.phase == Phase::Shrinking {
        text += ", shrinking";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_line_has_rate_observations_findings_and_phase() {
        let progress = Progress {
            schedules: 500,
            of: 10_000,
            steps: 2_400_000,
            observations: 1_812,
            findings: 1,
            reached: None,
            phase: Phase::Shrinking,
            elapsed: Duration::from_secs(2),
        };
        insta::assert_snapshot!(
            message(&progress),
            @"1,200,000 steps/s, 1,812 distinct observations, 1 found, shrinking"
        );
    }
}
