//! The database of a campaign.

mod findings;

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dally_core::report::{Batch, MergeError};
use dally_core::{Document as _, Finding, ReadError, Report, Trace};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, params};

pub use self::findings::{KnownFinding, Seen, State};
use crate::share::Account;

/// The version of the tables; a newer one is not touched.
const VERSION: i32 = 1;
/// `dlly`: whose files these are.
const APPLICATION: i32 = 0x646c_6c79;

const TABLES: &str = "
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, begun INTEGER NOT NULL, revision TEXT NOT NULL, said TEXT NOT NULL
);
CREATE TABLE cells (
    id INTEGER PRIMARY KEY, program TEXT NOT NULL, strategy TEXT NOT NULL, seed INTEGER NOT NULL,
    newness REAL NOT NULL DEFAULT 0, finished TEXT, document TEXT, folded INTEGER NOT NULL DEFAULT 0,
    UNIQUE (program, strategy, seed)
);
CREATE TABLE batches (
    cell INTEGER NOT NULL REFERENCES cells, first INTEGER NOT NULL, count INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES runs, seconds REAL NOT NULL, steps INTEGER NOT NULL,
    observations INTEGER NOT NULL, chance REAL, document TEXT,
    PRIMARY KEY (cell, first)
) WITHOUT ROWID;
CREATE TABLE findings (
    program TEXT NOT NULL, cause TEXT NOT NULL, kind TEXT NOT NULL, bug TEXT NOT NULL,
    strategy TEXT NOT NULL, schedule TEXT NOT NULL, state TEXT NOT NULL, times INTEGER NOT NULL,
    PRIMARY KEY (program, cause)
) WITHOUT ROWID;
CREATE TABLE history (
    id INTEGER PRIMARY KEY, program TEXT NOT NULL, cause TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs, at INTEGER NOT NULL, what TEXT NOT NULL
);
";

/// Why a database cannot be used. Nothing of it was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory cannot be made or written to.
    #[error("the campaign in `{}` cannot be kept: {why}\n  name a directory that can be written to: --dir DIR", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// Another process works on it.
    #[error("another campaign is under way in `{}`\n  wait for it to end, or name another directory: --dir DIR", .path.display())]
    Taken {
        /// The directory.
        path: PathBuf,
    },
    /// There is none.
    #[error("there is no campaign in `{}`: `dally campaign run --dir {0}` begins one", .path.display())]
    None {
        /// The directory.
        path: PathBuf,
    },
    /// It is of a newer Dally.
    #[error("the campaign in `{}` is of version {found}, and this Dally knows versions up to {VERSION}\n  it is left as it is: take a newer Dally, or another directory", .path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i32,
    },
    /// It is something else.
    #[error("`{}` is no database of a campaign\n  it is left as it is: name another directory", .path.display())]
    Stranger {
        /// The file.
        path: PathBuf,
    },
    /// It is damaged.
    #[error("the database `{}` is damaged: {why}\n  it is left as it is: `sqlite3 FILE .recover` may save what is in it, and the schedules beside it are whole", .path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is no room.
    #[error("the disk of `{}` is full: what was run before is kept, and the same command goes on when there is room", .path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// What was kept does not go together with what comes next.
    #[error("what the campaign has of {cell} cannot be gone on from: {why}")]
    Merge {
        /// The program and the strategy.
        cell: String,
        /// Why not.
        why: MergeError,
    },
    /// Something else went wrong in the database.
    #[error("the database `{}` cannot be used: {why}", .path.display())]
    Other {
        /// The database.
        path: PathBuf,
        /// What the library says.
        why: rusqlite::Error,
    },
}

/// A program under a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The program, as the plan calls it.
    pub program: String,
    /// The strategy.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
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
}

/// The database of a campaign, and the lock on its directory.
pub struct Store {
    directory: PathBuf,
    connection: Connection,
    /// Held as long as this process may write. The system gives it back if the process is killed.
    _lock: Option<File>,
}

