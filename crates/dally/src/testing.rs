//! What `#[dally::test]` expands to.

mod builder;
pub mod regressions;
mod what_else;

use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dally_core::words::visible;
use dally_core::{Bug, Finding, Foreign, Problem, Program, Schedule};
use dally_explore::{Session, lines};
use dally_report::formats::{self, Outcome};
use dally_report::{About, Store, Style, tell, text};
use dally_search::strata::{Bundled, Explorer, IntoExplorer};
use dally_search::{ChosenStrategy, Ended, IntoStrategy, Mode, Report, Strategy};

pub use self::builder::{IntoSetting, Mistake};
use self::regressions::{Kept, Regressions, Standing};
use self::what_else::what_else;
use crate::checking::{self, Checked, Checking};
use crate::settings::{OutputFormat, Settings, SettingsFile, ValueError};
use crate::variables;

/// A test: a program with settings, run under `cargo test`.
///
/// `#[dally::test]` writes it; by hand it is
///
/// ```
/// use dally::testing::Test;
/// use dally::tasks::{self, TaskProgram};
///
/// Test::new("my-crate", "my_crate::tests::two_tasks").schedules(100).run(TaskProgram::new(
///     "two_tasks",
///     || async {
///         let other = tasks::spawn(async { tasks::yield_now().await });
///         other.await.unwrap();
///     },
/// ));
/// ```
pub struct Test<E = Bundled> {
    package: &'static str,
    /// The path with the crate, which identifies the test in schedules.
    path: &'static str,
    settings: Settings,
    /// The explorer if the settings name none.
    explorer: Option<E>,
    /// The strategy if no variable names another.
    strategy: Option<Box<dyn Strategy>>,
    expected: Option<&'static str>,
    /// The command that runs the test, if not cargo.
    command: Option<&'static str>,
    /// How cargo is called.
    cargo: &'static str,
    /// The directory of the package when it was compiled.
    home: Option<&'static str>,
    /// A setting that cannot be read, reported when the test runs.
    mistake: Option<Mistake>,
    /// The names of the settings that its code gives.
    given: Vec<&'static str>,
}

impl Test {
    /// The test of this path (`crate::module::function`) in this package, with default settings.
    pub fn new(package: &'static str, path: &'static str) -> Test {
        let settings = Settings { out: Some(default_directory()), ..Settings::default() };
        Test {
            package,
            path,
            settings,
            explorer: None,
            strategy: None,
            expected: None,
            command: None,
            cargo: "cargo test",
            home: None,
            mistake: None,
            given: Vec::new(),
        }
    }
}

impl<E: Explorer> Test<E> {
    /// The settings, without the explorer and without those of variables.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The strategy: a name of [`StrategyKind::all`](crate::search::StrategyKind::all), such as
    /// `random` or `pct:10`, or a strategy of one's own. `DALLY_STRATEGY` overrides both.
    #[must_use]
    #[track_caller]
    pub fn strategy(mut self, strategy: impl IntoStrategy) -> Test<E> {
        self.given.push("strategy");
        match strategy.into_strategy() {
            Ok(ChosenStrategy::Bundled(kind)) => {
                (self.settings.strategy, self.strategy) = (kind, None);
            }
            Ok(ChosenStrategy::Own(own)) => self.strategy = Some(own),
            Err(why) => self.mistake = Some(Mistake::here("strategy", ValueError::Name(why))),
        }
        self
    }

    /// The explorer of the search: a name (`"rr"`, `"rtc"`, `"prr"`, `"random"`) or an explorer of
    /// one's own. Without a search, findings are expressed in its delays.
    #[must_use]
    #[track_caller]
    pub fn explorer<F: IntoExplorer>(self, explorer: F) -> Test<F::Explorer> {
        let Test {
            package,
            path,
            settings,
            strategy,
            expected,
            command,
            cargo,
            home,
            mut mistake,
            mut given,
            ..
        } = self;
        given.push("explorer");
        let explorer = match explorer.into_explorer() {
            Ok(explorer) => Some(explorer),
            Err(why) => {
                mistake = Some(Mistake::here("explorer", ValueError::Name(why)));
                None
            }
        };
        Test {
            package,
            path,
            settings,
            explorer,
            strategy,
            expected,
            command,
            cargo,
            home,
            mistake,
            given,
        }
    }

