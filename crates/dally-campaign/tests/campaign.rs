//! Campaigns on a small program that is visible here, stopped and gone on with, and databases that are not
//! what they should be.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dally_campaign::{Cell, Laboratory, Progress, Ran, State, Store, StoreError, conduct, report};
use dally_core::report::Batch;
use dally_core::{Bug, Env, Finding, Program, Report, Status, Stop, System, Tag, WorkerId};
use dally_search::{BatchOutcome, Options, StrategyKind, run_in_turn, shrunk};

/// Chooses eight times one of four values; three threes in a row are a bug where it is planted.
struct Dice {
    planted: bool,
}

struct Rolling {
    planted: bool,
    left: u32,
    threes: u32,
    sum: u64,
    enabled: Vec<WorkerId>,
}

impl Program for Dice {
    type System = Rolling;

    fn start(&self) -> Result<Rolling, Bug> {
        let enabled = vec![WorkerId::root(0)];
        Ok(Rolling { planted: self.planted, left: 8, threes: 0, sum: 0, enabled })
    }
}

impl System for Rolling {
    fn enabled(&self) -> &[WorkerId] {
        &self.enabled
    }

    fn step(&mut self, _: WorkerId, env: &mut dyn Env) -> Result<(), Stop> {
        let value = env.value(4, Tag::Program)?;
        self.left -= 1;
        self.sum = self.sum * 4 + u64::from(value);
        self.threes = if value == 3 { self.threes + 1 } else { 0 };
        if self.left == 0 {
            self.enabled.clear();
        }
        match self.planted && self.threes == 3 {
            true => Err(Bug::panic("three threes").into()),
            false => Ok(()),
        }
    }

    fn status(&self) -> Status {
        if self.left == 0 { Status::Done } else { Status::Running }
    }

    fn observe(&self, _: dally_core::Observe) -> Option<u64> {
        Some(self.sum << 4 | u64::from(self.left))
    }
}

/// Runs batches, at most so many, and then stops the campaign in the middle of one.
struct Bench {
    planted: bool,
    batches: usize,
    stop: Arc<AtomicBool>,
}

fn options(cell: &Cell, shrink: bool, stop: &Arc<AtomicBool>) -> Options {
    let strategy = cell.strategy.parse::<StrategyKind>().unwrap().build(cell.seed, 1_000);
    let program = cell.program.clone();
    Options {
        program,
        strategy,
        shrink,
        keep_going: !shrink,
        stop: stop.clone(),
        max_steps: 1_000,
        ..Options::default()
    }
}

fn ran(
    planted: bool,
    cell: &Cell,
    batch: Batch,
    learned: Option<&[u8]>,
    stop: &Arc<AtomicBool>,
) -> BatchOutcome {
    let (program, options) = (Arc::new(Dice { planted }), options(cell, false, stop));
    run_in_turn(program, batch, learned, options, Arc::new(())).unwrap()
}

impl Laboratory for Bench {
    fn run(&mut self, cell: &Cell, batch: Batch, learned: Option<Vec<u8>>) -> Result<Ran, String> {
        match self.batches {
            0 => self.stop.store(true, Ordering::Relaxed),
            _ => self.batches -= 1,
        }
        let count = batch.count.min(300);
        let batch = Batch { count, ..batch };
        let BatchOutcome { report, learned } =
            ran(self.planted, cell, batch, learned.as_deref(), &self.stop);
        Ok(Ran { report, learned })
    }

    fn shrink(&mut self, cell: &Cell, finding: &Finding) -> Option<Finding> {
        let program = Arc::new(Dice { planted: self.planted });
        Some(shrunk(program, finding, options(cell, true, &Arc::default()), Arc::new(())))
    }

