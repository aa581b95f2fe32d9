//! The summary of a run.

use dally_core::report::{CachePolicy, Cycles, Ended, Novelty, Report, States};
use dally_core::words::{bytes, count, grouped};

use super::bug::line;
use super::coverage::{coverage, stopped};
use super::shown;
use super::style::{Ink, Style};

/// What a run covered and found. A clean run is never reported as just "no bug". `program` is the
/// name that people know it by.
pub fn summary(program: &str, report: &Report, style: Style) -> String {
    shown(style, |style| told(program, report, style))
}

fn told(program: &str, report: &Report, style: Style) -> String {
    let (number, noun) = match &report.states {
        Some(states) if states.states > 0 => (states.states, "state"),
        _ => (report.schedules, "schedule"),
    };
    let tried = format!("in {} of {program}", count(number, noun));
    let mut out = match report.findings.len() {
        0 => style.paint(Ink::Heading, format!("no bug found {tried}")),
        n => style.paint(Ink::Bug, format!("{} found {tried}", count(n as u64, "bug"))),
    };
    out.push('\n');
    for finding in &report.findings {
        let times = match finding.occurrences {
            0 | 1 => format!("{noun} {}", grouped(finding.found_at)),
            n => format!("{noun} {}, {} times", grouped(finding.found_at), grouped(n)),
        };
        out += &format!("  {} ({times})\n", line(&finding.bug));
    }
    let mut row = |label: &str, value: String| {
        if !value.is_empty() {
            out += &format!("  {}  {value}\n", style.paint(Ink::Faint, format!("{label:<8}")));
        }
    };
    let what = if report.states.is_some() { "transition" } else { "step" };
    let mut work = count(report.steps, what);
    if !report.granularity.is_empty() {
        work += &format!(" ({})", report.granularity);
    }
    row("covered", coverage(report));
    if let Some(states) = &report.states {
        work += &format!(", the deepest after {}", count(states.deepest as u64, "step"));
        row("strata", strata(states));
        row("cache", cache(states));
        row("cycles", states.cycles.as_ref().map_or_else(String::new, cycles));
    } else {
        let observed = count(report.observations, "distinct observation");
        match &report.novelty {
            // An exhausted run has nothing new to find, and one with a finding is not about novelty.
            Some(novelty) if report.ended != Ended::Exhausted && report.findings.is_empty() => {
                row("seen", observed + &chances(novelty));
            }
            _ => work += &format!(", {observed}"),
        }
    }
    row("work", work);
    let by = if report.states.is_some() { "search" } else { "strategy" };
    row(by, format!("{}, seed {}", report.strategy, report.seed));
    row("stopped", stopped(report).to_owned());
    row("time", time(report));
    out
}

/// When the last new observation came, and how likely one more is: an estimate where schedules are
/// drawn from one distribution, and otherwise its ingredients.
fn chances(novelty: &Novelty) -> String {
    let mut text = String::new();
    if let Some(last) = novelty.last_new {
        text += &format!(", the last new one at schedule {}", grouped(last));
    }
    if let Some(chance) = novelty.chance_of_new() {
        let chance = match novelty.alone {
            // The rule of three: anything more probable would occur in so many draws, at 95%
            // confidence.
            0 => format!("under {} (95%)", percent((3.0 / novelty.judged as f64).min(1.0))),
            _ => percent(chance),
        };
        text += "; estimated chance that the next schedule shows something new: ";
        text += &chance;
    } else if novelty.judged > 0 {
        let (alone, judged) = (grouped(novelty.alone), count(novelty.judged, "schedule"));
        let share = percent(novelty.alone as f64 / novelty.judged as f64);
        text += &match novelty.alone {
            0 => format!("; none of {judged} showed anything that no other did"),
            _ => format!("; {alone} of {judged} ({share}) showed something that no other did"),
        };
    }
    text
}

/// A share in percent, with two significant digits.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    // No decimals from 10 on, and below 1 as many more as there are leading zeros.
    let digits = (1.0 - percent.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{percent:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}%")
}

