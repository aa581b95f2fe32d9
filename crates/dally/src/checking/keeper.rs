//! Findings on their way to disk, while a run goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dally_core::{Finding, Schedule};
use dally_report::store::{self, Saved};
use dally_report::{About, Store};
use dally_search::{Progress, Report, Sink};

use super::{ReplayCommands, statistics};

/// Saves findings the moment they are found.
pub(super) struct Keeper {
    about: About,
    store: Option<Store>,
    replay_commands: Box<ReplayCommands>,
    watch: Box<dyn Fn(&Progress) + Send + Sync>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The file of the finding of each failing schedule.
    files: BTreeMap<u64, PathBuf>,
    /// What earlier runs had left where this one writes; `None` where there was nothing.
    earlier: BTreeMap<PathBuf, Option<Saved>>,
    problems: Vec<String>,
}

impl Keeper {
    /// Saves into this directory, or nothing if there is none.
    pub(super) fn new(
        about: About,
        directory: Option<PathBuf>,
        replay_commands: Box<ReplayCommands>,
        watch: Box<dyn Fn(&Progress) + Send + Sync>,
    ) -> Keeper {
        let store = directory.map(Store::new);
        Keeper { about, store, replay_commands, watch, kept: Mutex::default() }
    }

    /// Saves the findings of the report as they stand there, with the figures of the whole run,
    /// and takes back what other threads had found that does not count. Answers their files, and
    /// what there is to say of saving.
    pub(super) fn settle(
        &self,
        report: &Report,
        threads: usize,
    ) -> (Vec<Option<PathBuf>>, Vec<String>) {
        let mut kept = self.kept();
        let about = About { statistics: statistics(report, threads), ..self.about.clone() };
        let saved = report.findings.iter().map(|found| {
            let path = kept.files.remove(&found.found_at)?;
            self.store.as_ref().and_then(|store| store.save(found, &about).ok()).or(Some(path))
        });
        let saved: Vec<Option<PathBuf>> = saved.collect();
        for (_, stray) in std::mem::take(&mut kept.files) {
            if !saved.iter().flatten().any(|path| *path == stray) {
                kept.take_back(&stray);
            }
        }
        let mut notes = std::mem::take(&mut kept.problems);
        for (found, path) in report.findings.iter().zip(&saved) {
            notes.extend(path.as_ref().and_then(|path| kept.replaced(path, &found.schedule)));
        }
        (saved, notes)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Makes it as if nothing had been saved here: what an earlier run had left is put back.
    fn take_back(&self, schedule: &Path) {
        let undone = match self.earlier.get(schedule) {
            Some(Some(earlier)) => earlier.put_back(),
            _ => store::remove(schedule),
        };
        // A file that is left behind does no harm: it says itself what it is of.
        let _ = undone;
    }

    /// Says that this schedule has replaced another one of an earlier run, if it has.
    fn replaced(&self, path: &Path, schedule: &Schedule) -> Option<String> {
        let earlier = self.earlier.get(path)?.as_ref()?;
        (earlier.schedule != schedule.to_text()).then(|| {
            format!(
                "{} held another schedule of the same bug, from an earlier run, which was \
                 replaced; to keep a schedule, copy it elsewhere",
                path.display()
            )
        })
    }
}

impl Sink for Keeper {
    fn found(&self, finding: &Finding) {
        let Some(store) = &self.store else { return };
        let path = store.path(&self.about.program, &finding.bug);
        self.kept().earlier.entry(path).or_insert_with_key(|path| Saved::read(path));
        let saved = store.save(finding, &self.about);
        let mut kept = self.kept();
        match saved {
            Ok(path) => {
                let earlier = kept.files.insert(finding.found_at, path.clone());
                // A finding that could not be repeated has another cause now, and so another
                // file; the raw one would mislead.
                if let Some(earlier) = earlier.filter(|earlier| *earlier != path)
                    && !kept.files.values().any(|other| *other == earlier)
                {
                    kept.take_back(&earlier);
                }
            }
            Err(why) => {
                let why = why.to_string();
                if !kept.problems.contains(&why) {
                    kept.problems.push(why);
                }
            }
        }
    }

    fn aborting(&self, finding: &Finding) {
        self.found(finding);
        let kept = self.kept();
        let saved = kept.files.get(&finding.found_at).cloned();
        let note = saved.as_ref().and_then(|path| kept.replaced(path, &finding.schedule));
        let replay = (self.replay_commands)(&finding.schedule, saved.as_deref());
        let about = About { replay, saved, ..self.about.clone() };
        eprintln!("\n{}", dally_report::text::finding(finding, &about));
        if let Some(note) = note {
            eprintln!("note: {note}");
        }
    }

    fn progress(&self, progress: &Progress) {
        (self.watch)(progress);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dally_core::{Bug, BugKind, Choice, Trace, WorkerId};
    use dally_search::Options;
    use dally_tasks::TaskProgram;

    use super::*;

    fn finding(choices: usize) -> Finding {
        let choices = vec![Choice::Worker(WorkerId::root(0)); choices];
        Finding {
            bug: Bug::new(BugKind::Deadlock, "all wait"),
            schedule: Schedule { choices, ..Schedule::default() },
            trace: Trace::default(),
            found_at: 1,
            occurrences: 1,
            shrunk: None,
            lasso: None,
            delays: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn what_does_not_count_in_the_end_leaves_the_finding_of_an_earlier_run_as_it_was() {
        let directory = std::env::temp_dir().join(format!("dally-keeper-{}", std::process::id()));
        let about = About::new("pool");
        let path = Store::new(&directory).save(&finding(3), &about).unwrap();
        let before = Saved::read(&path);
        let commands: Box<ReplayCommands> = Box::new(|_, _| Vec::new());
        let keeper = Keeper::new(about, Some(directory.clone()), commands, Box::new(|_| {}));
        keeper.found(&finding(5));
        assert_ne!(Saved::read(&path), before);

        let passes = Arc::new(TaskProgram::new("passes", || async {}));
        let clean = dally_search::run(passes, Options::default(), Arc::new(()));
        assert_eq!(keeper.settle(&clean, 1), (Vec::new(), Vec::new()));
        assert_eq!(Saved::read(&path), before);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
