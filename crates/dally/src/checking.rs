//! One run from settings to saved findings: what `#[dally::test]` and the command line share.

mod any_program;
mod bench;
mod keeper;
mod schedule_file;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dally_core::words::is_hidden;
use dally_core::{Finding, Program, Schedule};
use dally_search::strata::{self, Explorer, ExplorerKind, Plan};
use dally_search::{
    Divergence, Mode, Options, Progress, Replayed, Report, Sink, Strategy, StrategyKind,
};

pub use self::any_program::AnyProgram;
pub use self::bench::{Bench, CannotRun};
use self::keeper::Keeper;
pub use self::schedule_file::{ReadScheduleError, read_schedule};
use crate::settings::Settings;

/// A run of a program: settings, names and callbacks.
pub struct Checking {
    /// The program's name in schedules.
    pub program: String,
    /// The program's name in files and reports.
    pub shown: String,
    /// Further (name, value) pairs that a replay needs, such as the planted bug.
    pub replay_settings: Vec<(String, String)>,
    /// How to check it.
    pub settings: Settings,
    /// The strategy, instead of the one that the settings name.
    pub strategy: Option<Box<dyn Strategy>>,
    /// The commands that replay a schedule, saved in this file, the best last.
    pub replay_commands: Box<ReplayCommands>,
    /// Called several times a second.
    pub watch: Box<dyn Fn(&Progress) + Send + Sync>,
    /// Setting it ends the run; findings are kept.
    pub stop: Arc<AtomicBool>,
}

/// Gives the commands that replay a schedule, which may have been saved in a file.
pub type ReplayCommands = dyn Fn(&Schedule, Option<&Path>) -> Vec<String> + Send + Sync;

/// The result of a run.
pub struct Checked {
    /// What was found and covered.
    pub report: Report,
    /// The strategy that picked the choices, if it was a bundled one and no search.
    pub strategy: Option<StrategyKind>,
    /// Where each finding was saved, in the order of the report's findings.
    pub saved: Vec<Option<PathBuf>>,
    /// The page of each finding, in the same order.
    pub pages: Vec<Option<PathBuf>>,
    /// Sentences about saving: errors, and files of earlier runs that were replaced.
    pub saving: Vec<String>,
}

impl Checking {
    /// A run of the program with this name, without callbacks.
    pub fn new(program: impl Into<String>, settings: Settings) -> Checking {
        let program = program.into();
        Checking {
            shown: program.clone(),
            program,
            replay_settings: Vec::new(),
            settings,
            strategy: None,
            replay_commands: Box::new(replay_on_command_line),
            watch: Box::new(|_| {}),
            stop: Arc::default(),
        }
    }

    /// The options of the run.
    pub fn options(&self) -> Options {
        let settings = &self.settings;
        let named = || settings.strategy.build(settings.seed, settings.max_steps);
        Options {
            program: self.program.clone(),
            settings: self.replay_settings.clone(),
            strategy: self.strategy.clone().unwrap_or_else(named),
            seed: settings.seed,
            schedules: settings.schedules(),
            time: settings.time,
            max_steps: settings.max_steps,
            fail_on_max_steps: settings.fail_on_max_steps,
            max_fair_steps: settings.max_fair_steps,
            temperature: settings.temperature,
            confirm_temperature: settings.confirm_temperature.unwrap_or(0),
            fairness: settings.fairness,
            threads: settings.threads.max(1),
            keep_going: settings.keep_going,
            shrink: settings.shrink,
            clocks: settings.clocks,
            step_time: settings.step_time,
            step_items: settings.step_bound.unwrap_or(Options::default().step_items),
            observe_every: settings.observe_every,
            learned: settings.learned.clone(),
            stop: Arc::clone(&self.stop),
            ..Options::default()
        }
    }

    /// The strategy of the settings, if it is what chooses.
    fn named_strategy(&self, plan: Option<&Plan>) -> Option<StrategyKind> {
        (self.strategy.is_none() && plan.is_none()).then_some(self.settings.strategy)
    }

    fn keeper(self, options: &Options, plan: Option<&Plan>) -> (Settings, Keeper) {
        let mut begun = Report::new(options.program.clone(), "");
        begun.strategy = match plan {
            Some(plan) => plan.search.to_string(),
            None => options.strategy.name(),
        };
        (begun.seed, begun.threads) = (options.seed, options.threads);
        let Checking { shown, settings, replay_commands, watch, .. } = self;
        let (out, page) = (settings.out.clone(), settings.page);
        (settings, Keeper::new(shown, begun, out, page, replay_commands, watch))
    }

    /// Saves what another process has found.
    pub(crate) fn settle(self, report: Report) -> Checked {
        let options = self.options();
        let strategy = self.named_strategy(None);
        let (_, keeper) = self.keeper(&options, None);
        let (saved, pages, saving) = keeper.settle(&report);
        Checked { report, strategy, saved, pages, saving }
    }

    /// Runs schedules of this program, or searches its states. `own` is the explorer if the settings
    /// name none.
    pub fn run<P, E>(self, mut program: Arc<P>, own: Option<E>) -> Checked
    where
        P: Program + 'static,
        E: Explorer,
    {
        let options = self.options();
        let plan = self.settings.plan();
        let strategy = self.named_strategy(plan.as_ref());
        let (settings, keeper) = self.keeper(&options, plan.as_ref());
        settings.apply(&mut program);
        let keeper = Arc::new(keeper);
        let sink = Arc::clone(&keeper) as Arc<dyn Sink>;
        // A search needs an explorer even if none is named.
        let default = (plan.is_some() && own.is_none()).then(ExplorerKind::default);
        let bundled = settings.explorer.or(default).map(|kind| kind.build(options.seed));
        let report = match (bundled, own) {
            (Some(explorer), _) => by_explorer(program, explorer, plan, options, sink),
            (None, Some(own)) => by_explorer(program, own, plan, options, sink),
            (None, None) => dally_search::run(program, options, sink),
        };
        let (saved, pages, saving) = keeper.settle(&report);
        Checked { report, strategy, saved, pages, saving }
    }
}

