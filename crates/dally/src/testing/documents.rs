//! What was checked, for other programs.

use std::path::PathBuf;

use dally_core::Finding;
use dally_report::formats::{self, Outcome};
use dally_report::{About, Store, tell};
use dally_search::strata::Explorer;

use super::Test;
use crate::checking::Checked;
use crate::settings::OutputFormat;

impl<E: Explorer> Test<E> {
    /// Writes what was checked for other programs, if they want it; a sentence if that fails.
    pub(super) fn tell_others(
        &self,
        checked: &Checked,
        format: OutputFormat,
        out: Option<PathBuf>,
        failed: Option<&String>,
    ) -> Option<String> {
        let (report, name) = (&checked.report, self.name());
        let files = report.findings.iter().zip(&checked.saved).zip(&checked.pages);
        let about = |((finding, saved), page): ((&Finding, &Option<PathBuf>), &Option<PathBuf>)| {
            About { page: page.clone(), ..self.about(&finding.schedule, saved.clone(), false) }
        };
        let passing = report.without_findings();
        let outcome = match failed {
            Some(_) => Outcome::new(name, report, files.map(about).collect()),
            // What was to be found is no failure.
            None => Outcome::new(name, &passing, Vec::new()),
        };
        let missing = (report.findings.is_empty() && outcome.error.is_none()).then_some(failed);
        let outcome =
            Outcome { error: missing.flatten().cloned().or(outcome.error.clone()), ..outcome };
        let (kind, document) = match format {
            OutputFormat::Text => return None,
            OutputFormat::Github => {
                tell::out(&format!("\n{}", formats::github(&[outcome])));
                return None;
            }
            OutputFormat::Junit => ("junit.xml", formats::junit(self.package, &[outcome])),
            OutputFormat::Sarif => ("sarif", formats::sarif(&[outcome])),
            OutputFormat::Json => ("run.json", dally_report::json::run(report)),
        };
        Store::new(out?)
            .save_document(name, kind, &document)
            .err()
            .map(|why| format!("note: {why}\n"))
    }
}
