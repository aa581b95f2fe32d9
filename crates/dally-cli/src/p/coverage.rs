//! The coverage of a project by its tests.

use std::collections::BTreeMap;

use dally::p::vm::{CoverageReport, Reached, Target};
use serde_json::json;

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

pub fn brief(report: &CoverageReport) -> String {
    let counted = |reached: &Reached| format!("{}/{}", reached.hit.len(), reached.of());
    let lines = match report.lines.of() {
        0 => 100,
        of => report.lines.hit.len() * 100 / of,
    };
    let mut text = format!("lines {lines}%, states {}", counted(&report.states));
    if report.scenarios.of() > 0 {
        text += &format!(", scenarios {}", counted(&report.scenarios));
    }
    text
}

/// The coverage by all tests together, and the names of what none of them reached.
pub fn text<'a>(reports: impl Iterator<Item = &'a CoverageReport>) -> String {
    let mut together = <[(&str, Reached); 6]>::default();
    for report in reports {
        for (all, (kind, reached)) in together.iter_mut().zip(kinds(report)) {
            all.0 = kind;
            all.1.hit.extend(reached.hit.iter().cloned());
            all.1.missing.extend(reached.missing.iter().cloned());
        }
    }
    let mut out = String::new();
    let mut missed = String::new();
    for (kind, Reached { hit, missing }) in together {
        let never: Vec<&Target> = missing.difference(&hit).collect();
        let of = hit.len() + never.len();
        if of == 0 {
            continue;
        }
        out += &format!("{} {}/{of} {kind}", if out.is_empty() { "" } else { "," }, hit.len());
        if !never.is_empty() {
            missed += &format!("  {kind:<9}  {}\n", names(&never));
        }
    }
    if out.is_empty() {
        return out;
    }
    let never = if missed.is_empty() { String::new() } else { format!("never reached:\n{missed}") };
    format!("\nreached:{out}\n{never}")
}

/// Names in a list, and lines by files with neighbours joined: `a.p:3-5,9 b.p:1`.
fn names(targets: &[&Target]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut files: BTreeMap<&str, Vec<(u32, u32)>> = BTreeMap::new();
    for target in targets {
        match target {
            Target::Named(name) => names.push(name),
            Target::Line(file, line) => {
                let ranges = files.entry(file).or_default();
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == *line => *last = *line,
                    _ => ranges.push((*line, *line)),
                }
            }
        }
    }
    let files = files.into_iter().map(|(file, ranges)| {
        let ranges = ranges.into_iter().map(|(first, last)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        });
        format!("{file}:{}", ranges.collect::<Vec<_>>().join(","))
    });
    names.join(", ") + &files.collect::<Vec<_>>().join(" ")
}

pub fn json(report: &CoverageReport) -> serde_json::Value {
    let kinds = kinds(report).map(|(kind, reached)| {
        let value = json!({
            "reached": reached.hit.len(),
            "of": reached.of(),
            "missing": reached.missing.iter().map(Target::to_string).collect::<Vec<_>>(),
        });
        (kind.to_owned(), value)
    });
    serde_json::Value::Object(kinds.into_iter().collect())
}
