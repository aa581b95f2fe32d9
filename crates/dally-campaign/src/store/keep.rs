//! Keeping what came of a batch, all of it or nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use dally_core::report::{Batch, Census, MergeError};
use dally_core::{Document as _, Finding, Report, Trace};
use rusqlite::params;

use super::cells::merged;
use super::{CellFigures, Store, StoreError, findings, path, wrong};
use crate::conduct::Ran;

impl Store {
    /// Keeps what came of a batch, the next one of its cell, with its findings, whose files are written:
    /// all of it or nothing. The figures of the cell are brought up to date.
    pub fn keep(
        &mut self,
        run: i64,
        figures: &mut CellFigures,
        ran: Ran,
        files: &[(Finding, PathBuf)],
    ) -> Result<(), StoreError> {
        let Ran { report, learned } = ran;
        let Some(batch) = report.part.as_ref().map(|part| part.batch) else {
            let program = report.program.clone();
            return Err(StoreError::Merge {
                cell: program.clone(),
                why: MergeError::Whole { program },
            });
        };
        let before = figures.report.as_ref().map_or(0, |report| report.observations);
        let kept = BatchRecord { batch, seconds: report.elapsed, steps: report.steps };
        let light = without_traces(report);
        let document = light.write();
        // An error ends the run, so that nobody misses the report that was taken.
        let whole = figures.report.take().into_iter().chain([light.clone()]).collect();
        let whole = merged(&figures.cell, whole)?;
        let mut account = figures.account.clone();
        account.add(kept.seconds, light.schedules, whole.observations.saturating_sub(before));
        let finished = ended(&light);
        let told = CellOfRun {
            run,
            cell: figures.id,
            program: &figures.cell.program,
            strategy: &figures.cell.strategy,
        };
        let write = Write {
            told,
            kept,
            document,
            whole: &whole,
            newness: account.newness,
            finished: finished.as_deref(),
            learned: learned.as_deref(),
        };
        let path = path(&self.directory);
        self.transact(&write, &light, files).map_err(|why| wrong(&path, why))?;
        account.finished = finished.is_some();
        (figures.account, figures.report, figures.finished) = (account, Some(whole), finished);
        Ok(())
    }

    fn transact(
        &mut self,
        write: &Write<'_>,
        report: &Report,
        files: &[(Finding, PathBuf)],
    ) -> rusqlite::Result<()> {
        let Write { told, kept, document, whole, newness, finished, learned } = write;
        let transaction = self.connection.transaction()?;
        let (entered, taken) = whole.census.as_deref().map(reached).unzip();
        let chance = whole.novelty.as_ref().and_then(|novelty| novelty.chance_of_new());
        transaction.execute(
            "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                told.cell,
                kept.batch.first,
                kept.batch.count,
                told.run,
                kept.seconds.as_secs_f64(),
                kept.steps,
                whole.observations,
                chance,
                entered,
                taken,
                document
            ],
        )?;
        // The report of all batches is written anew only when those since have grown as large: so all that
        // is written is proportional to what there is to write.
        let (folded, loose): (usize, usize) = transaction.query_row(
            "SELECT folded, (SELECT coalesce(sum(length(document)), 0) FROM batches WHERE cell = id) \
             FROM cells WHERE id = ?",
            [told.cell],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        if loose >= folded {
            let document = whole.write();
            transaction.execute(
                "UPDATE cells SET document = ?, folded = ? WHERE id = ?",
                params![document, document.len(), told.cell],
            )?;
            transaction
                .execute("UPDATE batches SET document = NULL WHERE cell = ?", [told.cell])?;
        }
        let state = "UPDATE cells SET newness = ?, finished = ? WHERE id = ?";
        transaction.execute(state, params![newness, finished, told.cell])?;
        if let Some(bytes) = learned {
            let learned = "INSERT INTO learned VALUES (?, ?) ON CONFLICT DO UPDATE SET bytes = excluded.bytes";
            transaction.execute(learned, params![told.cell, bytes])?;
        }
        findings::keep(&transaction, told, report, files)?;
        transaction.commit()
    }
}

/// Which run keeps something of which cell.
pub(super) struct CellOfRun<'a> {
    pub(super) run: i64,
    pub(super) cell: i64,
    pub(super) program: &'a str,
    pub(super) strategy: &'a str,
}

struct BatchRecord {
    batch: Batch,
    seconds: Duration,
    steps: u64,
}

struct Write<'a> {
    told: CellOfRun<'a>,
    kept: BatchRecord,
    document: String,
    whole: &'a Report,
    newness: f64,
    finished: Option<&'a str>,
    learned: Option<&'a [u8]>,
}

/// Why a cell has nothing left to be run after this batch, if that is so.
fn ended(report: &Report) -> Option<String> {
    use dally_core::Ended;
    match report.ended {
        Ended::Exhausted => Some("the strategy has nothing left to try".into()),
        Ended::Stuck => Some("a step does not come back".into()),
        _ => None,
    }
}

/// How many states machines have entered, and how many ways from one to another they have taken.
fn reached(census: &Census) -> (u64, u64) {
    let states = || census.machines.values().flat_map(|machine| machine.states.values());
    let on = states().flat_map(|state| state.ways.values());
    let taken = on.flat_map(BTreeMap::values).filter(|count| **count > 0).count();
    (states().filter(|state| state.entered > 0).count() as u64, taken as u64)
}

/// Traces are in the files of findings, and nowhere else.
fn without_traces(mut report: Report) -> Report {
    report.findings.iter_mut().for_each(|finding| finding.trace = Trace::default());
    report
}
