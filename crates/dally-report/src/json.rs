//! Findings and runs as JSON: the written forms of the core, a line for each step, with sentences
//! for people. `docs/json.md` documents every field, `docs/json.schema.json` has their types.

mod layout;
#[cfg(test)]
mod schema;

use dally_core::words::is_hidden;
use dally_core::{Document, Finding, Report};
use serde::{Deserialize, Serialize};

use crate::text;

/// A run with all its findings as a document of the format `dally-run`, which
/// [`Report::read`](Document::read) reads.
pub fn run(report: &Report) -> String {
    // Findings are two levels deep in a run.
    layout::write(&run_document(report), 4, "  ")
}

/// [`run`] as data, to be a part of another document.
pub fn run_document(report: &Report) -> impl Serialize + '_ {
    RunDocument {
        format: Report::FORMAT,
        version: Report::VERSION,
        coverage: text::coverage(report),
        stopped: text::stopped(report),
        report,
    }
}

/// A document that has runs or findings as its parts: as text, ending with a line break, in which
/// what is nested deeper than `deepest` shares the line of its container.
///
/// ```
/// let text = dally_report::json::write(&vec![vec![1, 2], vec![3]], 1);
/// assert_eq!(text, "[\n [1, 2],\n [3]\n]\n");
/// ```
pub fn write(document: &impl Serialize, deepest: usize) -> String {
    // Its steps are nested deeply: with two spaces a level, a tenth of it would be spaces.
    layout::write(document, deepest, " ")
}

/// A finding as a document of the format `dally-trace`. `run` is the run that showed it, as far as
/// it is known.
pub fn finding(finding: &Finding, run: &Report) -> String {
    let document = TraceDocument {
        format: SavedTrace::FORMAT,
        version: SavedTrace::VERSION,
        text: text::bug(&finding.bug),
        finding,
        run: &run.without_findings(),
    };
    layout::write(&document, 2, "  ")
}

/// A finding and the run that showed it, as [`finding`] writes them down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedTrace {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// The run, without its findings.
    pub run: Report,
}

impl Document for SavedTrace {
    const FORMAT: &'static str = "dally-trace";
    const VERSION: u32 = Report::VERSION;
}

/// A JSON document in which nothing hides: what a terminal would act on or not show is written with
/// escapes of JSON, so the data are the same. All documents of this module are so.
///
/// ```
/// assert_eq!(dally_report::json::visible("[\"\u{202e}\"]"), r#"["\u202e"]"#);
/// ```
pub fn visible(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for char in document.chars() {
        match is_hidden(char) {
            true => out
                .extend(char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
            false => out.push(char),
        }
    }
    out
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RunDocument<'a> {
    /// `dally-run`
    format: &'static str,
    /// The version of this form.
    version: u32,
    /// What was covered, in a sentence.
    coverage: String,
    /// Why the run stopped, in a sentence.
    stopped: &'static str,
    #[serde(flatten)]
    report: &'a Report,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TraceDocument<'a> {
    /// `dally-trace`
    format: &'static str,
    /// The version of this form.
    version: u32,
    /// What went wrong, in a sentence for people; may have several lines.
    text: String,
    #[serde(flatten)]
    finding: &'a Finding,
    /// The run that showed it, without its findings.
    run: &'a Report,
}
