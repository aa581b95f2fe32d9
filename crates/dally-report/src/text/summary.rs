//! What a run covered.

use std::time::Duration;

use dally_core::Finding;
use dally_core::words::{bytes, count, grouped};

use super::style::{Ink, Style};
use crate::about::{Cycles, Searched, Seen, Statistics};

/// What a run covered and found; for a clean run too, never just "no bug".
pub fn summary(
    program: &str,
    statistics: &Statistics,
    findings: &[Finding],
    style: Style,
) -> String {
    let (number, noun) = match &statistics.searched {
        Some(searched) if searched.states > 0 => (searched.states, "state"),
        _ => (statistics.schedules, "schedule"),
    };
    let tried = format!("in {} of {program}", count(number, noun));
    let mut out = match findings.len() {
        0 => style.paint(Ink::Heading, format!("no bug found {tried}")),
        n => style.paint(Ink::Bug, format!("{} found {tried}", count(n as u64, "bug"))),
    };
    out.push('\n');
    for finding in findings {
        let times = match finding.occurrences {
            0 | 1 => format!("{noun} {}", grouped(finding.found_at)),
            n => format!("{noun} {}, {} times", grouped(finding.found_at), grouped(n)),
        };
        out += &format!("  {} ({times})\n", finding.bug);
    }
    let mut row = |label: &str, value: String| {
        if !value.is_empty() {
            out += &format!("  {}  {value}\n", style.paint(Ink::Faint, format!("{label:<8}")));
        }
    };
    let what = if statistics.searched.is_some() { "transition" } else { "step" };
    let mut work = count(statistics.steps, what);
    if !statistics.granularity.is_empty() {
        work += &format!(" ({})", statistics.granularity);
    }
    if let Some(searched) = &statistics.searched {
        work += &format!(", the deepest after {}", count(searched.deepest, "step"));
    }
    let mut observed = statistics
        .distinct_observations
        .filter(|_| statistics.searched.is_none())
        .map_or_else(String::new, |distinct| count(distinct, "distinct observation"));
    row("covered", statistics.coverage.clone());
    if let Some(seen) = statistics.seen.as_ref().filter(|_| findings.is_empty()) {
        row("seen", std::mem::take(&mut observed) + &news(seen));
    }
    if !observed.is_empty() {
        work += &format!(", {observed}");
    }
    if let Some(searched) = &statistics.searched {
        row("strata", strata(searched));
        row("cache", cache(searched));
        row("cycles", searched.cycles.as_ref().map_or_else(String::new, cycles));
    }
    row("work", work);
    let by = if statistics.searched.is_some() { "search" } else { "strategy" };
    row(by, format!("{}, seed {}", statistics.strategy, statistics.seed));
    row("stopped", statistics.stopped.clone());
    if let Some(elapsed) = statistics.elapsed {
        row("time", time(elapsed, statistics));
    }
    out
}

/// When the last new observation came, and how likely one more is: an estimate where schedules
/// are drawn alike, and otherwise what it would be made of.
fn news(seen: &Seen) -> String {
    let mut text = String::new();
    if let Some(last) = seen.last_new {
        text += &format!(", the last new one at schedule {}", grouped(last));
    }
    if let Some(chance) = seen.chance_of_new() {
        let chance = match seen.alone {
            // The rule of three: what has a greater chance comes up in so many draws at 95%.
            0 => format!("under {} (95%)", percent((3.0 / seen.judged as f64).min(1.0))),
            _ => percent(chance),
        };
        text += "; estimated chance that the next schedule shows something new: ";
        text += &chance;
    } else if seen.judged > 0 {
        let (alone, judged) = (grouped(seen.alone), count(seen.judged, "schedule"));
        let share = percent(seen.alone as f64 / seen.judged as f64);
        text += &match seen.alone {
            0 => format!("; none of {judged} showed anything that no other did"),
            _ => format!("; {alone} of {judged} ({share}) showed something that no other did"),
        };
    }
    text
}

/// A share in percent, with two digits that count.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    // From 10 on no digits behind the point, below 1 as many more as there are zeros.
    let digits = (1.0 - percent.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{percent:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}%")
}

