//! A trace as a table, and the workers at its end.

use std::collections::BTreeMap;

use dally_core::WorkerId;
use dally_core::words::count;

use super::folding::Row;
use super::story::{Story, WorkerEnd};
use super::style::{Ink, Style};
use super::words::clip;

/// The greatest width of the column of names; longer names push their line to the right.
const WIDEST: usize = 32;
/// The greatest number of lines of a step; of a longer one the beginning and the end are shown.
const MOST_LINES: usize = 40;
/// The greatest numbers of workers, and of messages in one inbox, that are listed at the end.
const MOST_WORKERS: usize = 20;
const MOST_MESSAGES: usize = 3;

/// Rows of steps, a line for each event; the worker is named where it changes. `is_past` says of a step whether
/// it led to the bug: others between rows are counted. The divider is the text before the step with its number,
/// the first of a loop. The last line is the bug, if there is one.
pub(super) fn steps(
    story: &Story<'_>,
    rows: &[Row<'_>],
    is_past: impl Fn(usize) -> bool,
    divider: Option<(usize, String)>,
    bug: Option<&str>,
    style: Style,
) -> String {
    let width = column(rows.iter().map(|row| story.names.of(row.worker)));
    let digits = rows.iter().map(|row| row.number().len()).max().unwrap_or(0);
    let digits = digits.max(story.steps.len().to_string().len()).max(3);
    let mut out = String::new();
    let mut put = |number: &str, name: &str, ink: Option<Ink>, text: &str| {
        let pad = " ".repeat(width.saturating_sub(name.chars().count()));
        let number = style.paint(Ink::Faint, format!("{number:>digits$}"));
        let name = style.paint(Ink::Worker, name);
        let text = ink.map_or_else(|| text.to_owned(), |ink| style.paint(ink, text));
        out += &format!(" {number}  {name}{pad}  {text}\n");
    };
    let mut last: Option<&Row<'_>> = None;
    let mut named = None;
    let mut divider = divider.map(|(start, text)| (start - 1, text));
    for row in rows {
        let (first, _) = row.steps;
        let between = last.map_or(rows[0].steps.0, |last| last.steps.1 + 1)..first;
        let left_out = between.filter(|&at| !is_past(at)).count();
        if left_out > 0 {
            let steps = count(left_out as u64, "step");
            put("...", "", Some(Ink::Faint), &format!("{steps} that did not lead to the bug"));
            named = None;
        }
        if let Some((_, text)) = divider.take_if(|(start, _)| *start <= first) {
            put("...", "", Some(Ink::Heading), &text);
            named = None;
        }
        let mut number = row.number();
        let mut name = story.names.of(row.worker);
        if named.replace(row.worker) == Some(row.worker) {
            name.clear();
        }
        let lines = row.lines.all();
        let hidden = lines.len().saturating_sub(MOST_LINES);
        for (position, line) in lines.iter().enumerate() {
            let beginning = MOST_LINES / 2;
            if hidden > 0 && position == beginning {
                let text = format!("... {} of this step", count(hidden as u64, "more event"));
                put("", "", Some(Ink::Faint), &text);
            }
            if (beginning..beginning + hidden).contains(&position) {
                continue;
            }
            for (index, text) in line.text.lines().enumerate() {
                let indent = if index == 0 { "" } else { "  " };
                put(&number, &name, line.ink, &format!("{indent}{text}"));
                number.clear();
                name.clear();
            }
        }
        last = Some(row);
    }
    if let Some(bug) = bug {
        let mark = style.paint(Ink::Bug, format!("{:>digits$}", "BUG"));
        out += &format!(" {mark}  {}\n", style.paint(Ink::Bug, clip(bug)));
    }
    out
}

/// Every worker at the end of the trace: its state, what it waits for and its inbox; and the states of
/// monitors. Workers that have halted with nothing left are not listed.
pub(super) fn ending(story: &Story<'_>, heading: &str, style: Style) -> String {
    let mut left: BTreeMap<WorkerId, Vec<String>> = BTreeMap::new();
    for (message, sent) in &story.messages.sent {
        if !story.messages.fate.contains_key(message) {
            let what = format!(
                "{} from {} (step {})",
                clip(sent.payload),
                story.names.of(message.sender),
                sent.step
            );
            left.entry(sent.to).or_default().push(what);
        }
    }
    let mut rows = Vec::new();
    for &worker in story.names.0.keys() {
        let messages = left.remove(&worker).unwrap_or_default();
        let is_timer = story.timers.contains_key(&worker) || worker == WorkerId::FAULTS;
        let halted = matches!(story.gone.get(&worker), Some(WorkerEnd::Halted(_)));
        if is_timer || (halted && messages.is_empty()) {
            continue;
        }
        let mut words = Vec::new();
        match story.gone.get(&worker) {
            Some(WorkerEnd::Halted(step)) => words.push(format!("halted in step {step}")),
            Some(WorkerEnd::Crashed(step)) => words.push(format!("down since step {step}")),
            None => {
                let state = story.states.get(&worker).map(|states| states.0.join(" > "));
                words.extend(state.map(|state| format!("in {state}")));
                let waits = story.waits.get(&worker);
                words.extend(waits.map(|on| format!("waits to {on}")));
            }
        }
        let mut messages = messages.into_iter();
        let shown: Vec<String> = messages.by_ref().take(MOST_MESSAGES).collect();
        if !shown.is_empty() {
            let more = match messages.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            words.push(format!("not received: {}{more}", shown.join(", ")));
        }
        if !words.is_empty() {
            rows.push((story.names.of(worker), words.join("; ")));
        }
    }
    let hidden = rows.len().saturating_sub(MOST_WORKERS);
    rows.truncate(MOST_WORKERS);
    let monitors = story.monitors.iter();
    rows.extend(
        monitors.map(|(name, state)| (format!("{} {name}", story.monitor), format!("in {state}"))),
    );
    if rows.is_empty() {
        return String::new();
    }
    let mut out = listing(heading, &rows, style);
    if hidden > 0 {
        out += &format!(" and {}\n", count(hidden as u64, "other worker"));
    }
    out
}

pub(super) fn listing(heading: &str, rows: &[(String, String)], style: Style) -> String {
    let width = column(rows.iter().map(|row| row.0.clone()));
    let mut out = format!("\n{}\n\n", style.paint(Ink::Heading, heading));
    for (name, words) in rows {
        let pad = " ".repeat(width.saturating_sub(name.chars().count()));
        out += &format!(" {}{pad}  {words}\n", style.paint(Ink::Worker, name));
    }
    out
}

fn column(names: impl Iterator<Item = String>) -> usize {
    names.map(|name| name.chars().count()).filter(|&width| width <= WIDEST).max().unwrap_or(0)
}
