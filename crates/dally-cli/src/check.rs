use std::path::PathBuf;
use std::sync::Arc;

use dally::checking::{self, AnyProgram, Checked, Checking};
use dally::contract::Finding;
use dally::report::formats::{self, Outcome};
use dally::report::{About, Style, json, tell, text};
use dally::search::Ended;
use dally::search::strata::SearchKind;
use dally::settings::{OutputFormat, Settings, SettingsError};

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::interrupt::stop_on_interrupt;
use crate::list::look_up;
use crate::{BUG, CLEAN, mpil, p, print, progress};

/// How many schedules are run if neither a number nor a time is given.
const SCHEDULES: u64 = 10_000;

/// Where findings are written by default.
const OUT: &str = ".dally";

/// All states are observed in one schedule of this many: observing takes up to six times as long.
const OBSERVE_EVERY: u64 = 16;

/// The name of the planted bug in the settings of a schedule.
pub const BUG_SETTING: &str = "bug";

/// Checks a P project, a program in MPIL or a protocol and prints the result; answers the exit code.
pub fn check(arguments: &CheckArgs) -> Result<u8, CliError> {
    match &arguments.subjects[..] {
        [subject] if mpil::is_program(subject) => mpil::check(arguments, subject),
        subjects if subjects.iter().any(|subject| mpil::is_program(subject)) => {
            Err(CliError::SeveralPrograms)
        }
        _ if !arguments.parameters.is_empty() => Err(CliError::ForMpil),
        // A schedule knows its project.
        [] if arguments.p.replay.is_some() => p::check(arguments, &[]),
        [] => p::check(arguments, &[p::here()?]),
        [subject] if p::path(subject).is_none() => protocol(arguments, &subject.to_string_lossy()),
        subjects => p::check(arguments, &p::paths(subjects)?),
    }
}

fn protocol(arguments: &CheckArgs, name: &str) -> Result<u8, CliError> {
    let (protocol, bug) = look_up(name, arguments.bug.as_deref())?;
    if let Some(given) = arguments.p.given() {
        return Err(CliError::ForProjects { flag: given, protocol: protocol.name });
    }
    // Findings of different planted bugs need different names.
    let shown = bug.map_or(protocol.name.to_owned(), |bug| format!("{}-{bug}", protocol.name));
    let replay_settings = bug.map(|bug| (BUG_SETTING.to_owned(), bug.to_owned()));
    let suits = Settings { max_steps: protocol.max_steps, ..Settings::default() };
    let checking = Checking {
        shown: shown.clone(),
        replay_settings: replay_settings.into_iter().collect(),
        stop: stop_on_interrupt()?,
        ..Checking::new(protocol.name, settings(arguments, None, suits)?)
    };
    let run = Run::of((protocol.program)(bug), checking, "");
    run.print(protocol.name, &shown, arguments.output());
    if run.is_failed() {
        return Err(CliError::NotChecked { program: protocol.name.to_owned(), notes: run.notes() });
    }
    run.tell_notes();
    Ok(if run.checked.report.findings.is_empty() { CLEAN } else { BUG })
}

/// The settings of a run, from flags and variables. `search` comes from `--exhaustive`, and
/// `suits` are the program's defaults.
pub fn settings(
    arguments: &CheckArgs,
    search: Option<SearchKind>,
    suits: Settings,
) -> Result<Settings, CliError> {
    let flags = &arguments.settings;
    let suits = Settings { observe_every: OBSERVE_EVERY, out: Some(PathBuf::from(OUT)), ..suits };
    let mut settings = flags.over(suits, |name| std::env::var_os(name))?;
    settings.search = search.or(settings.search);
    settings.check()?;
    if flags.has("isolate") {
        return Err(CliError::ForTests { flag: "--isolate" });
    }
    if let Some(plan) = settings.plan()
        && flags.has("schedules")
        && !plan.counts_schedules()
    {
        return Err(SettingsError::SchedulesOfSearch { search: plan.search }.into());
    }
    if settings.time.is_none() {
        settings.schedules.get_or_insert(SCHEDULES);
    }
    Ok(settings)
}

/// What was checked, as a document for other programs.
pub fn document(output: OutputFormat, outcomes: &[Outcome<'_>]) -> String {
    match output {
        OutputFormat::Github => formats::github(outcomes),
        OutputFormat::Sarif => formats::sarif(outcomes),
        _ => formats::junit("dally", outcomes),
    }
}

pub struct Run {
    pub checked: Checked,
}

impl Run {
    /// Checks a program; `note` stands before its progress.
    pub fn of(program: Arc<dyn AnyProgram>, checking: Checking, note: &str) -> Run {
        let settings = &checking.settings;
        let bar = progress::bar(settings.search, settings.schedules(), note);
        let watched = bar.clone();
        let watch = Box::new(move |progress: &_| progress::show(&watched, progress));
        let checked = program.check(Checking { watch, ..checking });
        bar.finish_and_clear();
        Run { checked }
    }

    /// Prints what was found and covered. `program` is the name in findings, `shown` that of the run.
    pub fn print(&self, program: &str, shown: &str, output: OutputFormat) {
        match output {
            // A summary of a failed run would suggest that something was checked.
            OutputFormat::Text if self.is_failed() => {}
            OutputFormat::Text => {
                let style = Style::of(&std::io::stdout());
                let summary = text::summary(shown, &self.checked.report, style);
                print(&(self.findings(program, Some(About::STEPS_SHOWN)) + &summary));
            }
            OutputFormat::Json => print(&json::run(&self.checked.report)),
            _ => print(&document(output, &[self.outcome(shown)])),
        }
    }

    /// What was found, for the formats of other programs.
    pub fn outcome<'a>(&'a self, name: &'a str) -> Outcome<'a> {
        let abouts = self.abouts(name, Some(About::STEPS_SHOWN), Style::Plain);
        Outcome::new(name, &self.checked.report, abouts)
    }

    fn abouts(&self, program: &str, steps_shown: Option<usize>, style: Style) -> Vec<About> {
        let Checked { report, saved, pages, .. } = &self.checked;
        let files = report.findings.iter().zip(saved).zip(pages);
        let about =
            |((finding, saved), page): ((&Finding, &Option<PathBuf>), &Option<PathBuf>)| About {
                replay: checking::replay_on_command_line(&finding.schedule, saved.as_deref()),
                saved: saved.clone(),
                page: page.clone(),
                steps_shown,
                see_all: Some("`dally replay` shows all".into()),
                style,
                ..About::new(program)
            };
        files.map(about).collect()
    }

    /// The findings as text, each with its story: of a long one, the last `steps_shown` steps.
    pub fn findings(&self, program: &str, steps_shown: Option<usize>) -> String {
        let style = Style::of(&std::io::stdout());
        let report = &self.checked.report;
        let abouts = self.abouts(program, steps_shown, style);
        let texts = report.findings.iter().zip(&abouts);
        texts.map(|(finding, about)| text::finding(finding, report, about) + "\n").collect()
    }

    pub fn notes(&self) -> Vec<String> {
        let saving = self.checked.saving.iter().cloned();
        saving.chain(text::notes(&self.checked.report)).collect()
    }

    pub fn tell_notes(&self) {
        for note in self.notes() {
            tell::err(&format!("note: {note}\n"));
        }
    }

    /// Whether the run itself failed, so that nothing was checked.
    pub fn is_failed(&self) -> bool {
        let report = &self.checked.report;
        report.findings.is_empty() && matches!(report.ended, Ended::Failed | Ended::Unsound)
    }
}
