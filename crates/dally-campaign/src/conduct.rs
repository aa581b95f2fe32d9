//! The loop of a campaign: which cell comes next, its batch, what is kept of it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dally_core::report::Batch;
use dally_core::{Ended, Finding, Report};
use dally_report::store::Store as Files;

use crate::share::next;
use crate::store::{Cell, CellFigures, Store, StoreError};

/// Who runs programs for a campaign.
pub trait Laboratory {
    /// Runs a batch of schedules of a cell; an error is a sentence why it cannot be run. Findings are shrunk
    /// only if that is asked for, and the batch ends with the first only then.
    fn run(&mut self, cell: &Cell, batch: Batch, shrink: bool) -> Result<Report, String>;

    /// Hears how far the campaign is.
    fn watch(&mut self, progress: &Progress<'_>);
}

/// How far a campaign is.
pub struct Progress<'a> {
    /// All cells, with what is known of them.
    pub cells: &'a [CellFigures],
    /// The one that comes next, by its place.
    pub next: usize,
    /// The time that this run has spent on batches.
    pub spent: Duration,
    /// How many findings this run has seen for the first time.
    pub new_findings: usize,
}

/// What came of a run.
#[derive(Debug)]
pub struct Conducted {
    /// All cells, with what is known of them.
    pub cells: Vec<CellFigures>,
    /// How many schedules this run has run.
    pub schedules: u64,
    /// The time that it has spent on batches.
    pub spent: Duration,
    /// How many findings it has seen for the first time.
    pub new_findings: usize,
}

/// About how long a batch takes: long against what it takes to keep it, short against a campaign.
const BATCH: Duration = Duration::from_secs(2);

/// Runs batches of these cells until the time is up, nothing is left to be run, or `stop` is set. A batch that
/// is stopped is not kept, and is the next of its cell.
pub fn conduct(
    store: &mut Store,
    run: i64,
    cells: &[Cell],
    time: Option<Duration>,
    laboratory: &mut dyn Laboratory,
    stop: &AtomicBool,
) -> Result<Conducted, StoreError> {
    let mut figures = store.cells_of(cells)?;
    let (mut spent, mut schedules, mut new_findings) = (Duration::ZERO, 0, 0);
    while !stop.load(Ordering::Relaxed) {
        let left = time.map_or(Duration::MAX, |time| time.saturating_sub(spent));
        let accounts: Vec<_> = figures.iter().map(|figures| figures.account.clone()).collect();
        let Some(place) = next(&accounts).filter(|_| !left.is_zero()) else { break };
        laboratory.watch(&Progress { cells: &figures, next: place, spent, new_findings });
        let cell = &mut figures[place];
        let first = cell.report.as_ref().and_then(|report| report.part.as_ref());
        let first = first.map_or(0, |part| part.batch.first + part.batch.count);
        let count = cell.account.in_time(BATCH.min(left));
        let batch = Batch { first, count, seed: cell.cell.seed };
        let report = match laboratory.run(&cell.cell, batch, false) {
            Ok(report) => report,
            Err(why) => {
                (cell.account.finished, cell.finished) = (true, Some(why));
                continue;
            }
        };
        if matches!(report.ended, Ended::Interrupted | Ended::Time) {
            break;
        }
        spent += report.elapsed;
        schedules += report.schedules;
        let files = saved(store, &cell.cell, &report, laboratory)?;
        new_findings += files.len();
        store.keep(run, cell, report, &files)?;
    }
    Ok(Conducted { cells: figures, schedules, spent, new_findings })
}

/// Saves the findings of a batch whose causes are new, shrunk, and names their files within the directory of
/// schedules. A finding that was saved and not kept, since the process was killed, is saved again.
fn saved(
    store: &Store,
    cell: &Cell,
    report: &Report,
    laboratory: &mut dyn Laboratory,
) -> Result<Vec<(Finding, PathBuf)>, StoreError> {
    if report.findings.is_empty() {
        return Ok(Vec::new());
    }
    let known = store.findings()?;
    let is_known = |finding: &&Finding| {
        let cause = finding.bug.cause().to_string();
        known.iter().any(|known| known.program == cell.program && known.cause == cause)
    };
    let directory = store.schedules();
    let mut files = Vec::new();
    for finding in report.findings.iter().filter(|finding| !is_known(finding)) {
        // Its schedule is a batch of its own, which is shrunk.
        let batch = Batch { first: finding.found_at.saturating_sub(1), count: 1, seed: cell.seed };
        let alone = laboratory.run(cell, batch, true).ok();
        let same = alone.iter().flat_map(|alone| &alone.findings);
        let mut same = same.filter(|alone| alone.bug.cause() == finding.bug.cause());
        let finding = same.next().unwrap_or(finding);
        let path = Files::new(&directory)
            .save(&cell.program, finding, &report.without_findings())
            .map_err(|why| StoreError::Directory { path: directory.clone(), why })?;
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        files.push((finding.clone(), name));
    }
    Ok(files)
}
