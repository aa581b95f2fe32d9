//! The regressions of a test in its run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dally_core::{Finding, Program};
use dally_report::text;
use dally_search::strata::Explorer;
use dally_search::{KnownInputs, Report};

use super::Test;
use super::regressions::{self, RegressionOutcome, Regressions, SavedRegression};
use crate::checking::Checking;
use crate::settings::Settings;

impl<E: Explorer> Test<E> {
    /// Where schedules of this test are kept: cargo says where its package is, otherwise the compiler
    /// did. A test that should fail has no regressions.
    pub(super) fn kept_regressions(
        &self,
        settings: &Settings,
        variable: &impl Fn(&str) -> Option<OsString>,
    ) -> Option<Regressions> {
        let is_wanted = settings.regressions && self.expected.is_none();
        let home = self.home.filter(|_| is_wanted)?;
        let home = variable("CARGO_MANIFEST_DIR").map_or_else(|| home.into(), PathBuf::from);
        home.is_dir().then(|| Regressions::of(&home, self.name(), self.path))
    }

    /// Replays the schedules that were kept: sentences about them, or the text of those that fail.
    pub(super) fn regress<P: Program + 'static>(
        &self,
        program: &mut Arc<P>,
        regressions: &Regressions,
        settings: &Settings,
        all_steps: bool,
    ) -> Result<String, String> {
        let (kept, unreadable) = regressions.kept();
        let standings: Vec<(SavedRegression, RegressionOutcome)> = kept
            .into_iter()
            .map(|kept| {
                let standing = regressions::replay(program, &kept, settings);
                (kept, standing)
            })
            .collect();
        if let Some(file) = std::env::var_os(regressions::TOLD) {
            regressions::tell(Path::new(&file), &standings);
        }
        let mut notes = regressions::notes(&standings);
        notes.extend(unreadable);
        let notes: String = notes.iter().map(|note| format!("note: {note}\n")).collect();
        let mut out = String::new();
        for (kept, standing) in &standings {
            let RegressionOutcome::Fails(retold) = standing else { continue };
            let run = Report::new(self.path, program.granularity());
            let about = self.about(&kept.schedule, Some(kept.file.clone()), all_steps);
            let found = retold.finding.iter().map(|found| text::finding(found, &run, &about));
            out.extend(found);
            let file = regressions::shown(&kept.file);
            out += &format!(
                "\nThe regression {file} still fails, so nothing else was run. \
                 DALLY_REGRESSIONS=off leaves regressions alone.\n"
            );
            out.extend(retold.remarks.iter().map(|remark| format!("{remark}\n")));
        }
        if out.is_empty() { Ok(notes) } else { Err(out + &notes) }
    }
}

/// Keeps the schedules of findings, and says so.
pub(super) fn keep(regressions: &Regressions, findings: &[Finding]) -> Vec<String> {
    let kept = findings.iter().filter_map(|finding| match regressions.keep(finding) {
        Ok(file) => Some(format!(
            "The schedule is kept in {}: commit it, and the test runs it first from now on.\n",
            regressions::shown(&file?)
        )),
        Err(why) => Some(format!("note: {why}\n")),
    });
    kept.collect()
}

/// Has some schedules of a run try the inputs of the schedules that were kept.
pub(super) fn with_known_inputs(checking: Checking, regressions: &Regressions) -> Checking {
    let (kept, _) = regressions.kept();
    if kept.is_empty() {
        return checking;
    }
    let strategy = checking.options().strategy;
    let strategy = KnownInputs::of(strategy, kept.iter().map(|kept| &kept.schedule));
    Checking { strategy: Some(strategy), ..checking }
}
