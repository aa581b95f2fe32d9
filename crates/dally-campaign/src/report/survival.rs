//! How soon each strategy finds what the campaign knows.

use std::collections::BTreeSet;

use dally_core::Cause;
use dally_report::charts::{Chart, Scale, Series, Shape};
use dally_report::survival::{Effort, survival};

use crate::store::CellFigures;

/// The share of known bugs that each strategy has not found after so many schedules; `None` if none is known.
pub(super) fn chart(cells: &[CellFigures]) -> Option<Chart> {
    let strategies: BTreeSet<&str> = cells.iter().map(|cell| cell.cell.strategy.as_str()).collect();
    let series: Vec<Series> = strategies
        .into_iter()
        .map(|strategy| (strategy, efforts(cells, strategy)))
        .filter(|(_, efforts)| !efforts.is_empty())
        .map(|(strategy, efforts)| line(strategy, &efforts))
        .collect();
    (!series.is_empty()).then(|| Chart {
        title: "known bugs that are not found yet".into(),
        x: "schedules".into(),
        y: "share of bugs".into(),
        x_scale: Scale::Logarithmic,
        shape: Shape::Steps,
        series,
    })
}

/// For each bug that any strategy has found in a program that this one ran too, after how many schedules this
/// one did.
fn efforts(cells: &[CellFigures], strategy: &str) -> Vec<Effort> {
    let present = || cells.iter().filter(|cell| !cell.is_old);
    let causes = |cell: &CellFigures| -> Vec<(Cause, u64)> {
        let findings = cell.report.iter().flat_map(|report| &report.findings);
        findings.map(|finding| (finding.bug.cause(), finding.found_at)).collect()
    };
    let mut efforts = Vec::new();
    for own in present().filter(|cell| cell.cell.strategy == strategy) {
        let of_program = present().filter(|cell| cell.cell.program == own.cell.program);
        let known: BTreeSet<Cause> = of_program.flat_map(causes).map(|(cause, _)| cause).collect();
        let found = causes(own);
        efforts.extend(known.into_iter().map(|cause| {
            match found.iter().find(|(own, _)| *own == cause) {
                Some(&(_, at)) => Effort { spent: at, found: true },
                None => Effort { spent: own.account.schedules, found: false },
            }
        }));
    }
    efforts
}

fn line(strategy: &str, efforts: &[Effort]) -> Series {
    let end = efforts.iter().map(|effort| effort.spent).max().unwrap_or(1) as f64;
    let (mut share, mut interval) = (1.0, (1.0, 1.0));
    let (mut points, mut band) = (vec![(1.0, share)], vec![(1.0, 1.0, 1.0)]);
    for fall in survival(efforts) {
        (share, interval) = (fall.share, fall.interval.unwrap_or((fall.share, fall.share)));
        points.push((fall.spent as f64, share));
        band.push((fall.spent as f64, interval.0, interval.1));
    }
    points.push((end, share));
    band.push((end, interval.0, interval.1));
    Series { name: format!("{strategy} ({})", efforts.len()), points, band }
}
