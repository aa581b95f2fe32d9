//! The progress bar.

use dally::search::strata::SearchKind;
use dally::search::{Phase, Progress};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error, where that is a terminal; invisible otherwise. Nobody knows how far a
/// search of states has to go, so it gets a line without a bar. `note` stands before it.
pub fn bar(search: Option<SearchKind>, schedules: u64, note: &str) -> ProgressBar {
    let sampling = search.is_none_or(|search| search == SearchKind::Ss);
    let length = sampling.then_some(schedules);
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    let template = match sampling {
        true => "{prefix}{bar:30} {human_pos}/{human_len} schedules, {msg} {elapsed}",
        false => "{prefix}{spinner} {msg} {elapsed}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_prefix(note.to_owned());
    bar
}

/// Brings the bar up to date.
pub fn show(bar: &ProgressBar, progress: &Progress) {
    bar.set_position(progress.schedules);
    bar.set_message(message(progress));
    bar.tick();
}

fn message(progress: &Progress) -> String {
    let seconds = progress.elapsed.as_secs_f64();
    let per_second =
        |n: u64| HumanCount(if seconds > 0.0 { (n as f64 / seconds) as u64 } else { 0 });
    let mut text = match &progress.reached {
        Some(reached) if reached.states > 0 => format!(
            "bound {}: {} states, {} transitions/s, {} entries from the frontier, {}",
            reached.bound,
            HumanCount(reached.states),
            per_second(reached.transitions),
            HumanCount(reached.frontier),
            HumanBytes(reached.bytes),
        ),
        Some(reached) => {
            format!("{} delays, {} steps/s", reached.bound, per_second(progress.steps))
        }
        None => format!(
            "{} steps/s, {} distinct observations",
            per_second(progress.steps),
            HumanCount(progress.observations)
        ),
    };
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
    use dally::search::Reached;
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

    #[test]
    fn the_line_of_a_search_has_bound_states_rate_frontier_and_memory() {
        let reached = Reached {
            states: 1_000_000,
            transitions: 3_000_000,
            bound: 2,
            frontier: 5_120,
            bytes: 12 << 20,
        };
        let progress = Progress {
            schedules: 0,
            of: 10_000,
            steps: 0,
            observations: 0,
            findings: 0,
            reached: Some(reached),
            phase: Phase::Searching,
            elapsed: Duration::from_secs(2),
        };
        insta::assert_snapshot!(
            message(&progress),
            @"bound 2: 1,000,000 states, 1,500,000 transitions/s, 5,120 entries from the frontier, 12.00 MiB"
        );
    }
}
