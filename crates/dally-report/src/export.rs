//! Traces in the formats of other viewers: a log for ShiViz, a Chrome trace, a Mermaid sequence diagram.

use std::collections::BTreeMap;
use std::fmt::Write;

use dally_core::words::visible;
use dally_core::{Discard, Finding, Report, WorkerId};
use serde_json::{Value, json};

use crate::about::About;
use crate::text::{self, Fate, Messages, Names};

/// A log for ShiViz: for each step a line with its worker and vector clock, and a line with what
/// happened. ShiViz reads it with its default expression, `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`.
pub fn shiviz(finding: &Finding) -> String {
    let hosts = hosts(finding);
    let mut out = String::new();
    let steps = steps(finding);
    for ((step, clock), text) in finding.trace.steps.iter().zip(finding.trace.clocks()).zip(steps) {
        let clock: serde_json::Map<String, Value> =
            clock.iter().map(|(worker, count)| (host(&hosts, worker), json!(count))).collect();
        let clock = Value::Object(clock);
        let _ =
            writeln!(out, "{} {clock}\n{}", host(&hosts, step.worker), one_line(&text.join("; ")));
    }
    out
}

/// A trace for Chrome (`chrome://tracing`) and Perfetto: a lane for each worker, a millisecond for each
/// step, arrows for messages.
pub fn chrome(finding: &Finding) -> String {
    let names = Names(&finding.trace.names);
    let lanes: BTreeMap<WorkerId, usize> = finding.trace.names.keys().copied().zip(1..).collect();
    let lane = |worker| lanes.get(&worker).copied().unwrap_or(0);
    let named = finding.trace.names.keys().map(|&worker| {
        let name = visible(&names.of(worker)).into_owned();
        json!({"ph": "M", "name": "thread_name", "pid": 1, "tid": lane(worker), "args": {"name": name}})
    });
    let steps = finding.trace.steps.iter().zip(steps(finding)).enumerate();
    let taken = steps.map(|(at, (step, lines))| {
        let name = lines.first().cloned().unwrap_or_default();
        json!({
            "ph": "X", "name": name, "pid": 1, "tid": lane(step.worker), "ts": at * 1000, "dur": 900,
            "args": {"step": at + 1, "events": lines},
        })
    });
    let messages = Messages::of(&finding.trace);
    let arrows = messages.sent.iter().enumerate().flat_map(|(id, (message, sent))| {
        let Some(Fate::Received(to)) = messages.fate.get(message) else { return Vec::new() };
        let name = visible(sent.payload).into_owned();
        let by = finding.trace.steps[sent.step - 1].worker;
        let end = |phase: &str, step: usize, worker| {
            json!({
                "ph": phase, "bp": "e", "id": id, "cat": "message", "name": name, "pid": 1,
                "tid": lane(worker), "ts": (step - 1) * 1000 + 450,
            })
        };
        vec![end("s", sent.step, by), end("f", *to, sent.to)]
    });
    let events: Vec<Value> = named.chain(taken).chain(arrows).collect();
    crate::json::visible(&format!("{}\n", json!({"traceEvents": events, "displayTimeUnit": "ms"})))
}

/// A Mermaid sequence diagram: an arrow for each message where it is received, notes for changes of
/// state and for the bug.
pub fn mermaid(finding: &Finding) -> String {
    let names = Names(&finding.trace.names);
    let lanes: BTreeMap<WorkerId, usize> = finding.trace.names.keys().copied().zip(0..).collect();
    let lane = |worker| format!("w{}", lanes.get(&worker).copied().unwrap_or(0));
    let mut out = String::from("sequenceDiagram\n");
    for &worker in finding.trace.names.keys() {
        let _ = writeln!(out, "    participant {} as {}", lane(worker), escaped(&names.of(worker)));
    }
    let messages = Messages::of(&finding.trace);
    // The messages that each step takes, or loses.
    let mut taken: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (message, sent) in &messages.sent {
        let (step, arrow, fate) = match messages.fate.get(message) {
            Some(Fate::Received(step)) => (*step, "->>", ""),
            Some(Fate::Discarded(step, Discard::Lost)) => (*step, "-x", "lost: "),
            Some(Fate::Discarded(step, _)) => (*step, "-->>", "not handled: "),
            None => continue,
        };
        let by = lane(finding.trace.steps[sent.step - 1].worker);
        let text = escaped(sent.payload);
        let line = format!("    {by}{arrow}{}: {fate}{text}\n", lane(sent.to));
        taken.entry(step).or_default().push(line);
    }
    for (number, step) in (1..).zip(&finding.trace.steps) {
        out.extend(taken.remove(&number).unwrap_or_default());
        for item in &step.items {
            if let dally_core::Item::Event(dally_core::Event::Changed { to, .. }) = item {
                let _ = writeln!(out, "    Note over {}: {}", lane(step.worker), escaped(to));
            }
        }
    }
    if let Some(last) = finding.trace.steps.last() {
        let bug = text::line(&finding.bug);
        let _ = writeln!(out, "    Note over {}: BUG {}", lane(last.worker), escaped(&bug));
    }
    out
}

/// What happens in each step, a line for each event.
fn steps(finding: &Finding) -> Vec<Vec<String>> {
    let about = About::default();
    let told = text::parts(finding, &Report::new("", ""), &about);
    let lines = told.steps.into_iter().map(|(_, lines)| lines);
    lines
        .map(|lines| lines.into_iter().map(|(_, line)| visible(&line).into_owned()).collect())
        .collect()
}

/// A name without blanks for each worker.
fn hosts(finding: &Finding) -> BTreeMap<WorkerId, String> {
    let names = Names(&finding.trace.names);
    let word = |name: String| name.split_whitespace().collect::<Vec<_>>().join("-");
    finding
        .trace
        .names
        .keys()
        .map(|&worker| (worker, word(visible(&names.of(worker)).into())))
        .collect()
}

fn host(hosts: &BTreeMap<WorkerId, String>, worker: WorkerId) -> String {
    hosts.get(&worker).cloned().unwrap_or_else(|| worker.to_string())
}

fn one_line(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join(" ")
}

/// A text in which nothing is syntax of Mermaid.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for char in one_line(&visible(text)).chars() {
        match char {
            ';' | '#' | ':' | '<' | '>' | '{' | '}' | '%' | '"' => {
                let _ = write!(out, "#{};", u32::from(char));
            }
            _ => out.push(char),
        }
    }
    out
}
