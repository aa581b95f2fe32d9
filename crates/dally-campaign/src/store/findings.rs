//! Findings and their history over runs.

use std::path::PathBuf;

use dally_core::{Finding, Report};
use rusqlite::{Connection, Row, params};

use super::keep::CellOfRun;
use super::{Store, StoreError};

/// A finding that a campaign knows, one for each program and cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFinding {
    /// The program.
    pub program: String,
    /// The cause, as hexadecimal digits.
    pub cause: String,
    /// The kind of the bug.
    pub kind: String,
    /// The bug in a line.
    pub bug: String,
    /// The strategy that found it first.
    pub strategy: String,
    /// The file of its schedule.
    pub schedule: PathBuf,
    /// Whether it is there.
    pub state: State,
    /// How many schedules have shown it.
    pub times: u64,
    /// What became of it, the oldest first.
    pub history: Vec<Seen>,
}

/// Whether a bug is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It is.
    Open,
    /// Its schedule no longer shows it.
    Fixed,
}

/// What became of a finding in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The run, from 1.
    pub run: u64,
    /// The revision of the source, empty if it is not known.
    pub revision: String,
    /// When, as text in UTC.
    pub at: String,
    /// `first seen`, `seen`, `fixed`, `seen again`, or `no longer fits`.
    pub what: String,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Fixed => "fixed",
        }
    }
}

/// Keeps the findings of a batch. `files` has those that are new.
pub(super) fn keep(
    connection: &Connection,
    told: &CellOfRun<'_>,
    report: &Report,
    files: &[(Finding, PathBuf)],
) -> rusqlite::Result<()> {
    let program = told.program;
    for (finding, file) in files {
        connection.execute(
            "INSERT OR IGNORE INTO findings VALUES (?, ?, ?, ?, ?, ?, 'open', 0)",
            params![
                program,
                finding.bug.cause().to_string(),
                finding.bug.kind().name(),
                dally_report::text::line(&finding.bug),
                told.strategy,
                file.to_string_lossy()
            ],
        )?;
    }
    for finding in &report.findings {
        let cause = finding.bug.cause().to_string();
        let times = "UPDATE findings SET times = times + ? WHERE program = ? AND cause = ?";
        connection.execute(times, params![finding.occurrences, program, cause])?;
        let before: Option<String> = connection.query_row(
            "SELECT max(state) FROM findings WHERE program = ? AND cause = ?",
            params![program, cause],
            |row| row.get(0),
        )?;
        let known = is_told(connection, program, &cause, None)?;
        let what = match before.as_deref() {
            // A bug that could not be repeated alone has no file, and no row.
            None => continue,
            Some(_) if !known => "first seen",
            Some("fixed") => "seen again",
            Some(_) if is_told(connection, program, &cause, Some(told.run))? => continue,
            Some(_) => "seen",
        };
        set(connection, program, &cause, State::Open, told.run, what)?;
    }
    Ok(())
}

/// Whether the history has something of this finding, in this run if one is given.
fn is_told(
    connection: &Connection,
    program: &str,
    cause: &str,
    run: Option<i64>,
) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM history WHERE program = ? AND cause = ? AND run = coalesce(?, run))",
        params![program, cause, run],
        |row| row.get(0),
    )
}

fn set(
    connection: &Connection,
    program: &str,
    cause: &str,
    state: State,
    run: i64,
    what: &str,
) -> rusqlite::Result<()> {
    let now = "UPDATE findings SET state = ? WHERE program = ? AND cause = ?";
    connection.execute(now, params![state.name(), program, cause])?;
    let event =
        "INSERT INTO history (program, cause, run, at, what) VALUES (?, ?, ?, unixepoch(), ?)";
    connection.execute(event, params![program, cause, run, what]).map(|_| ())
}

impl Store {
    /// All findings, by program and cause.
    pub fn findings(&self) -> Result<Vec<KnownFinding>, StoreError> {
        self.read_findings().map_err(|why| self.wrong(why))
    }

    fn read_findings(&self) -> rusqlite::Result<Vec<KnownFinding>> {
        let mut known = self.connection.prepare(
            "SELECT program, cause, kind, bug, strategy, schedule, state, times FROM findings \
             ORDER BY program, cause",
        )?;
        let read = |row: &Row<'_>| {
            let state: String = row.get(6)?;
            Ok(KnownFinding {
                program: row.get(0)?,
                cause: row.get(1)?,
                kind: row.get(2)?,
                bug: row.get(3)?,
                strategy: row.get(4)?,
                schedule: self.schedules().join(row.get::<_, String>(5)?),
                state: if state == "fixed" { State::Fixed } else { State::Open },
                times: row.get(7)?,
                history: Vec::new(),
            })
        };
        let mut findings = known.query_map([], read)?.collect::<rusqlite::Result<Vec<_>>>()?;
        let mut history = self.connection.prepare(
            "SELECT run, revision, datetime(at, 'unixepoch'), what FROM history JOIN runs ON runs.id = run \
             WHERE program = ? AND cause = ? ORDER BY history.id",
        )?;
        for finding in &mut findings {
            let rows = history.query_map([&finding.program, &finding.cause], |row| {
                let (run, revision) = (row.get(0)?, row.get(1)?);
                Ok(Seen { run, revision, at: row.get(2)?, what: row.get(3)? })
            })?;
            finding.history = rows.collect::<rusqlite::Result<_>>()?;
        }
        Ok(findings)
    }

    /// Takes note of what a replay of a finding came to in a run: `Some(true)` if it shows its bug,
    /// `Some(false)` if it ends without it, `None` if the program no longer fits the schedule.
    pub fn replayed(
        &mut self,
        run: i64,
        finding: &KnownFinding,
        shows: Option<bool>,
    ) -> Result<(), StoreError> {
        let (state, what) = match (finding.state, shows) {
            (State::Open, Some(true)) => (State::Open, "seen"),
            (State::Open, Some(false)) => (State::Fixed, "fixed"),
            (State::Fixed, Some(true)) => (State::Open, "seen again"),
            // That a program does not fit a schedule says nothing about its bug.
            (state, None) if finding.history.last().is_none_or(|last| last.what != UNFIT) => {
                (state, UNFIT)
            }
            (State::Fixed, Some(false)) | (_, None) => return Ok(()),
        };
        let transaction = self.connection.transaction().and_then(|transaction| {
            set(&transaction, &finding.program, &finding.cause, state, run, what)?;
            transaction.commit()
        });
        transaction.map_err(|why| self.wrong(why))
    }
}

const UNFIT: &str = "no longer fits";