    /// The test passes if and only if a bug is found, of the kind with this name (such as
    /// `"deadlock"`) or with this text in its message.
    #[must_use]
    pub fn should_fail(mut self, expected: &'static str) -> Test<E> {
        self.expected = Some(expected);
        self
    }

    /// The command that runs a test outside `cargo test`: a failure names it for the replay.
    #[must_use]
    pub fn command(mut self, command: &'static str) -> Test<E> {
        self.command = Some(command);
        self
    }

    /// How cargo is called to run the test, if not by `cargo test`: a failure names it for the replay.
    #[must_use]
    pub fn cargo(mut self, cargo: &'static str) -> Test<E> {
        self.cargo = cargo;
        self
    }

    /// The directory of the test's package: schedules that it fails under are kept in `dally-regressions`
    /// there, and run first from then on. Without it none are kept.
    #[must_use]
    pub fn home(mut self, home: Option<&'static str>) -> Test<E> {
        self.home = home;
        self
    }

    /// Runs the test: returns if it passes, unwinds if it fails, and prints its report either way;
    /// `cargo test` shows that of a test that passes with `--nocapture`.
    pub fn run<P: Program + 'static>(self, program: P) {
        variables::warn_of_unknown();
        let variable = |name: &str| std::env::var_os(name);
        match self.judge(Arc::new(program), variable) {
            Ok(text) => tell::out(&text),
            Err(text) => {
                tell::err(&format!("\n{text}"));
                // Not `panic!`, whose message would point at this line instead of the user's.
                std::panic::resume_unwind(Box::new("the Dally test failed"));
            }
        }
    }

    /// The text of a test that passes, or of one that fails.
    fn judge<P: Program + 'static>(
        mut self,
        mut program: Arc<P>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<String, String> {
        if let Some(mistake) = self.mistake {
            return Err(format!("error: in the settings of {}: {mistake}\n", self.path));
        }
        let mut settings = self.settings.clone();
        let here = std::env::current_dir().unwrap_or_default();
        let file = SettingsFile::nearest(&here).map_err(|why| format!("error: {why}\n"))?;
        let of_file = file
            .map_or_else(Vec::new, |file| file.override_in(&mut settings, self.path, &self.given));
        settings
            .override_by(&variable)
            .and_then(|()| settings.check())
            .map_err(|why| format!("error: {why}\n"))?;
        let all_steps = variable("DALLY_TRACE").is_some_and(|value| value == "all");
        if let Some(given) = variable("DALLY_REPLAY") {
            let best_effort = variable("DALLY_BEST_EFFORT").is_some_and(|value| value == "1");
            let mode = if best_effort { Mode::BestEffort } else { Mode::Exact };
            return self.replay(program, &given, mode, settings, all_steps);
        }
        settings.apply(&mut program);
        if variable("DALLY_EXPLORE").is_some() {
            return self.explore(program);
        }
        let regressions = self.kept_regressions(&settings, &variable);
        let notes = match &regressions {
            Some(regressions) => self.regress(&program, regressions, &settings, all_steps)?,
            None => String::new(),
        };
        if let Some(file) = variable(regressions::TOLD) {
            let told = Path::new(&file).display();
            return Ok(format!("only regressions were run, for {told}\n"));
        }
        let (format, out) = (settings.format, settings.out.clone());
        let command = self.command_line();
        let named = variable("DALLY_STRATEGY").is_some() || of_file.contains(&"strategy");
        let of_program = settings.of_program();
        let checking = Checking {
            strategy: self.strategy.take().filter(|_| !named),
            replay_settings: of_program.map(|(name, of)| (name.into(), of)).collect(),
            replay_commands: Box::new(move |schedule, saved| {
                replay_commands(&command, schedule, saved)
            }),
            ..Checking::new(self.path, settings)
        };
        let own = self.explorer.take();
        let mut checked = checking.run(Arc::clone(&program), own);
        let foreign = program.foreign();
        checked.report.notes.extend(foreign.iter().map(text::foreign));
        let mut verdict = self.verdict(&checked, all_steps);
        if let (Some(foreign @ Foreign { only: true, .. }), Ok(_)) = (&foreign, &verdict) {
            // Not captured by the harness, which shows nothing of a test that passes.
            let what = text::foreign(foreign);
            tell::err_at_once(&format!("warning: {} passes, but {what}\n", self.path));
        }
        let text = match &mut verdict {
            Ok(text) => text,
            Err(text) => {
                let findings = &checked.report.findings;
                let kept = regressions.iter().flat_map(|kept| keep(kept, findings));
                *text += &kept.collect::<String>();
                text
            }
        };
        *text += &notes;
        if let Some(why) = self.tell_others(&checked, format, out, verdict.as_ref().err()) {
            verdict.as_mut().map_or_else(|text| *text += &why, |text| *text += &why);
        }
        verdict
    }

    /// Where schedules of this test are kept: cargo says where its package is, otherwise the compiler
    /// did. A test that should fail has no regressions.
    fn kept_regressions(
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
    fn regress<P: Program + 'static>(
        &self,
        program: &Arc<P>,
        regressions: &Regressions,
        settings: &Settings,
        all_steps: bool,
    ) -> Result<String, String> {
        let (kept, unreadable) = regressions.kept();
        let standings: Vec<(Kept, Standing)> = kept
            .into_iter()
            .map(|kept| {
                let standing = regressions::replay(Arc::clone(program), &kept, settings);
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
            let Standing::Fails(retold) = standing else { continue };
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

    /// Writes what was checked for other programs, if they want it; a sentence if that fails.
    fn tell_others(
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

    /// Lets another process explore the program by hand, until that closes the standard input.
    fn explore<P: Program + 'static>(&self, program: Arc<P>) -> Result<String, String> {
        let granularity = program.granularity();
        let heading = Schedule { program: self.path.to_owned(), ..Schedule::default() };
        let first = Session::new(program, granularity, heading);
        // Neither stream is locked for long: the program may print too.
        let served = lines::serve(&first, &mut io::stdin().lock(), &mut io::stdout());
        served.map(|()| String::new()).map_err(|why| format!("error: exploring ended: {why}\n"))
    }

    fn verdict(&self, checked: &Checked, all_steps: bool) -> Result<String, String> {
        let (report, findings) = (&checked.report, &checked.report.findings);
        if matches!(report.ended, Ended::Failed | Ended::Unsound) && findings.is_empty() {
            let why = report.notes.join("\n  ");
            return Err(format!("error: {} could not be checked:\n  {why}\n", self.name()));
        }
        if report.cut == report.schedules && report.cut > 0 && findings.is_empty() {
            let bound = report.max_steps;
            tell::err(&format!(
                "dally: no schedule of {} came to its end within {bound} steps; \
                 `fail_on_max_steps` makes that a bug\n",
                self.name()
            ));
        }
        match self.expected {
            None if findings.is_empty() => return Ok(self.passed(checked)),
            Some(expected) if findings.iter().any(|found| matches(&found.bug, expected)) => {
                return Ok(self.passed(checked));
            }
            Some(expected) if findings.is_empty() => {
                return Err(self.no_failure(expected, report));
            }
            _ => {}
        }
        let mut out = String::new();
        for ((finding, saved), page) in findings.iter().zip(&checked.saved).zip(&checked.pages) {
            let about = self.about(&finding.schedule, saved.clone(), all_steps);
            let about = About { page: page.clone(), ..about };
            out += &text::finding(finding, report, &about);
            out.push('\n');
        }
        if let Some(expected) = self.expected {
            out += &format!(
                "The test expects another failure: one of the kind `{expected}`, or with that text.\n"
            );
        }
        Err(out + &notes(checked))
    }

    /// The coverage. It begins with a line break, since the test harness has left its line unfinished.
    fn passed(&self, checked: &Checked) -> String {
        let summary = text::summary(self.name(), &checked.report, Style::default());
        format!("\n{summary}{}", notes(checked))
    }

    fn no_failure(&self, expected: &str, report: &Report) -> String {
        let bug = Bug::new(Problem::NoFailure { expected: expected.to_owned() });
        let mut finding = Finding::new(bug, Schedule::default(), report.schedules);
        let what_else = what_else(report).map_or_else(String::new, |what| format!("; {what}"));
        finding.notes = vec![text::coverage(report) + &what_else];
        text::finding(&finding, report, &About::new(self.name()))
    }

    fn about(&self, schedule: &Schedule, saved: Option<PathBuf>, all_steps: bool) -> About {
        let replay = replay_commands(&self.command_line(), schedule, saved.as_deref());
        let see_all = Some("set DALLY_TRACE=all to see all".into());
        let mut about = About { replay, saved, see_all, ..About::new(self.name()) };
        if all_steps {
            about.steps_shown = None;
        }
        about
    }

    fn replay<P: Program + 'static>(
        &self,
        mut program: Arc<P>,
        given: &OsStr,
        mode: Mode,
        mut settings: Settings,
        all_steps: bool,
    ) -> Result<String, String> {
        let schedule = checking::read_schedule(given)
            .map_err(|why| format!("error: DALLY_REPLAY: {why}\n"))?;
        if schedule.program != self.path {
            tell::err(&format!(
                "dally: {} is not run: the schedule in DALLY_REPLAY is of {}\n",
                self.path, schedule.program
            ));
            return Ok(String::new());
        }
        if let Some(file) = std::env::var_os("DALLY_REPLAYED") {
            // The file tells `cargo dally test` that some test was replayed.
            let _ = std::fs::write(file, "");
        }
        settings.restore(&schedule);
        settings.apply(&mut program);
        let step_time = settings.step_time;
        let replayed = dally_search::replay(program, &schedule, mode, checking::ROUNDS, step_time);
        let run = Report::new(self.path, replayed.granularity);
        let go_on = "With DALLY_BEST_EFFORT=1 it goes on as far as it can.";
        let retold = checking::retell(&schedule, replayed, mode, go_on);
        let about = self.about(&schedule, None, all_steps);
        let found = retold.finding.iter().map(|finding| text::finding(finding, &run, &about));
        let lines = found.chain(retold.remarks.iter().cloned());
        let out: String = lines.map(|text| text + "\n").collect();
        if retold.gave_up
            && let Some(file) = std::env::var_os("DALLY_GAVE_UP")
        {
            // The file tells `cargo dally replay` the exit code. Without it the text still tells the
            // result.
            let _ = std::fs::write(file, "");
        }
        if retold.finding.is_some() || retold.gave_up {
            return Err(out);
        }
        tell::err(&out);
        Ok(String::new())
    }

    fn command_line(&self) -> String {
        match self.command {
            Some(command) => command.to_owned(),
            None => {
                let cargo = cargo_as_called(self.cargo, |name| std::env::var_os(name));
                format!("{cargo} -p {} {} -- --exact", self.package, self.name())
            }
        }
    }

    /// The path without the crate, as in `cargo test`.
    fn name(&self) -> &'static str {
        self.path.split_once("::").map_or(self.path, |(_, rest)| rest)
    }
}

