use dally::contract::words::visible;
use dally::search::strata::SearchKind;
use dally::search::{Phase, Progress};
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error, invisible unless that is a terminal. The length of a search of states is
/// unknown, so it has a line without a bar. `note` stands before it.
pub fn bar(search: Option<SearchKind>, schedules: u64, note: &str) -> ProgressBar {
    let sampling = search.is_none_or(|search| search == SearchKind::Ss);
    let bar = match sampling {
        true => styled(
            Some(schedules),
            "{prefix}{bar:30} {human_pos}/{human_len} schedules, {msg} {elapsed}",
        ),
        false => styled(None, "{prefix}{spinner} {msg} {elapsed}"),
    };
    bar.set_prefix(visible(note).into_owned());
    bar
}

/// A bar on standard error with this template, and this length if it is known.
pub fn styled(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length, target());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// Standard error, or nothing on a terminal that cannot redraw a line.
pub fn target() -> ProgressDrawTarget {
    match std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb") {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    }
}

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
        _ if let Some(expected) = progress.expected => format!(
            "{} of about {} classes (give or take {}), {} steps/s",
            HumanCount(progress.schedules),
            HumanCount(expected.classes.max(progress.schedules)),
            HumanCount(expected.spread),
            per_second(progress.steps),
        ),
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
    use dally::search::{Expected, Reached};
    use std::time::Duration;

    #[test]
    fn the_line_has_what_was_done_how_fast_and_what_was_found() {
        let schedules = Progress {
            schedules: 500,
            of: 10_000,
            steps: 2_400_000,
            observations: 1_812,
            findings: 1,
            reached: None,
            expected: None,
            phase: Phase::Shrinking,
            elapsed: Duration::from_secs(2),
        };
        insta::assert_snapshot!(
            message(&schedules),
            @"1,200,000 steps/s, 1,812 distinct observations, 1 found, shrinking"
        );
        let expected = Some(Expected { classes: 1_260, spread: 80 });
        let classes = Progress { findings: 0, expected, phase: Phase::Searching, ..schedules };
        insta::assert_snapshot!(
            message(&classes),
            @"500 of about 1,260 classes (give or take 80), 1,200,000 steps/s"
        );
        let (states, transitions, bound) = (1_000_000, 3_000_000, 2);
        let reached =
            Some(Reached { states, transitions, bound, frontier: 5_120, bytes: 12 << 20 });
        let search = Progress { findings: 0, reached, phase: Phase::Searching, ..schedules };
        insta::assert_snapshot!(
            message(&search),
            @"bound 2: 1,000,000 states, 1,500,000 transitions/s, 5,120 entries from the frontier, 12.00 MiB"
        );
    }
}
