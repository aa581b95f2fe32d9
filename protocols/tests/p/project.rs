//! A project of `protocols/p`, and how its tests are run.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dally::core::{BugKind, Finding, Schedule};
use dally::search::strata::{self, ExplorerKind, Plan, SearchKind};
use dally::search::{self, Ended, Mode, Options, Report, replay};
use dally_p::program::Program;
use dally_p::{TestProgram, compile, project};

use crate::expectation::Expectation;

/// Random schedules of a test that is too large to be searched.
const SCHEDULES: u64 = 300;
/// Steps of a schedule at most; no test needs as many to show its bug.
const MAX_STEPS: usize = 2_000;

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/p"))
}

/// The folders that hold projects with tests, in order.
pub fn folders() -> Vec<String> {
    let entries = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut names: Vec<String> =
        folders.map(|folder| folder.file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "Common");
    names.sort();
    names
}

/// A project that compiles, with what its tests are expected to come to.
pub struct Project {
    name: String,
    program: Arc<Program>,
    expectations: Vec<Expectation>,
}

impl Project {
    /// Reads the project of this name.
    #[track_caller]
    pub fn load(name: &str) -> Project {
        let file = root().join(name).join(format!("{name}.pproj"));
        let sources = project::load(&file).unwrap_or_else(|error| panic!("{error}"));
        let compiled = compile(sources);
        let wrong: Vec<String> = compiled
            .diagnostics
            .iter()
            .map(|it| match it.span {
                Some(span) => format!("{}: {}", compiled.sources.location(span), it.message),
                None => it.message.clone(),
            })
            .collect();
        assert!(wrong.is_empty(), "{name} does not compile without complaint:\n{}", wrong.join("\n"));
        let program = compiled.program.expect("a program without errors");
        let expectation = |test: &dally_p::program::Test| {
            let text = &program.sources.file(test.span.file).text;
            let line = program.sources.location(test.span).line;
            let expected = Expectation::above(text, line);
            expected.unwrap_or_else(|why| panic!("{name}, test {}: {why}", test.name))
        };
        let expectations = program.tests.iter().map(expectation).collect();
        Project { name: name.to_owned(), program: Arc::new(program), expectations }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is expected of each of its declared tests; of a parametric one it is said once.
    pub fn expectations(&self) -> Vec<&Expectation> {
        let mut seen = Vec::new();
        let tests = self.program.tests.iter().zip(&self.expectations);
        let first = tests.filter(|(test, _)| {
            let new = !seen.contains(&test.span);
            seen.push(test.span);
            new
        });
        first.map(|(_, expected)| expected).collect()
    }

    /// Runs all of its tests.
    pub fn run(&self) -> Vec<Outcome> {
        let tests = self.program.tests.iter().zip(&self.expectations);
        tests.enumerate().map(|(index, (test, expected))| self.run_test(index, &test.name, expected)).collect()
    }

    fn run_test(&self, index: usize, test: &str, expected: &Expectation) -> Outcome {
        let program = Arc::new(TestProgram::new(self.program.clone(), index));
        let report = match expected {
            // What is to be found shows in few delays, and a cycle only to a search for cycles.
            Expectation::Fail(BugKind::Livelock, _) => explore(&program, SearchKind::Map),
            Expectation::Fail(..) => explore(&program, SearchKind::Ses),
            Expectation::Pass => explore(&program, SearchKind::Map),
            Expectation::PassSampled => sample(&program),
        };
        let finding = report.findings.first().cloned();
        let wrong = if !expected.is_met_by(finding.as_ref().map(|finding| &finding.bug)) {
            Some(format!("expected {expected}"))
        } else if let Some(finding) = &finding {
            differs(&program, finding)
        } else {
            let whole = match expected {
                Expectation::Pass => Ended::Exhausted,
                _ => Ended::Schedules,
            };
            (report.ended != whole).then(|| format!("the run ended early: {:?}", report.ended))
        };
        Outcome { test: test.to_owned(), report, wrong }
    }
}

fn explore(program: &Arc<TestProgram>, search: SearchKind) -> Report {
    let plan = Plan { search, memory: 512 << 20, ..Plan::default() };
    let options = Options { max_steps: 1_000_000, shrink: false, ..Options::default() };
    strata::explore(program.clone(), ExplorerKind::default().build(0), plan, options, Arc::new(()))
}

fn sample(program: &Arc<TestProgram>) -> Report {
    let options =
        Options { schedules: SCHEDULES, max_steps: MAX_STEPS, shrink: false, ..Options::default() };
    search::run(program.clone(), options, Arc::new(()))
}

/// How the replay of a finding, through its token as a user would do it, differs from it.
fn differs(program: &Arc<TestProgram>, finding: &Finding) -> Option<String> {
    let schedule = match Schedule::parse(&finding.schedule.to_token()) {
        Ok(schedule) => schedule,
        Err(error) => return Some(format!("its schedule cannot be read back: {error}")),
    };
    let again = replay(program.clone(), &schedule, Mode::Exact, 2, Duration::from_secs(10));
    if let Some(left) = again.left_at {
        return Some(format!("its replay leaves the schedule at {left}"));
    }
    let same = again.bug.as_ref() == Some(&finding.bug);
    (!same).then(|| format!("its replay shows {:?}", again.bug))
}

/// What became of a test.
pub struct Outcome {
    test: String,
    report: Report,
    wrong: Option<String>,
}

impl Outcome {
    /// Whether all went as the comment says.
    pub fn is_as_expected(&self) -> bool {
        self.wrong.is_none()
    }
}

/// A line: the test, what was found in how much, and what is wrong with that.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.wrong.is_some() { "WRONG" } else { "ok" };
        write!(f, "{mark:5} {}: ", self.test)?;
        match self.report.findings.first() {
            Some(finding) => write!(f, "{}", finding.bug)?,
            None => f.write_str("no bug")?,
        }
        match &self.report.states {
            Some(states) => write!(f, ", {} states", states.states)?,
            None => write!(f, ", {} schedules", self.report.schedules)?,
        }
        match &self.wrong {
            Some(wrong) => write!(f, "; {wrong}"),
            None => Ok(()),
        }
    }
}