/// Keeps the schedules of findings, and says so.
fn keep(regressions: &Regressions, findings: &[Finding]) -> Vec<String> {
    let kept = findings.iter().filter_map(|finding| match regressions.keep(finding) {
        Ok(file) => Some(format!(
            "The schedule is kept in {}: commit it, and the test runs it first from now on.\n",
            regressions::shown(&file?)
        )),
        Err(why) => Some(format!("note: {why}\n")),
    });
    kept.collect()
}

/// How cargo was called to run this test, as far as it matters to which program a replay is of.
/// `cargo dally test` tells all of it; cargo itself tells nothing, but what changes the code by a
/// variable is seen.
fn cargo_as_called(cargo: &str, variable: impl Fn(&str) -> Option<OsString>) -> String {
    if let Some(told) = variable("DALLY_COMMAND").and_then(|told| told.into_string().ok()) {
        return visible(&told).into_owned();
    }
    let flags = variable("RUSTFLAGS").filter(|flags| !flags.is_empty());
    match flags {
        Some(flags) => format!("RUSTFLAGS={} {cargo}", checking::shell_word(flags)),
        None => cargo.to_owned(),
    }
}

fn notes(checked: &Checked) -> String {
    let notes = checked.saving.iter().cloned().chain(text::notes(&checked.report));
    notes.map(|note| format!("note: {note}\n")).collect()
}

