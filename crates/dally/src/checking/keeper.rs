//! The saving of findings during a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dally_core::{Finding, Schedule};
use dally_report::store::{self, Saved};
use dally_report::{About, Store, tell};
use dally_search::{Progress, Report, Sink};

use super::ReplayCommands;

pub(super) struct Keeper {
    /// The program's name in files.
    program: String,
    /// The run as far as it is known before its end.
    begun: Report,
    store: Option<Store>,
    /// Whether findings get pages.
    pages: bool,
    replay_commands: Box<ReplayCommands>,
    watch: Box<dyn Fn(&Progress) + Send + Sync>,
    kept: Mutex<SavedFiles>,
}

/// A file for each finding of a report, where one was written.
type Files = Vec<Option<PathBuf>>;

#[derive(Default)]
struct SavedFiles {
    files: BTreeSet<PathBuf>,
    /// What earlier runs had left in the files that this one writes; `None` where there was no file.
    earlier: BTreeMap<PathBuf, Option<Saved>>,
    problems: Vec<String>,
}

impl Keeper {
    /// Saves into this directory, or nothing if there is none.
    pub(super) fn new(
        program: String,
        begun: Report,
        directory: Option<PathBuf>,
        pages: bool,
        replay_commands: Box<ReplayCommands>,
        watch: Box<dyn Fn(&Progress) + Send + Sync>,
    ) -> Keeper {
        let store = directory.map(Store::new);
        Keeper { program, begun, store, pages, replay_commands, watch, kept: Mutex::default() }
    }

    /// Saves the findings of the report again, with the figures of the whole run, and undoes the
    /// saving of findings of other threads that are not in the report. Answers the schedules and the
    /// pages, and sentences about saving.
    pub(super) fn settle(&self, report: &Report) -> (Files, Files, Vec<String>) {
        let saved: Vec<Option<PathBuf>> =
            report.findings.iter().map(|found| self.save(found, report)).collect();
        let pages = report.findings.iter().zip(&saved);
        let pages = pages.map(|(found, saved)| self.save_page(found, report, saved)).collect();
        let mut kept = self.kept();
        for stray in std::mem::take(&mut kept.files) {
            if !saved.iter().flatten().any(|path| *path == stray) {
                kept.take_back(&stray);
            }
        }
        let mut notes = std::mem::take(&mut kept.problems);
        for (found, path) in report.findings.iter().zip(&saved) {
            notes.extend(path.as_ref().and_then(|path| kept.replaced(path, &found.schedule)));
        }
        (saved, pages, notes)
    }

    fn save_page(
        &self,
        finding: &Finding,
        run: &Report,
        saved: &Option<PathBuf>,
    ) -> Option<PathBuf> {
        let store = self.store.as_ref().filter(|_| self.pages && saved.is_some())?;
        let replay = (self.replay_commands)(&finding.schedule, saved.as_deref());
        let about = About { replay, saved: saved.clone(), ..About::new(&self.program) };
        let page = store.save_page(finding, run, &about);
        page.map_err(|why| self.kept().problem(why.to_string())).ok()
    }

    /// Saves a finding, in place of an earlier form of it, and answers its file.
    fn save(&self, finding: &Finding, run: &Report) -> Option<PathBuf> {
        let store = self.store.as_ref()?;
        let path = store.path(&self.program, &finding.bug);
        // The lock is held to the end, or another thread could undo this save in between.
        let mut kept = self.kept();
        kept.earlier.entry(path.clone()).or_insert_with_key(|path| Saved::read(path));
        match store.save(&self.program, finding, run) {
            Ok(path) => {
                kept.files.insert(path);
            }
            Err(why) => {
                kept.problem(why.to_string());
            }
        }
        kept.files.get(&path).cloned()
    }

    fn kept(&self) -> MutexGuard<'_, SavedFiles> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SavedFiles {
    fn problem(&mut self, why: String) {
        if !self.problems.contains(&why) {
            self.problems.push(why);
        }
    }