/// Searches states, or runs schedules and expresses findings in the explorer's delays.
fn by_explorer<P, E>(
    program: Arc<P>,
    explorer: E,
    plan: Option<Plan>,
    options: Options,
    sink: Arc<dyn Sink>,
) -> Report
where
    P: Program + 'static,
    E: Explorer,
{
    #[cfg(feature = "concolic")]
    if let Some(plan) = plan.as_ref().filter(|plan| plan.search == strata::SearchKind::Concolic) {
        return dally_concolic::search(program, plan.inputs, options, sink).0;
    }
    if let Some(plan) = plan {
        return strata::explore(program, explorer, plan, options, sink);
    }
    let mut report = dally_search::run(program.clone(), options.clone(), sink.clone());
    strata::all_in_delays(&program, &explorer, &mut report, &options, &*sink);
    report
}

/// The command that replays a schedule of a bundled protocol.
pub fn replay_on_command_line(schedule: &Schedule, saved: Option<&Path>) -> Vec<String> {
    vec![match saved {
        Some(path) => format!("dally replay {}", shell_word(path)),
        None => format!("dally replay {}", schedule.to_token()),
    }]
}

/// A word quoted for a shell, without control characters.
///
/// ```
/// use dally::checking::shell_word;
///
/// assert_eq!(shell_word("target/dally"), "target/dally");
/// assert_eq!(shell_word("my project"), "'my project'");
/// assert_eq!(shell_word("it's \x1b[2J"), r"$'it\x27s \x1b[2J'");
/// ```
pub fn shell_word(word: impl AsRef<OsStr>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%=".contains(c);
    let shown = |c: char| c != '\n' && c != '\t' && !is_hidden(c);
    match word.as_ref().to_str() {
        Some(text) if text.chars().all(plain) => text.to_owned(),
        Some(text) if text.chars().all(shown) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => {
            let byte = |&byte: &u8| match byte {
                b' '..=b'~' if byte != b'\'' && byte != b'\\' => char::from(byte).to_string(),
                _ => format!("\\x{byte:02x}"),
            };
            let bytes = word.as_ref().as_encoded_bytes();
            format!("$'{}'", bytes.iter().map(byte).collect::<String>())
        }
    }
}

/// How often a replay goes round the loop of a livelock by default.
pub const ROUNDS: u32 = 10;

/// A replay, compared with the recording.
pub struct Retold {
    /// The bug, if one showed.
    pub finding: Option<Finding>,
    /// How the replay differed from the recording, a sentence each.
    pub remarks: Vec<String>,
    /// Whether the replay was given up because the program no longer fits the schedule.
    pub gave_up: bool,
}

/// Compares a replay with the recording. `go_on` says how to continue a replay that was given up.
pub fn retell(recorded: &Schedule, replayed: Replayed, mode: Mode, go_on: &str) -> Retold {
    let mut remarks = replayed.notes.clone();
    // A schedule that was followed to its end without the bug was not left: the bug is fixed.
    let fixed = replayed.bug.is_none() && replayed.schedule.choices == recorded.choices;
    let left_at = replayed.left_at.as_ref().filter(|_| !fixed);
    if let (Some(Divergence { step, message }), true, Mode::BestEffort) =
        (&replayed.left_at, fixed, mode)
    {
        remarks.push(format!(
            "All choices of the recording could be made. But at step {step} the program is not as \
             it was: {message}."
        ));
    }
    let gave_up = left_at.is_some() && mode == Mode::Exact;
    if let Some(Divergence { step, message }) = left_at {
        let the_replay = match (recorded.edited, mode) {
            (true, _) => "The schedule was edited or the program has changed. The replay",
            (false, Mode::Exact) => "The program no longer fits the schedule, and the replay",
            (false, Mode::BestEffort) => "The program no longer fits the schedule: the replay",
        };
        remarks.push(match mode {
            Mode::Exact => format!("{the_replay} ended at step {step}: {message}. {go_on}"),
            Mode::BestEffort => format!(
                "{the_replay} left the recording at step {step} and went on as far as it could: \
                 {message}."
            ),
        });
    }
    match (&replayed.bug, &recorded.bug) {
        (Some(bug), Some(before)) if bug.cause() != before.cause => {
            remarks.push(format!("The schedule was recorded with another outcome: {before}"));
        }
        (None, None) if !gave_up => {
            remarks.push("No bug was recorded with this schedule, and none shows.".into());
        }
        (None, Some(before)) if !gave_up && recorded.edited => remarks.push(format!(
            "The bug does not show: the schedule was edited, or the bug is fixed. It was recorded \
             as: {before}"
        )),
        (None, Some(before)) if !gave_up => {
            remarks.push(format!("The bug no longer shows. It was recorded as: {before}"));
        }
        _ => {}
    }
    if let Some(lasso) = &replayed.lasso {
        remarks.push(format!(
            "The loop of length {} was gone round {} more, and the state {} the same every time.",
            replayed.schedule.steps() - lasso.stem,
            if lasso.rounds == 1 { "once".into() } else { format!("{} times", lasso.rounds) },
            if lasso.whole { "was" } else { "looked" },
        ));
    }
    let finding = replayed.bug.map(|bug| {
        let mut finding = Finding::new(bug, replayed.schedule, 1);
        (finding.trace, finding.lasso) = (replayed.trace, replayed.lasso);
        finding
    });
    Retold { finding, remarks, gave_up }
}
