//! What is compared with what, how often and for how long.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use dally::checking::AnyProgram;
use dally::contract::{Program, fingerprint};
use dally::search::strata::{self, ExplorerKind, SearchKind};
use dally::search::{Options, Report, Strategy, StrategyKind};
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
    run: Arc<dyn Fn(Options, Option<SearchKind>) -> Report + Send + Sync>,
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
            run: Arc::new(move |options, search| run(make(bug), options, search)),
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
            run: Arc::new(move |options, search| run(program.clone(), options, search)),
        }
    }

    /// Runs schedules of it, by a search if one is named.
    pub(crate) fn run(&self, options: Options, search: Option<SearchKind>) -> Report {
        (self.run)(options, search)
    }
}

fn run<P: AnyProgram + ?Sized>(
    program: Arc<P>,
    options: Options,
    search: Option<SearchKind>,
) -> Report {
    let Some(search) = search else { return program.run(options, Arc::new(())) };
    let options = Options { executions: Some(options.schedules), ..options };
    let explorer = ExplorerKind::default().build(options.seed);
    program.explore(explorer, strata::Plan { search, ..strata::Plan::default() }, options)
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

/// A strategy under a name, or a search that runs one execution after another.
#[derive(Clone)]
pub struct Contestant {
    /// The name, which tells it from the others.
    pub name: String,
    by: By,
}

#[derive(Clone)]
enum By {
    Strategy(Arc<dyn Fn(u64, usize) -> Box<dyn Strategy> + Send + Sync>),
    Search(SearchKind),
}

impl Contestant {
    /// A strategy that is made from a seed and a step bound.
    pub fn new(
        name: impl Into<String>,
        build: impl Fn(u64, usize) -> Box<dyn Strategy> + Send + Sync + 'static,
    ) -> Contestant {
        Contestant { name: name.into(), by: By::Strategy(Arc::new(build)) }
    }

    /// The search `dpor` or `concolic`, if this is the name of one. It does the same in every run, so how many of
    /// them find something says nothing; what is found, and after how many executions, does.
    pub fn search(name: &str) -> Option<Contestant> {
        let search = [SearchKind::Dpor, SearchKind::Concolic]
            .into_iter()
            .find(|search| search.to_string() == name)?;
        Some(Contestant { name: name.to_owned(), by: By::Search(search) })
    }

    /// The strategy of a run; nothing for a search.
    pub(crate) fn build(&self, seed: u64, max_steps: usize) -> Option<Box<dyn Strategy>> {
        match &self.by {
            By::Strategy(build) => Some(build(seed, max_steps)),
            By::Search(_) => None,
        }
    }

    /// The search; nothing for a strategy.
    pub(crate) fn searches(&self) -> Option<SearchKind> {
        match self.by {
            By::Strategy(_) => None,
            By::Search(search) => Some(search),
        }
    }
}

/// A strategy by its name, or `dpor` or `concolic`.
impl FromStr for Contestant {
    type Err = <StrategyKind as FromStr>::Err;

    fn from_str(name: &str) -> Result<Contestant, Self::Err> {
        match Contestant::search(name) {
            Some(search) => Ok(search),
            None => name.parse::<StrategyKind>().map(Contestant::from),
        }
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
        let unused = || Options::default().strategy;
        Options {
            program: case.program.clone(),
            strategy: contestant.build(seed, case.max_steps).unwrap_or_else(unused),
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