    /// Undoes a save: the file that an earlier run had left is put back.
    fn take_back(&self, schedule: &Path) {
        let undone = match self.earlier.get(schedule) {
            Some(Some(earlier)) => earlier.put_back(),
            _ => store::remove(schedule),
        };
        // An error here leaves a file behind, which does no harm: it names its program.
        let _ = undone;
    }

    /// A sentence if this schedule has replaced one of an earlier run.
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
        self.save(finding, &self.begun);
    }

    fn aborting(&self, finding: &Finding) {
        let saved = self.save(finding, &self.begun);
        let kept = self.kept();
        let note = saved.as_ref().and_then(|path| kept.replaced(path, &finding.schedule));
        let replay = (self.replay_commands)(&finding.schedule, saved.as_deref());
        let about = About { replay, saved, ..About::new(&self.program) };
        let note = note.map_or_else(String::new, |note| format!("note: {note}\n"));
        let text = dally_report::text::finding(finding, &self.begun, &about);
        // Not `eprint!`, whose output the test harness holds back until the test ends, which it never
        // will.
        tell::err_at_once(&format!("\n{text}\n{note}"));
    }

    fn progress(&self, progress: &Progress) {
        (self.watch)(progress);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dally_core::{Bug, Choice, Problem, WorkerId};
    use dally_search::Options;
    use dally_tasks::TaskProgram;

    use super::*;

    fn deadlock() -> Problem {
        Problem::Deadlock { waiting: Vec::new() }
    }

    fn finding(problem: Problem, choices: usize) -> Finding {
        let choices = vec![Choice::Worker(WorkerId::root(0)); choices];
        let schedule = Schedule { choices, ..Schedule::default() };
        Finding::new(Bug::new(problem), schedule, 1)
    }

    fn keeper(directory: &Path) -> Keeper {
        let commands: Box<ReplayCommands> = Box::new(|_, _| Vec::new());
        let directory = Some(directory.to_owned());
        let begun = Report::new("pool", "");
        Keeper::new("pool".into(), begun, directory, true, commands, Box::new(|_| {}))
    }

    /// An empty directory, and the report of a run that found nothing.
    fn scene(name: &str) -> (PathBuf, Report) {
        let name = format!("dally-keeper-{name}-{}", std::process::id());
        let passes = Arc::new(TaskProgram::new("passes", || async {}));
        let clean = dally_search::run(passes, Options::default(), Arc::new(()));
        (std::env::temp_dir().join(name), clean)
    }

    #[test]
    fn what_does_not_count_in_the_end_leaves_the_finding_of_an_earlier_run_as_it_was() {
        let (directory, clean) = scene("earlier");
        let earlier = finding(deadlock(), 3);
        let path = Store::new(&directory).save("pool", &earlier, &clean).unwrap();
        let before = Saved::read(&path);
        let keeper = keeper(&directory);
        keeper.found(&finding(deadlock(), 5));
        assert_ne!(Saved::read(&path), before);

        assert_eq!(keeper.settle(&clean), (Vec::new(), Vec::new(), Vec::new()));
        assert_eq!(Saved::read(&path), before);
        std::fs::remove_dir_all(directory).unwrap();
    }

    /// A search of states numbers bugs by states, and a state may show several.
    #[test]
    fn findings_of_the_same_number_each_have_a_file_during_the_run_and_after_it() {
        let (directory, mut clean) = scene("several");
        let found = [deadlock(), Problem::HotAtEnd, Problem::panic("no")]
            .map(|problem| finding(problem, 3));
        let paths = [0, 1, 2].map(|n| Store::new(&directory).path("pool", &found[n].bug));
        let keeper = keeper(&directory);
        found.iter().for_each(|finding| keeper.found(finding));
        assert!(paths.iter().all(|path| path.is_file()));

        clean.findings = found.to_vec();
        let pages = paths.clone().map(|path| path.with_extension("html"));
        let [saved, written] = [&paths, &pages].map(|paths| paths.clone().map(Some).to_vec());
        assert_eq!(keeper.settle(&clean), (saved, written, Vec::new()));
        assert!(paths.iter().chain(&pages).all(|path| path.is_file()));
        std::fs::remove_dir_all(directory).unwrap();
    }
}
