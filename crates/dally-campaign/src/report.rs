//! A campaign as one HTML page, and as text.

use std::fmt::Write as _;

use dally_core::words::{count, grouped, visible};
use dally_report::charts::{Chart, Scale, Series, Shape};
use dally_report::page::escaped;

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
    let rows: Vec<[String; 6]> = cells.iter().map(row).collect();
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
        if let Some(why) = &cell.finished {
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

const HEAD: [&str; 6] =
    ["program", "strategy", "schedules", "seconds", "observations", "chance of new"];

fn row(cell: &CellFigures) -> [String; 6] {
    let report = cell.report.as_ref();
    let novelty = report.and_then(|report| report.novelty.as_ref());
    let chance = novelty.and_then(|novelty| novelty.chance_of_new());
    [
        cell.cell.program.clone(),
        cell.cell.strategy.clone(),
        grouped(cell.account.schedules),
        format!("{:.1}", cell.account.spent.as_secs_f64()),
        report.map_or("-".into(), |report| grouped(report.observations)),
        chance.map_or("-".into(), |chance| format!("{chance:.6}")),
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

/// What was run, found and covered, as one HTML page that needs nothing else.
pub fn page(store: &Store) -> Result<String, StoreError> {
    let (cells, findings) = (store.cells()?, store.findings()?);
    let mut body = String::from("<h2>What was run</h2>\n<table>\n<tr>");
    body += &HEAD.map(|name| format!("<th scope=\"col\">{name}</th>")).concat();
    body += "</tr>\n";
    for cell in &cells {
        let row = row(cell).map(|text| format!("<td>{}</td>", escaped(&text)));
        body += &format!("<tr>{}</tr>\n", row.concat());
    }
    body += "</table>\n<p>The chance that one more schedule shows something new is Good and Turing's \
             estimate. There is none for strategies that do not draw schedules alike, and it says nothing \
             about another strategy.</p>\n<h2>What was found</h2>\n";
    if findings.is_empty() {
        body += "<p>Nothing yet.</p>\n";
    }
    for finding in &findings {
        let state = if finding.state == State::Open { "open" } else { "fixed" };
        body += &format!(
            "<details open><summary class=\"{state}\">{} <b>{}</b></summary>\n<p>{state}, in {}, found by \
             {}; <code>{}</code></p>\n<ul>\n",
            escaped(&finding.program),
            escaped(&finding.bug),
            count(finding.times, "schedule"),
            escaped(&finding.strategy),
            escaped(&finding.schedule.display().to_string())
        );
        for seen in &finding.history {
            let revision = if seen.revision.is_empty() { "" } else { " at " };
            let line =
                format!("{} {} in run {}{revision}{}", seen.at, seen.what, seen.run, seen.revision);
            body += &format!("<li>{}</li>\n", escaped(&line));
        }
        body += "</ul></details>\n";
    }
    body += "<h2>What was covered</h2>\n";
    for program in programs(&cells) {
        let of = cells.iter().filter(|cell| cell.cell.program == program);
        let series = of.map(|cell| {
            let batches = store.batches(cell.id)?;
            let points =
                batches.iter().map(|batch| (batch.schedules as f64, batch.observations as f64));
            Ok(Series { name: cell.cell.strategy.clone(), points: points.collect() })
        });
        let chart = Chart {
            title: format!("{program}: distinct observations"),
            x: "schedules".into(),
            y: "observations".into(),
            x_scale: Scale::Logarithmic,
            shape: Shape::Lines,
            series: series.collect::<Result<_, StoreError>>()?,
        };
        body += &format!("<figure>{}</figure>\n", chart.to_svg());
    }
    let title = "Campaign of Dally";
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         {body}</body>\n</html>\n"
    ))
}

const STYLE: &str = "body { font: 14px/1.45 system-ui, sans-serif; margin: 20px; max-width: 1000px; } \
    table { border-spacing: 0; } th, td { text-align: left; padding: 2px 16px 2px 0; } \
    td:nth-child(n+3), th:nth-child(n+3) { text-align: right; } .open b { color: #cf222e; } \
    .fixed { color: #59636e; } figure { margin: 12px 0; } svg { max-width: 100%; }";
