//! The database of a campaign.

mod cells;
mod error;
mod findings;
mod keep;

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

pub use self::cells::{BatchFigures, Cell, CellFigures};
pub use self::error::StoreError;
use self::error::wrong;
pub use self::findings::{KnownFinding, Seen, State};

/// The version of the tables; another one is not touched.
const VERSION: i32 = 3;
/// `dlly`: whose files these are.
const APPLICATION: i32 = 0x646c_6c79;

const TABLES: &str = "
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, begun INTEGER NOT NULL, revision TEXT NOT NULL, said TEXT NOT NULL
);
CREATE TABLE cells (
    id INTEGER PRIMARY KEY, program TEXT NOT NULL, strategy TEXT NOT NULL, seed INTEGER NOT NULL,
    version INTEGER NOT NULL, run INTEGER NOT NULL REFERENCES runs, newness REAL NOT NULL DEFAULT 0,
    finished TEXT, document TEXT, folded INTEGER NOT NULL DEFAULT 0,
    UNIQUE (program, strategy, seed, version)
);
CREATE TABLE learned (cell INTEGER PRIMARY KEY REFERENCES cells, bytes BLOB NOT NULL);
CREATE TABLE batches (
    cell INTEGER NOT NULL REFERENCES cells, first INTEGER NOT NULL, count INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES runs, seconds REAL NOT NULL, steps INTEGER NOT NULL,
    observations INTEGER NOT NULL, chance REAL, entered INTEGER, taken INTEGER, document TEXT,
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
        let is_there = std::fs::metadata(&path).is_ok_and(|file| file.len() > 0);
        let is_new = !is_there || check(&path, &path, READING)?.is_none();
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
        let checked = match check(&path, &path, READING) {
            // A reader writes down what it reads of the log. Where there is no log, nothing is to be written down,
            // and where nothing can be written, nothing changes.
            Err(StoreError::Directory { .. })
                if !directory.join("campaign.sqlite-wal").exists() =>
            {
                check(&path, &unchanging(&path), READING | OpenFlags::SQLITE_OPEN_URI)?
            }
            checked => checked?,
        };
        let Some(connection) = checked else {
            return Err(StoreError::None { path: directory.to_owned() });
        };
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
}

const SCHEDULES: &str = "schedules";

fn path(directory: &Path) -> PathBuf {
    directory.join("campaign.sqlite")
}

const READING: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY;

/// The name of a database that nobody can write to, for SQLite.
fn unchanging(path: &Path) -> PathBuf {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter().map(|&byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("file:{}?immutable=1", bytes.collect::<String>()).into()
}

/// Opens a database without writing to it, and sees that it is a whole one of a campaign; `None` if nothing is
/// in it yet, since whoever began it was killed. SQLite knows the path by this name.
fn check(path: &Path, name: &Path, flags: OpenFlags) -> Result<Option<Connection>, StoreError> {
    let connection = Connection::open_with_flags(name, flags).map_err(|why| wrong(path, why))?;
    connection.busy_timeout(Duration::from_secs(10)).map_err(|why| wrong(path, why))?;
    let number = |name: &str| -> Result<i32, StoreError> {
        let read = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0));
        read.map_err(|why| wrong(path, why))
    };
    let (application, found) = (number("application_id")?, number("user_version")?);
    let count = "SELECT count(*) FROM sqlite_schema";
    let tables = connection.query_row(count, [], |row| row.get::<_, i64>(0));
    if application == 0 && tables.map_err(|why| wrong(path, why))? == 0 {
        return Ok(None);
    }
    if application != APPLICATION {
        return Err(StoreError::Stranger { path: path.to_owned() });
    }
    if found != VERSION {
        return Err(StoreError::Version { path: path.to_owned(), found });
    }
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match checked.optional().map_err(|why| wrong(path, why))? {
        Some(answer) if answer != "ok" => {
            Err(StoreError::Damaged { path: path.to_owned(), why: answer })
        }
        _ => Ok(Some(connection)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dally_core::{Bug, Env, Program, Status, Stop, System, Tag, WorkerId};
    use dally_search::{Batch, BatchOutcome, Options, StrategyKind, run_in_turn};

    use super::*;
    use crate::Ran;

    /// Each of its schedules is another one, so every batch has more to be kept.
    struct Numbers(Vec<WorkerId>, u64);

    impl Program for Numbers {
        type System = Numbers;

        fn start(&self) -> Result<Numbers, Bug> {
            Ok(Numbers(vec![WorkerId::root(0)], 0))
        }
    }

    impl System for Numbers {
        fn enabled(&self) -> &[WorkerId] {
            &self.0
        }

        fn step(&mut self, _: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
            self.1 = u64::from(env.value(1 << 20, Tag::Program)?);
            self.0.clear();
            Ok(())
        }

        fn status(&self) -> Status {
            if self.0.is_empty() { Status::Done } else { Status::Running }
        }

        fn observe(&self, _: dally_core::Observe) -> Option<u64> {
            Some(self.1)
        }
    }

    fn batch(first: u64) -> Ran {
        let strategy = "random".parse::<StrategyKind>().unwrap().build(7, 10);
        let options = Options { program: "numbers".into(), strategy, ..Options::default() };
        let batch = Batch { first, count: 500, seed: 7 };
        let program = Arc::new(Numbers(Vec::new(), 0));
        let ran = run_in_turn(program, batch, None, options, Arc::new(())).unwrap();
        let BatchOutcome { report, learned } = ran;
        Ran { report, learned }
    }

    /// What SQLite says of a full disk it says of a database that has as many pages as it may, too.
    #[test]
    fn when_the_disk_is_full_what_was_kept_before_is_there_and_the_run_goes_on_when_there_is_room()
    {
        let directory = std::env::temp_dir().join(format!("dally-full-{}", std::process::id()));
        let cell =
            Cell { program: "numbers".into(), strategy: "random".into(), seed: 7, version: 1 };
        let begin = |pages: u32| {
            let store = Store::open(&directory).unwrap();
            store.connection.pragma_update(None, "max_page_count", pages).unwrap();
            let run = store.begin("", "").unwrap();
            let figures = store.cells_of(run, std::slice::from_ref(&cell)).unwrap().remove(0);
            (store, run, figures)
        };
        let (mut store, run, mut figures) = begin(40);
        let why = loop {
            let first = figures.account.schedules;
            if let Err(why) = store.keep(run, &mut figures, batch(first), &[]) {
                break why;
            }
        };
        assert!(matches!(why, StoreError::Full { .. }), "{why}");
        drop(store);
        let mut kept = Vec::new();
        for pages in [40, 400] {
            let (mut store, run, mut figures) = begin(pages);
            let report = figures.report.clone().unwrap();
            let batches = report.part.unwrap().batch;
            assert_eq!((batches.first, batches.count), (0, report.schedules), "no gap");
            kept.push(report.schedules);
            let went_on = store.keep(run, &mut figures, batch(report.schedules), &[]);
            assert_eq!(went_on.is_ok(), pages == 400, "{went_on:?}");
        }
        assert!(kept[0] >= 500 && kept[0] == kept[1], "{kept:?}");
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