/// The figures of each stratum, as a table whose first line stands beside the label.
fn strata(searched: &Searched) -> String {
    // Where there is one stratum, or none, the other rows say it all.
    if searched.strata.len() < 2 {
        return String::new();
    }
    let heads = [&*searched.unit, "states", "transitions", "frontier", "cache", "time"];
    let mut rows = vec![heads.map(str::to_owned)];
    rows.extend(searched.strata.iter().map(|stratum| {
        let bound = stratum.bound.map_or("any".to_owned(), |bound| grouped(bound.into()));
        let unfinished = if stratum.complete { "" } else { ", not finished" };
        [
            bound,
            grouped(stratum.states),
            grouped(stratum.transitions),
            grouped(stratum.frontier),
            bytes(stratum.cache_bytes),
            format!("{:.2} s{unfinished}", stratum.elapsed.as_secs_f64()),
        ]
    }));
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.len().max(*width);
        }
    }
    let hidden = rows.len().saturating_sub(FIRST_STRATA + LAST_STRATA + 1);
    let mut lines = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        if hidden > 0 && (FIRST_STRATA + 1..FIRST_STRATA + 1 + hidden).contains(&number) {
            if number == FIRST_STRATA + 1 {
                lines.push(format!("... {} more ...", grouped(hidden as u64)));
            }
            continue;
        }
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}"));
        lines.push(cells.collect::<Vec<_>>().join("  "));
    }
    lines.join(&format!("\n{:12}", ""))
}

/// Of many strata only the first and the last are shown.
const FIRST_STRATA: usize = 4;
const LAST_STRATA: usize = 12;

fn cache(searched: &Searched) -> String {
    if searched.cache_bytes == 0 || searched.cache.is_empty() {
        return searched.cache.clone();
    }
    let mut text = format!("{} in {}", searched.cache, bytes(searched.cache_bytes));
    if searched.states > 0 {
        let each = searched.cache_bytes as f64 / searched.states as f64;
        text += &format!(", {each:.1} bytes for each");
    }
    if searched.expected_omissions > 0.0 {
        text += &format!(
            "; expected to be missed for equal fingerprints: {:.0e} states",
            searched.expected_omissions
        );
    }
    text
}

fn cycles(cycles: &Cycles) -> String {
    let Cycles { fairness, edges, edge_bytes, calculating, refining } = cycles;
    format!(
        "fairness {fairness}; {} stored, {edge_bytes} bytes each; {:.2} s calculating, {:.2} s \
         refining",
        count(*edges, "transition"),
        calculating.as_secs_f64(),
        refining.as_secs_f64(),
    )
}

fn time(elapsed: Duration, statistics: &Statistics) -> String {
    let seconds = elapsed.as_secs_f64();
    let rate = |number: u64| grouped((number as f64 / seconds.max(0.001)) as u64);
    // Threads change how long it takes and nothing else.
    let threads = match statistics.threads {
        0 | 1 => String::new(),
        n => format!(" on {}", count(n as u64, "thread")),
    };
    let (number, what, step) = match &statistics.searched {
        Some(searched) if searched.states > 0 => (searched.states, "states", "transitions"),
        _ => (statistics.schedules, "schedules", "steps"),
    };
    let (number, steps) = (rate(number), rate(statistics.steps));
    format!("{seconds:.1} s{threads}, {number} {what}/s, {steps} {step}/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_two_digits_that_count() {
        let shares = [1.0, 0.999, 0.254, 0.1, 0.0512, 0.01, 0.000_2, 0.000_123, 0.000_001];
        let texts = shares.map(percent).join(" ");
        insta::assert_snapshot!(texts, @"100% 100% 25% 10% 5.1% 1% 0.02% 0.012% 0.0001%");
    }

    #[test]
    fn a_clean_run_says_what_it_saw_and_how_likely_something_new_is() {
        let said = |last_new, judged, alone| {
            news(&Seen { last_new, alike: true, judged, alone, growth: Vec::new() })
        };
        insta::assert_snapshot!(said(Some(31_007), 40_000, 8), @", the last new one at schedule 31,007; estimated chance that the next schedule shows something new: 0.02%");
        insta::assert_snapshot!(said(Some(12), 2_500, 0), @", the last new one at schedule 12; estimated chance that the next schedule shows something new: under 0.12% (95%)");
        insta::assert_snapshot!(said(None, 2, 0), @"; estimated chance that the next schedule shows something new: under 100% (95%)");
        insta::assert_snapshot!(said(Some(9_000), 0, 0), @", the last new one at schedule 9,000");
    }

    #[test]
    fn where_schedules_are_not_drawn_alike_no_chance_is_claimed() {
        let said = |last_new, judged, alone| {
            news(&Seen { last_new, alike: false, judged, alone, growth: Vec::new() })
        };
        insta::assert_snapshot!(said(Some(31_007), 40_000, 8), @", the last new one at schedule 31,007; 8 of 40,000 schedules (0.02%) showed something that no other did");
        insta::assert_snapshot!(said(Some(12), 2_500, 0), @", the last new one at schedule 12; none of 2,500 schedules showed anything that no other did");
        insta::assert_snapshot!(said(Some(9_000), 0, 0), @", the last new one at schedule 9,000");
    }
}