    fn watch(&mut self, _: &Progress<'_>) {}
}

fn cells() -> Vec<Cell> {
    ["random", "pos"].map(|strategy| cell(strategy, 1)).into()
}

/// The cell of a version of the program.
fn cell(strategy: &str, version: u64) -> Cell {
    Cell { program: "dice".into(), strategy: strategy.into(), seed: 7, version }
}

/// A directory that is gone when the test is over.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path =
            std::env::temp_dir().join(format!("dally-campaign-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// A run of so many batches at this revision.
fn go_on(directory: &Path, planted: bool, batches: usize, revision: &str) -> Store {
    go_on_with(&cells(), directory, planted, batches, revision)
}

/// The same with these cells.
fn go_on_with(
    cells: &[Cell],
    directory: &Path,
    planted: bool,
    batches: usize,
    revision: &str,
) -> Store {
    let mut store = Store::open(directory).unwrap();
    let run = store.begin(revision, "test").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut bench = Bench { planted, batches, stop: stop.clone() };
    conduct(&mut store, run, cells, None, &mut bench, &stop).unwrap();
    store
}

#[test]
fn a_campaign_that_is_stopped_again_and_again_says_what_one_run_of_the_same_schedules_says() {
    let scratch = Scratch::new("stopped");
    for batches in [3, 1, 0, 5, 2, 7] {
        go_on(&scratch.0, true, batches, "");
    }
    let store = Store::look(&scratch.0).unwrap();
    let mut batches = 0;
    for figures in store.cells().unwrap() {
        let kept = figures.report.unwrap();
        let count = kept.part.as_ref().unwrap().batch.count;
        assert_eq!(kept.schedules, count);
        let batch = Batch { first: 0, count, seed: 7 };
        let once = ran(true, &figures.cell, batch, None, &Arc::default()).report;
        let light = |mut report: Report| {
            // Traces are in files, and how often a note is told depends on the batches.
            report.findings.iter_mut().for_each(|finding| finding.trace = Default::default());
            report.without_times()
        };
        assert_eq!(light(kept), light(once), "{:?}", figures.cell);
        batches += store.batches(figures.id).unwrap().len();
    }
    assert_eq!((batches, store.runs().unwrap()), (18, 6));
}

#[test]
fn a_strategy_that_learns_is_taken_up_again_by_the_next_run_where_it_was() {
    let cells = ["ql", "pct:2", "portfolio"].map(|strategy| cell(strategy, 1));
    let (stopped, once) = (Scratch::new("learns-stopped"), Scratch::new("learns-once"));
    for batches in [4, 1, 0, 3] {
        go_on_with(&cells, &stopped.0, true, batches, "");
    }
    // Which cell comes next goes by the time that batches take, so each is followed to where the other is.
    let (mut one, store) = (Store::open(&once.0).unwrap(), Store::look(&stopped.0).unwrap());
    let run = one.begin("", "").unwrap();
    let fresh = one.cells_of(run, &cells).unwrap();
    for (figures, mut fresh) in store.cells().unwrap().into_iter().zip(fresh) {
        let mut learned = None;
        for batch in store.batches(figures.id).unwrap() {
            let first = fresh.report.as_ref().map_or(0, |report| report.schedules);
            let batch = Batch { first, count: batch.schedules - first, seed: 7 };
            let ran = ran(true, &figures.cell, batch, learned.as_deref(), &Arc::default());
            learned.clone_from(&ran.learned);
            let BatchOutcome { report, learned } = ran;
            one.keep(run, &mut fresh, Ran { report, learned }, &[]).unwrap();
        }
        assert!(learned.is_some() && learned == store.learned(figures.id).unwrap());
        let [kept, fresh] = [figures.report, fresh.report].map(|report| {
            let mut report = report.unwrap().without_times();
            report.findings.iter_mut().for_each(|finding| finding.trace = Default::default());
            report
        });
        assert_eq!(kept, fresh, "{:?}", figures.cell);
    }
}

#[test]
fn another_version_of_a_program_has_cells_of_its_own_and_the_older_ones_are_shown_as_such() {
    let scratch = Scratch::new("versions");
    let schedules = |store: &Store| -> Vec<(u64, bool, u64)> {
        let cells = store.cells().unwrap();
        let of = |cell: &dally_campaign::CellFigures| {
            (cell.cell.version, cell.is_old, cell.account.schedules)
        };
        cells.iter().map(of).collect()
    };
    let first = schedules(&go_on_with(&[cell("random", 1)], &scratch.0, true, 3, "aaa"));
    assert_eq!(first.iter().map(|cell| (cell.0, cell.1)).collect::<Vec<_>>(), [(1, false)]);
    let second = schedules(&go_on_with(&[cell("random", 2)], &scratch.0, false, 2, "bbb"));
    assert_eq!(second[0], (1, true, first[0].2), "nothing is added to the older version");
    assert_eq!((second[1].0, second[1].1, second[1].2 > 0), (2, false, true));
    let store = Store::look(&scratch.0).unwrap();
    assert!(report::text(&store).unwrap().contains("dice (an older version)  random"));
    drop(store);
    // Back at the first version, its schedules go on where they ended.
    let third = schedules(&go_on_with(&[cell("random", 1)], &scratch.0, true, 1, "ccc"));
    assert!(!third[0].1 && third[0].2 > first[0].2 && third[1] == (2, true, second[1].2));
}

#[test]
fn a_finding_is_kept_once_for_its_cause_shrunk_with_its_history_over_revisions() {
    let scratch = Scratch::new("history");
    go_on(&scratch.0, true, 6, "aaa");
    let mut store = go_on(&scratch.0, true, 4, "bbb");
    let [finding] = &store.findings().unwrap()[..] else { panic!("there is one cause") };
    assert_eq!((finding.kind.as_str(), finding.state), ("panic", State::Open));
    let cells = store.cells().unwrap();
    let found = cells.iter().flat_map(|cell| &cell.report.as_ref().unwrap().findings);
    assert_eq!(finding.times, found.map(|finding| finding.occurrences).sum::<u64>());
    let schedule =
        dally_core::Schedule::parse(&std::fs::read_to_string(&finding.schedule).unwrap()).unwrap();
    assert_eq!(schedule.steps(), 3, "it is shrunk: three threes");
    let run = store.begin("ccc", "").unwrap();
    store.replayed(run, finding, Some(false)).unwrap();
    let fixed = store.findings().unwrap().remove(0);
    assert_eq!(fixed.state, State::Fixed);
    store.replayed(run, &fixed, None).unwrap();
    drop(store);
    let store = go_on(&scratch.0, true, 4, "ddd");
    let again = store.findings().unwrap().remove(0);
    let history: Vec<_> = again.history.iter().map(|seen| (&*seen.what, &*seen.revision)).collect();
    assert_eq!(again.state, State::Open);
    assert_eq!(
        history,
        [
            ("first seen", "aaa"),
            ("seen", "bbb"),
            ("fixed", "ccc"),
            ("no longer fits", "ccc"),
            ("seen again", "ddd")
        ]
    );
    let page = report::page(&store).unwrap();
    assert!(page.contains("seen again in run 4 at ddd") && page.contains("<svg"), "{page}");
    assert!(report::text(&store).unwrap().contains("three threes"));
}

#[test]
fn the_budget_of_time_is_that_of_the_batches() {
    let scratch = Scratch::new("time");
    let mut store = Store::open(&scratch.0).unwrap();
    let run = store.begin("", "").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut bench = Bench { planted: false, batches: usize::MAX, stop: stop.clone() };
    let time = Some(Duration::from_millis(20));
    let done = conduct(&mut store, run, &cells(), time, &mut bench, &stop).unwrap();
    assert!(done.spent >= Duration::from_millis(20) && done.schedules > 0);
    assert!(store.findings().unwrap().is_empty());
}

fn refused(opened: Result<Store, StoreError>, scratch: &Scratch) -> String {
    let why = opened.err().unwrap().to_string();
    why.replace(&scratch.0.display().to_string(), "DIR")
}

#[test]
fn a_directory_that_another_campaign_has_can_be_looked_at_and_not_gone_on_with() {
    let scratch = Scratch::new("taken");
    let store = go_on(&scratch.0, true, 2, "");
    insta::assert_snapshot!(refused(Store::open(&scratch.0), &scratch), @r"
    another campaign is under way in `DIR`
      wait for it to end, or name another directory: --dir DIR
    ");
    assert_eq!(Store::look(&scratch.0).unwrap().cells().unwrap().len(), 2);
    drop(store);
    Store::open(&scratch.0).unwrap();
}

#[test]
fn what_is_no_whole_database_of_a_campaign_that_is_known_is_refused_and_left_as_it_is() {
    let scratch = Scratch::new("refused");
    insta::assert_snapshot!(refused(Store::look(&scratch.0), &scratch), @"there is no campaign in `DIR`: `dally campaign run --dir DIR` begins one");
    drop(go_on(&scratch.0, true, 4, ""));
    let path = scratch.0.join("campaign.sqlite");
    let good = std::fs::read(&path).unwrap();
    let mut texts = Vec::new();
    let mut try_with = |bytes: Vec<u8>| {
        std::fs::write(&path, &bytes).unwrap();
        for opened in [Store::open(&scratch.0), Store::look(&scratch.0)] {
            texts.push(refused(opened, &scratch));
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "it is left as it is");
    };
    // The version is at 60, the application at 68, as SQLite's file format says.
    let mut newer = good.clone();
    newer[63] = 4;
    try_with(newer);
    let mut older = good.clone();
    older[63] = 2;
    try_with(older);
    let mut other = good.clone();
    other[68] ^= 1;
    try_with(other);
    try_with(
        b"a letter to somebody, and long enough to be taken for a header of a database, or not?"
            .to_vec(),
    );
    let mut damaged = good.clone();
    let page = 4_096;
    damaged[page..].iter_mut().for_each(|byte| *byte = 0x55);
    try_with(damaged);
    // Which page SQLite complains of first depends on where it has put what.
    let page = |line: &&str| line.starts_with("Freelist: ") || line.starts_with("Tree ");
    let texts = texts.join("\n---\n");
    let texts: Vec<&str> = texts.lines().filter(|line| !page(line)).collect();
    insta::assert_snapshot!("refused", texts.join("\n"));
    std::fs::write(&path, good).unwrap();
    assert_eq!(Store::open(&scratch.0).unwrap().findings().unwrap().len(), 1);
}

#[test]
fn a_campaign_that_was_killed_before_anything_was_in_it_begins_again() {
    let scratch = Scratch::new("unborn");
    let unborn = rusqlite::Connection::open(scratch.0.join("campaign.sqlite")).unwrap();
    unborn.pragma_update(None, "journal_mode", "WAL").unwrap();
    drop(unborn);
    assert!(std::fs::metadata(scratch.0.join("campaign.sqlite")).unwrap().len() > 0);
    assert!(
        refused(Store::look(&scratch.0), &scratch).starts_with("there is no campaign in `DIR`")
    );
    assert_eq!(go_on(&scratch.0, true, 2, "").runs().unwrap(), 1);
}

#[cfg(unix)]
#[test]
fn a_directory_that_is_not_writable_is_told_and_nothing_is_lost() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new("readonly");
    drop(go_on(&scratch.0, true, 2, ""));
    let set = |mode| {
        std::fs::set_permissions(&scratch.0, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(0o500);
    let opened = Store::open(&scratch.0.join("inner"));
    // What is there can be read all the same.
    let runs = Store::look(&scratch.0).map(|store| store.runs().unwrap());
    set(0o700);
    assert_eq!(runs.unwrap(), 1);
    // Whoever may do everything may write there too.
    if opened.is_err() {
        let why = refused(opened, &scratch);
        assert!(why.ends_with("\n  name a directory that can be written to: --dir DIR"), "{why}");
    }
    assert_eq!(Store::look(&scratch.0).unwrap().runs().unwrap(), 1);
}

#[test]
fn a_directory_that_cannot_be_made_is_told() {
    let scratch = Scratch::new("file");
    std::fs::write(scratch.0.join("file"), "").unwrap();
    let why = refused(Store::open(&scratch.0.join("file/campaign")), &scratch);
    assert!(why.starts_with("the campaign in `DIR/file/campaign` cannot be kept: "), "{why}");
    assert!(why.ends_with("\n  name a directory that can be written to: --dir DIR"), "{why}");
}