impl Store {
    /// Opens the campaign of this directory to go on with it; begins one if there is none.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let not_kept = |why| StoreError::Directory { path: directory.to_owned(), why };
        std::fs::create_dir_all(directory.join(SCHEDULES)).map_err(not_kept)?;
        let lock = directory.join("campaign.lock");
        let lock = OpenOptions::new().create(true).append(true).open(lock).map_err(not_kept)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Taken { path: directory.to_owned() });
            }
            Err(TryLockError::Error(why)) => return Err(not_kept(why)),
        }
        let path = path(directory);
        let is_new = std::fs::metadata(&path).map_or(true, |file| file.len() == 0);
        if !is_new {
            check(&path)?;
        }
        let connection = Connection::open(&path).map_err(|why| wrong(&path, why))?;
        let store = Store { directory: directory.to_owned(), connection, _lock: Some(lock) };
        store.prepare(is_new).map_err(|why| wrong(&path, why))?;
        Ok(store)
    }

    /// Opens the campaign of this directory to look at it, even while another process goes on with it.
    pub fn look(directory: &Path) -> Result<Store, StoreError> {
        let path = path(directory);
        if !path.is_file() {
            return Err(StoreError::None { path: directory.to_owned() });
        }
        let connection = check(&path)?;
        Ok(Store { directory: directory.to_owned(), connection, _lock: None })
    }

    fn prepare(&self, is_new: bool) -> rusqlite::Result<()> {
        let connection = &self.connection;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // A transaction may be lost with the power, and then its batch is run again; never the database.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        if is_new {
            connection.execute_batch(&format!(
                "BEGIN IMMEDIATE; {TABLES} PRAGMA application_id = {APPLICATION}; \
                 PRAGMA user_version = {VERSION}; COMMIT;"
            ))?;
        }
        Ok(())
    }

    /// The directory of the campaign.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory of the schedules of its findings.
    pub fn schedules(&self) -> PathBuf {
        self.directory.join(SCHEDULES)
    }

    fn wrong(&self, why: rusqlite::Error) -> StoreError {
        wrong(&path(&self.directory), why)
    }

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

    /// These cells, in their order, with what is known of them; new ones where nothing is known.
    pub fn cells_of(&self, cells: &[Cell]) -> Result<Vec<CellFigures>, StoreError> {
        for cell in cells {
            let values = params![cell.program, cell.strategy, cell.seed.cast_signed()];
            let known = "INSERT OR IGNORE INTO cells (program, strategy, seed) VALUES (?, ?, ?)";
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
             (SELECT coalesce(sum(seconds), 0) FROM batches WHERE cell = cells.id) FROM cells ORDER BY id",
        )?;
        let rows = cells.query_map([], |row| {
            let cell = Cell {
                program: row.get(1)?,
                strategy: row.get(2)?,
                seed: row.get::<_, i64>(3)?.cast_unsigned(),
            };
            let (newness, finished, seconds) = (row.get(4)?, row.get(5)?, row.get(7)?);
            let documents = row.get::<_, Option<String>>(6)?.into_iter().collect();
            Ok(CellRow { id: row.get(0)?, cell, newness, finished, seconds, documents })
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
        Ok(CellFigures { cell: row.cell, id: row.id, account, report, finished: row.finished })
    }

    /// The batches of a cell, for charts.
    pub fn batches(&self, cell: i64) -> Result<Vec<BatchFigures>, StoreError> {
        self.read_batches(cell).map_err(|why| self.wrong(why))
    }

    fn read_batches(&self, cell: i64) -> rusqlite::Result<Vec<BatchFigures>> {
        let mut batches = self.connection.prepare(
            "SELECT first + count, sum(seconds) OVER (ORDER BY first), observations FROM batches \
             WHERE cell = ? ORDER BY first",
        )?;
        let rows = batches.query_map([cell], |row| {
            let (schedules, seconds, observations) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(BatchFigures { schedules, seconds, observations })
        })?;
        rows.collect()
    }

    /// Keeps what came of a batch, the next one of its cell, with its findings, whose files are written:
    /// all of it or nothing. The figures of the cell are brought up to date.
    pub fn keep(
        &mut self,
        run: i64,
        figures: &mut CellFigures,
        report: Report,
        files: &[(Finding, PathBuf)],
    ) -> Result<(), StoreError> {
        let Some(batch) = report.part.as_ref().map(|part| part.batch) else {
            let program = report.program.clone();
            return Err(StoreError::Merge {
                cell: program.clone(),
                why: MergeError::Whole { program },
            });
        };
        let before = figures.report.as_ref().map_or(0, |report| report.observations);
        let kept = Kept { batch, seconds: report.elapsed, steps: report.steps };
        let light = without_traces(report);
        let document = light.write();
        // An error ends the run, so that nobody misses the report that was taken.
        let whole = figures.report.take().into_iter().chain([light.clone()]).collect();
        let whole = merged(&figures.cell, whole)?;
        let mut account = figures.account.clone();
        account.add(kept.seconds, light.schedules, whole.observations.saturating_sub(before));
        let finished = ended(&light);
        let told = Told {
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
        let Write { told, kept, document, whole, newness, finished } = write;
        let transaction = self.connection.transaction()?;
        let chance = whole.novelty.as_ref().and_then(|novelty| novelty.chance_of_new());
        transaction.execute(
            "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                told.cell,
                kept.batch.first,
                kept.batch.count,
                told.run,
                kept.seconds.as_secs_f64(),
                kept.steps,
                whole.observations,
                chance,
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
        findings::keep(&transaction, told, report, files)?;
        transaction.commit()
    }
}

struct CellRow {
    id: i64,
    cell: Cell,
    newness: f64,
    finished: Option<String>,
    seconds: f64,
    documents: Vec<String>,
}

/// Which run keeps something of which cell.
struct Told<'a> {
    run: i64,
    cell: i64,
    program: &'a str,
    strategy: &'a str,
}

struct Kept {
    batch: Batch,
    seconds: Duration,
    steps: u64,
}

struct Write<'a> {
    told: Told<'a>,
    kept: Kept,
    document: String,
    whole: &'a Report,
    newness: f64,
    finished: Option<&'a str>,
}

const SCHEDULES: &str = "schedules";

fn path(directory: &Path) -> PathBuf {
    directory.join("campaign.sqlite")
}

/// Why a cell has nothing left to be run after this batch, if that is so.
fn ended(report: &Report) -> Option<String> {
    use dally_core::Ended;
    match report.ended {
        Ended::Exhausted => Some("the strategy has nothing left to try".into()),
        Ended::Stuck => Some("a step does not come back".into()),
        Ended::Failed | Ended::Unsound => Some(report.notes.join(" ")),
        _ => None,
    }
}

/// Traces are in the files of findings, and nowhere else.
fn without_traces(mut report: Report) -> Report {
    report.findings.iter_mut().for_each(|finding| finding.trace = Trace::default());
    report
}

fn merged(cell: &Cell, parts: Vec<Report>) -> Result<Report, StoreError> {
    Report::merge(parts).map_err(|why| {
        let cell = format!("{} under {}", cell.program, cell.strategy);
        StoreError::Merge { cell, why }
    })
}

/// Opens a database without writing to it, and sees that it is a whole one of a campaign.
fn check(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(path, flags).map_err(|why| wrong(path, why))?;
    connection.busy_timeout(Duration::from_secs(10)).map_err(|why| wrong(path, why))?;
    let number = |name: &str| -> Result<i32, StoreError> {
        let read = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
        read.map_err(|why| wrong(path, why))
    };
    let (application, found) = (number("application_id")?, number("user_version")?);
    if application != APPLICATION {
        return Err(StoreError::Stranger { path: path.to_owned() });
    }
    if found > VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found });
    }
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match checked.optional().map_err(|why| wrong(path, why))? {
        Some(answer) if answer != "ok" => {
            Err(StoreError::Damaged { path: path.to_owned(), why: answer })
        }
        _ => Ok(connection),
    }
}

fn wrong(path: &Path, why: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    match why.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::Stranger { path },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, why: why.to_string() },
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::Directory { path, why: io::Error::other(why.to_string()) }
        }
        _ => StoreError::Other { path, why },
    }
}
