//! `dally check`.

use std::path::PathBuf;
use std::sync::Arc;

use dally::checking::{self, AnyProgram, Checked, Checking};
use dally::report::{About, Style, json, text};
use dally::search::Ended;
use dally::search::strata::SearchKind;
use dally::settings::{Settings, SettingsError};

use crate::args::{CheckArgs, Format};
use crate::interrupt::stop_on_interrupt;
use crate::list::look_up;
use crate::{BUG, CLEAN, p, print, progress};

/// How many schedules are run if nobody says how many or how long.
const SCHEDULES: u64 = 10_000;

/// Where findings are written if nobody says where.
const OUT: &str = ".dally";

/// A run with all states observed takes up to six times as long, so a sample has to do.
const OBSERVE_EVERY: u64 = 16;

/// The name under which a schedule remembers its planted bug.
pub const BUG_SETTING: &str = "bug";

/// Checks a P project or a protocol and prints what came of it; answers the exit code.
pub fn check(arguments: &CheckArgs) -> Result<u8, String> {
    match p::path(&arguments.subject) {
        Some(path) => p::check(arguments, path),
        None => protocol(arguments),
    }
}

fn protocol(arguments: &CheckArgs) -> Result<u8, String> {
    let (protocol, bug) = look_up(&arguments.subject, arguments.bug.as_deref())?;
    if let Some(given) = arguments.p.given() {
        return Err(format!("{given} is for P projects, and `{}` is a protocol", protocol.name));
    }
    // Findings of one planted bug must not take the place of another's.
    let shown = bug.map_or(protocol.name.to_owned(), |bug| format!("{}-{bug}", protocol.name));
    let settings = settings(arguments, None, protocol.max_steps).map_err(|why| why.to_string())?;
    let checking = Checking {
        shown: shown.clone(),
        replay_settings: bug
            .map(|bug| (BUG_SETTING.to_owned(), bug.to_owned()))
            .into_iter()
            .collect(),
        stop: stop_on_interrupt()?,
        ..Checking::new(protocol.name, settings)
    };
    let run = Run::of((protocol.program)(bug), checking, "");
    match arguments.format {
        // Nothing is known then, and a summary would sound as if something were.
        Format::Text if run.is_failed() => {}
        Format::Text => {
            let style = Style::of(&std::io::stdout());
            let summary = text::summary(&shown, &run.checked.report, style);
            print(&(run.findings(protocol.name) + &summary));
        }
        Format::Json => print(&json::run(&run.checked.report)),
    }
    if run.is_failed() {
        let why = run.notes().join("\n  ");
        return Err(format!("`{}` could not be checked:\n  {why}", protocol.name));
    }
    run.tell_notes();
    Ok(if run.checked.report.findings.is_empty() { CLEAN } else { BUG })
}

/// What flags and variables say of a run. `search` comes from `--exhaustive`, and `max_steps` is
/// what suits the program.
pub fn settings(
    arguments: &CheckArgs,
    search: Option<SearchKind>,
    max_steps: usize,
) -> Result<Settings, SettingsError> {
    let flags = &arguments.settings;
    let suits = Settings {
        max_steps,
        observe_every: OBSERVE_EVERY,
        out: Some(PathBuf::from(OUT)),
        ..Settings::default()
    };
    let mut settings = flags.over(suits, |name| std::env::var(name).ok())?;
    settings.search = search.or(settings.search);
    settings.check()?;
    let samples = |search| matches!(search, SearchKind::Ss | SearchKind::Hybrid);
    if let Some(search) = settings.search
        && flags.has("schedules")
        && !samples(search)
    {
        return Err(SettingsError::SchedulesOfSearch { search });
    }
    if settings.time.is_none() {
        settings.schedules.get_or_insert(SCHEDULES);
    }
    Ok(settings)
}

/// One run of a program.
pub struct Run {
    /// What came of it.
    pub checked: Checked,
}

impl Run {
    /// Checks a program, with its progress shown after this note.
    pub fn of(program: Arc<dyn AnyProgram>, checking: Checking, note: &str) -> Run {
        let settings = &checking.settings;
        let bar = progress::bar(settings.search, settings.schedules(), note);
        let watched = bar.clone();
        let watch = Box::new(move |progress: &_| progress::show(&watched, progress));
        let checked = program.check(Checking { watch, ..checking });
        bar.finish_and_clear();
        Run { checked }
    }

    /// The findings as text, each with its story.
    pub fn findings(&self, program: &str) -> String {
        let style = Style::of(&std::io::stdout());
        let mut out = String::new();
        for (finding, saved) in self.checked.report.findings.iter().zip(&self.checked.saved) {
            let about = About {
                replay: checking::replay_on_command_line(&finding.schedule, saved.as_deref()),
                saved: saved.clone(),
                see_all: Some("`dally replay` shows all".into()),
                style,
                ..About::new(program)
            };
            out += &text::finding(finding, &self.checked.report, &about);
            out.push('\n');
        }
        out
    }

    /// What else there is to say, a sentence each.
    fn notes(&self) -> Vec<String> {
        let saving = self.checked.saving.iter().cloned();
        saving.chain(text::notes(&self.checked.report)).collect()
    }

    /// Tells it on standard error.
    pub fn tell_notes(&self) {
        for note in self.notes() {
            eprintln!("note: {note}");
        }
    }

    /// Whether nothing was learnt.
    pub fn is_failed(&self) -> bool {
        let report = &self.checked.report;
        report.findings.is_empty() && matches!(report.ended, Ended::Failed | Ended::Unsound)
    }
}