/// A table of the strata, whose first line is beside the label.
fn strata(states: &States) -> String {
    // The other rows say all of a single stratum.
    if states.strata.len() < 2 {
        return String::new();
    }
    let unit = format!("{}s", states.unit);
    let heads = [&*unit, "states", "transitions", "frontier", "cache", "time"];
    let mut rows = vec![heads.map(str::to_owned)];
    rows.extend(states.strata.iter().map(|stratum| {
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
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join("  ")
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    let hidden = lines.len().saturating_sub(FIRST_STRATA + LAST_STRATA + 1);
    if hidden > 0 {
        let more = format!("... {} more ...", grouped(hidden as u64));
        lines.splice(FIRST_STRATA + 1..FIRST_STRATA + 1 + hidden, [more]);
    }
    lines.join(&format!("\n{:12}", ""))
}

/// Of many strata only the first and the last are shown.
const FIRST_STRATA: usize = 4;
const LAST_STRATA: usize = 12;

/// How visited states were remembered; empty where none were visited.
fn cache(states: &States) -> String {
    let by = if states.exact { "whole" } else { "by fingerprint" };
    let what = match (&states.cycles, states.with_explorer) {
        (Some(_), _) => "states with their transitions",
        (None, true) => "states with their explorers",
        (None, false) => "states",
    };
    let mut text = match states.cache {
        _ if states.states == 0 => return String::new(),
        CachePolicy::All => format!("all {what} {by}"),
        CachePolicy::None => return "no states".to_owned(),
        CachePolicy::Stop => format!("the first {what} {by}"),
        CachePolicy::Replace => format!("the latest {what} {by}"),
    };
    if states.cache_bytes > 0 {
        let each = states.cache_bytes as f64 / states.states as f64;
        text += &format!(" in {}, {each:.1} bytes for each", bytes(states.cache_bytes));
    }
    if states.expected_omissions > 0.0 {
        text += &format!(
            "; expected to be missed for equal fingerprints: {:.0e} states",
            states.expected_omissions
        );
    }
    text
}

fn cycles(cycles: &Cycles) -> String {
    let Cycles { fairness, edges, edge_bytes, calculating, refining, .. } = cycles;
    format!(
        "fairness {fairness}; {} stored, {edge_bytes} bytes each; {:.2} s calculating, {:.2} s \
         refining",
        count(*edges, "transition"),
        calculating.as_secs_f64(),
        refining.as_secs_f64(),
    )
}

fn time(report: &Report) -> String {
    let seconds = report.elapsed.as_secs_f64();
    let rate = |number: u64| grouped((number as f64 / seconds.max(0.001)) as u64);
    // Threads change nothing but the time.
    let threads = match report.threads {
        0 | 1 => String::new(),
        n => format!(" on {}", count(n as u64, "thread")),
    };
    let (number, what, step) = match &report.states {
        Some(states) if states.states > 0 => (states.states, "states", "transitions"),
        _ => (report.schedules, "schedules", "steps"),
    };
    let (number, steps) = (rate(number), rate(report.steps));
    format!("{seconds:.1} s{threads}, {number} {what}/s, {steps} {step}/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(last_new: Option<u64>, alike: bool, judged: u64, alone: u64) -> String {
        let mut novelty = Novelty::default();
        (novelty.last_new, novelty.alike) = (last_new, alike);
        (novelty.judged, novelty.alone) = (judged, alone);
        chances(&novelty)
    }

    #[test]
    fn shares_have_two_digits_that_count() {
        let shares = [1.0, 0.999, 0.254, 0.1, 0.0512, 0.01, 0.000_2, 0.000_123, 0.000_001];
        let texts = shares.map(percent).join(" ");
        insta::assert_snapshot!(texts, @"100% 100% 25% 10% 5.1% 1% 0.02% 0.012% 0.0001%");
    }

    #[test]
    fn a_clean_run_says_what_it_saw_and_how_likely_something_new_is() {
        let said = |last_new, judged, alone| said(last_new, true, judged, alone);
        insta::assert_snapshot!(said(Some(31_007), 40_000, 8), @", the last new one at schedule 31,007; estimated chance that the next schedule shows something new: 0.02%");
        insta::assert_snapshot!(said(Some(12), 2_500, 0), @", the last new one at schedule 12; estimated chance that the next schedule shows something new: under 0.12% (95%)");
        insta::assert_snapshot!(said(None, 2, 0), @"; estimated chance that the next schedule shows something new: under 100% (95%)");
        insta::assert_snapshot!(said(Some(9_000), 0, 0), @", the last new one at schedule 9,000");
    }

    #[test]
    fn where_schedules_are_not_drawn_alike_no_chance_is_claimed() {
        let said = |last_new, judged, alone| said(last_new, false, judged, alone);
        insta::assert_snapshot!(said(Some(31_007), 40_000, 8), @", the last new one at schedule 31,007; 8 of 40,000 schedules (0.02%) showed something that no other did");
        insta::assert_snapshot!(said(Some(12), 2_500, 0), @", the last new one at schedule 12; none of 2,500 schedules showed anything that no other did");
        insta::assert_snapshot!(said(Some(9_000), 0, 0), @", the last new one at schedule 9,000");
    }
}
