//! A campaign as one HTML page, and as text.

mod machines;
mod page;
mod risk;
mod survival;

use std::fmt::Write as _;

use dally_core::words::{count, grouped, visible};

pub use self::page::page;
pub use self::risk::Risk;
use crate::store::{CellFigures, KnownFinding, State, Store, StoreError};

/// What was run, found and covered, as text.
pub fn text(store: &Store) -> Result<String, StoreError> {
    let (cells, findings) = (store.cells()?, store.findings()?);
    let schedules: u64 = cells.iter().map(|cell| cell.account.schedules).sum();
    let mut out = format!(
        "{}, {} of {}, {}\n\n",
        count(store.runs()?, "run"),
        count(schedules, "schedule"),
        count(programs(&cells).len() as u64, "program"),
        count(findings.len() as u64, "finding"),
    );
    let rows: Vec<[String; HEAD.len()]> = cells.iter().map(row).collect();
    let head = HEAD.map(str::to_owned);
    let width = |column: usize| {
        let cells = rows.iter().chain([&head]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    for row in [&head].into_iter().chain(&rows) {
        for (column, (text, width)) in row.iter().zip(&widths).enumerate() {
            // Names to the left, figures to the right.
            match column {
                0 | 1 => write!(out, "{text:<width$}  "),
                _ => write!(out, "{text:>width$}  "),
            }
            .unwrap_or_default();
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    for cell in &cells {
        if let Some(why) = cell.finished.as_ref().filter(|_| !cell.is_old) {
            out += &format!("\n{} under {}: {why}", cell.cell.program, cell.cell.strategy);
        }
    }
    if !findings.is_empty() {
        out += "\n";
    }
    Ok(visible(&(out + &findings_text(&findings))).into_owned())
}

/// The findings and their histories, as text.
pub fn findings_text(findings: &[KnownFinding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let state = if finding.state == State::Open { "open" } else { "fixed" };
        out += &format!(
            "{} {} {}\n  {state}, in {}, found by {}\n  {}\n",
            finding.program,
            finding.cause,
            finding.bug,
            count(finding.times, "schedule"),
            finding.strategy,
            finding.schedule.display()
        );
        for seen in &finding.history {
            let revision = if seen.revision.is_empty() { "" } else { " at " };
            out += &format!(
                "  {} {} in run {}{revision}{}\n",
                seen.at, seen.what, seen.run, seen.revision
            );
        }
    }
    visible(&out).into_owned()
}

const HEAD: [&str; 7] =
    ["program", "strategy", "schedules", "seconds", "observations", "chance of new", "risk"];

/// What is shown of a cell, under [`HEAD`].
fn row(cell: &CellFigures) -> [String; HEAD.len()] {
    let report = cell.report.as_ref();
    let novelty = report.and_then(|report| report.novelty.as_ref());
    let chance = novelty.and_then(|novelty| novelty.chance_of_new());
    let program = &cell.cell.program;
    [
        if cell.is_old { format!("{program} (an older version)") } else { program.clone() },
        cell.cell.strategy.clone(),
        grouped(cell.account.schedules),
        format!("{:.1}", cell.account.spent.as_secs_f64()),
        report.map_or("-".into(), |report| grouped(report.observations)),
        chance.map_or("-".into(), |chance| format!("{chance:.6}")),
        report.and_then(Risk::of).map_or("-".into(), |risk| risk.to_string()),
    ]
}

fn programs(cells: &[CellFigures]) -> Vec<&str> {
    let mut programs: Vec<&str> = Vec::new();
    for cell in cells {
        if !programs.contains(&&*cell.cell.program) {
            programs.push(&cell.cell.program);
        }
    }
    programs
}
