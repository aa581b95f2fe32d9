//! The programs of a campaign: in this process, or tests in processes of their own.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dally::checking::{AnyProgram, Bench};
use dally::contract::{Finding, Schedule, fingerprint};
use dally::search::{Batch, StrategyKind};
use dally::settings::Settings;
use dally_campaign::{Cell, Plan, PlannedProgram, Ran};

use super::tests::{self, TestProcess};
use crate::args::{Format, PArgs};
use crate::check::BUG_SETTING;
use crate::error::CliError;
use crate::list::look_up;
use crate::replay::{self, Recorded};
use crate::{mpil, p};

/// The programs of a campaign, in their order.
pub struct Programs(Vec<Planned>);

struct Planned {
    /// What the campaign calls it.
    name: String,
    place: Place,
    strategies: Vec<String>,
    version: u64,
}

/// Where a program is.
enum Place {
    Here(Box<Bench>),
    Test(TestProcess),
}

impl Programs {
    /// The programs of a plan; `None` if one does not compile, which was told.
    pub fn of_plan(plan: &Plan, stop: &Arc<AtomicBool>) -> Result<Option<Programs>, CliError> {
        let mut programs = Vec::new();
        let executable = hash_of(std::env::current_exe().ok().as_deref());
        for planned in &plan.programs {
            let Some((heading, suits)) = heading(planned)? else { return Ok(None) };
            let found = replay::program(&heading, &[], Path::new(""), Format::Text)?;
            let Some(Recorded { program, .. }) = found else { return Ok(None) };
            let bench = Bench { settings: suits, ..bench(program, &heading, stop) };
            let settings = format!("{:?} {:?}", bench.settings, bench.replay_settings);
            let parts = [bench.program.source(), fingerprint::of_bytes(settings.as_bytes())];
            programs.push(Planned {
                name: planned.label(),
                place: Place::Here(Box::new(bench)),
                strategies: plan.strategies_of(planned),
                version: parts.into_iter().fold(executable, fingerprint::mix),
            });
        }
        Ok(Some(Programs(programs)))
    }

    /// The tests of this workspace whose names have one of these in them; all if there are none.
    pub fn of_tests(plan: &Plan, names: &[String]) -> Result<Programs, CliError> {
        let strategies = plan.strategies_of(&PlannedProgram::default());
        let found = tests::present(names)?;
        let planned = found.into_iter().map(|present| Planned {
            name: present.path.clone(),
            version: fingerprint::mix(hash_of(Some(&present.executable)), present.settings),
            place: Place::Test(TestProcess::new(present)),
            strategies: strategies.clone(),
        });
        Ok(Programs(planned.collect()))
    }

    /// The cells of these programs.
    pub fn cells(&self, seed: u64) -> Vec<Cell> {
        let cells = self.0.iter().flat_map(|planned| {
            planned.strategies.iter().map(|strategy| Cell {
                program: planned.name.clone(),
                strategy: strategy.clone(),
                seed,
                version: planned.version,
            })
        });
        cells.collect()
    }

    pub fn has(&self, program: &str) -> bool {
        self.0.iter().any(|planned| planned.name == program)
    }

    /// Refuses a strategy that there is not, or that cannot go on from batch to batch.
    pub fn check(&mut self, cell: &Cell) -> Result<(), CliError> {
        let not = |why: String| CliError::NotInCampaign {
            program: cell.program.clone(),
            strategy: cell.strategy.clone(),
            why,
        };
        cell.strategy.parse::<StrategyKind>().map_err(|why| not(why.to_string()))?;
        // A batch without schedules asks nothing of the program.
        let batch = Batch { first: 0, count: 0, seed: cell.seed };
        self.run(cell, batch, None, 1).map(|_| ()).map_err(not)
    }

    /// Runs a batch with so many threads.
    pub fn run(
        &mut self,
        cell: &Cell,
        batch: Batch,
        learned: Option<Vec<u8>>,
        threads: usize,
    ) -> Result<Ran, String> {
        match self.place(&cell.program)? {
            Place::Here(bench) => {
                bench.settings.threads = threads;
                let ran = bench.run(&cell.strategy, batch, learned.as_deref());
                let ran = ran.map_err(|why| why.to_string())?;
                Ok(Ran { report: ran.report, learned: ran.learned })
            }
            Place::Test(test) => test.run(&cell.strategy, batch, learned, threads),
        }
    }

    /// Makes a finding smaller.
    pub fn shrink(&mut self, cell: &Cell, finding: &Finding) -> Result<Finding, String> {
        let Cell { strategy, seed, .. } = cell;
        match self.place(&cell.program)? {
            Place::Here(bench) => {
                bench.shrink(strategy, *seed, finding).map_err(|why| why.to_string())
            }
            Place::Test(test) => test.shrink(strategy, *seed, finding),
        }
    }

    /// Whether a schedule shows its bug, if it still fits.
    pub fn shows(&mut self, program: &str, schedule: &Schedule) -> Result<Option<bool>, String> {
        match self.place(program)? {
            Place::Here(bench) => Ok(bench.shows(schedule)),
            Place::Test(test) => test.shows(schedule),
        }
    }

    fn place(&mut self, program: &str) -> Result<&mut Place, String> {
        let planned = self.0.iter_mut().find(|planned| planned.name == program);
        Ok(&mut planned.ok_or("the program is not in the plan")?.place)
    }
}

/// A program with what its schedules are headed by.
pub fn bench(program: Arc<dyn AnyProgram>, heading: &Schedule, stop: &Arc<AtomicBool>) -> Bench {
    Bench {
        program,
        name: heading.program.clone(),
        replay_settings: heading.settings.clone(),
        settings: Settings::default(),
        stop: Arc::clone(stop),
    }
}

/// What schedules of a planned program are headed by, and the settings that suit it; `None` if it does not
/// compile, which was told.
fn heading(planned: &PlannedProgram) -> Result<Option<(Schedule, Settings)>, CliError> {
    let subject = OsStr::new(&planned.name);
    let long = |mut settings: Settings| {
        settings.max_steps = planned.max_steps.unwrap_or(settings.max_steps);
        settings
    };
    if mpil::is_program(subject) {
        return Ok(Some((mpil::heading(subject, &[])?, long(Settings::default()))));
    }
    if p::path(subject).is_some() {
        let asked = PArgs { tests: planned.test.clone().into_iter().collect(), ..PArgs::default() };
        let heading = p::heading(&p::paths(&[subject.to_owned()])?, &asked)?;
        let settings = p::with_fair_steps(long(p::suits()));
        return Ok(heading.map(|heading| (heading, settings)));
    }
    let (protocol, bug) = look_up(&planned.name, planned.bug.as_deref())?;
    let settings = bug.map(|bug| (BUG_SETTING.to_owned(), bug.to_owned())).into_iter().collect();
    let program = protocol.name.to_owned();
    let heading = Schedule { program, settings, ..Schedule::default() };
    let suits = Settings { max_steps: protocol.max_steps, ..Settings::default() };
    Ok(Some((heading, long(suits))))
}

/// A hash of a file; that of nothing if it cannot be read.
fn hash_of(file: Option<&Path>) -> u64 {
    let bytes = file.and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
    fingerprint::of_bytes(&bytes)
}
