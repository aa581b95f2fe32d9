//! The final table: a row for each test, and what no test reached.

use dally::contract::words::grouped;
use dally::search::Ended;

use super::{Row, coverage};

pub fn verdict(row: &Row) -> String {
    let report = &row.run.checked.report;
    match (report.findings.as_slice(), report.ended) {
        ([first, ..], _) => format!("BUG: {}", first.bug.kind().name()),
        ([], Ended::Exhausted) if report.is_exhausted() => "no bug, exhausted".into(),
        ([], Ended::Failed | Ended::Unsound) => "not checked".into(),
        ([], Ended::Interrupted) => "no bug, interrupted".into(),
        ([], Ended::Memory) => "no bug, memory full".into(),
        ([], Ended::Time) => "no bug, time up".into(),
        ([], _) => "no bug".into(),
    }
}

pub fn text(rows: &[Row]) -> String {
    let heads = ["test", "verdict", "tried", "steps/s", "coverage", "time"];
    let mut table = vec![heads.map(str::to_owned)];
    table.extend(rows.iter().map(cells));
    let widths: Vec<usize> = (0..heads.len())
        .map(|column| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    for row in &table {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            // Numbers are aligned right, words left.
            match column {
                2 | 3 | 5 => format!("{cell:>width$}"),
                _ => format!("{cell:<width$}"),
            }
        });
        out += cells.collect::<Vec<_>>().join("  ").trim_end();
        out.push('\n');
    }
    out + &coverage::text(rows.iter().map(|row| &row.coverage))
}

fn cells(row: &Row) -> [String; 6] {
    let report = &row.run.checked.report;
    let (tried, steps) = match &report.states {
        Some(states) if states.states > 0 => (counted(states.states, "state"), states.transitions),
        _ => (counted(report.schedules, "schedule"), report.steps),
    };
    let seconds = report.elapsed.as_secs_f64();
    let rate = if seconds > 0.0 { (steps as f64 / seconds) as u64 } else { 0 };
    [
        row.test.clone(),
        verdict(row),
        tried,
        grouped(rate),
        coverage::brief(&row.coverage),
        format!("{seconds:.2} s"),
    ]
}

fn counted(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{} {what}s", grouped(number)) }
}
