//! What `#[dally::test]` expands to.

mod builder;
pub mod campaign;
mod documents;
mod isolated;
mod process;
mod regressing;
pub mod regressions;
mod replaying;
mod verdict;
mod what_else;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dally_core::{Program, Schedule};
use dally_explore::{Session, lines};
use dally_report::{About, tell, text};
use dally_search::strata::{Bundled, Explorer, IntoExplorer};
use dally_search::{ChosenStrategy, IntoStrategy, Mode, Strategy};

pub use self::builder::{IntoSetting, Mistake};
pub use self::process::TestProcess;
use self::regressing::keep;
use self::replaying::replay_commands;
pub use self::verdict::Verdict;
use crate::checking::Checking;
use crate::settings::{Isolate, Settings, SettingsFile, ValueError};
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
        if variable("DALLY_EXPLORE").is_some() {
            settings.apply(&mut program);
            return self.explore(program);
        }
        if let Some(file) = variable(campaign::TOLD) {
            return self.tell_campaign(Path::new(&file), &settings);
        }
        if variable(campaign::SERVED).is_some() {
            settings.apply(&mut program);
            return self.serve_campaign(program, settings);
        }
        let regressions = self.kept_regressions(&settings, &variable);
        let notes = match &regressions {
            Some(regressions) => self.regress(&mut program, regressions, &settings, all_steps)?,
            None => String::new(),
        };
        settings.apply(&mut program);
        if let Some(file) = variable(regressions::TOLD) {
            let told = Path::new(&file).display();
            return Ok(format!("only regressions were run, for {told}\n"));
        }
        let (format, out, isolate) = (settings.format, settings.out.clone(), settings.isolate);
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
        let checking = match &regressions {
            Some(regressions) => regressing::with_known_inputs(checking, regressions),
            None => checking,
        };
        let own = self.explorer.take();
        let mut checked = match isolate == Isolate::Process {
            true => self.run_isolated(&*program, checking)?,
            false => checking.run(Arc::clone(&program), own),
        };
        let foreign = program.foreign().or_else(|| checked.report.foreign.take());
        checked.report.notes.extend(foreign.iter().flat_map(text::foreign));
        checked.report.foreign = foreign;
        let mut verdict = self.verdict(&checked, all_steps);
        if let (Some(foreign), Ok(_)) = (&checked.report.foreign, &verdict) {
            // Not captured by the harness, which shows nothing of a test that passes.
            for what in text::foreign(foreign) {
                tell::err_at_once(&format!("warning: {} passes, but {what}\n", self.path));
            }
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

    /// Lets another process explore the program by hand, until that closes the standard input.
    fn explore<P: Program + 'static>(&self, program: Arc<P>) -> Result<String, String> {
        let granularity = program.granularity();
        let heading = Schedule { program: self.path.to_owned(), ..Schedule::default() };
        let first = Session::new(program, granularity, heading);
        // Neither stream is locked for long: the program may print too.
        let served = lines::serve(&first, &mut io::stdin().lock(), &mut io::stdout());
        served.map(|()| String::new()).map_err(|why| format!("error: exploring ended: {why}\n"))
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

    /// The path without the crate, as in `cargo test`.
    fn name(&self) -> &'static str {
        self.path.split_once("::").map_or(self.path, |(_, rest)| rest)
    }
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
