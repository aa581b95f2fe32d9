//! Cells of a campaign: what is run, and what is known of it.

use std::time::Duration;

use dally_core::{Document as _, ReadError, Report};
use rusqlite::{OptionalExtension as _, params};

use super::{Store, StoreError, path};
use crate::share::Account;

/// A version of a program under a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The program, as the plan calls it.
    pub program: String,
    /// The strategy.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// What the program is made of, as a hash: its sources, its settings and who runs it. A campaign does not go
    /// on with the cell of another version.
    pub version: u64,
}

/// What is known of a cell.
#[derive(Clone, Debug)]
pub struct CellFigures {
    /// Which cell it is.
    pub cell: Cell,
    /// Its number in the database.
    pub id: i64,
    /// What it has cost and brought.
    pub account: Account,
    /// The report of all its batches; `None` if there was none.
    pub report: Option<Report>,
    /// Why nothing is left to be run, if nothing is.
    pub finished: Option<String>,
    /// Whether a later run had another version of the program.
    pub is_old: bool,
}

/// A batch as charts need it.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchFigures {
    /// The schedules up to its end.
    pub schedules: u64,
    /// The seconds that were spent up to its end.
    pub seconds: f64,
    /// The distinct observations up to its end.
    pub observations: u64,
    /// How many states machines had entered and how many ways they had taken up to its end, as far as that was
    /// counted.
    pub reached: Option<(u64, u64)>,
}

impl Store {
    /// Begins a run at this revision of the source, empty if that is not known; answers its number.
    pub fn begin(&self, revision: &str, said: &str) -> Result<i64, StoreError> {
        let begun = "INSERT INTO runs (begun, revision, said) VALUES (unixepoch(), ?, ?)";
        self.connection.execute(begun, [revision, said]).map_err(|why| self.wrong(why))?;
        Ok(self.connection.last_insert_rowid())
    }

    /// How many runs there were.
    pub fn runs(&self) -> Result<u64, StoreError> {
        let count = "SELECT count(*) FROM runs";
        self.connection.query_row(count, [], |row| row.get(0)).map_err(|why| self.wrong(why))
    }

    /// These cells, which this run has, in their order with what is known of them; new ones where nothing is
    /// known.
    pub fn cells_of(&self, run: i64, cells: &[Cell]) -> Result<Vec<CellFigures>, StoreError> {
        for cell in cells {
            let Cell { program, strategy, .. } = cell;
            let [seed, version] = [cell.seed, cell.version].map(u64::cast_signed);
            let known = "INSERT INTO cells (program, strategy, seed, version, run) VALUES (?, ?, ?, ?, ?) \
                 ON CONFLICT DO UPDATE SET run = excluded.run";
            let values = params![program, strategy, seed, version, run];
            self.connection.execute(known, values).map_err(|why| self.wrong(why))?;
        }
        let mut all = self.cells()?;
        let place = |figures: &CellFigures| cells.iter().position(|cell| *cell == figures.cell);
        all.retain(|figures| place(figures).is_some());
        all.sort_by_key(place);
        Ok(all)
    }

    /// All cells with what is known of them.
    pub fn cells(&self) -> Result<Vec<CellFigures>, StoreError> {
        let rows = self.read_cells().map_err(|why| self.wrong(why))?;
        rows.into_iter().map(|row| self.figures(row)).collect()
    }

    fn read_cells(&self) -> rusqlite::Result<Vec<CellRow>> {
        let mut cells = self.connection.prepare(
            "SELECT id, program, strategy, seed, newness, finished, document, \
             (SELECT coalesce(sum(seconds), 0) FROM batches WHERE cell = cells.id), version, \
             EXISTS (SELECT 1 FROM cells AS other WHERE other.program = cells.program \
                 AND other.version <> cells.version AND other.run > cells.run) \
             FROM cells ORDER BY id",
        )?;
        let rows = cells.query_map([], |row| {
            let cell = Cell {
                program: row.get(1)?,
                strategy: row.get(2)?,
                seed: row.get::<_, i64>(3)?.cast_unsigned(),
                version: row.get::<_, i64>(8)?.cast_unsigned(),
            };
            let (newness, finished, seconds) = (row.get(4)?, row.get(5)?, row.get(7)?);
            let documents = row.get::<_, Option<String>>(6)?.into_iter().collect();
            let (id, is_old) = (row.get(0)?, row.get(9)?);
            Ok(CellRow { id, cell, newness, finished, seconds, documents, is_old })
        })?;
        let mut rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let mut batches = self.connection.prepare(
            "SELECT document FROM batches WHERE cell = ? AND document IS NOT NULL ORDER BY first",
        )?;
        for row in &mut rows {
            for document in batches.query_map([row.id], |row| row.get(0))? {
                row.documents.push(document?);
            }
        }
        Ok(rows)
    }

    fn figures(&self, row: CellRow) -> Result<CellFigures, StoreError> {
        let damaged = |why: ReadError| StoreError::Damaged {
            path: path(&self.directory),
            why: format!("what it has of {} under {}: {why}", row.cell.program, row.cell.strategy),
        };
        let parts = row.documents.iter().map(|text| Report::read(text).map_err(damaged));
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let report = match parts.is_empty() {
            true => None,
            false => Some(merged(&row.cell, parts)?),
        };
        let account = Account {
            spent: Duration::from_secs_f64(row.seconds),
            schedules: report.as_ref().map_or(0, |report| report.schedules),
            newness: row.newness,
            finished: row.finished.is_some(),
        };
        let CellRow { cell, id, finished, is_old, .. } = row;
        Ok(CellFigures { cell, id, account, report, finished, is_old })
    }

    /// The batches of a cell, for charts.
    pub fn batches(&self, cell: i64) -> Result<Vec<BatchFigures>, StoreError> {
        self.read_batches(cell).map_err(|why| self.wrong(why))
    }

    fn read_batches(&self, cell: i64) -> rusqlite::Result<Vec<BatchFigures>> {
        let mut batches = self.connection.prepare(
            "SELECT first + count, sum(seconds) OVER (ORDER BY first), observations, entered, taken \
             FROM batches WHERE cell = ? ORDER BY first",
        )?;
        let rows = batches.query_map([cell], |row| {
            let (schedules, seconds, observations) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let (entered, taken): (Option<u64>, Option<u64>) = (row.get(3)?, row.get(4)?);
            Ok(BatchFigures { schedules, seconds, observations, reached: entered.zip(taken) })
        })?;
        rows.collect()
    }

    /// What the strategy of a cell has learnt in its batches, if it learns.
    pub fn learned(&self, cell: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let learned = "SELECT bytes FROM learned WHERE cell = ?";
        let bytes = self.connection.query_row(learned, [cell], |row| row.get(0)).optional();
        bytes.map_err(|why| self.wrong(why))
    }
}

struct CellRow {
    id: i64,
    cell: Cell,
    newness: f64,
    finished: Option<String>,
    seconds: f64,
    documents: Vec<String>,
    is_old: bool,
}

pub(super) fn merged(cell: &Cell, parts: Vec<Report>) -> Result<Report, StoreError> {
    Report::merge(parts).map_err(|why| {
        let cell = format!("{} under {}", cell.program, cell.strategy);
        StoreError::Merge { cell, why }
    })
}
