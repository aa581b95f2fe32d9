//! A campaign as one HTML page that needs nothing else.

use dally_core::words::count;
use dally_report::charts::{Chart, Scale, Series, Shape};
use dally_report::page::escaped;

use super::{HEAD, machines, programs, row, survival};
use crate::store::{BatchFigures, CellFigures, State, Store, StoreError};

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
             estimate, and so is the risk that it fails by a cause that is not known yet: the share of schedules \
             that alone have shown a cause. Where there is none, the risk is at most the one that is told, but \
             for one case in twenty. There is neither for strategies that do not draw schedules alike, and they \
             say nothing about another strategy or longer schedules.</p>\n<h2>What was found</h2>\n";
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
    if let Some(chart) = survival::chart(&cells) {
        body += &format!(
            "<h2>How soon</h2>\n<figure>{}</figure>\n<p>Of the bugs that this campaign knows, the share that \
             each strategy has not found after so many schedules of their programs, with the interval at 95% \
             (Kaplan and Meier, Greenwood). How many bugs that are stands beside its name; one that it has not \
             found counts for as long as it was run.</p>\n",
            chart.to_svg()
        );
    }
    body += "<h2>What was covered</h2>\n";
    for program in programs(&cells) {
        body += &covered(store, &cells, program)?;
        body += &machines::section(&cells, program);
    }
    let title = "Campaign of Dally";
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         {body}</body>\n</html>\n"
    ))
}

/// The curves of what a program's schedules have covered, one for each strategy.
fn covered(store: &Store, cells: &[CellFigures], program: &str) -> Result<String, StoreError> {
    let (mut observed, mut reached) = (Vec::new(), Vec::new());
    for cell in cells.iter().filter(|cell| cell.cell.program == program && !cell.is_old) {
        let batches = store.batches(cell.id)?;
        let series = |what: &str, of: &dyn Fn(&BatchFigures) -> Option<u64>| {
            let point = |batch: &BatchFigures| Some((batch.schedules as f64, of(batch)? as f64));
            let points = batches.iter().filter_map(point).collect();
            let name = format!("{}{what}", cell.cell.strategy);
            Series { name, points, ..Series::default() }
        };
        observed.push(series("", &|batch| Some(batch.observations)));
        reached.push(series(": states", &|batch| Some(batch.reached?.0)));
        reached.push(series(": ways", &|batch| Some(batch.reached?.1)));
    }
    reached.retain(|series| !series.points.is_empty());
    let drawn = |what: &str, y: &str, series: Vec<Series>| {
        let chart = Chart {
            title: format!("{program}: {what}"),
            x: "schedules".into(),
            y: y.into(),
            x_scale: Scale::Logarithmic,
            shape: Shape::Lines,
            series,
        };
        format!("<figure>{}</figure>\n", chart.to_svg())
    };
    let mut out = drawn("distinct observations", "observations", observed);
    if !reached.is_empty() {
        out += &drawn("states of machines entered, ways taken", "states, ways", reached);
    }
    Ok(out)
}

const STYLE: &str = "body { font: 14px/1.45 system-ui, sans-serif; margin: 20px; max-width: 1000px; } \
    table { border-spacing: 0; } th, td { text-align: left; padding: 2px 16px 2px 0; } \
    td:nth-child(n+3), th:nth-child(n+3) { text-align: right; white-space: nowrap; } .open b { color: #cf222e; } \
    .fixed { color: #59636e; } .never summary { color: #9a6700; } .never p { font-family: monospace; } figure { margin: 12px 0; } svg { max-width: 100%; }";
