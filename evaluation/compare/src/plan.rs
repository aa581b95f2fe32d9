//! What is compared with what, how often and for how long.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dally::contract::{Program, fingerprint};
use dally::search::{self, Options, Report, Strategy, StrategyKind};
use dally_protocols::Protocol;

/// A program with a bug to be found, or without.
#[derive(Clone)]
pub struct Case {
    /// The program's name.
    pub program: String,
    /// The bug's name; empty if there is none.
    pub bug: String,
    /// How many steps a schedule may have.
    pub max_steps: usize,
    /// What a step is in it: counts compare only where this is the same.
    pub granularity: &'static str,
    run: Arc<dyn Fn(Options) -> Report + Send + Sync>,
}

impl Case {
    /// A bundled protocol with this planted bug, or its correct version.
    pub fn bundled(protocol: &'static Protocol, bug: Option<&'static str>) -> Case {
        let make = protocol.program;
        Case {
            program: protocol.name.to_owned(),
            bug: bug.unwrap_or_default().to_owned(),
            max_steps: protocol.max_steps,
            granularity: make(bug).granularity(),
            run: Arc::new(move |options| make(bug).run(options, Arc::new(()))),
        }
    }

    /// A program of one's own.
    pub fn own<P: Program + 'static>(
        name: impl Into<String>,
        program: P,
        max_steps: usize,
    ) -> Case {
        let program = Arc::new(program);
        Case {
            program: name.into(),
            bug: String::new(),
            max_steps,
            granularity: program.granularity(),
            run: Arc::new(move |options| search::run(program.clone(), options, Arc::new(()))),
        }
    }

    /// Runs schedules of it.
    pub(crate) fn run(&self, options: Options) -> Report {
        (self.run)(options)
    }
}

/// `program` or `program:bug`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bug.as_str() {
            "" => f.pad(&self.program),
            bug => f.pad(&format!("{}:{bug}", self.program)),
        }
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Case({self})")
    }
}

/// A strategy under a name.
#[derive(Clone)]
pub struct Contestant {
    /// The name, which tells it from the others.
    pub name: String,
    build: Arc<dyn Fn(u64, usize) -> Box<dyn Strategy> + Send + Sync>,
}

impl Contestant {
    /// A strategy that is made from a seed and a step bound.
    pub fn new(
        name: impl Into<String>,
        build: impl Fn(u64, usize) -> Box<dyn Strategy> + Send + Sync + 'static,
    ) -> Contestant {
        Contestant { name: name.into(), build: Arc::new(build) }
    }

    pub(crate) fn build(&self, seed: u64, max_steps: usize) -> Box<dyn Strategy> {
        (self.build)(seed, max_steps)
    }
}

impl From<StrategyKind> for Contestant {
    fn from(kind: StrategyKind) -> Contestant {
        Contestant::new(kind.to_string(), move |seed, max_steps| kind.build(seed, max_steps))
    }
}

impl fmt::Debug for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Contestant({})", self.name)
    }
}

/// What is compared with what, how often and for how long.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The programs.
    pub cases: Vec<Case>,
    /// The strategies.
    pub contestants: Vec<Contestant>,
    /// How many independent runs each strategy makes of each program.
    pub runs: u64,
    /// How many schedules a run may have.
    pub schedules: u64,
    /// How long a run may take. What is found then depends on the machine.
    pub time: Option<Duration>,
    /// Where all seeds derive from.
    pub seed: u64,
    /// How many runs go on at the same time. Only times depend on it.
    pub threads: usize,
    /// Every state of one schedule in this many is observed, as in
    /// [`Options::observe_every`](dally::search::Options).
    pub observe_every: u64,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            cases: Vec::new(),
            contestants: Vec::new(),
            runs: 20,
            schedules: 10_000,
            time: None,
            seed: 0,
            threads: 1,
            observe_every: 16,
        }
    }
}

/// One run of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned<'a> {
    pub(crate) case: &'a Case,
    pub(crate) contestant: &'a Contestant,
    pub(crate) run: u64,
    pub(crate) seed: u64,
}

impl fmt::Display for Planned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}, run {}", self.case, self.contestant.name, self.run + 1)
    }
}

impl Plan {
    /// All programs with all strategies.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&Case, &Contestant)> {
        let with_all = |case| self.contestants.iter().map(move |contestant| (case, contestant));
        self.cases.iter().flat_map(with_all)
    }

    /// How many trials there are.
    pub fn size(&self) -> usize {
        let runs = usize::try_from(self.runs).unwrap_or(usize::MAX);
        (self.cases.len() * self.contestants.len()).saturating_mul(runs)
    }

    /// The runs in the order in which they are written: the first of every pair, the second...
    pub(crate) fn trial(&self, index: usize) -> Planned<'_> {
        let pairs = self.cases.len() * self.contestants.len();
        let (run, pair) = ((index / pairs) as u64, index % pairs);
        let case = &self.cases[pair / self.contestants.len()];
        let contestant = &self.contestants[pair % self.contestants.len()];
        let seed = self.seed_of(case, contestant, run);
        Planned { case, contestant, run, seed }
    }

    pub(crate) fn seed_of(&self, case: &Case, contestant: &Contestant, run: u64) -> u64 {
        let name = |text: &str| fingerprint::of_bytes(text.as_bytes());
        [name(&case.program), name(&case.bug), name(&contestant.name), run]
            .into_iter()
            .fold(self.seed, fingerprint::mix)
    }

    /// The options of a run.
    pub(crate) fn options(&self, case: &Case, contestant: &Contestant, seed: u64) -> Options {
        Options {
            program: case.program.clone(),
            strategy: contestant.build(seed, case.max_steps),
            seed,
            schedules: self.schedules,
            time: self.time,
            max_steps: case.max_steps,
            shrink: false,
            repeat_check: false,
            observe_every: self.observe_every,
            ..Options::default()
        }
    }
}
