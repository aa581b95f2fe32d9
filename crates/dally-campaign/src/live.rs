//! The page that shows how far a campaign is: its files, and what its script reads.

use dally_core::words::visible;
use serde::Serialize;

use crate::conduct::Progress;
use crate::report::Risk;

/// The page.
pub const PAGE: &str = include_str!("live/live.html");
/// Its script, `live.js`.
pub const SCRIPT: &str = include_str!("live/live.js");
/// Its style, `live.css`.
pub const STYLE: &str = include_str!("live/live.css");

#[derive(Serialize)]
struct Shown {
    seconds: f64,
    schedules: u64,
    new_findings: usize,
    /// The cell whose batch is under way, by its place.
    next: usize,
    cells: Vec<ShownCell>,
}

#[derive(Serialize)]
struct ShownCell {
    program: String,
    strategy: String,
    schedules: u64,
    seconds: f64,
    observations: u64,
    /// How many bugs it has found, one for each cause.
    findings: usize,
    /// The part of its last schedules that showed something new.
    newness: f64,
    risk: Option<String>,
    finished: Option<String>,
}

/// How far a campaign is, as JSON for the script of the page.
pub fn json(progress: &Progress<'_>) -> String {
    let text = |text: &str| visible(text).into_owned();
    let cells = progress.cells.iter().map(|figures| {
        let report = figures.report.as_ref();
        ShownCell {
            program: text(&figures.cell.program),
            strategy: text(&figures.cell.strategy),
            schedules: figures.account.schedules,
            seconds: figures.account.spent.as_secs_f64(),
            observations: report.map_or(0, |report| report.observations),
            findings: report.map_or(0, |report| report.findings.len()),
            newness: figures.account.newness,
            risk: report.and_then(Risk::of).map(|risk| risk.to_string()),
            finished: figures.finished.as_deref().map(text),
        }
    });
    let cells: Vec<ShownCell> = cells.collect();
    let shown = Shown {
        seconds: progress.spent.as_secs_f64(),
        schedules: cells.iter().map(|cell| cell.schedules).sum(),
        new_findings: progress.new_findings,
        next: progress.next,
        cells,
    };
    // The data have string keys and no other sources of errors.
    serde_json::to_string(&shown).unwrap_or_default()
}