fn replay_commands(command: &str, schedule: &Schedule, saved: Option<&Path>) -> Vec<String> {
    // A longer token is inconvenient to paste, and the file has the schedule too.
    const LONGEST_TOKEN: usize = 2_000;
    let command = |given: &str| format!("DALLY_REPLAY={given} {command}");
    let token = schedule.to_token();
    let mut commands = Vec::new();
    if token.len() <= LONGEST_TOKEN || saved.is_none() {
        commands.push(command(&token));
    }
    if let Some(path) = saved {
        commands.push(command(&checking::shell_word(path)));
    }
    commands
}

/// The result of a test's body.
pub trait Verdict {
    /// Panics if the test failed.
    fn check(self);
}

impl Verdict for () {
    fn check(self) {}
}

impl<E: Debug> Verdict for Result<(), E> {
    #[track_caller]
    fn check(self) {
        if let Err(error) = self {
            panic!("the test returned an error: {error:?}");
        }
    }
}

fn matches(bug: &Bug, expected: &str) -> bool {
    bug.kind().name() == expected || text::bug(bug).contains(&*visible(expected))
}

/// `target/dally` of the build that the binary belongs to, found from the path of the binary
/// (`target/<profile>/deps/<test>`), since neither cargo nor nextest tells it.
fn default_directory() -> PathBuf {
    let target = std::env::current_exe().ok().and_then(|binary| {
        let folder = binary.parent()?;
        let built = folder.ends_with("deps") || folder.ends_with("examples");
        built.then(|| folder.parent()?.parent().map(Path::to_owned))?
    });
    target.unwrap_or_else(std::env::temp_dir).join("dally")
}

/// Instantiates tests of machines and of tasks here, once, and not in every crate of tests.
#[cfg(feature = "machines")]
#[used]
static TEST_OF_MACHINES: fn(Test, dally_machines::MachineProgram) = Test::run;
#[cfg(feature = "tasks")]
#[used]
static TEST_OF_TASKS: fn(Test, dally_tasks::TaskProgram) = Test::run;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_called_as_its_test_was() {
        let called = |variables: &'static [(&str, &str)]| {
            cargo_as_called("cargo test", |name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        assert_eq!(called(&[]), "cargo test");
        assert_eq!(called(&[("RUSTFLAGS", "--cfg dally")]), "RUSTFLAGS='--cfg dally' cargo test");
        let told = &[("DALLY_COMMAND", "cargo dally test --features fast"), ("RUSTFLAGS", "-O")];
        assert_eq!(called(told), "cargo dally test --features fast");
    }
}
