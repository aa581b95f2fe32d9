//! A project of `protocols/p`, and how its tests are run.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dally::contract::{Bug, BugKind, Finding, Schedule};
use dally::search::strata::{self, ExplorerKind, Plan, SearchKind};
use dally::search::{self, Ended, Mode, Options, Report, StrategyKind, replay};
use dally_p::program::{Program, Test};
use dally_p::vm::{Foreign, PProgram};

use crate::expectation::Expectation;

/// What an exhaustive search may keep: enough for every test that says `pass`.
const ALL_STATES: u64 = 1 << 30;
/// What the search for a planted bug may keep before chance takes over.
const FEW_STATES: u64 = 8 << 20;
/// How schedules are drawn: what is wrong in these programs is the order of messages, and that is
/// what `pos` draws.
const STRATEGY: &str = "pos";
/// Random schedules of a test that is too large to be searched.
const SAMPLES: u64 = 300;
/// Random schedules that may be needed for a planted bug that the search has not come to.
const MORE_SAMPLES: u64 = 50_000;
/// Steps of a random schedule at most.
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
        let loaded = dally_p::project::load(&[file]).unwrap_or_else(|error| panic!("{error}"));
        let compiled = dally_p::compile(loaded.sources);
        let complaints = compiled.diagnostics.iter().map(|it| match it.span {
            Some(span) => format!("{}: {}\n", compiled.sources.location(span), it.message),
            None => format!("{}\n", it.message),
        });
        assert_eq!(complaints.collect::<String>(), "", "the compiler has nothing to say of {name}");
        let program = compiled.program.expect("a program, as there are no errors");
        let expectation = |test: &Test| {
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
        let mut tests: Vec<_> = self.program.tests.iter().zip(&self.expectations).collect();
        tests.dedup_by_key(|(test, _)| test.span);
        tests.into_iter().map(|(_, expected)| expected).collect()
    }

    /// Runs all of its tests.
    pub fn run(&self) -> Vec<Outcome> {
        (0..self.program.tests.len()).map(|index| self.run_test(index)).collect()
    }

    fn run_test(&self, index: usize) -> Outcome {
        let (test, expected) = (&self.program.tests[index].name, &self.expectations[index]);
        let program = PProgram::new(&self.program, index, Foreign::default());
        let program = program.unwrap_or_else(|error| panic!("test {test}: {}", error.message));
        let program = Arc::new(program);
        let report = match expected {
            Expectation::Pass => explore(&program, SearchKind::Map, ALL_STATES),
            Expectation::PassSampled => sample(&program, SAMPLES),
            // Only a search for cycles finds one.
            Expectation::Fail(BugKind::Livelock, _) => {
                explore(&program, SearchKind::Map, ALL_STATES)
            }
            Expectation::Fail(..) => {
                let searched = explore(&program, SearchKind::Ses, FEW_STATES);
                match searched.ended {
                    Ended::Memory => sample(&program, MORE_SAMPLES),
                    _ => searched,
                }
            }
        };
        let wrong = complaint(&program, expected, &report);
        Outcome { test: test.clone(), report, wrong }
    }
}

fn explore(program: &Arc<PProgram>, search: SearchKind, memory: u64) -> Report {
    let plan = Plan { search, memory, ..Plan::default() };
    let options = Options { max_steps: 1_000_000, shrink: false, ..Options::default() };
    strata::explore(program.clone(), ExplorerKind::default().build(0), plan, options, Arc::new(()))
}

fn sample(program: &Arc<PProgram>, schedules: u64) -> Report {
    let strategy = STRATEGY.parse::<StrategyKind>().unwrap().build(0, MAX_STEPS);
    let (max_steps, shrink) = (MAX_STEPS, false);
    let options = Options { strategy, schedules, max_steps, shrink, ..Options::default() };
    search::run(program.clone(), options, Arc::new(()))
}

/// What is wrong with a report, if it is not what was expected.
fn complaint(program: &Arc<PProgram>, expected: &Expectation, report: &Report) -> Option<String> {
    let found = report.findings.first();
    if !expected.is_met_by(found.map(|finding| &finding.bug)) {
        return Some(format!("expected {expected}"));
    }
    let ended = match expected {
        Expectation::Pass => Ended::Exhausted,
        Expectation::PassSampled => Ended::Schedules,
        Expectation::Fail(..) => Ended::Bug,
    };
    if report.ended != ended {
        return Some(format!("the run ended otherwise: {:?}", report.ended));
    }
    found.and_then(|finding| replay_differs(program, finding))
}

/// How the replay of a finding, through its token as a user would do it, differs from it.
fn replay_differs(program: &Arc<PProgram>, finding: &Finding) -> Option<String> {
    let schedule = match Schedule::parse(&finding.schedule.to_token()) {
        Ok(schedule) => schedule,
        Err(error) => return Some(format!("its schedule cannot be read back: {error}")),
    };
    let again = replay(program.clone(), &schedule, Mode::Exact, 2, Duration::from_secs(10));
    if let Some(left) = again.left_at {
        return Some(format!("its replay leaves the schedule at {left}"));
    }
    let shown = again.bug.as_ref().map(Bug::to_string);
    (again.bug.as_ref() != Some(&finding.bug)).then(|| format!("its replay shows {shown:?}"))
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

    /// The test and the number of its states, if all of them were searched and there is no bug.
    pub fn exhausted(&self) -> Option<(&str, u64)> {
        let states =
            self.report.states.as_ref().filter(|_| self.report.ended == Ended::Exhausted)?;
        Some((&self.test, states.states))
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
