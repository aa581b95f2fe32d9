//! Schedules that a test has failed under before. They lie in `dally-regressions` of its package, to be
//! committed, and are replayed before anything else is run.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dally_core::draft::Draft;
use dally_core::{BugKind, Finding, Program, Schedule};
use dally_report::Store;
use dally_search::Mode;

use crate::checking::{self, Retold};
use crate::settings::{Settings, recorded_of_program};

/// The directory beside the manifest of a package.
pub const DIRECTORY: &str = "dally-regressions";

/// The variable that names a file to which tests write what became of their regressions, a line each;
/// then they run nothing else.
pub const TOLD: &str = "DALLY_REGRESSIONS_TOLD";

/// What became of a regression.
pub(super) enum RegressionOutcome {
    /// It shows a bug, as it did.
    Fails(Box<Retold>),
    /// It was followed to its end, and no bug shows.
    Passes,
    /// The program does not make these choices any more: where and how it differs.
    Unfit(String),
}

impl RegressionOutcome {
    /// The word for it in [`TOLD`].
    fn word(&self) -> &'static str {
        match self {
            RegressionOutcome::Fails(_) => "fails",
            RegressionOutcome::Passes => "passes",
            RegressionOutcome::Unfit(_) => "unfit",
        }
    }
}

/// The regressions of one test.
pub(super) struct Regressions {
    store: Store,
    /// The test in names of files, and in schedules.
    name: &'static str,
    path: &'static str,
}

/// A schedule that was kept.
pub(super) struct SavedRegression {
    pub file: PathBuf,
    pub schedule: Schedule,
}

impl Regressions {
    pub(super) fn of(package: &Path, name: &'static str, path: &'static str) -> Regressions {
        Regressions { store: Store::new(package.join(DIRECTORY)), name, path }
    }

    /// The schedules of this test, by the names of their files, and a note for each that cannot be read.
    pub(super) fn kept(&self) -> (Vec<SavedRegression>, Vec<String>) {
        let (mut kept, mut notes) = (Vec::new(), Vec::new());
        for file in files(self.store.directory()) {
            match checking::read_schedule(&file) {
                Ok(schedule) if schedule.program == self.path => {
                    kept.push(SavedRegression { file, schedule })
                }
                // Schedules of other tests lie here too.
                Ok(_) => {}
                // The file of another test says its own test so.
                Err(why) if self.is_mine(&file) => notes.push(format!("a regression: {why}")),
                Err(_) => {}
            }
        }
        (kept, notes)
    }

    fn is_mine(&self, file: &Path) -> bool {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(&format!("{}-", self.name.replace("::", ".")))
    }

    /// Keeps the schedule of a finding, if it can be replayed, and answers its file.
    pub(super) fn keep(&self, finding: &Finding) -> Result<Option<PathBuf>, String> {
        // These cannot be seen again within milliseconds, or not at all.
        let lost = matches!(
            finding.bug.kind(),
            BugKind::Uncontrolled
                | BugKind::NoFailure
                | BugKind::ProcessEnd
                | BugKind::EndlessStep
                | BugKind::OutOfStacks
        );
        if lost || finding.schedule.choices.is_empty() {
            return Ok(None);
        }
        let text = finding.schedule.to_text();
        let first = self.store.path(self.name, &finding.bug);
        let mut file = first.clone();
        // Another schedule of the same cause is kept too: it did not fail, or this one would not have been looked for.
        for number in 2.. {
            match std::fs::read_to_string(&file) {
                Ok(there) if there == text => return Ok(Some(file)),
                Ok(_) => {
                    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
                    file = first.with_file_name(format!("{stem}-{number}.schedule"));
                }
                Err(_) => break,
            }
        }
        std::fs::create_dir_all(self.store.directory())
            .and_then(|()| Draft::write(&file, text.as_bytes())?.publish())
            .map_err(|why| format!("the schedule was not kept as a regression: {why}"))?;
        Ok(Some(file))
    }
}

/// All files of schedules in a directory, in order.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "schedule"))
        .collect();
    files.sort();
    files
}

/// Replays a schedule that was kept, with the settings of programs that it was recorded with, whatever the test
/// has now: with others its choices would mean something else.
pub(super) fn replay<P: Program + 'static>(
    program: &mut Arc<P>,
    kept: &SavedRegression,
    settings: &Settings,
) -> RegressionOutcome {
    let (rounds, step_time) = (checking::ROUNDS, settings.step_time);
    let recorded: Vec<_> = recorded_of_program(&kept.schedule).collect();
    // Nobody else has the program, unless a step of an earlier replay has not come back: then the test fails.
    let own = Arc::get_mut(program);
    let before: Vec<_> = own.map_or_else(Vec::new, |program| {
        let set = |&(setting, value): &(_, &str)| Some((setting, program.set(setting, value)?));
        recorded.iter().filter_map(set).collect()
    });
    let again = Arc::clone(program);
    let replayed = dally_search::replay(again, &kept.schedule, Mode::Exact, rounds, step_time);
    if let Some(program) = Arc::get_mut(program) {
        before.iter().for_each(|(setting, value)| _ = program.set(setting, value));
    }
    let retold = checking::retell(&kept.schedule, replayed, Mode::Exact, "");
    match (&retold.finding, retold.gave_up) {
        (Some(_), _) => RegressionOutcome::Fails(Box::new(retold)),
        (None, true) => RegressionOutcome::Unfit(retold.remarks.join(" ")),
        (None, false) => RegressionOutcome::Passes,
    }
}

/// Sentences about regressions that do not fail.
pub(super) fn notes(standings: &[(SavedRegression, RegressionOutcome)]) -> Vec<String> {
    let told = standings.iter().filter_map(|(kept, standing)| {
        let file = shown(&kept.file);
        match standing {
            RegressionOutcome::Fails(_) => None,
            RegressionOutcome::Passes => Some(format!("the regression {file} passes")),
            RegressionOutcome::Unfit(why) => {
                let mut note =
                    format!("the regression {file} no longer fits the program and is kept");
                let _ = write!(note, "; `dally regressions prune` removes it. {}", why.trim());
                Some(note)
            }
        }
    });
    told.collect()
}

/// Writes the standings down for the command that asked.
pub(super) fn tell(file: &Path, standings: &[(SavedRegression, RegressionOutcome)]) {
    let mut lines = String::new();
    for (kept, standing) in standings {
        let _ = writeln!(lines, "{} {}", standing.word(), kept.file.display());
    }
    let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
    // Without the file the command says that no test has told it anything. A single write is not mixed with
    // those of other tests.
    let _ = opened.and_then(|mut file| file.write_all(lines.as_bytes()));
}

/// A file of a regression, from the package's directory on.
pub(super) fn shown(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    format!("{DIRECTORY}/{name}")
}
