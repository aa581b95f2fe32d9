//! What the tests reached of the project, and what they did not.

use std::collections::{BTreeMap, BTreeSet};

use dally::p::vm::{CoverageReport, Reached};
use serde_json::json;

/// The kinds of things that are reached, with their names.
fn kinds(report: &CoverageReport) -> [(&'static str, &Reached); 6] {
    [
        ("machines", &report.machines),
        ("states", &report.states),
        ("events", &report.events),
        ("handlers", &report.handlers),
        ("lines", &report.lines),
        ("scenarios", &report.scenarios),
    ]
}

/// What one test reached, in a few words.
pub fn brief(report: &CoverageReport) -> String {
    let lines = (report.lines.share() * 100.0).floor();
    let mut text = format!("lines {lines}%, states {}/{}", report.states.reached, report.states.of);
    if report.scenarios.of > 0 {
        text += &format!(", scenarios {}/{}", report.scenarios.reached, report.scenarios.of);
    }
    text
}

/// What the tests reached together, and the names of what none of them reached.
pub fn text<'a>(reports: impl Iterator<Item = &'a CoverageReport>) -> String {
    let mut together: BTreeMap<usize, (&str, BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for report in reports {
        for (index, (kind, reached)) in kinds(report).into_iter().enumerate() {
            let entry = together.entry(index).or_insert((kind, BTreeSet::new(), BTreeSet::new()));
            entry.1.extend(reached.hit.iter().map(String::as_str));
            entry.2.extend(reached.missing.iter().map(String::as_str));
        }
    }
    let mut out = String::new();
    let mut missed = String::new();
    for (kind, hit, missing) in together.into_values() {
        let never: Vec<&str> = missing.difference(&hit).copied().collect();
        let of = hit.len() + never.len();
        if of == 0 {
            continue;
        }
        out += &format!("{} {}/{of} {kind}", if out.is_empty() { "" } else { "," }, hit.len());
        if !never.is_empty() {
            let names = if kind == "lines" { ranges(&never) } else { never.join(", ") };
            missed += &format!("  {kind:<9}  {names}\n");
        }
    }
    if out.is_empty() {
        return out;
    }
    let never = if missed.is_empty() { String::new() } else { format!("never reached:\n{missed}") };
    format!("\nreached:{out}\n{never}")
}

/// Lines by files, neighbours together: `a.p:3-5,9 b.p:1`.
fn ranges(lines: &[&str]) -> String {
    let mut files: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (file, line) in lines.iter().filter_map(|line| line.rsplit_once(':')) {
        files.entry(file).or_default().extend(line.parse::<u32>());
    }
    let files = files.into_iter().map(|(file, lines)| {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for line in lines {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == line => *last = line,
                _ => ranges.push((line, line)),
            }
        }
        let ranges = ranges.into_iter().map(|(first, last)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        });
        format!("{file}:{}", ranges.collect::<Vec<_>>().join(","))
    });
    files.collect::<Vec<_>>().join(" ")
}

/// What one test reached, for programs.
pub fn json(report: &CoverageReport) -> serde_json::Value {
    let kinds = kinds(report).map(|(kind, reached)| {
        let value = json!({
            "reached": reached.reached,
            "of": reached.of,
            "missing": reached.missing,
        });
        (kind.to_owned(), value)
    });
    serde_json::Value::Object(kinds.into_iter().collect())
}
