//! The loop of a campaign: which cell comes next, its batch, what is kept of it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dally_core::report::Batch;
use dally_core::{Ended, Finding, Report};
use dally_report::About;
use dally_report::store::Store as Files;

use crate::share::{Account, next};
use crate::store::{Cell, CellFigures, Store, StoreError};

/// Who runs programs for a campaign.
pub trait Laboratory {
    /// Runs a batch of schedules of a cell to its end, whatever it finds; a strategy that learns goes on from what
    /// it has `learned`. An error is a sentence why it cannot be run.
    fn run(&mut self, cell: &Cell, batch: Batch, learned: Option<Vec<u8>>) -> Result<Ran, String>;

    /// Makes a finding of a batch smaller; `None` if that cannot be done.
    fn shrink(&mut self, cell: &Cell, finding: &Finding) -> Option<Finding>;

    /// Hears how far the campaign is.
    fn watch(&mut self, progress: &Progress<'_>);
}

/// What came of a batch.
#[derive(Debug)]
pub struct Ran {
    /// Its report, with the [part](Report::part) that it is.
    pub report: Report,
    /// What the next batch of the cell goes on from, if its strategy learns.
    pub learned: Option<Vec<u8>>,
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

impl<'a> Progress<'a> {
    fn of(done: &'a Conducted, next: usize) -> Progress<'a> {
        let Conducted { cells, spent, new_findings, .. } = done;
        Progress { cells, next, spent: *spent, new_findings: *new_findings }
    }
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Conducted {
    /// All cells, with what is known of them.
    pub cells: Vec<CellFigures>,
    /// How many schedules this run has run.
    pub schedules: u64,
    /// The time that it has spent on batches, and on making findings smaller.
    pub spent: Duration,
    /// The time that it has spent on all else: on choosing batches, and on keeping what came of them.
    pub keeping: Duration,
    /// How many findings it has seen for the first time.
    pub new_findings: usize,
}

/// About how long a batch takes: long against what it takes to keep it, short against a campaign.
const BATCH: Duration = Duration::from_secs(2);

/// How many times as long a batch takes as keeping the one before it did, at least: then keeping takes about
/// one percent, however much there is to be kept.
const KEEPING: u32 = 100;

/// How many times as long the last batches of a run take as keeping those before them did, at least, where that takes
/// long at all. A shorter one is left to the next run.
const WORTH_KEEPING: u32 = 20;
const LONG: Duration = Duration::from_millis(100);

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
    let mut done = Conducted { cells: store.cells_of(run, cells)?, ..Conducted::default() };
    let mut last_kept = vec![Duration::ZERO; done.cells.len()];
    let mut clock = Clock::start();
    while !stop.load(Ordering::Relaxed) {
        let left = time.map_or(Duration::MAX, |time| time.saturating_sub(done.spent));
        let is_worth = |kept: &Duration| *kept < LONG || kept.saturating_mul(WORTH_KEEPING) <= left;
        let accounts = done.cells.iter().zip(&last_kept).map(|(figures, kept)| {
            let account = figures.account.clone();
            Account { finished: account.finished || !is_worth(kept), ..account }
        });
        let accounts: Vec<Account> = accounts.collect();
        let Some(place) = next(&accounts).filter(|_| !left.is_zero()) else { break };
        laboratory.watch(&Progress::of(&done, place));
        let cell = &mut done.cells[place];
        let first = cell.report.as_ref().and_then(|report| report.part.as_ref());
        let first = first.map_or(0, |part| part.batch.first + part.batch.count);
        let long = BATCH.max(last_kept[place].saturating_mul(KEEPING));
        let count = cell.account.in_time(long.min(left));
        let batch = Batch { first, count, seed: cell.cell.seed };
        let learned = store.learned(cell.id)?;
        let before = clock.lap();
        let ran = laboratory.run(&cell.cell, batch, learned);
        let took = clock.lap();
        let ran = match ran {
            Err(_) if stop.load(Ordering::Relaxed) => break,
            Err(why) => Err(why),
            Ok(ran) => match ran.report.ended {
                Ended::Interrupted | Ended::Time => break,
                Ended::Failed | Ended::Unsound => Err(ran.report.notes.join(" ")),
                _ => Ok(ran),
            },
        };
        let ran = match ran {
            Ok(ran) => ran,
            Err(why) => {
                (cell.account.finished, cell.finished) = (true, Some(why));
                continue;
            }
        };
        done.schedules += ran.report.schedules;
        let elapsed = ran.report.elapsed;
        let files = saved(store, &cell.cell, &ran.report, laboratory)?;
        done.new_findings += files.len();
        let shrinking = if files.is_empty() { Duration::ZERO } else { clock.lap() };
        store.keep(run, cell, ran, &files)?;
        // What a strategy has learnt takes time before its first schedule and after its last.
        last_kept[place] = before + clock.lap() + took.saturating_sub(elapsed);
        done.spent += elapsed + shrinking;
        done.keeping += last_kept[place];
    }
    Ok(done)
}

/// The time since it was last asked. It decides how long batches are, and nothing that is said of one.
struct Clock(Instant);

#[expect(clippy::disallowed_methods, reason = "a budget of time is shared")]
impl Clock {
    fn start() -> Clock {
        Clock(Instant::now())
    }

    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.0, now))
    }
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
        let small = laboratory.shrink(cell, finding);
        let same = small.filter(|small| small.bug.cause() == finding.bug.cause());
        let finding = same.unwrap_or_else(|| finding.clone());
        let (saver, run) = (Files::new(&directory), report.without_findings());
        let not_kept = |why| StoreError::of_file(directory.clone(), why);
        let path = saver.save(&cell.program, &finding, &run).map_err(not_kept)?;
        let about = About {
            replay: vec![format!("dally replay {}", path.display())],
            saved: Some(path.clone()),
            ..About::new(&cell.program)
        };
        saver.save_page(&finding, &run, &about).map_err(not_kept)?;
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        files.push((finding, name));
    }
    Ok(files)
}
